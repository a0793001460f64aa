"""The programs of each kernel of windows: the bodies of the loops over rows of limbs, and programs for a free
root and for the frames of joints with several degrees of freedom.

All quantities are [linear; angular] in the kernel's one frame, about its origin. Regrouping inertial
parameters leaves bodies on revolute joints without mass, so most quantities that depend on mass are zero.
"""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.algorithms.derivatives.rnea_derivatives import (
    Sweeping,
    accelerate,
    columns_of,
    inverse_dynamics_derivatives,
    moving_bodies,
)
from rbdc.algorithms.dynamics.articulated_bodies import articulated_factors, articulated_inertias, released
from rbdc.algorithms.dynamics.coriolis import Direction, Twice, row_of
from rbdc.algorithms.dynamics.external_forces import take_external_forces
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.kernels import WindowsKernel
from rbdc.planning.windows.machine import LimbRows
from rbdc.reduction.constants import Constants, constants_of, pose_above
from rbdc.reduction.schedules import Node, scheduled
from rbdc.spatial import ArticulatedInertia, Force, MomentInertia, Motion, Rotation, Vector3
from rbdc.spatial.vectors import AXES

_ZERO = Vector3.zero()
_UNITS = [Motion(axis, _ZERO) for axis in AXES] + [Motion(_ZERO, axis) for axis in AXES]
_NONE = "", "", ""
"""Names of the matrices by q, v and a: empty, because loops over windows fill the matrices."""


def window_bodies(model: Problem, kernel: WindowsKernel) -> Iterator[Program]:
    """Yield the programs of a kernel."""
    schedule = scheduled(model)
    constants = constants_of(schedule, moving=kernel.moving)
    yield from _rows(constants, kernel).programs()
    if schedule.free and kernel.factors:
        yield _root_joints(constants, solved=kernel.solved)
    if schedule.free and kernel.moving:
        yield _root_motion(constants, solved=kernel.solved)
        yield _root_columns(constants)
    for name, node in schedule.filled_in.items():
        yield _pose(constants, node, name)


def _rows(constants: Constants, kernel: WindowsKernel) -> LimbRows:
    if kernel.solved:
        return _forward_dynamics_derivatives(constants)
    if kernel.moving:
        m = LimbRows(constants, "forward_row", "external_row", "backward_row")
        m.v, m.a, m.external = "rate", "second", True
        inverse_dynamics_derivatives(m, Sweeping.of_world(m.gravity), _NONE)
    else:
        m = LimbRows(constants, "placed_row", "articulated_row")
        articulated_factors(m, articulated_inertias(m))
    return m


def _forward_dynamics_derivatives(constants: Constants) -> LimbRows:
    """Return the loops at zero joint accelerations, then those that add the effect of the accelerations:
    M^-1 `rest`, where `rest` is tau minus the torques at zero accelerations.
    """
    names = "forward_row", "external_row", "articulated_row", "corrected_row", "backward_row"
    m = LimbRows(constants, *names)
    m.v, m.external = "rate", True
    bodies, carried = moving_bodies(m, Sweeping.of_world(m.gravity)), m.array("carried", Force)
    inertias = articulated_inertias(m)
    for b in m.down():
        carried[b] = Force.zero()
    take_external_forces(m, bodies.force)
    articulated_factors(m, inertias)
    rest, torques = m.vector("rest"), m.vector("given")
    for b in m.up("rest = tau - s . f, with the force f of the subtree at zero accelerations"):
        force = bodies.force[b] + carried[b]
        for k in b.columns():
            rest[k] = torques[k] - k.s.dot(force)
        b.add_to_parent(carried, force)
    m.v, m.a = "", "second"
    accelerate(m, bodies)
    columns_of(m, bodies, _NONE)
    return m


def _root_motion(constants: Constants, *, solved: bool) -> Program:
    """Return the program of the motion of row 0, a free root, in its own axes; its linear velocity is taken
    as zero.

    The acceleration G = -R^T g replaces gravity (R: the root's orientation). solved: dv/dt is unknown and
    taken as zero, and the force on the root's body is stored for a later solve.
    """
    trace = LaneRecorder("root_motion", ("q", "v", "a", "g", "force"))
    trace.begin("free root: a = G + dv/dt + w x v, with gravity as G = -R^T g")
    root = constants.model.bodies[0]
    axes = Rotation(*(root.placement.rotation.apply(axis) for axis in AXES))
    turn = Rotation.from_quaternion(*(trace.read("q", k) for k in range(3, 7)))
    g = turn.apply_transposed(axes.apply_transposed(-constants.model.gravity))
    trace.let("G", g.scalars())
    trace.store("g", 0, g.scalars())
    v, rate = trace.motion("v", 0), Motion.zero() if solved else trace.motion("a", 0)
    moved = Sweeping(v, rate + Motion(g, _ZERO)).turning()
    trace.store("motion", at.VELOCITY, [*moved.v.scalars(), *moved.a.scalars()])
    if solved:
        trace.begin("force on the root's body: f = I a + B v")
        trace.store("force", 0, moved.force_and_factor(root.inertia)[0].scalars())
    return trace.program()


def _root_joints(constants: Constants, *, solved: bool) -> Program:
    """Return the program that treats a free root as six joints in series with unit vectors s, and stores s, K
    and 1 / D of each in `own`. inertia: articulated inertia without the root's body.

    solved: also store `whole`, the articulated inertia with the root's body (6, 6).
    """
    trace = LaneRecorder("root_joints", ("inertia", "whole", "own"))
    carried = ArticulatedInertia.of(trace.entries("inertia", at.ARTICULATED, at.CARRIED))
    left = carried + ArticulatedInertia.from_inertia(constants.model.bodies[0].inertia)
    for k, unit in enumerate(_UNITS if solved else ()):
        trace.store("whole", 6 * k, (left @ unit).scalars())
    for k in reversed(range(6)):
        axis = released(left, _UNITS[k], float(constants.model.armature[k]))
        trace.store("own", at.OWN_SIZE * k, _UNITS[k].scalars())
        trace.store("own", at.OWN_SIZE * k + at.TRANSPOSED, [*axis.gain.scalars()[: k + 1], *[0.0] * (5 - k)])
        trace.store("own", at.OWN_SIZE * k + at.PIVOT, [axis.inverse])
        left = axis.left
    return trace.program()


def _root_columns(constants: Constants) -> Program:
    """Return the program of F_a and t of a free root's six columns.

    sum: Coriolis factor, moments and mass, summed over the bodies that the root carries.
    w: angular velocity of the root.
    """
    trace = LaneRecorder("columns_of_root", ("sum", "w", "own"))
    root, velocity = constants.model.bodies[0].inertia, Motion(_ZERO, Vector3.of(trace.entries("w", 0, 3)))
    mass = trace.read("sum", at.MASS) if constants.massive else 0.0
    inertia = MomentInertia.of([mass, *trace.entries("sum", at.MOMENTS, 9)]) + root
    factor = Twice.of(trace.entries("sum", at.FACTOR, 12)) + Twice.of_body(root, velocity)
    trace.begin("free root, unit vectors e: F_a = I e, t = angular part of 2 B^T e; I and B of all bodies")
    still = Motion.zero()
    for column, unit in enumerate(_UNITS):
        row = row_of(factor, inertia, Direction(unit, still, still, still))
        trace.store("own", at.OWN_SIZE * column, row.r.scalars())
        trace.store("own", at.OWN_SIZE * column + at.TRANSPOSED, row.r_b.angular.scalars())
    return trace.program()


def _pose(constants: Constants, node: Node, name: str) -> Program:
    """Return the program of axes and origin of a joint with several degrees of freedom."""
    body = constants.model.bodies[node.body]
    trace = LaneRecorder(name, ("q", "pose"))
    q = trace.entries("q", body.index_q, body.joint.nq)
    trace.store("pose", 0, pose_above(body, q, constants.origin))
    return trace.program()

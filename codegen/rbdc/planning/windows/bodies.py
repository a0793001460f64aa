"""The bodies of each kernel of windows, by its name in `rbdc.planning.windows.kernels`: the loops of its text
over rows of limbs, a free root, the frames of joints with several degrees of freedom.

Everything is in one frame, [linear; angular], about its origin. Regrouping leaves no mass to bodies on
revolute joints: most of what follows from it is then zero.
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
from rbdc.algorithms.dynamics.articulated_bodies import articulated_factors, articulated_inertias
from rbdc.algorithms.dynamics.coriolis import Direction, Twice, row_of
from rbdc.algorithms.dynamics.external_forces import take_external_forces
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Problem
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.kernels import WindowsKernel
from rbdc.planning.windows.machine import Rows
from rbdc.reduction.constants import Constants, constants_of, pose_above
from rbdc.reduction.schedules import Node, scheduled
from rbdc.spatial import ArticulatedInertia, Force, MomentInertia, Motion, Rotation, Vector3
from rbdc.spatial.vectors import AXES

_ZERO = Vector3.zero()
_NONE = "", "", ""
"""The names of matrices that loops over windows fill."""
_MOVING = {
    "forward_row": "A row of limbs: motions, inertias and forces.",
    "external_row": "A row of limbs: less external forces.",
}
_ARTICULATED = {"articulated_row": "A row of limbs: articulated inertias."}
_BACKWARD = {"backward_row": "A row of limbs: the forces of its joints."}
_CORRECTED = {"corrected_row": "A row of limbs: what its joints' accelerations add."}


def window_bodies(model: Problem, kernel: WindowsKernel) -> Iterator[LaneProgram]:
    """The bodies of a kernel."""
    schedule = scheduled(model)
    constants = constants_of(schedule, moving=kernel.moving)
    yield from _rows(constants, kernel).programs()
    if schedule.free and kernel.factors:
        yield _root_inertia(constants)
    if schedule.free and kernel.moving:
        yield _root_motion(constants, solved=kernel.solved)
        yield _root_columns(constants)
    for name, node in schedule.filled_in.items():
        yield _pose(constants, node, name)


def _rows(constants: Constants, kernel: WindowsKernel) -> Rows:
    """The loops of a kernel over rows."""
    if kernel.solved:
        return _forward_dynamics_derivatives(constants)
    if kernel.moving:
        m = Rows(constants, _MOVING | _BACKWARD)
        m.v, m.a, m.external = "rate", "second", True
        inverse_dynamics_derivatives(m, Sweeping.of_world(m.gravity), _NONE)
    else:
        m = Rows(constants, {"placed_row": "A row of limbs: axes and inertias."} | _ARTICULATED)
        articulated_factors(m, articulated_inertias(m))
    return m


def _forward_dynamics_derivatives(constants: Constants) -> Rows:
    """Bodies move without accelerations of joints, until M^-1 gives these from the torques that are left."""
    m = Rows(constants, _MOVING | _ARTICULATED | _CORRECTED | _BACKWARD)
    m.v, m.external = "rate", True
    bodies, carried = moving_bodies(m, Sweeping.of_world(m.gravity)), m.array("carried", Force)
    inertias = articulated_inertias(m)
    for b in m.down():
        carried[b] = Force.zero()
    take_external_forces(m, bodies.force)
    articulated_factors(m, inertias)
    rest, given = m.vector("rest"), m.vector("given")
    for b in m.up("rest = tau - s . f"):
        force = bodies.force[b] + carried[b]
        for k in b.columns():
            rest[k] = given[k] - k.s.dot(force)
        b.add_to_parent(carried, force)
    m.v, m.a = "", "second"
    accelerate(m, bodies)
    columns_of(m, bodies, _NONE)
    return m


def _root_motion(constants: Constants, *, solved: bool) -> LaneProgram:
    """The motion of row 0 as a free root in its own axes, its linear velocity taken as zero, with G = -R^T g
    the acceleration of the world. solved: dv/dt is still to be found, taken as zero, and the force on the
    root's own body is written for that.
    """
    trace = LaneRecorder("root_motion", "The motion of a free root.", ("q", "v", "a", "g", "force"))
    trace.begin("G = -R^T g, a = G + dv/dt + w x v")
    root = constants.model.bodies[0]
    axes = Rotation(*(root.placement.rotation.apply(axis) for axis in AXES))
    turn = Rotation.from_quaternion(*(trace.read("q", k) for k in range(3, 7)))
    g = turn.apply_transposed(axes.apply_transposed(-constants.model.gravity))
    trace.let("G", g.scalars())
    trace.store("g", 0, g.scalars())
    v, rate = trace.motion("v", 0), Motion.zero() if solved else trace.motion("a", 0)
    moved = Sweeping(v, rate + Motion(g, _ZERO)).at_rest()
    trace.store("motion", at.VELOCITY, [*moved.v.scalars(), *moved.a.scalars()])
    if solved:
        trace.begin("f = I a + B v of the root's own body")
        trace.store("force", 0, moved.force_and_factor(root.inertia)[0].scalars())
    return trace.body()


def _root_inertia(constants: Constants) -> LaneProgram:
    """The inertia of a free root with all that it carries (6, 6), from `inertia`, that of the others."""
    trace = LaneRecorder("root_inertia", "The inertia of a free root with all bodies.", ("inertia", "whole"))
    carried = ArticulatedInertia.of(trace.entries("inertia", at.ARTICULATED, at.CARRIED))
    whole = carried + ArticulatedInertia.from_inertia(constants.model.bodies[0].inertia)
    for column, axis in enumerate(AXES):
        for place, motion in ((column, Motion(axis, _ZERO)), (column + 3, Motion(_ZERO, axis))):
            trace.store("whole", 6 * place, (whole @ motion).scalars())
    return trace.body()


def _root_columns(constants: Constants) -> LaneProgram:
    """F_a and t of the six columns of a free root from `sum`, the bodies that it carries, and `w`, its
    angular velocity.
    """
    formula = "The composite of all bodies about a free root's origin, and its columns."
    trace = LaneRecorder("columns_of_root", formula, ("sum", "w", "own"))
    root, velocity = constants.model.bodies[0].inertia, Motion(_ZERO, Vector3.of(trace.entries("w", 0, 3)))
    mass = trace.read("sum", at.MASS) if constants.massive else 0.0
    inertia = MomentInertia.of([mass, *trace.entries("sum", at.MOMENTS, 9)]) + root
    factor = Twice.of(trace.entries("sum", at.FACTOR, 12)) + Twice.of_body(root, velocity)
    trace.begin("F_a = I e, t = 2 B^T e")
    still = Motion.zero()
    for column in range(6):
        unit = Motion.of([float(n == column) for n in range(6)])
        row = row_of(factor, inertia, Direction(unit, still, still, still))
        trace.store("own", at.OWN_SIZE * column, row.r.scalars())
        trace.store("own", at.OWN_SIZE * column + at.TRANSPOSED, row.r_b.angular.scalars())
    return trace.body()


def _pose(constants: Constants, node: Node, name: str) -> LaneProgram:
    """The frame of the first node of a joint with several degrees of freedom, axes and origin."""
    body = constants.model.bodies[node.body]
    trace = LaneRecorder(name, f"The frame of {body.name}.", ("q", "pose"))
    q = trace.entries("q", body.index_q, body.joint.nq)
    trace.store("pose", 0, pose_above(body, q, constants.origin))
    return trace.body()

"""The bodies of each kernel along ancestor paths, by its name in `rbdc.emit.paths.kernels`: rows of limbs;
the free root with its motion, its forces for unit accelerations and its columns; the frames of joints with
several degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.emit.paths.constants import Constants, carried, constants_of
from rbdc.emit.paths.entries import ACCELERATION, INERTIA_SIZE, OWN_SIZE, TRANSPOSED, VELOCITY
from rbdc.emit.paths.layout import Node, frame_of, scheduled
from rbdc.emit.paths.row_loops import Bodies
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Model
from rbdc.planning.loops import limb_bodies
from rbdc.planning.loops.inertias import articulated_of
from rbdc.planning.loops.lane_recording import LaneRecorder
from rbdc.spatial import ArticulatedInertia, Motion, Rotation, Vector3
from rbdc.spatial.vectors import AXES

_ZERO = Vector3.zero()


def kernel_bodies(model: Model, kernel: str) -> Bodies:
    """The bodies of a kernel by their names."""
    return {body.program.name: body for body in _bodies(model, kernel)}


def _bodies(model: Model, kernel: str) -> Iterator[LaneProgram]:
    schedule = scheduled(model)
    constants = constants_of(schedule)
    if kernel == "inverse_dynamics_derivatives":
        yield limb_bodies.forward(constants, coupled=model.coupled)
        yield limb_bodies.backward(constants)
    else:
        moving = kernel == "forward_dynamics_derivatives"
        yield limb_bodies.forward(constants, solved=True) if moving else limb_bodies.placed(constants)
        yield limb_bodies.articulated()
        if moving:
            yield limb_bodies.corrected(constants)
            yield limb_bodies.backward(constants)
        yield _root_inertia(constants)
        if moving:
            yield _root_force(constants)
    if kernel != "inverse_inertia":
        yield _root_motion(constants)
        yield _root_columns(constants)
    for k in schedule.first_of_several:
        yield _pose(constants, schedule.nodes[k])


def _root_motion(constants: Constants) -> LaneProgram:
    """The motion of row 0 as a free root in its own axes, its linear velocity taken as zero: that of the
    acceleration of its origin, G + dv/dt + w x v, with G = -R^T g.
    """
    trace = LaneRecorder("root_motion", "The motion of a free root.", ("q", "v", "a", "g"))
    trace.begin("G = -R^T g, a = G + dv/dt + w x v")
    root = constants.model.bodies[0]
    axes = Rotation(*(root.placement.rotation.apply(axis) for axis in AXES))
    turn = Rotation.from_quaternion(*(trace.read("q", k) for k in range(3, 7)))
    g = trace.let_vector("G", turn.apply_transposed(axes.apply_transposed(-constants.model.gravity)))
    trace.store("g", 0, g.scalars())
    v, w = trace.vector("v", 0), trace.vector("v", 3)
    trace.store("motion", VELOCITY + 3, w.scalars())
    trace.store("motion", ACCELERATION, (trace.vector("a", 0) + g + w.cross(v)).scalars())
    trace.store("motion", ACCELERATION + 3, trace.vector("a", 3).scalars())
    return trace.body()


def _root_inertia(constants: Constants) -> LaneProgram:
    """The inertia of a free root with all that it carries (6, 6), from `inertia`, that of the others."""
    trace = LaneRecorder("root_inertia", "The inertia of a free root with all bodies.", ("inertia", "whole"))
    carried = articulated_of(trace.entries("inertia", 0, INERTIA_SIZE))
    whole = carried + ArticulatedInertia.from_inertia(constants.root)
    for column, axis in enumerate(AXES):
        for place, motion in ((column, Motion(axis, _ZERO)), (column + 3, Motion(_ZERO, axis))):
            trace.store("whole", 6 * place, (whole @ motion).scalars())
    return trace.body()


def _root_force(constants: Constants) -> LaneProgram:
    """The force on the body of a free root with angular velocity `w`, whose origin accelerates by `a`."""
    trace = LaneRecorder("root_force", "f = I a + B v / 2 of a free root's own body.", ("w", "a", "force"))
    v, a = Motion(_ZERO, trace.vector("w", 0)), Motion(trace.vector("a", 0), _ZERO)
    force = constants.root @ a + CoriolisFactor.of_body(constants.root, v).apply(v)
    trace.store("force", 0, force.scalars())
    return trace.body()


def _root_columns(constants: Constants) -> LaneProgram:
    """F_a and t of the six columns of a free root from `sum`, the bodies that it carries, and `w`, its
    angular velocity.
    """
    formula = "The composite of all bodies about a free root's origin, and its columns."
    trace = LaneRecorder("columns_of_root", formula, ("sum", "w", "own"))
    own = CoriolisFactor.of_body(constants.root, Motion(_ZERO, trace.vector("w", 0)))
    inertia, factor, _ = limb_bodies.composite(trace, constants)
    inertia, factor = inertia + constants.root, factor + own
    trace.begin("F_a = I e, t = B^T e")
    for column in range(6):
        unit = Motion.of([float(n == column) for n in range(6)])
        trace.store("own", OWN_SIZE * column, (inertia @ unit).scalars())
        transposed = factor.apply_transposed(unit + unit).angular
        trace.store("own", OWN_SIZE * column + TRANSPOSED, transposed.scalars())
    return trace.body()


def _pose(constants: Constants, node: Node) -> LaneProgram:
    """The frame of the first node of a joint with several degrees of freedom, axes and origin."""
    body = constants.model.bodies[node.body]
    trace = LaneRecorder(f"pose{node.first}", f"The frame of {body.name}.", ("q", "pose"))
    moved = body.joint.placement([trace.read("q", body.index_q + k) for k in range(body.joint.nq)])
    fixed, own = body.placement_at(body.joint.neutral()), frame_of(body.joint, 0)
    vectors = [fixed.rotation.apply(moved.rotation.apply(own.apply(axis))) for axis in AXES]
    vectors.append(fixed.translation + fixed.rotation.apply(moved.translation))
    trace.store("pose", 0, [x for v in vectors for x in carried(constants.model, node, v).scalars()])
    return trace.body()

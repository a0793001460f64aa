"""The bodies of each kernel of windows, by its name in `rbdc.planning.windows.kernels`.

Those of the loops over rows of limbs: kinematics, inertias and forces of the bodies, then composites and what
each joint gives to the matrices; a free root with its motion, its forces for unit accelerations and its
columns; the frames of joints with several degrees of freedom.

Everything is in one frame, [linear; angular], about its origin, with the operators of a body (or of the
subtree) I, its inertia, and B, the factor of its Coriolis terms, doubled:

    F_q = B psidot + I psiddot + s x* f,   F_v = B s + 2 I psidot,   F_a = I s,   t = B^T s

(Singh, Russell and Wensing 2022, equations 12 to 15.) Regrouping leaves no mass to bodies on revolute joints:
most of this is then zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rbdc.algorithms.body_motion import SpatialMotion
from rbdc.algorithms.dynamics.articulated_bodies import released
from rbdc.algorithms.dynamics.coriolis import CoriolisFactor, Direction, row_of
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Problem
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.kernels import WindowsKernel
from rbdc.reduction.constants import AXIS, INERTIA, OWN, POSE, Constants, constants_of, pose, pose_above
from rbdc.reduction.schedules import Node, scheduled
from rbdc.spatial import (
    ArticulatedInertia,
    Force,
    MomentInertia,
    Motion,
    Placement,
    Rotation,
    Scalar,
    Vector3,
)
from rbdc.spatial.vectors import AXES

_ZERO = Vector3.zero()


def window_bodies(model: Problem, kernel: WindowsKernel) -> Iterator[LaneProgram]:
    """The bodies of a kernel."""
    schedule = scheduled(model)
    constants = constants_of(schedule, moving=kernel.moving)
    yield _forward(constants, solved=kernel.factors) if kernel.moving else _placed(constants)
    if kernel.factors:
        yield _articulated(solved=kernel.solved)
    if kernel.solved:
        yield _corrected(constants)
    if kernel.moving:
        yield _external(constants)
        yield _backward(constants)
    if schedule.free and kernel.factors:
        yield _root_inertia(constants)
    if schedule.free and kernel.moving:
        yield _root_motion(constants, solved=kernel.solved)
        yield _root_columns(constants)
    for name, node in schedule.filled_in.items():
        yield _pose(constants, node, name)


def _root_motion(constants: Constants, *, solved: bool) -> LaneProgram:
    """The motion of row 0 as a free root in its own axes, its linear velocity taken as zero: that of the
    acceleration of its origin, G + dv/dt + w x v, with G = -R^T g. solved: dv/dt is still to be found, taken
    as zero, and the force on the root's own body is written for that.
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
    turning = Motion(_ZERO, v.angular)
    a = Motion(rate.linear + g + v.angular.cross(v.linear), rate.angular)
    trace.store("motion", at.VELOCITY, turning.scalars())
    trace.store("motion", at.ACCELERATION, a.scalars())
    if solved:
        trace.begin("f = I a + B v / 2 of the root's own body")
        factor = CoriolisFactor.of_body(root.inertia, turning)
        trace.store("force", 0, (root.inertia @ a + factor.apply(turning)).scalars())
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
    inertia, factor, _ = _composite(trace, constants)
    inertia, factor = inertia + root, factor + CoriolisFactor.of_body(root, velocity)
    trace.begin("F_a = I e, t = B^T e")
    for column in range(6):
        unit = Motion.of([float(n == column) for n in range(6)])
        trace.store("own", at.OWN_SIZE * column, (inertia @ unit).scalars())
        transposed = factor.apply_transposed(unit + unit).angular
        trace.store("own", at.OWN_SIZE * column + at.TRANSPOSED, transposed.scalars())
    return trace.body()


def _pose(constants: Constants, node: Node, name: str) -> LaneProgram:
    """The frame of the first node of a joint with several degrees of freedom, axes and origin."""
    body = constants.model.bodies[node.body]
    trace = LaneRecorder(name, f"The frame of {body.name}.", ("q", "pose"))
    q = trace.entries("q", body.index_q, body.joint.nq)
    trace.store("pose", 0, pose_above(body, q, constants.origin))
    return trace.body()


def _forward(constants: Constants, *, solved: bool) -> LaneProgram:
    """The body of the loop from the root to the leaves: reads the constants `c`, the row above `up`, and
    `sine`, `cosine`, `slide`, `rate` and `second` of the row's joints; writes the row's `own` motion, its
    `joint` columns, and the `sum` of its subtree's bodies. solved: accelerations of the joints' own are
    still to be found, so that there is no `second`, and the row's `inertia` is written for that.
    """
    trace = LaneRecorder("forward_row", "A row of limbs: motions, inertias and forces.")
    placement, s = _axes(trace, constants)
    v, a = _velocities(trace, s, accelerating=not solved)
    inertia = _inertia(trace, constants, placement)
    trace.begin("p and N of B, f = I a + B v / 2")
    factor = CoriolisFactor.of_body(inertia, v)
    trace.let("B", factor.scalars())
    mass, *moments = inertia.scalars()
    trace.store("sum", at.FACTOR, factor.scalars())
    trace.store("sum", at.MOMENTS, moments)
    trace.store("sum", at.FORCE, (inertia @ a + factor.apply(v)).scalars())
    if mass != 0.0:
        trace.store("sum", at.MASS, [mass])
    if solved:
        _store_articulated(trace, inertia)
        trace.store("inertia", at.CARRIED, [0.0] * 6)
    return trace.body()


def _placed(constants: Constants) -> LaneProgram:
    """The body of a loop from the root to the leaves without motions: writes the row's `own` axes and origin,
    s of its `joint`, and its `inertia`.
    """
    trace = LaneRecorder("placed_row", "A row of limbs: axes and inertias.")
    placement, s = _axes(trace, constants)
    trace.store("joint", at.AXIS, s.scalars())
    _store_articulated(trace, _inertia(trace, constants, placement))
    return trace.body()


def _constants(trace: LaneRecorder, constants: Constants, names: Iterable[str]) -> list[Scalar]:
    places = {name: place for place, name in enumerate(constants.values)}
    return [trace.read("c", places[name]) if name in places else 0.0 for name in names]


def _frame(scalars: list[Scalar]) -> Placement:
    """A frame from its numbers."""
    x, y, z, origin = (Vector3.of(scalars[k : k + 3]) for k in range(0, 12, 3))
    return Placement(Rotation(x, y, z), origin)


def _axes(trace: LaneRecorder, constants: Constants) -> tuple[Placement, Motion]:
    """The row's frames, and s."""
    above, local = _frame(trace.entries("up", at.AXES_AT, 12)), _frame(_constants(trace, constants, POSE))
    trace.begin("axes and origin: R = R_above R_0 Rz(q), p = p_above + R_above p_0")
    fixed = above.compose(local)
    sine, cosine = trace.read("sine"), trace.read("cosine")
    turn = Rotation(Vector3(cosine, sine, 0.0), Vector3(-sine, cosine, 0.0), AXES[2])
    slide = AXES[2].scaled(trace.read("slide")) if constants.slides else Vector3.zero()
    placement = fixed.compose(Placement(turn, slide))
    plain = not constants.model.coupled and not any(name in constants.values for name in AXIS[:5])
    s = placement.act(Motion(_ZERO, AXES[2]) if plain else Motion.of(_constants(trace, constants, AXIS)))
    trace.store("own", at.AXES_AT, pose(placement))
    trace.let("s", s.scalars())
    return placement, s


def _velocities(trace: LaneRecorder, s: Motion, *, accelerating: bool) -> tuple[Motion, Motion]:
    trace.begin(
        "s, psidot = v_above x s, psiddot = a_above x s + v_above x psidot, v = v_above + s qdot, a = ..."
    )
    above = SpatialMotion(*(trace.motion("up", entry) for entry in (at.VELOCITY, at.ACCELERATION)))
    psi, second = above.rates_of(s)
    trace.let("psi", psi.scalars())
    trace.store("joint", at.AXIS, s.scalars())
    trace.store("joint", at.RATE, psi.scaled(2.0).scalars())
    trace.store("joint", at.SECOND_RATE, second.scalars())
    rate = trace.read("rate")
    acceleration = s.scaled(trace.read("second")) if accelerating else Motion.zero()
    moved = above.moved_by_joint(s.scaled(rate), acceleration, psi.scaled(rate))
    trace.let("v", moved.v.scalars())
    trace.let("a", moved.a.scalars())
    trace.store("own", at.VELOCITY, [*moved.v.scalars(), *moved.a.scalars()])
    return moved.v, moved.a


def _inertia(trace: LaneRecorder, constants: Constants, placement: Placement) -> MomentInertia:
    """The inertia of the row's bodies about the origin of all."""
    trace.begin("h = R h_0 + m p, K = R K_0 R^T + p (R h_0)^T + h p^T")
    inertia = MomentInertia.of(_constants(trace, constants, INERTIA)).moved(placement)
    trace.let("i", inertia.scalars())
    return inertia


def _store_articulated(trace: LaneRecorder, inertia: MomentInertia) -> None:
    """The inertia of a body by itself as one that is articulated."""
    trace.begin("I = (m, -[h]; [h], tr(K) - K)")
    trace.store("inertia", at.ARTICULATED, ArticulatedInertia.from_inertia(inertia).scalars())


def _composite(trace: LaneRecorder, constants: Constants) -> tuple[MomentInertia, CoriolisFactor, Force]:
    """The inertia, the Coriolis factor and the force of a subtree, from its `sum`."""
    mass: Scalar = trace.read("sum", at.MASS) if constants.massive else 0.0
    inertia = MomentInertia.of([mass, *trace.entries("sum", at.MOMENTS, 9)])
    force = Force.of(trace.entries("sum", at.FORCE, 6))
    return inertia, CoriolisFactor.of(trace.entries("sum", at.FACTOR, 12)), force


def _external(constants: Constants) -> LaneProgram:
    """The body of a loop that takes external forces `f`, each in its body's own frame, from those of the
    row's bodies.
    """
    trace = LaneRecorder("external_row", "A row of limbs: less external forces.")
    own = _frame(_constants(trace, constants, OWN))
    given = own.act_inverse_force(Force.of(trace.entries("f", 0, 6)))
    moved = _frame(trace.entries("own", at.AXES_AT, 12)).act_force(given)
    trace.store("sum", at.FORCE, (Force.of(trace.entries("sum", at.FORCE, 6)) - moved).scalars())
    return trace.body()


def _articulated(*, solved: bool) -> LaneProgram:
    """The body of a loop from the leaves to the root over the `inertia` of articulated bodies: U = I s,
    D = s . U + `motor`, `gain` = K = U / D and 1 / D, and what is `left` of the inertia where the joint gives
    way (Featherstone, Rigid Body Dynamics Algorithms, section 7.3). solved: and of the torque that is `given`
    what is left to accelerate the joint, `rest`, with the forces of subtrees, which are handed on likewise.
    """
    trace = LaneRecorder("articulated_row", "A row of limbs: articulated inertias.")
    trace.begin("U = I s, D = s . U, K = U / D")
    inertia = ArticulatedInertia.of(trace.entries("inertia", at.ARTICULATED, at.CARRIED))
    s = trace.motion("joint", at.AXIS)
    axis = released(inertia, s, trace.read("motor"))
    trace.let("U", axis.u.scalars())
    trace.let("inverse", [axis.inverse])
    trace.let("UD", axis.gain.scalars())
    trace.store("gain", 0, [*axis.gain.scalars(), axis.inverse])
    trace.begin("I - K U^T")
    trace.store("left", at.ARTICULATED, axis.left.scalars())
    if solved:
        trace.begin("rest = tau - s . f")
        own, carried = trace.entries("sum", at.FORCE, 6), trace.entries("inertia", at.CARRIED, 6)
        force = Force.of(own) + Force.of(carried)
        trace.store("rest", 0, [trace.read("given") - s.dot(force)])
        trace.store("left", at.CARRIED, force.scalars())
    return trace.body()


def _corrected(constants: Constants) -> LaneProgram:
    """The body of a loop from the root to the leaves, after `forward` with no acceleration of the joints'
    own: adds what these, `second`, make of psiddot and the force; `own` holds what they make of the body's.
    """
    trace = LaneRecorder("corrected_row", "A row of limbs: what its joints' accelerations add.")
    trace.begin("a = a_above + s qddot, psiddot += a_above x s")
    s, above = trace.motion("joint", at.AXIS), trace.motion("up", at.ACCELERATION)
    a = above + s.scaled(trace.read("second"))
    trace.let("a", a.scalars())
    trace.store("own", at.ACCELERATION, a.scalars())
    trace.store("joint", at.SECOND_RATE, (trace.motion("joint", at.SECOND_RATE) + above.cross(s)).scalars())
    trace.begin("f += I a")
    inertia, _, force = _composite(trace, constants)
    trace.store("sum", at.FORCE, (force + inertia @ a).scalars())
    return trace.body()


def _backward(constants: Constants) -> LaneProgram:
    """The body of the loop from the leaves to the root: reads the `sum` of the row's subtrees and the `joint`
    columns that the loop before wrote, and writes the others, and F_a and t to `columns`.
    """
    trace = LaneRecorder("backward_row", "A row of limbs: the forces of its joints.")
    whole, factor, force = _composite(trace, constants)
    s, rate, second = (trace.motion("joint", entry) for entry in (at.AXIS, at.RATE, at.SECOND_RATE))
    trace.begin("F_q = B psidot + I psiddot + s x* f")
    row = row_of(factor, whole, Direction(s + s, rate, second, rate))
    trace.store("joint", at.BY_Q, (row.c_q + s.cross_force(force)).scalars())
    trace.begin("F_v = B s + 2 I psidot")
    trace.store("joint", at.BY_V, row.c_v.scalars())
    trace.begin("F_a = I s, t = B^T s")
    by_a = whole @ s
    trace.let("f", by_a.scalars())
    trace.store("joint", at.BY_A, by_a.scalars())
    trace.store("columns", 0, [*by_a.scalars(), *row.r_b.angular.scalars()])
    return trace.body()

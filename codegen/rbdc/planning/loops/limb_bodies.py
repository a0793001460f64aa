"""The loops over rows of limbs: kinematics, inertias and forces of the bodies, then composites and what each
joint gives to the matrices.

Everything is in one frame, [linear; angular], about its origin, with the operators of a body (or of the
subtree) I, its inertia, and B, the factor of its Coriolis terms, doubled:

    F_q = B psidot + I psiddot + s x* f,   F_v = B s + 2 I psidot,   F_a = I s,   t = B^T s

(Singh, Russell and Wensing 2022, equations 12 to 15.) Regrouping leaves no mass to bodies on revolute joints:
most of this is then zero.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.emit.paths.constants import INERTIA, Constants
from rbdc.emit.paths.entries import (
    ACCELERATION,
    AXES_AT,
    AXIS,
    BY_A,
    BY_Q,
    BY_V,
    FACTOR,
    FORCE,
    INERTIA_SIZE,
    MASS,
    MOMENTS,
    PSI,
    RATE,
    SECOND_RATE,
    VELOCITY,
)
from rbdc.ir.lanes import LaneProgram
from rbdc.planning.loops.inertias import articulated_of, articulated_scalars, factor_of
from rbdc.planning.loops.lane_recording import LaneRecorder
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


def forward(constants: Constants, *, coupled: bool = False, solved: bool = False) -> LaneProgram:
    """The body of the loop from the root to the leaves: reads the constants `c`, the row above `up`, and
    `sine`, `cosine`, `slide`, `rate` and `second` of the row's joints; writes the row's `own` motion, its
    `joint` columns, and the `sum` of its subtree's bodies. solved: accelerations of the joints' own are
    still to be found, so that there is no `second`, and the row's `inertia` is written for that.
    """
    trace = LaneRecorder("forward_row", "A row of limbs: motions, inertias and forces.")
    placement, s = _axes(trace, constants, coupled=coupled)
    v, a = _velocities(trace, s, carrier_of(constants), accelerating=not solved)
    inertia = _inertia(trace, constants, placement)
    trace.begin("p and N of B, f = I a + B v / 2")
    factor = CoriolisFactor.of_body(inertia, v)
    trace.let_all("N", factor.scalars())
    mass, *moments = inertia.scalars()
    trace.store("sum", FACTOR, factor.scalars())
    trace.store("sum", MOMENTS, moments)
    trace.store("sum", FORCE, (inertia @ a + factor.apply(v)).scalars())
    if mass != 0.0:
        trace.store("sum", MASS, [mass])
    if solved:
        _store_articulated(trace, inertia)
    return trace.body()


def placed(constants: Constants) -> LaneProgram:
    """The body of a loop from the root to the leaves without motions: writes the row's `own` axes and origin,
    s of its `joint`, and its `inertia`.
    """
    trace = LaneRecorder("placed_row", "A row of limbs: axes and inertias.")
    placement, s = _axes(trace, constants, coupled=False)
    trace.store("joint", AXIS, s.scalars())
    _store_articulated(trace, _inertia(trace, constants, placement))
    return trace.body()


def carrier_of(constants: Constants) -> str:
    """Where the motion of what carries a joint is: the row above, where no joint has several rows."""
    return "carrier" if constants.several else "up"


def _constant(trace: LaneRecorder, constants: Constants) -> Callable[[str], Scalar]:
    def constant(name: str) -> Scalar:
        place = constants.place(name)
        return 0.0 if place is None else trace.read("c", place)

    return constant


def _axes(trace: LaneRecorder, constants: Constants, *, coupled: bool) -> tuple[Placement, Motion]:
    """The row's frames, and s."""
    constant = _constant(trace, constants)
    x, y, z, p = (Vector3.of(constant(f"{name}_{part}") for part in "xyz") for name in "xyzp")
    slides = constants.place("sliding") is not None
    above = [trace.vector("up", AXES_AT + k) for k in (0, 3, 6, 9)]
    trace.begin("axes and origin: R = R_above R_0 Rz(q), p = p_above + R_above p_0")
    fixed = Placement(Rotation(*above[:3]), above[3]).compose(Placement(Rotation(x, y, z), p))
    sine, cosine = trace.read("sine"), trace.read("cosine")
    turn = Rotation(Vector3(cosine, sine, 0.0), Vector3(-sine, cosine, 0.0), AXES[2])
    slide = AXES[2].scaled(trace.read("slide")) if slides else Vector3.zero()
    placement = fixed.compose(Placement(turn, slide))
    turns = constant("turning") if coupled or slides else 1.0
    s = placement.act(Motion(AXES[2].scaled(constant("sliding")), AXES[2].scaled(turns)))
    axes = placement.rotation
    columns = [*axes.x.scalars(), *axes.y.scalars(), *axes.z.scalars(), *placement.translation.scalars()]
    trace.store("own", AXES_AT, columns)
    return placement, trace.let_motion("s", s)


def _velocities(trace: LaneRecorder, s: Motion, carrier: str, *, accelerating: bool) -> tuple[Motion, Motion]:
    trace.begin(
        "s, psidot = v_above x s, psiddot = a_above x s + v_above x psidot, v = v_above + s qdot, a = ..."
    )
    v, a = (trace.motion("up", at) for at in (VELOCITY, ACCELERATION))
    carrying = trace.motion(carrier, VELOCITY)
    psi = trace.let_motion("psi", carrying.cross(s))
    second = trace.motion(carrier, ACCELERATION).cross(s) + carrying.cross(psi)
    trace.store("joint", AXIS, s.scalars())
    trace.store("joint", RATE, psi.scaled(2.0).scalars())
    trace.store("joint", SECOND_RATE, second.scalars())
    rate = trace.read("rate")
    v = trace.let_motion("v", v + s.scaled(rate))
    if accelerating:
        a = a + s.scaled(trace.read("second"))
    a = trace.let_motion("a", a + psi.scaled(rate))
    trace.store("own", VELOCITY, [*v.scalars(), *a.scalars()])
    return v, a


def _inertia(trace: LaneRecorder, constants: Constants, placement: Placement) -> MomentInertia:
    """The inertia of the row's bodies about the origin of all."""
    trace.begin("h = R h_0 + m p, K = R K_0 R^T + p (R h_0)^T + h p^T")
    inertia = MomentInertia.of([*map(_constant(trace, constants), INERTIA)]).moved(placement)
    trace.let_all("i", inertia.scalars())
    return inertia


def _store_articulated(trace: LaneRecorder, inertia: MomentInertia) -> None:
    """The inertia of a body by itself as one that is articulated."""
    trace.begin("I = (m, -[h]; [h], tr(K) - K)")
    trace.store("inertia", 0, articulated_scalars(ArticulatedInertia.from_inertia(inertia)))


def composite(trace: LaneRecorder, constants: Constants) -> tuple[MomentInertia, CoriolisFactor, Force]:
    """The inertia, the Coriolis factor and the force of a subtree, from its `sum`."""
    mass: Scalar = trace.read("sum", MASS) if constants.massive else 0.0
    inertia = MomentInertia.of([mass, *trace.entries("sum", MOMENTS, 9)])
    force = Force.of(trace.entries("sum", FORCE, 6))
    return inertia, factor_of(trace.entries("sum", FACTOR, 12)), force


def articulated() -> LaneProgram:
    """The body of a loop from the leaves to the root over the `inertia` of articulated bodies: U = I s,
    D = s . U + `motor`, `gain` = K = U / D and 1 / D, and what is `left` of the inertia where the joint gives
    way (Featherstone, Rigid Body Dynamics Algorithms, section 7.3).
    """
    trace = LaneRecorder("articulated_row", "A row of limbs: articulated inertias.")
    trace.begin("U = I s, D = s . U, K = U / D")
    inertia = articulated_of(trace.entries("inertia", 0, INERTIA_SIZE))
    s = trace.motion("joint", AXIS)
    u = inertia @ s
    trace.let_all("U", u.scalars())
    inverse = trace.let("inverse", 1.0 / trace.let("D", s.dot(u) + trace.read("motor")))
    k = u.scaled(inverse)
    trace.let_all("K", k.scalars())
    trace.store("gain", 0, [*k.scalars(), inverse])
    trace.begin("I - K U^T")
    trace.store("left", 0, articulated_scalars(inertia.minus_product([k], [u])))
    return trace.body()


def corrected(constants: Constants) -> LaneProgram:
    """The body of a loop from the root to the leaves, after `forward` with no acceleration of the joints'
    own: adds what these, `second`, make of psiddot and the force; `own` holds what they make of the body's.
    """
    trace = LaneRecorder("corrected_row", "A row of limbs: what its joints' accelerations add.")
    trace.begin("a = a_above + s qddot, psiddot += a_above x s")
    s, above = trace.motion("joint", AXIS), trace.motion("up", ACCELERATION)
    carrying = trace.motion(carrier_of(constants), ACCELERATION)
    a = trace.let_motion("a", above + s.scaled(trace.read("second")))
    trace.store("own", ACCELERATION, a.scalars())
    trace.store("joint", SECOND_RATE, (trace.motion("joint", SECOND_RATE) + carrying.cross(s)).scalars())
    trace.begin("f += I a")
    inertia, _, force = composite(trace, constants)
    trace.store("sum", FORCE, (force + inertia @ a).scalars())
    return trace.body()


def backward(constants: Constants) -> LaneProgram:
    """The body of the loop from the leaves to the root: reads the `sum` of the row's subtrees and the `joint`
    columns that the loop before wrote, and writes the others, and F_a and t to `columns`. Where joints have
    several degrees of freedom, psidot + d s / dt takes the place of 2 psidot.
    """
    trace = LaneRecorder("backward_row", "A row of limbs: the forces of its joints.")
    whole, factor, force = composite(trace, constants)
    s, rate, second = (trace.motion("joint", at) for at in (AXIS, RATE, SECOND_RATE))
    trace.begin("F_q = B psidot + I psiddot + s x* f")
    by_q = factor.apply(rate) + whole @ second + s.cross_force(force)
    trace.store("joint", BY_Q, by_q.scalars())
    if constants.several:
        trace.begin("d s / dt = v x s of the joint's own body, F_v = B s + I (psidot + d s / dt)")
        psi = rate.scaled(0.5)
        rate = trace.let_motion("rate", psi + trace.motion("last", VELOCITY).cross(s))
        trace.store("joint", PSI, psi.angular.scalars())
        trace.store("joint", RATE, rate.scalars())
    else:
        trace.begin("F_v = B s + 2 I psidot")
    by_v = factor.apply(s + s) + whole @ rate
    trace.store("joint", BY_V, by_v.scalars())
    trace.begin("F_a = I s, t = B^T s")
    by_a = whole @ s
    trace.let_all("f", by_a.scalars())
    trace.store("joint", BY_A, by_a.scalars())
    transposed = factor.apply_transposed(s).angular.scaled(2.0)
    trace.store("columns", 0, [*by_a.scalars(), *transposed.scalars()])
    return trace.body()

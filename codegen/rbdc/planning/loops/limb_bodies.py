"""The loops over rows of limbs: kinematics, inertias and forces of the bodies, then composites and what each
joint gives to the matrices.

Everything is in one frame, [linear; angular], about its origin. With K the second moments of a body (or of
the subtree, C), h and m the first moment and the mass, (u, w) the velocity, p = m u + w x h and Q = u h^T +
[w] K:

    I (u, w) = (m u + w x h, tr(K) w - K w + h x u)
    B (u, w) = (-2 p x w, 2 (tr(Q) w - Q w))                       the factor of Coriolis terms, doubled
    F_q = B psidot + I psiddot + s x* f,   F_v = B s + 2 I psidot,   F_a = I s,   t = B^T s

(Singh, Russell and Wensing 2022, equations 12 to 15.) Regrouping leaves no mass to bodies on revolute joints:
most of this is then zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.emit.paths.constants import Constants
from rbdc.emit.paths.entries import (
    ACCELERATION,
    ANGULAR,
    AXES_AT,
    AXIS,
    BY_A,
    BY_Q,
    BY_V,
    FACTOR,
    FIRST,
    FORCE,
    JOINT_SIZE,
    LINEAR,
    MASS,
    MIXED,
    MOMENTUM,
    ORIGIN,
    RATE,
    SECOND,
    SECOND_RATE,
    SYMMETRIC,
    VELOCITY,
)
from rbdc.ir.lanes import LaneProgram
from rbdc.planning.loops.composites import Composite
from rbdc.planning.loops.lane_recording import LaneRecorder
from rbdc.spatial import Force, Motion, Scalar, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES


def forward(constants: Constants, *, coupled: bool = False, solved: bool = False) -> LaneProgram:
    """The body of the loop from the root to the leaves: reads the constants `c`, the row above `up`, and
    `sine`, `cosine`, `slide`, `rate` and `second` of the row's joints; writes the row's `own` motion, its
    `joint` columns, and the `sum` of its subtree's bodies. solved: accelerations of the joints' own are
    still to be found, so that there is no `second`, and the row's `inertia` is written for that.
    """
    trace = LaneRecorder("forward_row", "A row of limbs: motions, inertias and forces.")
    frame, s = _axes(trace, constants, coupled=coupled)
    v, a = _velocities(trace, s, carrier_of(constants.several), accelerating=not solved)
    k, h, mass = _inertia(trace, _constant(trace, constants), frame)
    trace.store("own", AXES_AT, [e for axis in frame for e in axis.scalars()])
    _forces(trace, k, h, mass, v, a)
    if solved:
        _store_inertia(trace, k, h, mass)
    return trace.body()


def placed(constants: Constants) -> LaneProgram:
    """The body of a loop from the root to the leaves without motions: writes the row's `own` axes and origin,
    s of its `joint`, and its `inertia`.
    """
    trace = LaneRecorder("placed_row", "A row of limbs: axes and inertias.")
    frame, s = _axes(trace, constants, coupled=False)
    trace.store("joint", AXIS, s.scalars())
    k, h, mass = _inertia(trace, _constant(trace, constants), frame)
    trace.store("own", AXES_AT, [e for axis in frame for e in axis.scalars()])
    _store_inertia(trace, k, h, mass)
    return trace.body()


def carrier_of(several: bool) -> str:
    """Where the motion of what carries a joint is: the row above, where no joint has several rows."""
    return "carrier" if several else "up"


def _constant(trace: LaneRecorder, constants: Constants) -> Callable[[str], Scalar]:
    def constant(name: str) -> Scalar:
        place = constants.place(name)
        return 0.0 if place is None else trace.read("c", place)

    return constant


def _axes(trace: LaneRecorder, constants: Constants, *, coupled: bool) -> tuple[tuple[Vector3, ...], Motion]:
    """x, y, z and origin of the row's frames, and s."""
    constant = _constant(trace, constants)

    def vector(name: str) -> Vector3:
        return Vector3.of(constant(f"{name}_{part}") for part in "xyz")

    turning, sliding = constant("turning"), constant("sliding")
    only_turns, scale = constants.place("sliding") is None, turning
    above = [trace.vector("up", AXES_AT + 3 * k) for k in range(3)]

    def rotated(v: Vector3) -> Vector3:
        return above[0].scaled(v.x) + above[1].scaled(v.y) + above[2].scaled(v.z)

    trace.begin("axes and origin: R = R_above R_0 Rz(q), p = p_above + R_above p_0")
    x0, y0, z = (
        trace.let_vector(name, rotated(vector(a))) for name, a in (("x0", "x"), ("y0", "y"), ("z", "z"))
    )
    sine, cosine = trace.read("sine"), trace.read("cosine")
    x = trace.let_vector("x", x0.scaled(cosine) + y0.scaled(sine))
    y = trace.let_vector("y", y0.scaled(cosine) - x0.scaled(sine))
    p = trace.vector("up", ORIGIN) + rotated(vector("p"))
    p = trace.let_vector("p", p if only_turns else p + z.scaled(trace.read("slide")))
    if coupled or not only_turns:
        s = Motion(
            p.cross(z).scaled(scale) + (Vector3.zero() if only_turns else z.scaled(sliding)), z.scaled(scale)
        )
    else:
        s = Motion(p.cross(z), z)
    return (x, y, z, p), s


def _velocities(trace: LaneRecorder, s: Motion, carrier: str, *, accelerating: bool) -> tuple[Motion, Motion]:
    trace.begin(
        "s, psidot = v_above x s, psiddot = a_above x s + v_above x psidot, v = v_above + s qdot, a = ..."
    )
    s = trace.let_motion("s", s)
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


def _inertia(
    trace: LaneRecorder, get: Callable[[str], Scalar], frame: tuple[Vector3, ...]
) -> tuple[Symmetric3, Vector3, Scalar]:
    """K, h and m about the origin of all."""
    x, y, z, p = frame
    trace.begin("h = R h_0 + m p, K = R K_0 R^T + p (R h_0)^T + (R h_0) p^T + m p p^T = sum of e b^T + b e^T")
    mass = trace.let("mass", get("mass"))
    moments = [
        x.scaled(get("k_xx")) + y.scaled(get("k_xy")) + z.scaled(get("k_xz")) + p.scaled(get("h_x")),
        y.scaled(get("k_yy")) + z.scaled(get("k_yz")) + p.scaled(get("h_y")),
        z.scaled(get("k_zz")) + p.scaled(get("h_z")),
    ]
    pairs = [(e, trace.let_vector(f"b{n}", b)) for n, e, b in zip((1, 2, 3), (x, y, z), moments, strict=True)]
    if mass != 0.0:
        pairs.append((p, trace.let_vector("mp", p.scaled(0.5 * mass))))

    def entry(i: int, j: int) -> Scalar:
        terms: Scalar = 0.0
        for e, b in pairs:
            left, right = e.scalars(), b.scalars()
            terms = terms + (
                2.0 * (left[i] * right[i]) if i == j else left[i] * right[j] + left[j] * right[i]
            )
        return terms

    k = trace.let_symmetric(
        "k", Symmetric3(*(entry(i, j) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))))
    )
    h = x.scaled(get("h_x")) + y.scaled(get("h_y")) + z.scaled(get("h_z")) + p.scaled(mass)
    return k, trace.let_vector("h", h), mass


def _forces(trace: LaneRecorder, k: Symmetric3, h: Vector3, mass: Scalar, v: Motion, a: Motion) -> None:
    trace.begin("p = m u + w x h, Q = u h^T + [w] K, f = I a + B v / 2")
    q, p = _factor(trace, k, h, mass, v)
    body = Composite(k, h, (q[0], q[1], q[2]), p, Force.zero(), mass)
    trace_k, trace_q = trace.let("trace_k", body.trace_k), trace.let("trace_q", body.trace_q)
    force = body.inertia_times(a, trace_k) + body.half_factor_times(v.angular, trace_q)
    _store_sum(trace, k, h, mass)
    _store_factor(trace, q, p)
    trace.store("sum", FORCE, force.scalars())


def _factor(
    trace: LaneRecorder, k: Symmetric3, h: Vector3, mass: Scalar, v: Motion
) -> tuple[list[Vector3], Vector3]:
    """The columns of Q, and p."""
    p = trace.let_vector("P", v.angular.cross(h) + v.linear.scaled(mass))
    columns = (k @ axis for axis in AXES)
    q = [
        trace.let_vector(f"Q{axis}", v.linear.scaled(part) + v.angular.cross(column))
        for axis, part, column in zip("xyz", h.scalars(), columns, strict=True)
    ]
    return q, p


def _store_factor(trace: LaneRecorder, q: list[Vector3], p: Vector3) -> None:
    trace.store("sum", FACTOR, [x for column in q for x in column.scalars()])
    trace.store("sum", MOMENTUM, p.scalars())


def _store_sum(trace: LaneRecorder, k: Symmetric3, h: Vector3, mass: Scalar) -> None:
    trace.store("sum", SECOND, [*k.scalars(), *h.scalars()])
    if mass != 0.0:
        trace.store("sum", MASS, [mass])


def _store_inertia(trace: LaneRecorder, k: Symmetric3, h: Vector3, mass: Scalar) -> None:
    """The inertia of a body by itself as one that is articulated."""
    trace.begin("I = (m, -[h]; [h], tr(K) - K)")
    whole = trace.let("trace_of_k", k.xx + k.yy + k.zz)
    trace.store("inertia", LINEAR, [mass if i == j else 0.0 for i, j in SYMMETRIC])
    trace.store("inertia", MIXED, [0.0, h.z, -h.y, -h.z, 0.0, h.x, h.y, -h.x, 0.0])
    angular = [whole - x if i == j else -x for x, (i, j) in zip(k.scalars(), SYMMETRIC, strict=True)]
    trace.store("inertia", ANGULAR, angular)


def composite(trace: LaneRecorder, array: str, *, massive: bool) -> Composite:
    """A subtree in an array of lanes."""
    k = trace.symmetric(array, SECOND)
    q = (trace.vector(array, FACTOR), trace.vector(array, FACTOR + 3), trace.vector(array, FACTOR + 6))
    mass: Scalar = trace.read(array, MASS) if massive else 0.0
    force = Force(trace.vector(array, FORCE), trace.vector(array, FORCE + 3))
    return Composite(k, trace.vector(array, FIRST), q, trace.vector(array, MOMENTUM), force, mass)


def articulated() -> LaneProgram:
    """The body of a loop from the leaves to the root over the `inertia` of articulated bodies: U = I s,
    D = s . U + `motor`, `gain` = K = U / D and 1 / D, and what is `left` of the inertia where the joint gives
    way (Featherstone, Rigid Body Dynamics Algorithms, section 7.3).
    """
    trace = LaneRecorder("articulated_row", "A row of limbs: articulated inertias.")
    trace.begin("U = I s, D = s . U, K = U / D")
    ll, aa = trace.symmetric("inertia", LINEAR), trace.symmetric("inertia", ANGULAR)
    la = [trace.vector("inertia", MIXED + 3 * n) for n in range(3)]
    s = trace.motion("joint", AXIS)
    al = [Vector3.of(row.scalars()[n] for row in la) for n in range(3)]
    six = s.scalars()
    rows = [(*_row(ll, n), *la[n].scalars()) for n in range(3)]
    rows += [(*al[n].scalars(), *_row(aa, n)) for n in range(3)]
    entries = [trace.let(f"U{n}", _paired(entries, six)) for n, entries in enumerate(rows)]
    u = Motion(Vector3.of(entries[:3]), Vector3.of(entries[3:]))
    d = trace.let("D", _paired(entries, six, trace.read("motor")))
    inverse = trace.let("inverse", 1.0 / d)
    k = trace.let_motion("K", u.scaled(inverse))
    trace.store("gain", 0, [*k.scalars(), inverse])
    trace.begin("I - K U^T")
    for start, left, right in ((LINEAR, k.linear, u.linear), (ANGULAR, k.angular, u.angular)):
        of = ll if start == LINEAR else aa
        pairs = zip(of.scalars(), SYMMETRIC, strict=True)
        trace.store("left", start, [x - left.scalars()[i] * right.scalars()[j] for x, (i, j) in pairs])
    for i in range(3):
        pairs = zip(la[i].scalars(), u.angular.scalars(), strict=True)
        trace.store("left", MIXED + 3 * i, [x - k.linear.scalars()[i] * y for x, y in pairs])
    return trace.body()


def _row(matrix: Symmetric3, n: int) -> tuple[Scalar, ...]:
    """A row of a symmetric matrix."""
    m = matrix
    return ((m.xx, m.xy, m.xz), (m.xy, m.yy, m.yz), (m.xz, m.yz, m.zz))[n]


def _paired(left: Sequence[Scalar], right: Sequence[Scalar], more: Scalar = 0.0) -> Scalar:
    """`more` and a product of six with six as three sums of two, which wait less for each other."""
    for n in (0, 2, 4):
        more = more + (left[n] * right[n] + left[n + 1] * right[n + 1])
    return more


def corrected(*, massive: bool, several: bool) -> LaneProgram:
    """The body of a loop from the root to the leaves, after `forward` with no acceleration of the joints'
    own: adds what these, `second`, make of psiddot and the force; `own` holds what they make of the body's.
    """
    trace = LaneRecorder("corrected_row", "A row of limbs: what its joints' accelerations add.")
    trace.begin("a = a_above + s qddot, psiddot += a_above x s")
    s, above = trace.motion("joint", AXIS), trace.motion("up", ACCELERATION)
    carrying = trace.motion(carrier_of(several), ACCELERATION)
    a = trace.let_motion("a", above + s.scaled(trace.read("second")))
    trace.store("own", ACCELERATION, a.scalars())
    trace.store("joint", SECOND_RATE, (trace.motion("joint", SECOND_RATE) + carrying.cross(s)).scalars())
    trace.begin("f += I a")
    body = composite(trace, "sum", massive=massive)
    force = body.force + body.inertia_times(a, trace.let("trace_k", body.trace_k))
    trace.store("sum", FORCE, force.scalars())
    return trace.body()


def backward(*, massive: bool, several: bool, inertia: bool = True) -> LaneProgram:
    """The body of the loop from the leaves to the root: reads the `sum` of the row's subtrees and the `joint`
    columns that the loop before wrote, and writes the others, F_a among them only with `inertia`, and F_a and
    t to `columns`. Where joints have `several` degrees of freedom, psidot + d s / dt takes the place of
    2 psidot.
    """
    trace = LaneRecorder("backward_row", "A row of limbs: the forces of its joints.")
    whole = composite(trace, "sum", massive=massive)
    s, rate, second = (trace.motion("joint", at) for at in (AXIS, RATE, SECOND_RATE))
    trace_k, trace_q = trace.let("trace_k", whole.trace_k), trace.let("trace_q", whole.trace_q)
    trace.begin("F_q = B psidot + I psiddot + s x* f")
    by_q = (
        whole.half_factor_times(rate.angular, trace_q)
        + whole.inertia_times(second, trace_k)
        + s.cross_force(whole.force)
    )
    trace.store("joint", BY_Q, by_q.scalars())
    if several:
        trace.begin("d s / dt = v x s of the joint's own body, F_v = B s + I (psidot + d s / dt)")
        psi = rate.scaled(0.5)
        rate = trace.let_motion("rate", psi + trace.motion("last", VELOCITY).cross(s))
        trace.store("joint", (JOINT_SIZE if inertia else BY_A), psi.angular.scalars())
        trace.store("joint", RATE, rate.scalars())
    else:
        trace.begin("F_v = B s + 2 I psidot")
    doubled = trace.let_vector("doubled", s.angular + s.angular)
    by_v = whole.half_factor_times(doubled, trace_q) + whole.inertia_times(rate, trace_k)
    trace.store("joint", BY_V, by_v.scalars())
    trace.begin("F_a = I s, t = B^T s")
    by_a = whole.inertia_times(s, trace_k)
    linear, angular = trace.let_vector("f", by_a.linear), trace.let_vector("n", by_a.angular)
    if inertia:
        trace.store("joint", BY_A, [*linear.scalars(), *angular.scalars()])
    half = whole.transposed_factor_times(s, trace_q)
    trace.store("columns", 0, [*linear.scalars(), *angular.scalars(), *half.scaled(2.0).scalars()])
    return trace.body()

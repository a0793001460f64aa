"""Second derivatives of inverse dynamics: Singh, Russell and Wensing, On Second-Order Derivatives of
Rigid-Body Dynamics, in the order of operations of their Algorithm 1 (IDSVA-SO), from the columns of `idsva`.

Each is a first derivative, by a degree of freedom n, of the torque of m, that changes along one k at or above
n. To the bodies that k carries a step along it looks as if the world beyond moved otherwise: a body of
velocity v_b has dv more, and da + dv x v_b more acceleration, where dv and da are

    psidot_k and psiddot_k by q_k,    s_k and psidot_k + sdot_k by v_k,    0 and s_k by a_k.

Thereby, as seen from k, psidot_n changes by dv x s_n, psiddot_n by da x s_n + 2 dv x psidot_n, sdot_n by dv x
s_n, B of a subtree by B(I, dv), and its f by B dv + I da. Joints above k also feel all forces turn with q_k,
by s_k x*.

With i the lower of m and n and j the higher, all pairs of an i and a k stand side by side, and then all
triples of one i (`rbdc.algorithms.reference.rows`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.algorithms.reference.derivatives.external_forces import turning_twice
from rbdc.algorithms.reference.derivatives.idsva import BodyCoriolis, Columns, Rates, Subtree
from rbdc.algorithms.reference.derivatives.tensors import Tensor, reduce_tensor, sum_of
from rbdc.algorithms.reference.frames import TreeMotions, motions_in
from rbdc.algorithms.reference.rnea import resistance_by_vv
from rbdc.algorithms.reference.rows import apart, picked, side_by_side, together
from rbdc.algorithms.tools.joint_coordinates import full_size
from rbdc.algorithms.tools.kinematics import subtree_sums, world_placements
from rbdc.algorithms.tools.linear import Matrix, flat, zeros
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Forces, Motion, Placement, Scalar, Scalars, Vector3

Tensors = tuple[Tensor, ...]
"""By q twice, by v twice, by q and v, and of M by q."""


def rnea_second_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv nv, nv each; row nv i + j, column k).

    Entry i, j, k is L_k (L_j tau_i), the paper's equation (17). External forces are constant in their
    bodies' frames, or in the world if the model has `world_forces`. Tests: complex-step of
    `idsva.rnea_derivatives`, Pinocchio.
    """
    qq, vv, qv, mq = map(flat, second_derivatives(model, q, v, a, fext))
    return qq, vv, qv, mq


def second_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The tensors (nv, nv, nv each)."""
    following, fixed = (None, fext) if model.world_forces else (fext, None)
    size = full_size(model)
    tensors = qq, vv, qv, mq = tuple([zeros(size, size) for _ in range(size)] for _ in range(4))
    _fill(tensors, _directions(model, q, v, a, following))
    for i, x in enumerate(resistance_by_vv(model, q, v)):
        vv[i][i][i] = vv[i][i][i] + x
    qq, vv, qv, mq = (reduce_tensor(model, tensor) for tensor in tensors)
    return qq if fixed is None else sum_of(qq, turning_twice(model, q, fixed)), vv, qv, mq


Six = tuple[Any, ...]
"""Changes along q_k of first derivatives by q, v and a, then along v_k of those by q and v, then along a_k of
that by q: numbers, or forces whose products with s_m they are.
"""


@dataclass(frozen=True)
class Directions:
    """All degrees of freedom of a tree side by side in one frame; for each its joint, and its path: those of
    its joint and of the joints above.
    """

    rates: Rates
    subtrees: Subtree
    columns: Columns
    joints: list[int]
    paths: list[list[int]]


def _directions(model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None) -> Directions:
    placements, gravity = _frame(model, q)
    at_rest, falling = Motion.zero(), Motion(-gravity, Vector3.zero())
    moving = motions_in(model, placements, v, a, falling)
    subtrees, rates, joints = _subtrees(model, moving, fext), list[Rates](), list[int]()
    for index, body in enumerate(model.bodies):
        root, velocity = body.parent == WORLD, moving.velocities[index]
        v_parent = at_rest if root else moving.velocities[body.parent]
        a_parent = falling if root else moving.accelerations[body.parent]
        rates += [Rates.of(s, v_parent, a_parent, velocity) for s in moving.columns[index]]
        joints += [index] * body.joint.nv
    paths = [[j for j, x in enumerate(joints) if x in set(model.support(joint))] for joint in joints]
    together_rates, carried = together(rates), together([subtrees[joint] for joint in joints])
    return Directions(together_rates, carried, carried.columns(together_rates), joints, paths)


def _frame(model: Model, q: Scalars) -> tuple[list[Placement], Vector3]:
    """The placements of the bodies and gravity in the one frame: the paper's ground frame, or that of the
    root body where the tree hangs on one free body, whose distance from the world's origin costs no digits.
    """
    world, roots = world_placements(model, q), model.children(WORLD)
    if len(roots) != 1 or not model.bodies[roots[0]].joint.free:
        return world, model.gravity
    root = world[roots[0]]
    inverse = root.inverse()
    return [inverse.compose(x) for x in world], root.rotation.apply_transposed(model.gravity)


def _subtrees(model: Model, moving: TreeMotions, fext: Forces | None) -> list[Subtree]:
    """By body; external forces are in the bodies' frames."""
    own = []
    for index, (body, x) in enumerate(zip(model.bodies, moving.world, strict=True)):
        inertia, velocity = body.inertia.moved(x), moving.velocities[index]
        force = inertia @ moving.accelerations[index] + velocity.cross_force(inertia @ velocity)
        force = force if fext is None else force - x.act_force(fext[index])
        own.append(Subtree(inertia, BodyCoriolis.of_body(inertia, velocity), force))
    return subtree_sums(model, moving.world, own, lambda _, x: x)


@dataclass(frozen=True)
class Pairs:
    """All pairs of an i and a k side by side. place: where a pair is. rates, transposed: changes of the rates
    and of B^T s of i along q_k and v_k. above, between, own: the six by i of torques of joints above that of
    k, of others above that of i, and of that of i.
    """

    place: dict[tuple[int, int], int]
    rates: tuple[Rates, Rates]
    transposed: tuple[Force, Force]
    above: Six
    between: Six
    own: Six


def _pairs(given: Directions) -> Pairs:
    pairs = [(i, k) for i, path in enumerate(given.paths) for k in path]
    lows, highs = map(list, zip(*pairs, strict=True))
    i, k, carried = picked(given.rates, lows), picked(given.rates, highs), picked(given.subtrees, lows)
    first = Columns(*picked(given.columns, lows))
    # A step of v_k moves no parent of a joint that k belongs to, but psidot is not asked for there.
    parts = side_by_side([1.0 if given.joints[i] == given.joints[k] else 2.0 for i, k in pairs])
    rates_q, rates_v = _moved(i, k.psi_rate, k.psi_second, 2.0), _moved(i, k.s, k.both_rates, parts)
    along_q, turned_q = _changed(carried, i, rates_q, k.psi_rate, k.psi_second)
    along_v, turned_v = _changed(carried, i, rates_v, k.s, k.both_rates)
    by_a, turned_a = carried.inertia @ k.s.cross(i.s), i.s.cross_force(carried.inertia @ k.s)
    zero = Force.zero()
    own = (along_q.by_q, along_q.by_v, zero, along_v.by_q, along_v.by_v, by_a)
    turned = (turned_q, zero, zero, turned_v, zero, turned_a)
    between = tuple(x + y for x, y in zip(own, turned, strict=True))
    climbing = (first.by_q + i.s.cross_force(carried.force), first.by_v, first.inertial)
    above = (*(x + k.s.cross_force(f) for x, f in zip(between, climbing, strict=False)), *between[3:])
    place = {pair: n for n, pair in enumerate(pairs)}
    return Pairs(place, (rates_q, rates_v), (along_q.transposed, along_v.transposed), above, between, own)


def _moved(rates: Rates, dv: Motion, da: Motion, parts: Scalar) -> Rates:
    """The change of rates as the motion of the world beyond changes by dv and da."""
    s = dv.cross(rates.s)
    return Rates(Motion.zero(), s, da.cross(rates.s) + dv.cross(rates.psi_rate).scaled(2.0), s.scaled(parts))


def _changed(carried: Subtree, i: Rates, rates: Rates, dv: Motion, da: Motion) -> tuple[Columns, Force]:
    """The change of the columns of i, whose rates change by `rates`, and that of s x* f."""
    factor, whole, inertia = BodyCoriolis.of_body(carried.inertia, dv), carried.factor, carried.inertia
    by_q = factor.apply(i.psi_rate) + whole.apply(rates.psi_rate) + inertia @ rates.psi_second
    by_v = factor.apply(i.s) + inertia @ rates.both_rates
    turned = i.s.cross_force(whole.apply(dv) + inertia @ da)
    return Columns(by_q, by_v, factor.apply_transposed(i.s), Force.zero()), turned


def _fill(tensors: Tensors, given: Directions) -> None:
    """Set the entries that are not zero, for each i those in which it is the lowest on its path."""
    joints, pairs = given.joints, _pairs(given)
    for i, path in enumerate(given.paths):
        both = [(j, k) for k in path for j in path]
        between = [(j, k) for j, k in both if joints[k] <= joints[j] < joints[i]]
        for six, places in (
            (pairs.above, [(j, k) for j, k in both if joints[j] < joints[k]]),
            (pairs.between, between),
            (pairs.own, [(j, k) for j, k in both if joints[j] == joints[i]]),
        ):
            forces = picked(six, [pairs.place[i, k] for _, k in places])
            s = picked(given.rates.s, [j for j, _ in places])
            for (j, k), values in _apart([s.dot(x) for x in forces], places):
                _set(tensors, (j, i, k), values, strictly=joints[k] != joints[i])
        for (j, k), values in _apart(_of_lowest(given, pairs, i, between), between):
            _set(tensors, (i, j, k), values, strictly=joints[k] != joints[j])


def _of_lowest(given: Directions, pairs: Pairs, i: int, between: Sequence[tuple[int, int]]) -> list[Scalar]:
    """The six of the torque of i for each n = j above it and k at or above j."""
    own = Columns(*picked(given.columns, [i] * len(between)))
    j = picked(given.rates, [j for j, _ in between])
    rates = picked(pairs.rates, [pairs.place[pair] for pair in between])
    transposed = picked(pairs.transposed, [pairs.place[i, k] for _, k in between])
    by_q, by_v = (
        (
            d.psi_rate.dot(own.transposed) + j.psi_rate.dot(x) + d.psi_second.dot(own.inertial),
            j.s.dot(x) + d.both_rates.dot(own.inertial),
        )
        for d, x in zip(rates, transposed, strict=True)
    )
    return [*by_q, 0.0, *by_v, rates[1].psi_rate.dot(own.inertial)]


def _apart(
    rows: Sequence[Scalar], places: Sequence[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], tuple[Scalar, ...]]]:
    """For each place its entries of the rows."""
    return zip(places, zip(*(apart(row, len(places)) for row in rows), strict=True), strict=True)


def _set(tensors: Tensors, place: tuple[int, int, int], six: Sequence[Scalar], *, strictly: bool) -> None:
    """The entries for the torque of m by n and k, for k strictly above n those for n and k too."""
    (qq, vv, qv, mq), (m, n, k) = tensors, place
    by_qq, by_vq, by_aq, by_qv, by_vv, by_qa = six
    qq[m][n][k], qv[m][k][n], mq[m][n][k], vv[m][n][k] = by_qq, by_vq, by_aq, by_vv
    if strictly:
        qq[m][k][n], qv[m][n][k], mq[m][k][n], vv[m][k][n] = by_qq, by_qv, by_qa, by_vv

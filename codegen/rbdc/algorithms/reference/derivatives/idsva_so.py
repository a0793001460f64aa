"""Second derivatives of inverse dynamics: Singh, Russell and Wensing, On Second-Order Derivatives of
Rigid-Body Dynamics, Algorithm 1 (IDSVA-SO).

Names and line numbers are the paper's; B has no factor 1/2, and f_i of line 22 is that of the subtree.
For joints k above j above i (each may be the same) with directions r, t and p, the algorithm forms what
depends on i alone (A0 .. A7), then on i and j (u1 .. u12), and takes every entry by one or two products
with what belongs to k. All pairs of i and j stand side by side, and then all triples of one i
(`rbdc.algorithms.reference.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.derivatives.external_forces import turning_twice
from rbdc.algorithms.reference.derivatives.idsva import BodyCoriolis, Rates, Subtree
from rbdc.algorithms.reference.derivatives.idsva_so_operators import Operators, Pair, Products
from rbdc.algorithms.reference.derivatives.tensors import Tensor, reduce_tensor, sum_of
from rbdc.algorithms.reference.frames import TreeMotions, motions_in
from rbdc.algorithms.reference.rnea import resistance_by_vv
from rbdc.algorithms.reference.rows import apart, picked, together
from rbdc.algorithms.tools.joint_coordinates import full_size
from rbdc.algorithms.tools.kinematics import subtree_sums, world_placements
from rbdc.algorithms.tools.linear import Matrix, flat, zeros
from rbdc.model import WORLD, Model
from rbdc.spatial import Forces, Motion, Placement, Scalars, Vector3

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


@dataclass(frozen=True)
class Directions:
    """All degrees of freedom of a tree side by side in one frame; for each its joint, and its path: those of
    its joint and of the joints above.
    """

    rates: Rates
    subtrees: Subtree
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
    return Directions(together_rates, carried, joints, paths)


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


def _fill(tensors: Tensors, given: Directions) -> None:
    """Set the entries that are not zero, for each i those in which it is the lowest on its path."""
    pairs = [(i, j) for i, path in enumerate(given.paths) for j in path]
    lows, highs = map(list, zip(*pairs, strict=True))
    operators = Operators.of(given.subtrees, given.rates)
    vectors, place = Pair.of(picked(operators, lows), picked(given.rates, highs)), 0
    for i, path in enumerate(given.paths):
        own = [(j, k) for j in range(len(path)) for k in path if given.joints[k] <= given.joints[path[j]]]
        products = Products.of(
            picked(vectors, [place + j for j, _ in own]), picked(given.rates, [k for _, k in own])
        )
        columns = zip(*(apart(x, len(own)) for x in products), strict=True)
        for (j, k), values in zip(own, columns, strict=True):
            _set(tensors, Products._make(values), (i, path[j], k), given.joints)
        place += len(path)


def _set(tensors: Tensors, u: Products, triple: tuple[int, int, int], joints: Sequence[int]) -> None:
    """Lines 40-67."""
    (qq, vv, qv, mq), (i, j, k) = tensors, triple
    qq[i][j][k], qv[i][k][j] = u.u8, -u.u11
    if joints[j] != joints[i]:
        qq[j][k][i] = qq[j][i][k] = u.u1
        qv[j][i][k], qv[j][k][i] = u.crossed, u.u11
        vv[j][k][i] = vv[j][i][k] = u.straight
        mq[k][j][i] = mq[j][k][i] = u.u2
    if joints[k] == joints[j]:
        vv[i][j][k] = -u.u2
        return
    qq[i][k][j], qq[k][i][j] = u.u8, u.u3
    vv[i][j][k] = vv[i][k][j] = -u.straight
    qv[i][j][k], qv[k][j][i] = u.u5, u.u6
    mq[k][i][j] = mq[i][k][j] = u.u9
    if joints[j] != joints[i]:
        qq[k][j][i], qv[k][i][j] = u.u3, u.u7
        vv[k][i][j] = vv[k][j][i] = u.u10
    else:
        vv[k][j][i] = u.u4

"""Second derivatives of inverse dynamics: Singh, Russell and Wensing, On Second-Order Derivatives of
Rigid-Body Dynamics, Algorithm 1 (IDSVA-SO).

Names and line numbers are the paper's; B has no factor 1/2, and f_i of line 22 is that of the subtree.
For joints k above j above i (each may be the same) with directions r, t and p, the algorithm forms what
depends on i alone (A0 .. A7), then on i and j (u1 .. u12), and takes every entry by one or two products
with what belongs to k. All pairs of i and j stand side by side, and then all triples of one i
(`rbdc.algorithms.reference.rows`).

All is in one frame: the paper's ground frame, or that of the root body where the tree hangs on one free
body, which the tensors do not depend on, and where that body's distance from the world's origin costs no
digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.derivatives.body_coriolis import BodyCoriolis
from rbdc.algorithms.reference.derivatives.external_forces import turning_twice
from rbdc.algorithms.reference.derivatives.idsva_so_operators import Operators, Pair, Products, Rates
from rbdc.algorithms.reference.derivatives.tensors import Tensor, reduce_tensor, rows_of, sum_of, zero_tensor
from rbdc.algorithms.reference.rnea import resistance_by_vv
from rbdc.algorithms.reference.rows import apart, picked, together
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, joint_velocities
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Forces, Motion, Placement, RigidInertia, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class Direction:
    """A degree of freedom: its joint, its number, and its columns."""

    joint: int
    dof: int
    rates: Rates


BY_POSITIONS, BY_VELOCITIES, BY_BOTH, BY_ACCELERATION = range(4)
"""The tensors: by q twice, by v twice, by q and v, and of M by q."""
Entries = dict[tuple[int, int, int, int], Scalar]
"""Entries of tensors, by which of them, the row, and the two variables."""


@dataclass(frozen=True)
class Subtrees:
    """By body, in the one frame: its directions, and composite inertia, B and the
    force of its subtree.
    """

    directions: list[list[Direction]]
    inertias: list[RigidInertia]
    factors: list[BodyCoriolis]
    forces: list[Force]


def rnea_second_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv nv, nv each; row nv i + j, column k).

    Entry i, j, k is L_k (L_j tau_i), the paper's equation (17). External forces are constant in their
    bodies' frames, or in the world if the model has `world_forces`. Tests: complex-step of
    `idsva.rnea_derivatives`, Pinocchio.
    """
    tensors = second_derivatives(model, q, v, a, fext, trace)
    qq, vv, qv, mq = (rows_of(reduce_tensor(model, tensor)) for tensor in tensors)
    return qq, vv, qv, mq


def second_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None, trace: Trace
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The tensors over all degrees of freedom of the tree."""
    fixed = fext if model.world_forces else None
    tensors = tuple(zero_tensor(full_size(model)) for _ in range(4))
    for entries in _by_lowest(model, q, v, a, None if model.world_forces else fext, trace):
        for (tensor, i, j, k), x in entries.items():
            tensors[tensor][i][j][k] = x
    qq, vv, qv, mq = tensors
    for i, x in enumerate(resistance_by_vv(model, q, v)):
        vv[i][i][i] = vv[i][i][i] + x
    return qq if fixed is None else sum_of(qq, turning_twice(model, q, fixed)), vv, qv, mq


def _by_lowest(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None, trace: Trace
) -> Iterator[Entries]:
    """The entries that are not zero: for each degree of freedom those in which it is the lowest on its
    path.
    """
    tree = _subtrees(model, q, v, a, fext, trace)
    directions = [d for own in tree.directions for d in own]
    paths = [list(_at_or_above(model, tree, d)) for d in directions]
    rates = together([d.rates for d in directions])
    operators = _operators(tree, directions, rates)
    pairs = Pair.of(
        picked(operators, [i for i, path in enumerate(paths) for _ in path]),
        picked(rates, [j.dof for path in paths for j in path]),
    )
    begin = 0
    for i, path in zip(directions, paths, strict=True):
        starts = {d.joint: place for place, d in reversed(list(enumerate(path)))}
        own = [(j, k) for j, d in enumerate(path) for k in range(starts[d.joint], len(path))]
        above = picked(pairs, [begin + j for j, _ in own])
        products = Products.of(above, picked(rates, [path[k].dof for _, k in own]))
        columns = zip(*(apart(x, len(own)) for x in products), strict=True)
        entries: Entries = {}
        for (j, k), values in zip(own, columns, strict=True):
            entries |= _entries(Products._make(values), i, path[j], path[k])
        yield entries
        begin += len(path)


def _operators(tree: Subtrees, directions: Sequence[Direction], rates: Rates) -> Operators:
    """Vectors of all degrees of freedom side by side."""
    joints = [d.joint for d in directions]
    return Operators.of(
        together([tree.inertias[k] for k in joints]),
        together([tree.factors[k] for k in joints]),
        together([tree.forces[k] for k in joints]),
        rates,
    )


def _entries(u: Products, i: Direction, j: Direction, k: Direction) -> Entries:
    """Lines 40-67."""
    qq, vv, qv, mq = BY_POSITIONS, BY_VELOCITIES, BY_BOTH, BY_ACCELERATION
    ip, jt, kr = i.dof, j.dof, k.dof
    entries: Entries = {(qq, ip, jt, kr): u.u8, (qv, ip, kr, jt): -u.u11}
    if j.joint != i.joint:
        entries[qq, jt, kr, ip] = entries[qq, jt, ip, kr] = u.u1
        entries[qv, jt, ip, kr] = u.crossed
        entries[qv, jt, kr, ip] = u.u11
        entries[vv, jt, kr, ip] = entries[vv, jt, ip, kr] = u.straight
        entries[mq, kr, jt, ip] = entries[mq, jt, kr, ip] = u.u2
    if k.joint == j.joint:
        entries[vv, ip, jt, kr] = -u.u2
        return entries
    entries[qq, ip, kr, jt] = u.u8
    entries[qq, kr, ip, jt] = u.u3
    entries[vv, ip, jt, kr] = entries[vv, ip, kr, jt] = -u.straight
    entries[qv, ip, jt, kr] = u.u5
    entries[qv, kr, jt, ip] = u.u6
    entries[mq, kr, ip, jt] = entries[mq, ip, kr, jt] = u.u9
    if j.joint != i.joint:
        entries[qq, kr, jt, ip] = u.u3
        entries[qv, kr, ip, jt] = u.u7
        entries[vv, kr, ip, jt] = entries[vv, kr, jt, ip] = u.u10
    else:
        entries[vv, kr, jt, ip] = u.u4
    return entries


def _at_or_above(model: Model, tree: Subtrees, of: Direction) -> Iterator[Direction]:
    """All directions of the joint, then of those above it."""
    joint = of.joint
    while joint != WORLD:
        yield from tree.directions[joint]
        joint = model.bodies[joint].parent


def frame_of(model: Model, q: Scalars) -> tuple[list[Placement], Vector3]:
    """The placements of the bodies in the one frame, and gravity there."""
    world = world_placements(model, q)
    roots = model.children(WORLD)
    if len(roots) == 1 and model.bodies[roots[0]].joint.free:
        root = world[roots[0]]
        inverse = root.inverse()
        return [inverse.compose(placement) for placement in world], root.rotation.apply_transposed(
            model.gravity
        )
    return world, model.gravity


def _subtrees(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None, trace: Trace
) -> Subtrees:
    """Lines 1-11 and 75-78."""
    placements, gravity = frame_of(model, q)
    rates, seconds, starts = joint_velocities(model, v), joint_velocities(model, a), first_dofs(model)
    velocities: list[Motion] = []
    accelerations: list[Motion] = []
    tree = Subtrees([], [], [], [])
    for index, body in enumerate(model.bodies):
        top = body.parent == WORLD
        v_parent = Motion.zero() if top else velocities[body.parent]
        a_parent = Motion(-gravity, Vector3.zero()) if top else accelerations[body.parent]
        here = placements[index]
        rate = here.act(body.joint.motion(rates[index]))
        velocities.append(v_parent + rate)
        accelerations.append(
            a_parent + here.act(body.joint.motion(seconds[index])) + velocities[index].cross(rate)
        )
        own = []
        for k, column in enumerate(body.joint.subspace()):
            s = here.act(column)
            rates_of_s = Rates.of(s, v_parent, a_parent, velocities[index])
            own.append(Direction(index, starts[index] + k, rates_of_s))
        tree.directions.append(own)
        inertia: RigidInertia = body.inertia.moved(here)
        force = inertia @ accelerations[index] + velocities[index].cross_force(inertia @ velocities[index])
        tree.inertias.append(inertia)
        tree.factors.append(BodyCoriolis.of_body(inertia, velocities[index]))
        tree.forces.append(force if fext is None else force - here.act_force(fext[index]))
        values = [*velocities[index].scalars(), *accelerations[index].scalars(), *force.scalars()]
        trace(body.name, "v, a, f in the one frame", f"m{index}", values)
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent != WORLD:
            tree.inertias[parent] = tree.inertias[parent] + tree.inertias[index]
            tree.factors[parent] = tree.factors[parent] + tree.factors[index]
            tree.forces[parent] = tree.forces[parent] + tree.forces[index]
    return tree

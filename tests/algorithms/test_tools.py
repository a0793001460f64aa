"""The tools that generated algorithms and references share, in numbers against NumPy alone: 4x4 and 6x6
matrices written out here, its solvers, matrix exponentials.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from rbdc.algorithms import body_motion
from rbdc.algorithms.body_motion import subtree_sums
from rbdc.algorithms.reference.rnea import body_velocities, joint_torques
from rbdc.algorithms.tools import joint_coordinates, kinematics
from rbdc.algorithms.tools.linear import (
    Factorisation,
    InverseFactor,
    dot,
    flat,
    identity,
    mirrored,
    plus_diagonal,
    transposed,
    zeros,
)
from rbdc.algorithms.tools.numbers import Entries, Numbers
from rbdc.model import Problem
from rbdc.model.joints import JointType
from rbdc.spatial import Force, Motion, Placement
from tests.support import Array, assert_close
from tests.support_trees import mimic_tree, random_tree

TOLERANCE = 1e-13
TREES = (*range(8), "coupled")


@cache
def tree(which: int | str) -> Problem:
    """Return a random tree, the first eight with every joint type at the root, or one with coupled joints."""
    return mimic_tree("coupled") if isinstance(which, str) else random_tree(which)


def coupling_matrix(model: Problem) -> Array:
    """Return G (nfull, nv): the velocity of the full tree is G v."""
    rows = []
    for body in model.bodies:
        for k in range(body.joint.nv):
            row = np.zeros(model.nv)
            leader = body if body.coupling is None else model.bodies[body.coupling.leader]
            row[leader.index_v + k] = 1.0 if body.coupling is None else body.coupling.multiplier
            rows.append(row)
    return np.array(rows)


def state(model: Problem) -> tuple[Array, Array]:
    """Return a configuration with unit quaternions and unit pairs of cosine and sine, and a velocity."""
    rng = np.random.default_rng(5)
    q = rng.uniform(-2.0, 2.0, model.nq)
    for index, body in enumerate(model.bodies):
        if body.coupling is None and not body.joint.euclidean:
            entries = q[model.q_slice(index)]
            unit = entries[body.joint.lengths :]
            unit /= np.linalg.norm(unit)
    return q, rng.standard_normal(model.nv)


def cross(w: Array) -> Array:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def exponential(a: Array) -> Array:
    """Return e^A by its power series, scaled and squared."""
    total, term = np.eye(len(a)), np.eye(len(a))
    for k in range(1, 20):
        term = term @ (a / 64.0) / k
        total = total + term
    for _ in range(6):
        total = total @ total
    return total


def joint_matrix(joint: JointType, q: Array) -> Array:
    """Return the 4x4 matrix of a joint at its configuration."""
    columns = np.array([s.scalars() for s in joint.subspace()], dtype=float)
    matrix = np.eye(4)
    if joint.nq == 1:
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = cross(columns[0, 3:]), columns[0, :3]
        return exponential(twist * q[0])
    if joint.kind == "planar":
        spin = cross(columns[2, 3:])
        matrix[:3, :3] = np.eye(3) + q[3] * spin + (1.0 - q[2]) * spin @ spin
        matrix[:3, 3] = q[0] * columns[0, :3] + q[1] * columns[1, :3]
        return matrix
    vector = cross(q[-4:-1])
    matrix[:3, :3] = np.eye(3) + 2.0 * q[-1] * vector + 2.0 * vector @ vector
    matrix[:3, 3] = q[:-4] if joint.nq == 7 else 0.0
    return matrix


def matrix(placement: Placement) -> Array:
    entries = np.eye(4)
    entries[:3, :3], entries[:3, 3] = placement.rotation.rows(), placement.translation.scalars()
    return entries


def links(model: Problem, q: Array) -> list[Array]:
    """Return the 4x4 matrix of each body in its parent."""
    matrices = []
    for index, body in enumerate(model.bodies):
        entries, follow = q[model.q_slice(index)], body.coupling
        if follow is not None:
            leader = model.bodies[follow.leader]
            entries = follow.multiplier * q[leader.index_q : leader.index_q + 1] + follow.offset
        matrices.append(matrix(body.placement) @ joint_matrix(body.joint, entries))
    return matrices


def world_of(model: Problem, q: Array) -> list[Array]:
    """Return the 4x4 matrix of each body in the world."""
    in_parents, placements = links(model, q), []
    for index in range(model.njoints):
        whole = np.eye(4)
        for k in model.support(index):
            whole = whole @ in_parents[k]
        placements.append(whole)
    return placements


def motion_matrix(placement: Array) -> Array:
    """Return X: motions [linear; angular] of the child's frame in the parent's, [R, [p] R; 0, R]."""
    r, p = placement[:3, :3], placement[:3, 3]
    return np.block([[r, cross(p) @ r], [np.zeros((3, 3)), r]])


def jacobians(model: Problem, q: Array) -> list[Array]:
    """Return J_i (6, nfull) of each body in its own frame: X_i^-1 X_k S_k for the joints k that carry it."""
    world = [motion_matrix(x) for x in world_of(model, q)]
    starts = np.cumsum([0, *(body.joint.nv for body in model.bodies)])
    matrices = []
    for index in range(model.njoints):
        jacobian = np.zeros((6, starts[-1]))
        for k in model.support(index):
            columns = np.array([s.scalars() for s in model.bodies[k].joint.subspace()], dtype=float).T
            jacobian[:, starts[k] : starts[k + 1]] = np.linalg.solve(world[index], world[k] @ columns)
        matrices.append(jacobian)
    return matrices


@pytest.mark.parametrize("which", TREES)
def test_coupling(which: int | str) -> None:
    """Velocities, vectors, columns and matrices by G."""
    model, rng = tree(which), np.random.default_rng(2)
    g = coupling_matrix(model)
    v, full = rng.standard_normal(model.nv), rng.standard_normal(len(g))
    square = rng.standard_normal((len(g), len(g)))
    assert joint_coordinates.full_size(model) == len(g)
    rates = joint_coordinates.joint_velocities(model, v.tolist())
    assert_close(np.concatenate(rates), g @ v, TOLERANCE)
    assert_close(joint_coordinates.reduce_vector(model, full.tolist()), g.T @ full, TOLERANCE)
    assert_close(joint_coordinates.reduce_columns(model, square.tolist()), square @ g, TOLERANCE)
    assert_close(joint_coordinates.reduce_matrix(model, square.tolist()), g.T @ square @ g, TOLERANCE)
    table = joint_coordinates.dof_table(model)
    assert [(column, factor) for column, factor, _ in table] == [
        (int(np.flatnonzero(row)[0]), float(row[row != 0.0][0])) for row in g
    ]
    carried = [index for _, _, index in table]
    assert [carried.index(index) for index in range(model.njoints)] == joint_coordinates.first_dofs(model)
    assert carried == sorted(carried)


def test_positions_of_followers() -> None:
    model, q = tree("coupled"), np.array([0.5, -1.0, 2.0])
    positions = joint_coordinates.joint_positions(model, q.tolist())
    offsets = [0.0 if body.coupling is None else body.coupling.offset for body in model.bodies]
    assert_close(np.concatenate(positions), coupling_matrix(model) @ q + offsets, TOLERANCE)
    assert np.count_nonzero(offsets) >= 2


@pytest.mark.parametrize("which", TREES)
def test_placements(which: int | str) -> None:
    model = tree(which)
    q, _ = state(model)
    for placements, expected in (
        (kinematics.joint_placements(model, q.tolist()), links(model, q)),
        (kinematics.world_placements(model, q.tolist()), world_of(model, q)),
    ):
        assert_close(np.array([matrix(x) for x in placements], dtype=float), np.array(expected), TOLERANCE)


@pytest.mark.parametrize("which", TREES)
def test_velocities_and_torques(which: int | str) -> None:
    """v_i = J_i G v, tau = G^T sum J_i^T f_i."""
    model = tree(which)
    q, v = state(model)
    m, columns = Numbers(model, q.tolist(), v.tolist()), jacobians(model, q)
    expected = [jacobian @ coupling_matrix(model) @ v for jacobian in columns]
    for velocities in (body_motion.body_velocities(m), body_velocities(m)):
        motions = [x.scalars() for x in m.in_order(velocities)]
        assert_close(np.array(motions), np.array(expected), TOLERANCE)
    forces = np.random.default_rng(3).standard_normal((model.njoints, 6))
    on_bodies = m.array("f", Force)
    for b in m.down():
        on_bodies[b] = Force.of(forces[b.at].tolist())
    torques = m.reduced_vector(joint_torques(m, on_bodies))
    work = sum(jacobian.T @ f for jacobian, f in zip(columns, forces, strict=True))
    assert_close(torques, coupling_matrix(model).T @ work, TOLERANCE)


@pytest.mark.parametrize("which", TREES)
def test_subtrees(which: int | str) -> None:
    """Forces by X^-T, inertias by X^-T I X^-1, summed over all that a joint carries."""
    model = tree(which)
    q, _ = state(model)
    world, rng = world_of(model, q), np.random.default_rng(4)
    forces = rng.standard_normal((model.njoints, 6))
    of_bodies = [six_by_six(model, index) for index in range(model.njoints)]
    m = Numbers(model, q.tolist())
    on_bodies = Entries(known={k: Force.of(f.tolist()) for k, f in enumerate(forces)})
    totals = m.in_order(subtree_sums(m, on_bodies))
    inertias = m.in_order(subtree_sums(m, Entries(known={b.at: b.inertia() for b in m.bodies})))
    motion = Motion.of(rng.standard_normal(6).tolist())
    for index in range(model.njoints):
        force, inertia = np.zeros(6), np.zeros((6, 6))
        for k in (k for k in range(model.njoints) if index in model.support(k)):
            back = np.linalg.solve(motion_matrix(world[k]), motion_matrix(world[index]))
            force, inertia = force + back.T @ forces[k], inertia + back.T @ of_bodies[k] @ back
        assert_close(totals[index].scalars(), force, TOLERANCE)
        assert_close((inertias[index] @ motion).scalars(), inertia @ motion.scalars(), TOLERANCE)


def six_by_six(model: Problem, index: int) -> Array:
    """Return [m 1, -[h]; [h], J] of a body."""
    inertia = model.bodies[index].inertia
    moment = cross(np.array(inertia.first_moment.scalars(), dtype=float))
    about = np.array(inertia.about_origin.rows(), dtype=float)
    return np.block([[float(inertia.mass) * np.eye(3), -moment], [moment, about]])


def test_matrices() -> None:
    rng = np.random.default_rng(0)
    a, x, y = rng.standard_normal((4, 3)), rng.standard_normal(3), rng.standard_normal(3)
    square = rng.standard_normal((3, 3))
    assert_close(transposed(a.tolist()), a.T, 0.0)
    assert_close(flat(a.tolist()), a.ravel(), 0.0)
    assert_close(zeros(2, 5), np.zeros((2, 5)), 0.0)
    assert_close(identity(3), np.eye(3), 0.0)
    assert_close(mirrored(square.tolist()), np.tril(square) + np.tril(square, -1).T, 0.0)
    assert_close(dot(x.tolist(), y.tolist()), x @ y, TOLERANCE)
    assert dot([0.0, 0.0], [3.0, np.inf]) == 0.0  # a constant zero is no term, whatever it would multiply
    assert_close(plus_diagonal(square.tolist(), x.tolist()), square + np.diag(x), TOLERANCE)


BRANCHES = (-1, 0, 1, 1, 3, 0, 5)
"""Each row's parent in a tree: what is on two branches has zeros between them."""


def inertia_of_branches() -> Array:
    """Return a positive definite matrix with the zeros of a tree."""
    rng = np.random.default_rng(1)
    total, size = np.zeros((len(BRANCHES), len(BRANCHES))), len(BRANCHES)
    for leaf in range(size):
        path, at = np.zeros(size), leaf
        while at >= 0:
            path[at], at = rng.standard_normal(), BRANCHES[at]
        total += np.outer(path, path) + 0.1 * np.diag(path != 0.0)
    return total


def test_factors() -> None:
    """A = L^T D L, solutions and inverses; the zeros between branches are constants."""
    a, rng = inertia_of_branches(), np.random.default_rng(6)
    rows = [[float(x) if x else 0.0 for x in row] for row in a]
    factors, b = Factorisation(rows), rng.standard_normal(len(a))
    inverse, size = InverseFactor(factors), len(a)
    lower = np.eye(size) + np.array(factors.lower)
    assert_close(lower.T @ np.diag(1.0 / np.array(factors.inverse_pivots)) @ lower, a, TOLERANCE)
    assert np.array_equal(np.array(factors.lower) != 0.0, np.tril(a != 0.0, -1))
    assert_close((np.eye(size) + np.array(inverse.rows)) @ lower, np.eye(size), TOLERANCE)
    solved, inverted = np.linalg.solve(a, b), np.linalg.inv(a)
    for solution in (factors.solve(b.tolist()), inverse.solve(b.tolist())):
        assert_close(solution, solved, 1e-12)
    for whole in (factors.inverse(), inverse.inverse(), inverse.symmetric_inverse()):
        assert_close(whole, inverted, 1e-12)
        assert np.array_equal(np.array(whole), np.array(whole).T)

"""The errata page: each error as printed and corrected, in numbers, beside a check that knows neither form:
complex steps, differences, energies, the constraint of a joint.

The functions are those that `docs/errata.md` names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.derivatives import carpentier_mansard, idsva, idsva_so
from rbdc.algorithms.reference.lagrangian import backward_dynamics, forward_kinematics
from rbdc.algorithms.reference.rnea import body_velocities, forward_pass, joint_torques, rnea
from rbdc.algorithms.tools.kinematics import joint_placements, world_placements
from rbdc.algorithms.tools.machine import Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.model import WORLD, Problem
from rbdc.model.families import tree
from rbdc.model.joints import Prismatic, Spherical
from rbdc.report.studies.first_order import D_FD, D_ID, FD, FD_FD, FD_ID, ROWS
from rbdc.report.studies.inertia_inverse import ADDED, CORRECTIONS, FIRST, LATER, inverse
from rbdc.report.studies.sensitivity import by_differences
from rbdc.resources import resolve
from rbdc.spatial import Force, Motion, Vector3
from tests.support import Array

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
STEP = 1e-30
WRONG, RIGHT = 1e-2, 1e-9
"""Relative to the largest entry: a form that fails errs by more, one that passes by less."""

Lists = list[float]


def branching(bodies: int = 6) -> Problem:
    """Return a binary tree of revolute joints with skewed axes."""
    return tree(bodies, 2.0)


def state(model: Problem, seed: int = 0) -> tuple[Lists, Lists, Lists]:
    """Return q, v and a."""
    rng = np.random.default_rng(seed)
    q, v, a = (rng.normal(size=model.nv).tolist() for _ in range(3))
    return q, v, a


def off(values: Any, right: Any) -> float:
    """Return the largest difference relative to the largest entry."""
    expected = np.asarray(right, dtype=float)
    return float(np.abs(np.asarray(values, dtype=float) - expected).max() / np.abs(expected).max())


def complex_step(f: Callable[[list[Any]], Any], x: Sequence[float]) -> Array:
    """Return the derivatives of f by the entries of x, in the last dimension."""
    columns = []
    for k in range(len(x)):
        moved: list[Any] = list(x)
        moved[k] = x[k] + 1j * STEP
        columns.append(np.imag(np.asarray(f(moved), dtype=complex)) / STEP)
    return np.stack(columns, axis=-1)


def weightless(model: Problem) -> Problem:
    return replace(model, gravity=Vector3.zero())


def by_energy(model: Problem, q: Lists, v: Lists, a: Lists) -> Array:
    """Return M a + (dM/dt) v - d(v^T M v / 2)/dq: Lagrange's equations without gravity."""
    m, slopes = np.array(crba(model, q), dtype=float), complex_step(lambda x: crba(model, x), q)
    change = np.einsum("ijk,k->ij", slopes, v)
    return np.asarray(m @ a + change @ v - 0.5 * np.einsum("ijk,i,j->k", slopes, v, v))


def motion_cross(s: Motion, f: Force) -> Force:
    """Return s x f, as if the force were a motion."""
    crossed = s.cross(Motion(f.linear, f.angular))
    return Force(crossed.linear, crossed.angular)


# Caron: Recursive Newton-Euler algorithm


def test_caron_spherical_joint() -> None:
    assert Spherical().nv == 3
    turns = np.array([s.angular.scalars() for s in Spherical().subspace()])
    assert np.linalg.matrix_rank(turns) == 3, "two velocities cannot reach all angular velocities"
    assert np.linalg.matrix_rank(turns[:2]) == 2


def test_caron_external_forces() -> None:
    """Torques against the work of the forces along each joint, the bodies' motion by complex steps."""
    model = weightless(branching())
    q, _, _ = state(model)
    zero, rng = [0.0] * model.nv, np.random.default_rng(1)
    forces = [Force(Vector3(*rng.normal(size=3)), Vector3(*rng.normal(size=3))) for _ in model.bodies]
    poses = world_placements(model, q)
    work = np.zeros(model.nv)
    for k in range(model.nv):
        moved: list[Any] = list(q)
        moved[k] += 1j * STEP
        for pose, to, force in zip(poses, world_placements(model, moved), forces, strict=True):
            turn = np.imag(np.array(to.rotation.rows())) / STEP @ np.array(pose.rotation.rows()).T
            turning = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
            sliding = np.imag(np.array(to.translation.scalars())) / STEP
            sliding = sliding - np.cross(turning, pose.translation.scalars())
            work[k] += sliding @ force.linear.scalars() + turning @ force.angular.scalars()
    printed = []
    for pose, force in zip(poses, forces, strict=True):
        mapped = pose.act_inverse(Motion(force.linear, force.angular))
        printed.append(Force(mapped.linear, mapped.angular))
    corrected = [pose.act_inverse_force(f) for pose, f in zip(poses, forces, strict=True)]
    assert off(rnea(model, q, zero, zero, printed), -work) > WRONG
    assert off(rnea(model, q, zero, zero, corrected), -work) < RIGHT


def test_caron_acceleration_of_the_root() -> None:
    """Gravity's torque against the slope of the potential energy."""
    model = branching()
    q, _, _ = state(model)
    zero = [0.0] * model.nv
    printed = np.array([0.0, 0.0, 9.81])
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        np.eye(6) @ printed  # iXp maps the parent's acceleration

    def potential(x: list[Any]) -> Any:
        heights = zip(model.bodies, world_placements(model, x), strict=True)
        moments = [
            pose.translation.scaled(body.inertia.mass) + pose.rotation.apply(body.inertia.first_moment)
            for body, pose in heights
        ]
        return [sum(-model.gravity.dot(moment) for moment in moments)]

    slope = complex_step(potential, q)[0]
    corrected = Motion(-model.gravity, Vector3.zero())
    assert [*corrected.scalars()] == [0.0, 0.0, 9.81, 0.0, 0.0, 0.0]
    assert off(rnea(model, q, zero, zero), slope) < RIGHT


def test_caron_number_of_links() -> None:
    """The line of the complete program that n = len(qd) ends, and with n = len(qd) - 1, as the first excerpt
    has it: lists begin with the root, joints with 1.
    """
    qd = [np.zeros(0), np.zeros(1), np.zeros(3)]

    def torques(n: int) -> list[Array]:
        return [np.empty(qd[i].shape) for i in range(n + 1)]

    with pytest.raises(IndexError):
        torques(len(qd))
    assert [array.shape for array in torques(len(qd) - 1)] == [array.shape for array in qd]


def test_caron_cross_products() -> None:
    """A single product for motions and forces is compared with the two products, by Lagrange's equations."""
    model = weightless(branching())
    q, v, a = state(model)
    m = Numbers(model, q, v, a)
    velocities, accelerations = forward_pass(m)
    right = by_energy(model, q, v, a)
    for cross, passes in ((motion_cross, False), (Motion.cross_force, True)):
        forces = m.array("f", Force)
        for b in m.down():
            forces[b] = b.inertia() @ accelerations[b] + cross(velocities[b], b.inertia() @ velocities[b])
        error = off(m.in_order(joint_torques(m, forces)), right)
        assert error < RIGHT if passes else error > WRONG


# Carpentier: Analytical inverse of the joint space inertia matrix


@pytest.mark.parametrize(
    ("lacking", "model"), [(ADDED, tree(4)), (FIRST, tree(4)), (LATER, tree(5, 2.0)), (ADDED, tree(5, 2.0))]
)
def test_carpentier_algorithm_1(lacking: str, model: Problem) -> None:
    """All corrections together give M, and without any one of them the result is wrong."""
    q, _, _ = state(model)
    m, unit = np.array(crba(model, q), dtype=float), np.eye(model.nv)
    assert np.abs(inverse(model, q) @ m - unit).max() > WRONG
    others = [correction for correction in CORRECTIONS if correction != lacking]
    assert np.abs(inverse(model, q, others) @ m - unit).max() > WRONG
    assert np.abs(inverse(model, q, CORRECTIONS) @ m - unit).max() < RIGHT


# Carpentier and Mansard: Analytical derivatives of rigid body dynamics algorithms


@pytest.mark.parametrize(("joint", "printed_fails"), [("slide", True), ("turn", False)])
def test_carpentier_mansard_equation_14(joint: str, printed_fails: bool) -> None:
    """The joint slides; for a joint that turns about an axis through its own frame both products agree."""
    model = branching()
    if joint == "slide":
        bodies = [replace(b, joint=Prismatic(Vector3(0.0, 0.6, 0.8))) for b in model.bodies]
        model = replace(model, bodies=tuple(bodies))
    q, _, _ = state(model)
    rng, index = np.random.default_rng(1), 3
    f = Force(Vector3(*rng.normal(size=3)), Vector3(*rng.normal(size=3)))
    slope = complex_step(lambda x: joint_placements(model, x)[index].act_force(f).scalars(), q)[:, index]
    (s,) = model.bodies[index].joint.subspace()
    to_parent = joint_placements(model, q)[index].act_force
    printed, corrected = (off(to_parent(x).scalars(), slope) for x in (motion_cross(s, f), s.cross_force(f)))
    assert printed > WRONG if printed_fails else printed < RIGHT
    assert corrected < RIGHT


def by_velocity(model: Problem, q: Lists, v: Lists, *, last_term: bool) -> Array:
    """Return dtau/dv by Algorithms 2 and 3, the last term of line 5, v x dv_J, as section III-C5 has it or
    kept.
    """
    m = Numbers(model, q, v)
    velocities, columns = body_velocities(m), []
    for k in range(model.nv):
        dv, da = (m.array(name, Motion, Motion.zero()) for name in ("dv", "da"))
        forces = m.array("df", Force)
        for b in m.down():
            (column,), inertia, velocity = b.columns(), b.inertia(), velocities[b]
            dv[b], da[b] = b.from_parent(dv[b.parent]), b.from_parent(da[b.parent])
            if b.at == k:
                dv.add(b, column.s)
            da.add(b, dv[b].cross(b.motion(b.rates())))
            if b.at == k and last_term:
                da.add(b, velocity.cross(column.s))
            turned = dv[b].cross_force(inertia @ velocity) + velocity.cross_force(inertia @ dv[b])
            forces[b] = inertia @ da[b] + turned
        columns.append(m.in_order(joint_torques(m, forces)))
    return np.array(columns, dtype=float).T


def test_carpentier_mansard_section_3_c_5() -> None:
    model = branching()
    q, v, a = state(model)
    right = complex_step(lambda x: rnea(model, q, x, a), v)
    assert off(by_velocity(model, q, v, last_term=False), right) > WRONG
    assert off(by_velocity(model, q, v, last_term=True), right) < RIGHT


def test_carpentier_mansard_equation_16b() -> None:
    model = branching()
    q, v, tau = state(model)
    right = complex_step(lambda x: aba(model, q, x, tau), v)
    slope = complex_step(lambda x: rnea(model, q, x, [0.0] * model.nv), v)  # dC/dv v + C
    printed = np.linalg.solve(np.array(crba(model, q), dtype=float), slope)
    assert off(printed, right) > WRONG
    assert off(-printed, right) < RIGHT


def test_carpentier_mansard_section_5_b() -> None:
    """At rest without gravity one-sided differences leave h times tau(q, e_k), without rounding: a step 1024
    times as large leaves 1024 times as much. Central differences, whose terms round alike, leave nothing.
    """
    model = weightless(branching())
    q, _, _ = state(model)
    zero = [0.0] * model.nv

    def torque(k: int, rate: float) -> Array:
        return np.array(rnea(model, q, [rate * (i == k) for i in range(model.nv)], zero), dtype=float)

    h = 2.0**-26
    left = np.array([(torque(k, h) - torque(k, 0.0)) / h for k in range(model.nv)])
    wider = np.array([(torque(k, 1024.0 * h) - torque(k, 0.0)) / (1024.0 * h) for k in range(model.nv)])
    central = np.array([(torque(k, h) - torque(k, -h)) / (2.0 * h) for k in range(model.nv)])
    truncation = h * np.array([torque(k, 1.0) for k in range(model.nv)])
    assert np.abs(left).max() > 1e-10
    np.testing.assert_array_equal(left, truncation)
    np.testing.assert_array_equal(wider, 1024.0 * left)
    assert not central.any()


def test_carpentier_mansard_table_1() -> None:
    """Sections V and VI state ratios of Table I; the test compares them with the quotients of its rows."""

    published = {row.label: row.paper for row in ROWS}

    def quotients(one: str, other: str) -> list[float]:
        return [a / b for a, b in zip(published[one], published[other], strict=True)]

    assert max(quotients(D_FD, FD)) == pytest.approx(4.61, abs=0.005)  # "at most 4"
    differences = quotients(FD_ID, D_ID)
    assert (min(differences), max(differences)) == pytest.approx((6.37, 27.1), abs=0.05)  # "7 to 26"
    assert max(differences) < 30.0  # "about 40 times faster on a humanoid"
    forward = quotients(FD_FD, D_FD)
    assert (min(forward), max(forward)) == pytest.approx((3.92, 10.4), abs=0.005)  # "4 up to 10"


def test_carpentier_mansard_section_6() -> None:
    """Of the 3 N^2 derivatives of a chain one vanishes, that of the last torque by its own velocity: writing
    the others takes quadratic time.
    """
    for n in (3, 6, 12):
        model = tree(n, 1.0)
        matrices = np.array(carpentier_mansard.rnea_derivatives(model, *state(model)), dtype=float)
        assert np.count_nonzero(np.abs(matrices) > 1e-12 * np.abs(matrices).max()) == 3 * n**2 - 1


# Singh, Russell and Wensing: On second-order derivatives of rigid-body dynamics


def test_singh_algorithm_1_line_22(monkeypatch: pytest.MonkeyPatch) -> None:
    """d2tau/dq2 with the force of the body alone, and with that of its subtree."""
    model = branching()
    q, v, a = state(model)
    right = complex_step(lambda x: idsva.rnea_derivatives(model, x, v, a)[0], q)
    shape = (model.nv,) * 3
    corrected = np.array(idsva_so.rnea_second_derivatives(model, q, v, a)[0], dtype=float).reshape(shape)
    whole = idsva.in_motion

    def alone(m: Machine) -> Any:
        rates, subtrees = whole(m)
        for b in m.down():
            if not b.rooted:
                above = subtrees[b.parent]
                subtrees[b.parent] = replace(above, force=above.force - subtrees[b].force)
        return rates, subtrees

    monkeypatch.setattr(idsva_so, "in_motion", alone)
    printed = np.array(idsva_so.rnea_second_derivatives(model, q, v, a)[0], dtype=float).reshape(shape)
    assert off(printed, right) > WRONG
    assert off(corrected, right) < RIGHT


def test_singh_bicomplex_numbers() -> None:
    """The second derivative of x^3 by equation (54), with numbers a + i1 b + i2 c, and with those that have
    a part along i1 i2.
    """
    x, h = 0.7, 1e-20

    def product(one: Lists, other: Lists, *, three: bool) -> Lists:
        (a, b, c, d), (e, f, g, k) = one, other
        parts = [a * e - b * f - c * g + d * k, a * f + b * e - c * k - d * g, a * g + c * e - b * k - d * f]
        return [*parts, 0.0 if three else a * k + d * e + b * g + c * f]

    for three in (True, False):
        moved = [x, h, h, 0.0]
        cube = product(product(moved, moved, three=three), moved, three=three)
        second = cube[3] / h**2
        assert second == (0.0 if three else pytest.approx(6.0 * x, rel=1e-12))


# Zhakatayev, Rogovchenko and Paetzold: Recursive inverse dynamics sensitivity analysis


def test_zhakatayev_transformations() -> None:
    """A joint keeps its place on the body that carries it, at whatever q: T_i by all matrices A before it,
    and by those on its path.
    """
    model = branching()
    for i, body in enumerate(model.bodies):
        if body.parent == WORLD:
            continue
        places: dict[str, list[Array]] = {"printed": [], "corrected": []}
        for seed in (0, 1):
            q, _, _ = state(model, seed)
            local = joint_placements(model, q)
            product = local[0]
            for k in range(1, i + 1):
                product = product.compose(local[k])
            world = world_placements(model, q)
            for name, pose in (("printed", product), ("corrected", world[i])):
                in_parent = world[body.parent].inverse().compose(pose)
                places[name].append(np.array(in_parent.translation.scalars()))
        fixed = {name: bool(np.abs(one - other).max() < 1e-12) for name, (one, other) in places.items()}
        assert fixed["corrected"]
        assert fixed["printed"] == (list(model.support(i)) == list(range(i + 1))), "right on chains alone"


def human() -> tuple[dict[int, list[int]], Problem]:
    """Return the children of each joint of the article's human, by numbers from 1, and its model."""
    model = Problem.from_file(resolve("human43"))
    return {i + 1: [child + 1 for child in model.children(i)] for i in range(model.njoints)}, model


def test_zhakatayev_section_2_2() -> None:
    """No child has the number 1 in any joint graph, simplified or not; only a graph of branches has no node
    with one child.
    """
    children, _ = human()
    complex_nodes = [i for i, below in children.items() if len(below) > 1]
    starts = [1, *(child for i in complex_nodes for child in children[i])]
    branches = {}
    for start in starts:
        end = start
        while len(children[end]) == 1:
            (end,) = children[end]
        branches[start] = children[end]
    assert len(branches) == 7
    for graph, simplified in ((children, False), (branches, True)):
        assert all(child != 1 for below in graph.values() for child in below), "printed"
        assert all(len(below) != 1 for below in graph.values()) is simplified, "corrected"


def test_zhakatayev_figure_2() -> None:
    """Links of the human that are not virtual, which have no mass: ten in the caption, 20 in section 5.1."""
    _, model = human()
    assert model.nv == 43
    assert sum(body.inertia.mass > 0.0 for body in model.bodies) == 20


def test_zhakatayev_equation_14() -> None:
    """dH_i/dqdot_m of a chain, i = 1 and m = p = 2, as printed and without the term in B_p, which belongs to
    the row of dH_i/dq_m that is not there.
    """
    model, i, p = tree(5, 1.0), 1, 2
    q, v, a = state(model)

    def carried(*motion: Any) -> Any:
        m = Numbers(model, *motion)
        return [h.rows for h in m.in_order(backward_dynamics(m, *forward_kinematics(m)).h)]

    slopes = {
        "q": complex_step(lambda x: carried(x, v, a), q)[..., p],
        "qdot": complex_step(lambda x: carried(q, x, a), v)[..., p],
    }
    m = Numbers(model, q, v, a)
    joint = m.in_order(forward_kinematics(m)[0])[p]
    passed = {name: np.array(joint.a.rows, dtype=float) @ slope[p] for name, slope in slopes.items()}
    term = np.array(joint.b.rows, dtype=float) @ np.array(carried(q, v, a)[p], dtype=float)
    assert off(passed["qdot"] + term, slopes["qdot"][i]) > WRONG
    assert off(passed["qdot"], slopes["qdot"][i]) < RIGHT
    assert off(passed["q"] + term, slopes["q"][i]) < RIGHT


@pytest.mark.parametrize("torque_vanishes", [True, False])
def test_zhakatayev_section_6(torque_vanishes: bool) -> None:
    """The slope of the torque by a coordinate that is zero: differences with steps relative to it are lost
    whether the torque vanishes or not, those with constant steps are right in both cases.
    """
    along_the_link = Vector3(9.81, 0.0, 0.0)
    gravity = along_the_link if torque_vanishes else Vector3(9.81, -9.81, 0.0)
    model, q, v, a = replace(tree(1), gravity=gravity), [0.0], [0.0], [0.0]
    (torque,) = rnea(model, q, v, a)
    assert (abs(float(torque)) < 1e-12) == torque_vanishes
    exact = complex_step(lambda x: rnea(model, x, v, a), q)
    states = [np.array([x]) for x in (q, v, a)]

    def torques(*x: Array) -> Array:
        return np.array([rnea(model, *(part[0].tolist() for part in x))], dtype=float)

    relative, constant = (
        by_differences(torques, states, steps)[0][0]
        for steps in ([6e-6 * np.abs(x) for x in states], [np.full(x.shape, 6e-6) for x in states])
    )
    assert not np.isfinite(relative).any(), "a step of zero"
    assert np.abs(constant - exact).max() < 1e-8
    assert np.abs(exact).max() > 1.0


# The page


def test_the_page_names_every_test() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_(?:caron|carpentier|singh|zhakatayev)\w+)`", text))
    defined = {name for name in globals() if re.match(r"test_(caron|carpentier|singh|zhakatayev)_", name)}
    assert named == defined

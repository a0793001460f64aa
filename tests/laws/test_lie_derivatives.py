"""Lie derivatives of Singh, Russell and Wensing on random trees with every joint type: their definitions (9)
to (11), (16) and (17), the identities K1 to K16 of appendix B, and equations (12) to (39).

Checked against dual numbers in the tangent space, once and twice, through quantities and torques.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives
from rbdc.algorithms.reference.dual_numbers import along
from rbdc.algorithms.reference.homogeneous import Matrix4
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import rnea
from rbdc.model import Problem
from rbdc.spatial import Motion, Scalar, Scalars
from tests.support import Array, assert_close, slow_but
from tests.support_lie import Tree, tree
from tests.support_tensors import cross, cross_force, swapped

TREES = slow_but(range(8), (1,), (0, 2))
"""On a free root; of the next two on a fixed one every joint type moves."""

Expected = Callable[[Tree, int, int, int], Array]
"""What belongs to a degree of freedom or a body i, a direction j, and the body whose subtree is meant."""


def _by_inertia(name: str) -> Expected:
    """The change of an inertia that moves along."""

    def expected(t: Tree, _: int, j: int, b: int) -> Array:
        bracket: Array = cross_force(t.x["S"][j]) @ t.x[name][b] - t.x[name][b] @ cross(t.x["S"][j])
        return bracket

    return expected


def _psi(t: Tree, j: int) -> Array:
    return cross(t.x["Psidot"][j])


def _s(t: Tree, j: int) -> Array:
    return cross(t.x["S"][j])


def _by_force(inertia: str, force: str, coriolis: str) -> Expected:
    def expected(t: Tree, _: int, j: int, b: int) -> Array:
        turned = swapped(t.x[force][b]) @ t.x["S"][j]
        moved: Array = t.x[inertia][b] @ t.x["Psiddot"][j] + 2.0 * t.x[coriolis][b] @ t.x["Psidot"][j]
        sums: Array = moved + turned
        return sums

    return expected


IDENTITIES: dict[str, tuple[str, str, Expected]] = {
    "K1": ("S", "q", lambda t, i, j, _: _s(t, j) @ t.x["S"][i]),
    "K2": ("Sdot", "q", lambda t, i, j, _: _psi(t, j) @ t.x["S"][i] + _s(t, j) @ t.x["Sdot"][i]),
    "K3": ("SqxS", "q", lambda t, i, j, _: _s(t, j) @ t.x["SqxS"][i]),
    "K4": ("Psidot", "q", lambda t, i, j, _: _psi(t, j) @ t.x["S"][i] + _s(t, j) @ t.x["Psidot"][i]),
    "K5": ("I", "q", _by_inertia("I")),
    "K6": ("IC", "q", _by_inertia("IC")),
    "K7": (
        "a",
        "q",
        lambda t, i, j, _: (
            t.x["Psiddot"][j] - cross(t.x["v"][i]) @ t.x["Psidot"][j] - cross(t.x["a"][i]) @ t.x["S"][j]
        ),
    ),
    "K8": (
        "Ia",
        "q",
        lambda t, i, j, _: (
            cross_force(t.x["S"][j]) @ t.x["Ia"][i]
            + t.x["I"][i] @ (t.x["Psiddot"][j] - cross(t.x["v"][i]) @ t.x["Psidot"][j])
        ),
    ),
    "K9": (
        "Psiddot",
        "q",
        lambda t, i, j, _: (
            cross(t.x["Psiddot"][j]) @ t.x["S"][i]
            + 2.0 * _psi(t, j) @ t.x["Psidot"][i]
            + _s(t, j) @ t.x["Psiddot"][i]
        ),
    ),
    "K10": ("BC", "q", lambda t, i, j, b: t.coriolis(b, t.x["Psidot"][j]) + _by_inertia("BC")(t, i, j, b)),
    "K11": ("f", "q", _by_force("I", "f", "B")),
    "K12": ("fC", "q", _by_force("IC", "fC", "BC")),
    "K13": ("S", "q", lambda t, i, j, _: -t.x["S"][i] @ cross_force(t.x["S"][j])),
    "K14": ("Sdot", "v", lambda t, i, j, _: _s(t, j) @ t.x["S"][i]),
    "K15": ("Psidot", "v", lambda t, i, j, _: _s(t, j) @ t.x["S"][i]),
    "K16": ("BC", "v", lambda t, _, j, b: t.coriolis(b, t.x["S"][j])),
}
"""By what a quantity is differentiated, and the result where joint j is at or above i; it is zero elsewhere,
but for quantities of subtrees, of which the part that j carries changes.
"""
OF_SUBTREES = ("IC", "BC", "fC")
OF_COLUMNS = ("S", "Sdot", "SqxS", "Psidot", "Psiddot")


@pytest.mark.parametrize("name", IDENTITIES)
@pytest.mark.parametrize("seed", TREES)
def test_derivative_of_a_quantity(seed: int, name: str) -> None:
    t = tree(seed)
    quantity, by, expected = IDENTITIES[name]
    slopes, right = t.slopes[by][quantity], np.zeros_like(t.slopes[by][quantity])
    for i, j in product(range(len(slopes)), range(t.model.nv)):
        body, moving = t.body[i] if quantity in OF_COLUMNS else i, t.body[j]
        if t.at_or_above(moving, body) and not (name == "K15" and moving == body):
            right[i, ..., j] = expected(t, i, j, body)
        elif quantity in OF_SUBTREES and t.at_or_above(body, moving):
            right[i, ..., j] = expected(t, i, j, moving)
    assert_close(slopes, right, 1e-11, what=name)
    assert np.abs(right).max() > 1e-3, "both sides vanish"


Formula = Callable[[Tree, int, int, int], float]


def _a(t: Tree, i: int) -> tuple[Array, Array]:
    """The operators of (24) that belong to the subtree of i: of Psidot and of Psiddot."""
    b = t.body[i]
    first = t.coriolis(b, t.x["Psidot"][i]) + _by_inertia("BC")(t, 0, i, b)
    return 2.0 * first, _by_inertia("IC")(t, 0, i, b)


def _24(t: Tree, i: int, j: int, k: int) -> float:
    first, then = _a(t, k)
    return float(t.x["S"][i] @ (first @ t.x["Psidot"][j] + then @ t.x["Psiddot"][j]))


def _23(t: Tree, i: int, j: int, k: int) -> float:
    by_q, b = t.slopes["q"], t.body[i]
    changed = 2.0 * by_q["BC"][b, ..., k] @ t.x["Psidot"][j] + by_q["IC"][b, ..., k] @ t.x["Psiddot"][j]
    return float(t.x["S"][i] @ changed)


def _26(t: Tree, i: int, j: int, k: int) -> float:
    by_q, b = t.slopes["q"], t.body[i]
    turned = t.x["IC"][b] @ by_q["S"][i, :, k]
    return float(t.x["S"][j] @ (by_q["IC"][b, ..., k] @ t.x["S"][i] + turned))


def _28(t: Tree, i: int, j: int, k: int) -> float:
    by_v, b = t.slopes["v"], t.body[i]
    turned = t.x["IC"][b] @ (by_v["Psidot"][j, :, k] + by_v["Sdot"][j, :, k])
    return float(t.x["S"][i] @ (2.0 * by_v["BC"][b, ..., k] @ t.x["S"][j] + turned))


def _29(t: Tree, i: int, j: int, k: int) -> float:
    b, s = t.body[i], t.x["S"]
    return float(2.0 * s[i] @ (t.coriolis(b, s[k]) @ s[j] + t.x["IC"][b] @ cross(s[k]) @ s[j]))


def _30(t: Tree, i: int, j: int, k: int) -> float:
    b, s = t.body[i], t.x["S"]
    crossed = t.x["IC"][b] @ cross(s[k]) @ s[j]
    return float(2.0 * s[i] @ (t.coriolis(b, s[j]) @ s[k] - crossed + crossed))


CASES = {
    "B": lambda t, i, j, k: t.at_or_above(j, k) and j != k and t.at_or_above(k, i),
    "C": lambda t, i, j, k: t.at_or_above(j, i) and t.at_or_above(i, k) and i != k,
    "kji": lambda t, i, j, k: t.at_or_above(k, j) and k != j and t.at_or_above(j, i),
}
"""Orders of the joints: j < k <= i (case B), j <= i < k (case C) and k < j <= i."""
SECOND: dict[str, tuple[str, str, Formula, Formula]] = {
    "(23)": ("C", "qq", lambda t, i, j, k: t.second["qq"][i, j, k], _23),
    "(24)": ("C", "qq", lambda t, i, j, k: t.second["qq"][i, j, k], _24),
    "(26)": ("B", "aq", lambda t, i, j, k: t.second["aq"][j, i, k], _26),
    "(27)": (
        "B",
        "aq",
        lambda t, i, j, k: t.second["aq"][j, i, k],
        lambda t, i, j, k: float(t.x["S"][j] @ cross_force(t.x["S"][k]) @ t.x["IC"][t.body[i]] @ t.x["S"][i]),
    ),
    "(28)": ("kji", "vv", lambda t, i, j, k: t.second["vv"][i, j, k], _28),
    "(29)": ("kji", "vv", lambda t, i, j, k: t.second["vv"][i, j, k], _29),
    "(30), (31)": ("kji", "vv", lambda t, i, j, k: t.second["vv"][i, j, k], _30),
    "(32), (38)": (
        "kji",
        "vv",
        lambda t, i, j, k: t.second["vv"][i, j, k],
        lambda t, i, j, k: float(-2.0 * t.x["S"][j] @ t.coriolis(t.body[i], t.x["S"][i]) @ t.x["S"][k]),
    ),
    "(34)": ("C", "qq", lambda t, i, j, k: t.second["qq"][i, j, k], _24),
    "(35)": ("C", "qq", lambda t, i, j, k: t.second["qq"][i, k, j], _24),
    "(36)": (
        "kji",
        "aq",
        lambda t, i, j, k: t.second["aq"][k, i, j],
        lambda t, i, j, k: float(t.x["S"][k] @ swapped(t.x["IC"][t.body[i]] @ t.x["S"][i]) @ t.x["S"][j]),
    ),
    "(37)": (
        "kji",
        "aq",
        lambda t, i, j, k: t.second["aq"][i, k, j],
        lambda t, i, j, k: t.second["aq"][k, i, j],
    ),
    "(39)": (
        "kji",
        "vv",
        lambda t, i, j, k: t.second["vv"][i, k, j],
        lambda t, i, j, k: t.second["vv"][i, j, k],
    ),
}
"""The order of the joints, the tensor whose size is the scale, and both sides of each equation."""


@pytest.mark.parametrize("name", SECOND)
@pytest.mark.parametrize("seed", TREES)
def test_second_derivative_of_torques(seed: int, name: str) -> None:
    t = tree(seed)
    order, scale, left, right = SECOND[name]
    triples = [x for x in product(range(t.model.nv), repeat=3) if CASES[order](t, *(t.body[k] for k in x))]
    values, expected = ([side(t, *x) for x in triples] for side in (left, right))
    assert_close(values, expected, 1e-11, float(np.abs(t.second[scale]).max()), name)
    assert len(triples) > t.model.nv


@pytest.mark.parametrize("seed", TREES)
def test_first_derivatives_of_torques(seed: int) -> None:
    """Equations (12a), (12b), (13a), (13b), with (15), and (25), of M."""
    t = tree(seed)
    x, n = t.x, t.model.nv
    matrices = {by: np.zeros((n, n)) for by in "qva"}
    for i, j in product(range(n), repeat=2):
        b, s = t.body[i], x["S"]
        if not t.at_or_above(t.body[j], b):
            continue
        by_q = 2.0 * x["BC"][b] @ x["Psidot"][j] + x["IC"][b] @ x["Psiddot"][j]
        by_v = 2.0 * x["BC"][b] @ s[j] + x["IC"][b] @ (x["Psidot"][j] + x["Sdot"][j])
        matrices["q"][i, j], matrices["v"][i, j] = s[i] @ by_q, s[i] @ by_v
        matrices["a"][j, i] = matrices["a"][i, j] = s[j] @ x["IC"][b] @ s[i]
        if t.body[j] != b:
            turned = swapped(x["fC"][b]) @ s[i]
            own_q = 2.0 * x["BC"][b] @ x["Psidot"][i] + x["IC"][b] @ x["Psiddot"][i]
            own_v = 2.0 * x["BC"][b] @ s[i] + x["IC"][b] @ (x["Psidot"][i] + x["Sdot"][i])
            matrices["q"][j, i], matrices["v"][j, i] = s[j] @ (own_q + turned), s[j] @ own_v
    for by, matrix in matrices.items():
        assert_close(matrix, t.first[by], 1e-11, what=by)


@pytest.mark.parametrize("seed", TREES)
def test_definitions(seed: int) -> None:
    """(9) and (11): the limit of differences along flows; (16) and (17): the tensors of IDSVA-SO,
    L_k (L_j f); (33): of qv and vq.
    """
    t = tree(seed)
    n, step = t.model.nv, 1e-5
    for j in range(n):
        ends = []
        for h in (step, -step):
            q = integrate(t.model, t.q, (h * np.eye(n)[j]).tolist())
            ends.append(np.array(rnea(t.model, q, t.v, t.a), dtype=float))
        slope = (ends[0] - ends[1]) / (2.0 * step)
        assert_close(slope, t.first["q"][:, j], 1e-7, float(np.abs(t.first["q"]).max()))
    tensors = second_derivatives(t.model, t.q, t.v, t.a, None)
    for name, tensor in zip(("qq", "vv", "qv", "aq"), tensors, strict=True):
        assert_close(np.array(tensor, dtype=float), t.second[name], 1e-11, what=name)
    assert_close(t.second["qv"], t.second["vq"].transpose(0, 2, 1), 1e-11)


@pytest.mark.parametrize("seed", TREES)
def test_fields_of_one_joint_commute_as_their_generators(seed: int) -> None:
    """(17): L_j L_k f - L_k L_j f = L_[j,k] f, along the field of s_j x s_k for j and k of one joint, else
    zero.
    """
    t = tree(seed)
    qq, n = t.second["qq"], t.model.nv
    expected = np.zeros_like(qq)
    for j, k in product(range(n), repeat=2):
        if t.body[j] == t.body[k]:
            directions = [i for i in range(n) if t.body[i] == t.body[j]]
            s = np.array([t.x["S"][i] for i in directions]).T
            along_fields = np.linalg.lstsq(s, cross(t.x["S"][j]) @ t.x["S"][k], rcond=None)[0]
            expected[:, j, k] = t.first["q"][:, directions] @ along_fields
    assert_close(qq.transpose(0, 2, 1) - qq, expected, 1e-11, float(np.abs(qq).max()))


@pytest.mark.parametrize("seed", TREES)
def test_fields_of_joints(seed: int) -> None:
    """(10): the pose of a joint moves by T E along the field of a generator E."""
    t = tree(seed)
    model = t.model
    for index, body in enumerate(model.bodies):

        def pose(model: Problem, q: Scalars, index: int = index) -> list[Scalar]:
            return Matrix4.of_placement(
                model.bodies[index].joint.placement(q[model.q_slice(index)])
            ).scalars()

        for j, s in zip(range(model.nv)[model.v_slice(index)], body.joint.subspace(), strict=True):
            units = [np.eye(model.nv)[j].tolist()]
            (slope,) = along(model, t.q, method=pose, configurations=(True,), directions=units)
            moved = Matrix4.of(pose(model, t.q)) @ Matrix4.of_twist(Motion.of(s.scalars()))
            assert_close(np.array(slope, dtype=float), np.array(moved.scalars(), dtype=float), 1e-13)

"""Scalars side by side in the references: numbers, arrays, rounded scalars and any others give what they give
one by one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rbdc import Joint, Link
from rbdc.algorithms.reference.derivatives.idsva_so import rnea_second_derivatives
from rbdc.algorithms.reference.dual_numbers import picked, scalars_of, side_by_side, together
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import EntryPart
from rbdc.model import Problem
from rbdc.spatial import Scalar, Vector3
from rbdc.verification.expected import References
from rbdc.verification.package import TOLERANCES
from rbdc.verification.rounded import REPLICAS, Rounded, Rounding, values_of
from rbdc.verification.states import Checked, questions
from tests.support import Array
from tests.support_trees import random_inertia, random_tree

STEP = 1e-10
RNG = np.random.default_rng(0)


ROUNDING = Rounding(STEP, 1)


def rounded(values: Array) -> Rounded:
    return Rounded(np.broadcast_to(values, (1 + REPLICAS, len(values))), ROUNDING)


def plain(x: Scalar) -> Scalar:
    return x.x if isinstance(x, Opaque) else x


class Opaque:
    """A scalar that has arithmetic, and nothing else."""

    def __init__(self, x: float) -> None:
        self.x = x

    def __add__(self, other: Scalar) -> Opaque:
        return Opaque(self.x + plain(other))

    __radd__ = __add__

    def __mul__(self, other: Scalar) -> Opaque:
        return Opaque(self.x * plain(other))

    __rmul__ = __mul__

    def __neg__(self) -> Opaque:
        return Opaque(-self.x)

    def __sub__(self, other: Scalar) -> Opaque:
        return Opaque(self.x - plain(other))

    def __rsub__(self, other: Scalar) -> Opaque:
        return Opaque(plain(other) - self.x)


KINDS: dict[str, Callable[[float], Scalar]] = {
    "numbers": float,
    "complex": lambda x: complex(x, 1.0),
    "arrays": lambda x: np.array([x, 2.0 * x, -x]),
    "rounded": lambda x: rounded(np.array([x, 2.0 * x])),
    "opaque": Opaque,
}


def value_of(x: Scalar) -> Array:
    if isinstance(x, Rounded):
        return np.array(x.values[0])
    return np.array(plain(x))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_their_scalars(kind: str) -> None:
    """Operands may be rows of plain numbers, one scalar, or a constant zero."""
    a, b, bare = (list(map(float, RNG.standard_normal(4))) for _ in range(3))
    of = KINDS[kind]
    x, y, single = list(map(of, a)), list(map(of, b)), 0.5 if kind == "opaque" else of(0.5)
    rows = side_by_side(x), side_by_side(y), side_by_side(bare)
    total = rows[0] * rows[1] - rows[2] * rows[0] + single * rows[0] + side_by_side([0.0] * 4)
    expected = [p * q - r * p + single * p for p, q, r in zip(x, y, bare, strict=True)]
    for scalar, right in zip(scalars_of(total, 4), expected, strict=True):
        np.testing.assert_allclose(value_of(scalar), value_of(right), rtol=1e-14)
    for scalar, right in zip(
        scalars_of(picked(total, [3, 1, 1]), 3), (expected[k] for k in (3, 1, 1)), strict=True
    ):
        np.testing.assert_allclose(value_of(scalar), value_of(right), rtol=1e-14)


def test_structures_of_rows() -> None:
    vectors = [Vector3(*map(float, row)) for row in RNG.standard_normal((5, 3))]
    crossed = picked(together(vectors), [0, 1]).cross(picked(together(vectors), [2, 3]))
    for k in (0, 1):
        right = vectors[k].cross(vectors[k + 2])
        assert [scalars_of(x, 2)[k] for x in crossed.scalars()] == pytest.approx(right.scalars())


def test_each_scalar_of_a_row_is_rounded_by_itself() -> None:
    row = side_by_side([rounded(np.ones(2)) for _ in range(5000)])
    off = (row * 2.0).values / 2.0 - 1.0
    assert not off[:, 0].any()
    assert 0.0 < np.abs(off).max() <= STEP
    assert len(np.unique(off[:4000, 1, 0])) > 3900


def test_operations_that_round_nothing_are_exact() -> None:
    x = rounded(np.ones(2))
    assert x * 1.0 is x + 0.0 is x - 0.0 is x / 1.0 is 0.0 + x is 1.0 * x is x
    assert x * 0.0 == 0.0 * x == 0.0


def test_products_of_rounded_matrices() -> None:
    """Right in the first copy; in the others off by about what single products and sums are off by."""
    a, b = RNG.standard_normal((6, 5)), RNG.standard_normal((5, 7))
    left, right = ([[rounded(np.array([x, -x])) for x in row] for row in matrix] for matrix in (a, b))
    product = np.array([[values_of(x) for x in row] for row in left[0][0].matrix_product(left, right)])
    single = np.array(
        [
            [
                values_of(sum(p * q for p, q in zip(row, column, strict=True)))
                for column in zip(*right, strict=True)
            ]
            for row in left
        ]
    )
    np.testing.assert_allclose(product[:, :, 0], np.stack([a @ b, a @ b], axis=2), rtol=1e-13)
    spread, usual = (np.std(x[:, :, 1:] - x[:, :, :1]) for x in (product, single))
    assert 0.3 * usual < spread < 3.0 * usual


@pytest.mark.parametrize("kind", ["floating", "revolute"])
def test_columns_that_are_numbers(kind: str) -> None:
    """The columns of a joint at the root are constants in its own frame; what goes with them is not."""
    links = [Link("base"), Link("body", random_inertia(np.random.default_rng(0)))]
    model = Problem.assemble("one", links, [Joint("joint", kind, "base", "body")])
    references = References(model, TOLERANCES["float64"])
    for name in ("rnea_second_derivatives", "aba_hessian_vector"):
        checked = Checked(functions_of(model)[name].declaration, (EntryPart(name),))
        for question in questions(model, checked):
            for output in references.expected(checked.declaration, checked.parts, question.inputs):
                assert np.isfinite(output.values).all()


def test_samples_side_by_side() -> None:
    """Arrays over samples give the samples' tensors."""
    tree = random_tree(4, size=3)
    q = np.array([float(x) for x in tree.neutral()])
    drawn = RNG.standard_normal((2, 3, tree.nv))
    together = rnea_second_derivatives(tree, list(q), list(drawn[0].T), list(drawn[1].T))
    for k in range(3):
        alone = rnea_second_derivatives(tree, list(q), list(drawn[0][k]), list(drawn[1][k]))
        for tensor, right in zip(together, alone, strict=True):
            of_sample = [[np.broadcast_to(x, 3)[k] for x in row] for row in tensor]
            np.testing.assert_allclose(np.array(of_sample), np.array(right), rtol=1e-11, atol=1e-12)

"""Dual numbers and recorded ones against the complex step."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from rbdc.ir.symbolic import Symbolic
from rbdc.report.methods.differentiation import Bicomplex
from rbdc.spatial.adjoint import Tape
from rbdc.spatial.adjoint import value_of as recorded_value
from rbdc.spatial.scalars import atan2, cos, hypot, sin, sqrt, where_less
from rbdc.spatial.series import Series, length_of, terms_of
from rbdc.spatial.tangent import OuterTangent, Tangent, rate_of, value_of
from rbdc.verification.rounded import REPLICAS, Rounded, Rounding
from tests.support import assert_close

STEP = 1e-100
STATES, DIRECTIONS = 3, 2


def expression(x: Any, y: Any) -> Any:
    """Return every operation, numbers on either side."""
    return (2.0 - x) * sin(y) / (1.5 + cos(x * y)) - sqrt(x + 3.0 / y) * -x + (x - 1.0) / 4.0 + 0.0 * y


def test_every_operation_carries_its_rate_along() -> None:
    x, y, dx, dy = 0.7, 1.3, -0.4, 2.1
    result = expression(Tangent(x, dx), Tangent(y, dy))
    stepped = expression(complex(x, STEP * dx), complex(y, STEP * dy))
    assert value_of(result) == pytest.approx(stepped.real, rel=1e-15)
    assert rate_of(result) == pytest.approx(stepped.imag / STEP, rel=1e-14)


def test_rates_stand_side_by_side() -> None:
    """Values of NumPy arrays and of rounded scalars with a row of rates: each as alone."""
    rng = np.random.default_rng(2)
    x, y = rng.uniform(0.5, 1.5, (2, STATES))
    dx, dy = rng.standard_normal((2, DIRECTIONS, 1, 1))
    alone = [
        [rate_of(expression(Tangent(x[k], dx[j, 0, 0]), Tangent(y[k], dy[j, 0, 0]))) for k in range(STATES)]
        for j in range(DIRECTIONS)
    ]
    assert_close(rate_of(expression(Tangent(x, dx), Tangent(y, dy)))[:, 0], alone, 1e-14)
    exact = Rounding(0.0, 0)
    u, w = (Rounded(np.broadcast_to(z, (1 + REPLICAS, STATES)), exact) for z in (x, y))
    for replica in np.moveaxis(rate_of(expression(Tangent(u, dx), Tangent(w, dy))).values, 1, 0):
        assert_close(replica, alone, 1e-14)
    for constant in (x, u):  # a scalar without a rate, on the left of one that has it
        mixed = [constant * Tangent(y, dy), constant - Tangent(y, dy), constant / Tangent(y, dy)]
        expected = [x * dy[:, 0], -dy[:, 0] + 0.0 * x, -x / y**2 * dy[:, 0]]
        for result, right in zip(mixed, expected, strict=True):
            rate = np.asarray(getattr(rate_of(result), "values", rate_of(result)))
            assert_close(np.broadcast_to(rate[:, 0], right.shape), right, 1e-14)


def test_rates_have_rates() -> None:
    """Dual numbers of dual numbers and the bicomplex step give the mixed second derivative; recorded dual
    numbers give it as the rate of an adjoint.
    """
    x, y, dx, dy = 0.7, 1.3, -0.4, 2.1
    result = expression(OuterTangent(Tangent(x, dx), 0.0), OuterTangent(y, dy))
    mixed = rate_of(rate_of(result, OuterTangent))
    tape = Tape()
    (second,) = tape.variables([y])
    bar = tape.adjoints([expression(Tangent(x, dx), second)], [1.0])
    assert rate_of(bar(second)) * dy == pytest.approx(mixed, rel=1e-13)
    step = 1e-20

    def halved(x: Any, y: Any) -> Any:
        return (2.0 - x) * sin(y) / (1.5 + cos(x * y)) - x + (x - 1.0) / 4.0 + 0.0 * y

    stepped = halved(Bicomplex(complex(x, step * dx), 0.0), Bicomplex(y, step * dy))
    result = halved(OuterTangent(Tangent(x, dx), 0.0), OuterTangent(y, dy))
    assert rate_of(stepped, Bicomplex).imag / step**2 == pytest.approx(
        rate_of(rate_of(result, OuterTangent)), rel=1e-13
    )
    with pytest.raises(TypeError, match="no sqrt of a bicomplex number"):
        sqrt(Bicomplex(1.0, 2.0))


def test_every_operation_is_recorded() -> None:
    """The same rate by adjoints, of two results with weights; those of values in between are known on the way
    back.
    """
    x, y, dx, dy = 0.7, 1.3, -0.4, 2.1
    tape, seen = Tape(), []
    first, second = tape.variables([x, y])
    between = first * second
    tape.watch([between, 3.0], lambda bar: seen.extend([bar(between), bar(3.0)]))
    results = [expression(first, second), between * between, 5.0]
    bar = tape.adjoints(results, [1.0, 2.0, 7.0])
    stepped = expression(complex(x, STEP * dx), complex(y, STEP * dy))
    assert recorded_value(results[0]) == pytest.approx(stepped.real, rel=1e-15)
    rate = stepped.imag / STEP + 2.0 * 2.0 * x * y * (dx * y + x * dy)
    assert bar(first) * dx + bar(second) * dy == pytest.approx(rate, rel=1e-14)
    assert seen == pytest.approx([4.0 * x * y, 0.0], rel=1e-15)


@pytest.mark.parametrize(("x", "y"), [(0.7, 1.3), (-0.4, 0.2), (-1.0, -2.0)])
def test_angles_and_branches_have_tangents(x: float, y: float) -> None:
    dx, dy, h = 0.3, -0.9, 1e-6
    for kinds in ((Tangent, Tangent), (Tangent, OuterTangent), (OuterTangent, Tangent)):
        first, second = kinds[0](y, dy), kinds[1](x, dx)
        angle = atan2(first, second)
        rates = {kind: (kind is kinds[0], kind is kinds[1]) for kind in set(kinds)}
        for kind, (y_moves, other) in rates.items():
            step = h * (dy if y_moves else 0.0), h * (dx if other else 0.0)
            expected = (atan2(y + step[0], x + step[1]) - atan2(y - step[0], x - step[1])) / (2.0 * h)
            assert _rate(angle, kind) == pytest.approx(expected, rel=1e-8)
        chosen = where_less(first, 0.0, second * second, 2.0)
        expected = 2.0 * x * dx if y < 0.0 else 0.0
        assert _rate(chosen, kinds[1]) == pytest.approx(expected, rel=1e-14)


def test_functions_of_rows_of_symbols_are_taken_one_by_one() -> None:
    """`rbdc compare` has the C of references over such rows."""
    x, y = (ca.SX.sym(name) for name in "xy")
    row = np.array([Symbolic(x), Symbolic(y)], dtype=object)
    chosen = where_less(row, 0.5, 2.0 * row, [1.0, Symbolic(x)])
    function = ca.Function("f", [x, y], [one.expression for one in chosen])
    assert [float(one) for one in function(0.25, 0.75)] == [0.5, 0.25]
    rows = sqrt(row), atan2(row, 2.0)
    function = ca.Function("f", [x, y], [one.expression for symbols in rows for one in symbols])
    expected = [0.5, 1.5, np.arctan2(0.25, 2.0), np.arctan2(2.25, 2.0)]
    assert [float(one) for one in function(0.25, 2.25)] == pytest.approx(expected, rel=1e-15)


def _rate(x: Any, kind: type[Tangent]) -> Any:
    return value_of(x.rate) if type(x) is kind else rate_of(x.value, kind)


def test_what_has_no_tangent_or_adjoint_is_refused() -> None:
    with pytest.raises(TypeError, match="no tangent of hypot"):
        hypot(Tangent(1.0, 1.0), Tangent(1.0, 0.0))
    with pytest.raises(TypeError, match="no adjoint of atan2"):
        atan2(*Tape().variables([1.0, 1.0]))


def test_series_carry_every_order_along() -> None:
    """Their terms are those of the function on a circle around the start, by Cauchy's integral."""
    rng = np.random.default_rng(5)
    x, y = (np.append(start, rng.standard_normal(4)) for start in (0.7, 1.3))
    circle = 0.05 * np.exp(2j * np.pi * np.arange(16) / 16)
    values = expression(*(np.polynomial.polynomial.polyval(circle, terms) for terms in (x, y)))
    expected = (np.fft.fft(values) / 16).real[:5] / 0.05 ** np.arange(5)
    assert_close(expression(Series(x), Series(y)).terms, expected, 1e-9)


def test_series_beside_other_scalars() -> None:
    x = Series([0.5, -2.0, 3.0])
    assert terms_of(where_less(x, 0.6, x, 1.0), 3) == [0.5, -2.0, 3.0]
    assert terms_of(where_less(0.6, x, x, 1.0), 3) == [1.0, 0.0, 0.0]
    assert (x * Series([2.0, 1.0])).terms == (1.0, -3.5)  # the product ends with the last term that both have
    assert value_of(x * Tangent(2.0, 1.0)).terms == (1.0, -4.0, 6.0)
    assert rate_of(Tangent(2.0, 1.0) - x) == 1.0
    assert (x * 0.0, length_of(x), length_of(4.0)) == (0.0, 3, 1)
    with pytest.raises(TypeError, match="no series of atan2"):
        atan2(x, 1.0)

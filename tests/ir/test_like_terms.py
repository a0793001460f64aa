"""Like terms of a sum in one place: which, and where; and that values stay what they were."""

from __future__ import annotations

import pytest

from rbdc.ir.builder import Builder
from rbdc.ir.operations import ADD, LANES, MUL, SUB
from rbdc.ir.passes.simplify import gather_like_terms, remove_dead_code
from rbdc.ir.verify import verify
from tests.support_programs import Make, evaluate, program, shown

POINT = [0.5, -1.25, 2.0, 3.5]


def gathered(make: Make) -> list[str]:
    """Return the outputs after the pass, with every association shown; their values are those before it."""
    before = program(make)
    after = remove_dead_code(verify(gather_like_terms(before)))
    assert evaluate(after, x=POINT) == [pytest.approx(result) for result in evaluate(before, x=POINT)]
    return shown(after)


def test_constants_come_where_the_first_was() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        left = b.raw(SUB, (b.constant(0.25), x[0]))
        return [b.raw(ADD, (b.raw(ADD, (left, b.constant(0.5))), x[1]))]

    assert gathered(make) == ["(x1 - (x0 - 0.75))"]


def test_subtracted_parts_count_with_their_sign() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        right = b.raw(SUB, (x[1], b.constant(2.0)))
        return [b.raw(SUB, (b.raw(ADD, (x[0], b.constant(1.0))), right))]

    assert gathered(make) == ["-(x1 - (x0 + 3))"]


def test_constants_that_cancel_vanish() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        return [b.raw(SUB, (b.raw(ADD, (x[0], b.constant(1.5))), b.constant(1.5)))]

    assert gathered(make) == ["x0"]


def test_a_sum_that_is_used_twice_keeps_its_own() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        inner = b.raw(ADD, (x[0], b.constant(1.0)))
        return [b.raw(ADD, (inner, b.constant(2.0))), inner]

    assert gathered(make) == ["((x0 + 1) + 2)", "(x0 + 1)"]


def test_products_end_a_sum() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        product = b.raw(MUL, (b.raw(ADD, (x[0], b.constant(1.0))), x[1]))
        return [b.raw(ADD, (product, b.constant(2.0)))]

    assert gathered(make) == ["(((x0 + 1) * x1) + 2)"]


def test_lanes_of_constants_count() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        wide = b.gather((x[0], x[1]))
        total = b.raw(ADD, (b.raw(ADD, (wide, b.lanes([1.0, 2.0]))), b.constant(0.5)))
        return [b.extract(total, 0), b.extract(total, 1)]

    after = remove_dead_code(verify(gather_like_terms(program(make))))
    assert [value.numbers for value in after.values if value.operation is LANES] == [(1.5, 2.5)]
    assert sum(value.operation is ADD for value in after.values) == 1


def test_multiples_of_one_value_become_one() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        products = [b.raw(MUL, (x[0], b.constant(c))) for c in (3.0, 2.0, 0.5)]
        return [b.raw(ADD, (b.raw(SUB, (products[0], b.raw(ADD, (x[1], products[1])))), products[2]))]

    assert gathered(make) == ["-(x1 - (x0 * 1.5))"]


def test_opposite_terms_vanish() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        square = b.raw(MUL, (x[0], x[0]))
        return [
            b.raw(SUB, (b.raw(ADD, (x[1], square)), square)),
            b.raw(SUB, (x[2], b.raw(ADD, (x[3], x[2])))),
            square,
        ]

    assert gathered(make) == ["x1", "-x3", "(x0 * x0)"]


def test_a_product_that_others_use_stays_whole() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        product = b.raw(MUL, (x[0], b.constant(3.0)))
        return [b.raw(ADD, (b.raw(ADD, (product, x[1])), b.raw(MUL, (x[0], b.constant(2.0))))), product]

    assert gathered(make) == ["(((x0 * 3) + x1) + (x0 * 2))", "(x0 * 3)"]

"""Sections in another order: which goes first, that each stays whole, that no bit of the results changes."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Program, Section
from rbdc.ir.operations import ADD
from rbdc.ir.passes.sections import LONGEST, order_sections
from rbdc.ir.passes.simplify import without_input
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.planning.tracing import traced
from rbdc.resources import resolve
from tests.support_programs import evaluate, finish

ZEROS = [0.0] * 1000


def runs(program: Program) -> list[str]:
    """Return the titles of the sections in the order of their statements."""
    computed = (value.section for value in program.values if not value.operation.is_leaf)
    return [program.sections[section].title for section, _ in groupby(computed)]


def chains(length: int) -> Program:
    """Return two recursions in sections a, b and c, d, of which the first is the longer; each value needs the
    one before it. e takes both.
    """
    builder = Builder()
    x = [builder.input("x", k) for k in range(2)]
    ends = []
    for start, (first, second) in zip(x, ((0, 1), (2, 3)), strict=True):
        value = start
        for section, steps in ((first, length), (second, length - 2 * second)):
            builder.section = section
            for _ in range(steps):
                value = builder.raw(ADD, (value, start))
        ends.append(value)
    builder.section = 4
    total = builder.raw(ADD, (ends[0], ends[1]))
    return finish(
        "f",
        [ArgumentArray("x", 2)],
        [ArgumentArray("y", 1)],
        builder,
        [[total]],
        [Section(title, "") for title in "abcde"],
        {},
    )


def of_iiwa(name: str) -> Program:
    model = Problem.from_urdf(resolve("kuka_iiwa"), snap=1e-11)
    function = functions_of(model)[name]
    return chain_sums(traced(model, function, next(iter(function.methods))))


def test_what_is_ready_goes_before_what_waits() -> None:
    before = chains(20)
    assert runs(before) == ["a", "b", "c", "d", "e"]
    assert runs(verify(order_sections(before))) == ["a", "c", "b", "d", "e"]


@pytest.mark.parametrize("name", ["aba", "crba"])
def test_sections_stay_whole_and_results_the_same(name: str) -> None:
    before = of_iiwa(name)
    before = without_input(before, "fext", ZEROS) if name == "aba" else before
    after = verify(order_sections(before))
    assert runs(after) != runs(before)
    assert sorted(runs(after)) == sorted(runs(before))
    rng = np.random.default_rng(0)
    inputs = {array.name: rng.normal(size=array.size).tolist() for array in before.inputs}
    assert evaluate(after, **inputs) == evaluate(before, **inputs)


def test_names_go_with_their_values() -> None:
    before = of_iiwa("crba")
    after = order_sections(before)
    kinds = [
        {name: program.values[index].operation for index, name in program.symbols.items()}
        for program in (before, after)
    ]
    assert kinds[0] == kinds[1]


def test_a_recursion_down_and_up_again_keeps_its_order() -> None:
    before = of_iiwa("rnea")
    assert order_sections(before) is before


def test_long_programs_keep_their_order() -> None:
    before = chains(LONGEST // 2)
    assert order_sections(before) is before

"""Samples side by side: widths, distinct results, where each entry of an output is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Program, Section
from rbdc.ir.operations import ADD, CONSTANT, INPUT, LANES
from rbdc.ir.passes.vectorise.batch_vectorise import RESULTS, in_blocks, side_by_side, widened
from rbdc.ir.verify import verify
from tests.support_programs import evaluate, finish


def program(entry: int = 0) -> Program:
    """Return M = [[x + 1, 0], [x + 1, 2]] and s = [x], where x is that entry of q."""
    builder = Builder()
    x, one = builder.input("q", entry), builder.constant(1.0)
    total, zero, two = builder.apply(ADD, (x, one)), builder.constant(0.0), builder.constant(2.0)
    return finish(
        "f",
        [ArgumentArray("q", 1 + entry)],
        [ArgumentArray("M", 4), ArgumentArray("s", 1)],
        builder,
        [[total, zero, total, two], [x]],
        [Section("", "")],
        {},
    )


def test_before_and_after() -> None:
    (wide,), places = side_by_side([program()], 8)
    verify(wide)
    assert [(a.name, a.size, a.width) for a in wide.inputs] == [("q", 1, 8)]
    assert [(a.name, a.size, a.width) for a in wide.outputs] == [(RESULTS, 4, 8)]
    widths = {INPUT: 8, CONSTANT: 1, ADD: 8, LANES: 8}
    assert {value.operation: value.width for value in wide.values} == widths
    assert places == [(0, 1, 0, 2), (3,)]
    entries = evaluate(wide, q=[3.0])[0][::8]
    assert [[entries[k] for k in indices] for indices in places] == evaluate(program(), q=[3.0])


def test_two_programs_have_their_results_at_the_same_places() -> None:
    """Two entries share a place where they are the same value in both."""
    first, second = program(), program()
    (total, zero, _, two), s = second.results
    second = replace(second, results=((total, zero, two, two), s))
    wides, places = side_by_side([first, second], 4)
    assert places == [(0, 1, 2, 3), (4,)], "no entry is there twice"
    assert [one.outputs for one in wides] == [widened(one, 4).outputs for one in (first, second)]
    for one, wide in zip((first, second), wides, strict=True):
        results = evaluate(wide, q=[3.0])
        assert [result[::4] for result in results] == evaluate(one, q=[3.0])


def test_widened_keeps_outputs() -> None:
    """Constants stay scalar where they are operands, and are as many equal lanes where they are results, once
    each.
    """
    wide = widened(program(), 4)
    verify(wide)
    assert [(a.name, a.size, a.width) for a in (*wide.inputs, *wide.outputs)] == [
        ("q", 1, 4),
        ("M", 4, 4),
        ("s", 1, 4),
    ]
    (m, s), values = wide.results, wide.values
    assert [values[k].operation for k in (*m, *s)] == [ADD, LANES, ADD, LANES, INPUT]
    assert [values[k].numbers for k in (m[1], m[3])] == [(0.0,) * 4, (2.0,) * 4]
    assert all(value.width == (1 if value.operation is CONSTANT else 4) for value in values)
    assert evaluate(wide, q=[3.0]) == [
        [x for x in result for _ in range(4)] for result in evaluate(program(), q=[3.0])
    ]
    with pytest.raises(ValueError, match="not scalar"):
        widened(wide, 4)


def test_in_blocks_entries_lie_apart() -> None:
    """In a block of 8 samples a kernel for 4 reads and writes every other vector."""
    wide = widened(program(entry=1), 4)
    blocked = in_blocks(wide, 2)
    verify(blocked)
    assert [(a.name, a.size, a.output_indices) for a in (*blocked.inputs, *blocked.outputs)] == [
        ("q", 4, ()),
        ("M", 4, (0, 2, 4, 6)),
        ("s", 1, (0,)),
    ]
    assert evaluate(blocked, q=[5.0, 5.0, 3.0, 5.0]) == evaluate(wide, q=[5.0, 3.0])
    assert in_blocks(wide, 1) is wide


def test_a_program_that_has_lanes_already_is_refused() -> None:
    with pytest.raises(ValueError, match="not scalar"):
        side_by_side(side_by_side([program()], 8)[0], 4)

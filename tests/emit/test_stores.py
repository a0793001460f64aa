"""Which results are stored side by side. All tests of limbs in lanes check the values."""

from __future__ import annotations

from rbdc.emit.c.stores import Store, is_worth_clearing, stores
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Program, Section
from rbdc.ir.operations import ADD, MUL
from tests.support_programs import finish

LONGEST = DOUBLE.single_lanes


def lanes(places: tuple[int, ...] = (), scalars: int = 0) -> tuple[Program, list[int]]:
    """Return a program whose output is the lanes of one vector of four, then those of another, after
    `scalars` inputs and a zero.
    """
    builder = Builder()
    x = [builder.input("x", k) for k in range(4)]
    wide = builder.gather(tuple(x))
    pair = [builder.raw(ADD, (wide, wide)), builder.raw(MUL, (wide, wide))]
    entries = [*x[:scalars], builder.constant(0.0), *(builder.extract(v, m) for v in pair for m in range(4))]
    output = ArgumentArray("y", len(entries), output_indices=places)
    return finish("f", [ArgumentArray("x", 4)], [output], builder, [entries], [Section("", "")], {}), entries


def stored(program: Program, number: int = 0, home: int = 0, cleared: tuple[str, ...] = ()) -> list[Store]:
    homes = [home] * len(program.values)
    return sorted(
        (s for of_value in stores(program, homes, number, cleared, LONGEST).values() for s in of_value),
        key=lambda s: s.place,
    )


def test_fours_then_twos_then_single_entries() -> None:
    program, entries = lanes(places=(0, 1, 2, 3, 4, 6, 7, 9, 20))
    assert stored(program) == [
        Store("y", 0, (entries[0],)),
        Store("y", 1, tuple(entries[1:5])),
        Store("y", 6, tuple(entries[5:7])),
        Store("y", 9, (entries[7],)),
        Store("y", 20, (entries[8],)),
    ]


def test_what_is_no_lane_is_stored_alone() -> None:
    program, entries = lanes(scalars=2)
    assert [s.values for s in stored(program)] == [
        (entries[0],),
        (entries[1],),
        (entries[2],),
        tuple(entries[3:7]),
        tuple(entries[7:]),
    ]


def test_zeros_of_cleared_outputs_are_there_already() -> None:
    program, _ = lanes()
    assert [s.place for s in stored(program)] == [0, 1, 5]
    assert [s.place for s in stored(program, cleared=("y",))] == [1, 5]


def test_each_chunk_stores_its_own() -> None:
    program, _ = lanes()
    assert stored(program, number=1, home=0) == []
    assert len(stored(program, number=1, home=1)) == 3


def test_a_store_waits_for_the_last_of_its_values() -> None:
    program, entries = lanes()
    homes = [0] * len(program.values)
    assert {
        key: [s.place for s in of_value] for key, of_value in stores(program, homes, 0, (), LONGEST).items()
    } == {entries[0]: [0], entries[4]: [1], entries[8]: [5]}


def constants(values: list[float]) -> tuple[Program, ArgumentArray, list[int]]:
    """Return a program whose output is these constants; in place of 9.0 an input."""
    builder = Builder()
    x = builder.input("x", 0)
    entries = [x if value == 9.0 else builder.constant(value) for value in values]
    output = ArgumentArray("y", len(entries))
    return (
        finish("f", [ArgumentArray("x", 1)], [output], builder, [entries], [Section("", "")], {}),
        output,
        entries,
    )


def test_runs_of_zeros_go_together_and_other_constants_alone() -> None:
    program, _, _ = constants([1.0, 1.0, 9.0, 0.0, 9.0, *(0.0 for _ in range(LONGEST + 2)), 4.0])
    assert [(s.place, len(s.values)) for s in stored(program)] == [
        (0, 1),
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (5, LONGEST),
        (5 + LONGEST, 2),
        (7 + LONGEST, 1),
    ]


def test_outputs_are_cleared_where_that_takes_fewer_stores() -> None:
    scattered = [9.0, 0.0] * 40
    in_runs = [9.0] * 40 + [0.0] * 40
    ones = [9.0, 1.0] * 40
    assert [is_worth_clearing(*constants(values)) for values in (scattered, in_runs, ones)] == [
        True,
        False,
        False,
    ]

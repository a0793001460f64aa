"""Programs that move lanes: transpositions, joining and splitting of lanes, and sums over lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Program, Section
from rbdc.ir.passes.simplify import remove_dead_code
from rbdc.ir.verify import verify


def exchanged_lanes(lanes: int, block: int) -> list[int]:
    """Return the lanes that `EXCHANGE` selects from two vectors; lanes of the second vector count from
    `lanes` on. If `block` is positive, these are the even blocks of both vectors, alternating; otherwise the
    odd blocks. A block has |`block`| lanes.
    """
    if block > 0:
        return [(k ^ block) + lanes if k & block else k for k in range(lanes)]
    return [k + lanes if k & -block else k | -block for k in range(lanes)]


def transposition(name: str, lanes: int) -> Program:
    """Return the program that transposes `row`, a square of vectors, into `column`."""
    builder = Builder()
    columns = _turned(builder, [builder.vector("row", k, lanes) for k in range(lanes)])
    return _program(name, {"row": (lanes, lanes)}, {"column": (columns, lanes)}, builder)


def _turned(builder: Builder, rows: Sequence[int]) -> list[int]:
    """Return the columns of a square of vectors: halves of rows and lanes are exchanged, then quarters, and
    so on.
    """
    vectors, block = list(rows), len(rows) // 2
    while block:
        pairs = [(vectors[k & ~block], vectors[k | block]) for k in range(len(vectors))]
        vectors = [builder.exchange(*pair, -block if k & block else block) for k, pair in enumerate(pairs)]
        block //= 2
    return vectors


def records(name: str, lanes: int, entries: Mapping[str, int]) -> Program:
    """Return the program that collects the entries of each lane, from all arrays of vectors in order. For
    lane m, `record<m>` has vectors of consecutive entries, and `rest<m>` the remaining entries as numbers.

    entries: number of vectors of each array, by name.
    """
    builder = Builder()
    vectors = [builder.vector(key, k, lanes) for key, size in entries.items() for k in range(size)]
    whole = len(vectors) // lanes * lanes
    squares = [_turned(builder, vectors[k : k + lanes]) for k in range(0, whole, lanes)]
    outputs = {f"record{m}": ([square[m] for square in squares], lanes) for m in range(lanes)}
    if vectors[whole:]:
        rest = vectors[whole:]
        outputs |= {f"rest{m}": ([builder.extract(k, m) for k in rest], 1) for m in range(lanes)}
    return _program(name, {key: (size, lanes) for key, size in entries.items()}, outputs, builder)


def pieces_of_columns(name: str, lanes: int, pieces: Sequence[tuple[int, int, int]]) -> Program:
    """Return the program that copies pieces of `row`, a square of vectors, to `piece0` and so on. A piece is
    one lane of consecutive vectors.

    pieces: for each piece, its lane, its first vector and its number of vectors.
    """
    builder = Builder()
    columns = _turned(builder, [builder.vector("row", k, lanes) for k in range(lanes)])
    outputs: dict[str, tuple[Sequence[int], int]] = {}
    for number, (lane, first, count) in enumerate(pieces):
        parts = range(first, first + count)
        whole = count == lanes
        entries = [columns[lane]] if whole else [builder.extract(columns[lane], k) for k in parts]
        outputs[f"piece{number}"] = (entries, lanes if whole else 1)
    return _program(name, {"row": (lanes, lanes)}, outputs, builder)


def totals(name: str, lanes: int, size: int) -> Program:
    """Return the program that sums each entry of `vector` over its lanes into `total`."""
    builder = Builder()
    sums = [builder.reduce(builder.vector("vector", k, lanes), lanes) for k in range(size)]
    return _program(name, {"vector": (size, lanes)}, {"total": (sums, 1)}, builder)


def joined(name: str, lanes: int, size: int, filled: range | None = None) -> Program:
    """Return the program that joins the arrays of numbers `lane0`, `lane1`, ... into the lanes of `vector`.

    filled: the lanes that have an array, by default all; other lanes are zero.
    """
    builder, there = Builder(), range(lanes) if filled is None else filled

    def entry(m: int, k: int) -> int:
        return builder.input(f"lane{m}", k) if m in there else builder.constant(0.0)

    vectors = [builder.gather(tuple(entry(m, k) for m in range(lanes))) for k in range(size)]
    return _program(name, {f"lane{m}": (size, 1) for m in there}, {"vector": (vectors, lanes)}, builder)


def parted(name: str, lanes: int, size: int, some: Sequence[int] = ()) -> Program:
    """Return the program that splits `vector` into the arrays of numbers `lane0` and so on.

    some: the lanes that get an array, by default all.
    """
    builder = Builder()
    vectors = [builder.vector("vector", k, lanes) for k in range(size)]
    outputs = {f"lane{m}": ([builder.extract(k, m) for k in vectors], 1) for m in some or range(lanes)}
    return _program(name, {"vector": (size, lanes)}, outputs, builder)


def _program(
    name: str,
    inputs: Mapping[str, tuple[int, int]],
    outputs: Mapping[str, tuple[Sequence[int], int]],
    builder: Builder,
) -> Program:
    takes = tuple(ArgumentArray(key, *sizes) for key, sizes in inputs.items())
    gives = tuple(ArgumentArray(key, len(values), lanes) for key, (values, lanes) in outputs.items())
    results = tuple(tuple(values) for values, _ in outputs.values())
    program = Program(name, takes, gives, tuple(builder.values), results, (Section("", ""),), {})
    return verify(remove_dead_code(program))

"""Programs as bodies of loops whose steps run side by side, one in each lane of a vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rbdc.ir.builder import Builder
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Array, Program, Section
from rbdc.ir.verify import verify


@dataclass(frozen=True)
class LaneProgram:
    """A program whose arguments are arrays of numbers or of vectors (`Array.width`).

    formula: what it computes, for the reader. pitches: by argument, in C, from one of its entries to the
    next, in numbers; "" for an array of vectors. vector: the C type of vectors. An argument may be an input
    and an output: what is read there is read before anything is written.
    """

    formula: str
    program: Program
    pitches: Mapping[str, str]
    vector: str = "vec"

    @property
    def cost(self) -> Cost:
        """Operations of one run: on vectors, and on numbers that all lanes share."""
        return cost(self.program)


def in_lanes(program: Program, widths: Mapping[str, int]) -> Program:
    """Before: arguments are arrays of numbers. After: those of `widths` are arrays of vectors, and so is all
    that depends on them; what does not is computed once for all lanes.
    """
    made: list[int] = []
    for value in program.values:
        own = widths.get(value.source[0], 1) if value.source else 1
        made.append(max([own, *(made[k] for k in value.arguments)]))
    values = tuple(value._replace(width=width) for value, width in zip(program.values, made, strict=True))
    return replace(with_widths(program, widths), values=values)


def with_widths(program: Program, widths: Mapping[str, int]) -> Program:
    """The program with arguments that are arrays of vectors."""
    inputs, outputs = (
        tuple(replace(array, width=widths.get(array.name, 1)) for array in group)
        for group in (program.inputs, program.outputs)
    )
    return replace(program, inputs=inputs, outputs=outputs)


def exchanged_lanes(lanes: int, block: int) -> list[int]:
    """The lanes of two vectors that `EXCHANGE` takes, counted through both: with a positive block the first
    keeps its even blocks, with a negative one the second its odd ones.
    """
    if block > 0:
        return [(k ^ block) + lanes if k & block else k for k in range(lanes)]
    return [k + lanes if k & -block else k | -block for k in range(lanes)]


def transposition(name: str, lanes: int) -> Program:
    """From `row`, as many vectors as they have lanes, to `column`: halves of rows and lanes change places,
    then quarters and so on.
    """
    builder, block = Builder(), lanes // 2
    rows = [builder.vector("row", k, lanes) for k in range(lanes)]
    while block:
        pairs = [(rows[k & ~block], rows[k | block]) for k in range(lanes)]
        rows = [builder.exchange(*pair, -block if k & block else block) for k, pair in enumerate(pairs)]
        block //= 2
    return _program(name, {"row": (lanes, lanes)}, {"column": (rows, lanes)}, builder)


def joined(name: str, lanes: int, size: int) -> Program:
    """From `lane0`, `lane1`, ..., arrays of numbers, to `vector`, in whose entries they are side by side."""
    builder = Builder()
    made = [builder.gather(tuple(builder.input(f"lane{m}", k) for m in range(lanes))) for k in range(size)]
    inputs = {f"lane{m}": (size, 1) for m in range(lanes)}
    return _program(name, inputs, {"vector": (made, lanes)}, builder)


def parted(name: str, lanes: int, size: int) -> Program:
    """From the entries of `vector` to `lane0`, `lane1`, ..., arrays of numbers."""
    builder = Builder()
    vectors = [builder.vector("vector", k, lanes) for k in range(size)]
    outputs = {f"lane{m}": ([builder.extract(k, m) for k in vectors], 1) for m in range(lanes)}
    return _program(name, {"vector": (size, lanes)}, outputs, builder)


def _program(
    name: str,
    inputs: Mapping[str, tuple[int, int]],
    outputs: Mapping[str, tuple[Sequence[int], int]],
    builder: Builder,
) -> Program:
    """The program of a builder: of each input the size and lanes, of each output the values and lanes."""
    return verify(
        Program(
            name,
            tuple(Array(key, *own) for key, own in inputs.items()),
            tuple(Array(key, len(made), lanes) for key, (made, lanes) in outputs.items()),
            tuple(builder.values),
            tuple(tuple(made) for made, _ in outputs.values()),
            (Section("", ""),),
            {},
        )
    )

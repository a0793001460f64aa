"""Views of vectors for templates of internal headers."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.scalar_types import SHORTEST_BYTES, ScalarType
from rbdc.ir.moves import exchanged_lanes


@dataclass(frozen=True)
class VectorView:
    """A GNU C vector.

    lanes: number of lanes.
    bytes: size (bytes).
    numbers: indices of the lanes.
    last: index of the last lane.
    """

    lanes: int
    bytes: int
    numbers: tuple[int, ...]
    last: int


def vector_view(scalar: ScalarType, lanes: int) -> VectorView:
    """Return the view of a vector of `lanes` scalars."""
    return VectorView(lanes, scalar.size * lanes, tuple(range(lanes)), lanes - 1)


def reduced(scalar: ScalarType, lanes: int, name: str) -> tuple[list[str], str]:
    """Return code that tests whether a lane of the integer vector `name` is negative: statements that halve
    the vector in registers down to 16 bytes, and the `or` of the rest. gcc would spill a vector that is
    longer than registers to memory to extract its lanes.
    """
    steps = []
    while lanes * scalar.size > SHORTEST_BYTES:
        lanes //= 2
        kind, halved = f"halves{lanes}", f"{name}{lanes}"
        lower, upper = (
            f"({kind}){{{', '.join(f'{name}[{k}]' for k in range(first, first + lanes))}}}"
            for first in (0, lanes)
        )
        steps.append(f"typedef {scalar.integer} {kind} __attribute__((vector_size({lanes * scalar.size})));")
        steps.append(f"const {kind} {halved} = {lower} | {upper};")
        name = halved
    return steps, " | ".join(f"{name}[{k}]" for k in range(lanes))


def exchanged(name: str, row: int, half: int, lanes: int) -> str:
    """Return a row of a square of vectors after an exchange of blocks of `half` rows and lanes with their
    neighbours. Done for all powers of two below `lanes`, this transposes the square. name: name of a row
    before, with {} for its index.
    """
    first, second = (name.format(number) for number in (row & ~half, row | half))
    return shuffle(first, second, lanes, -half if row & half else half)


def shuffle(first: str, second: str, lanes: int, block: int) -> str:
    """Return lanes of two vectors in C, in the order of `rbdc.ir.operations.EXCHANGE`."""
    return f"__builtin_shufflevector({first}, {second}, {', '.join(map(str, exchanged_lanes(lanes, block)))})"

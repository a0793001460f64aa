"""Views of vectors for the templates of internal headers."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.scalar_types import SHORTEST_BYTES, ScalarType
from rbdc.ir.moves import exchanged_lanes


@dataclass(frozen=True)
class VectorView:
    """A GNU C vector of so many lanes: its size in bytes, its lanes by number, and the number of the last."""

    lanes: int
    bytes: int
    numbers: tuple[int, ...]
    last: int


def vector_view(scalar: ScalarType, lanes: int) -> VectorView:
    """Return the vector of so many scalars."""
    return VectorView(lanes, scalar.size * lanes, tuple(range(lanes)), lanes - 1)


def reduced(scalar: ScalarType, lanes: int, name: str) -> tuple[list[str], str]:
    """Return whether a lane of the vector `name` of as many integers is negative: statements that halve the
    vector until it has 16 bytes, in registers (gcc puts a vector that is longer than registers into memory to
    take its lanes one by one), and the `or` of what is left.
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
    """Return a row of a square of vectors when blocks of `half` rows and lanes have changed places with those
    beside them; done for all powers of two below `lanes`, this transposes the square. name: of a row before,
    {} in the place of its number.
    """
    first, second = (name.format(number) for number in (row & ~half, row | half))
    return shuffle(first, second, lanes, -half if row & half else half)


def shuffle(first: str, second: str, lanes: int, block: int) -> str:
    """Return lanes of two vectors as `rbdc.ir.operations.EXCHANGE` takes them, in C."""
    return f"__builtin_shufflevector({first}, {second}, {', '.join(map(str, exchanged_lanes(lanes, block)))})"

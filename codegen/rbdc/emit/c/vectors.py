"""Views of vectors and of elementary functions for the templates of internal headers."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.scalar_types import ScalarType


@dataclass(frozen=True)
class VectorView:
    """A GNU C vector of so many lanes: its size in bytes, its lanes by number, and the number of the last."""

    lanes: int
    bytes: int
    numbers: tuple[int, ...]
    last: int


@dataclass(frozen=True)
class ElementaryFunctions:
    """The names of elementary functions in C."""

    sqrt: str
    sin: str
    cos: str
    atan2: str


def vector_view(scalar: ScalarType, lanes: int) -> VectorView:
    """The vector of so many scalars."""
    return VectorView(lanes, scalar.size * lanes, tuple(range(lanes)), lanes - 1)


def elementary_functions(scalar: ScalarType) -> ElementaryFunctions:
    """The elementary functions over this type."""
    return ElementaryFunctions(*(scalar.function(name) for name in ("sqrt", "sin", "cos", "atan2")))

"""A machine that renames arrays, so that texts (recursions) may use the names of inputs or tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rbdc.algorithms.tools.machine import Array, Body, Column, Machine, Quantity
from rbdc.spatial import Scalar


class Renamed(Machine):
    """Another machine, with `text_` before the names of arrays.

    Raises ValueError for a name that is no C identifier.
    """

    def __init__(self, m: Machine) -> None:
        self.m, self.gravity = m, m.gravity

    def down(self, about: str = "") -> Iterator[Body]:
        return self.m.down(about)

    def up(self, about: str = "") -> Iterator[Body]:
        return self.m.up(about)

    def loaded(self) -> Iterator[Body]:
        return self.m.loaded()

    def columns(self, about: str = "") -> Iterator[Column]:
        return self.m.columns(about)

    def array(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> Array[Quantity]:
        return self.m.array(_named(name), kind, world)

    def vector(self, name: str) -> Array[Scalar]:
        return self.m.vector(_named(name))

    def matrix(self, name: str) -> Array[Scalar]:
        return self.m.matrix(_named(name))

    def tensor(self, name: str) -> Array[Scalar]:
        return self.m.tensor(_named(name))

    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        self.m.label_columns(formula, symbol, *matrices)


def _named(name: str) -> str:
    identifier = f"text_{name}"
    if not (identifier.isascii() and identifier.isidentifier()):
        raise ValueError(f"{name!a} is no name of an array: use letters, digits and _")
    return identifier

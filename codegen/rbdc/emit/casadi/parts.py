"""Arrays of CasADi's external functions, and the beginnings of the names of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from rbdc.functions.declarations import Parameter

JACOBIAN, PRODUCTS = "jac_", "adj1_"
TWICE = (JACOBIAN + JACOBIAN, JACOBIAN + PRODUCTS)
"""The beginnings of CasADi's names for derivatives of first order, and of second order."""

Rooms = Mapping[str, int]
"""Sizes of parts of the work vector by their names."""


@dataclass(frozen=True)
class Array:
    """An array of an external function: its name there and its sparsity pattern, of `rows` and `columns`."""

    name: str
    rows: int
    columns: int
    full: bool = True

    @staticmethod
    def of(p: Parameter) -> Array:
        """Return a parameter as a matrix: a tensor has the matrices of its last indices one below the
        other.
        """
        rows = p.size if len(p.shape) < 2 else prod(p.shape[:-1])
        return Array(p.name, rows, p.size // rows if rows else 1)

    @property
    def pattern(self) -> str:
        """The C constant with the pattern."""
        return f"{'dense' if self.full else 'empty'}_{self.rows}_{self.columns}"

    @property
    def numbers(self) -> str:
        """CasADi's encoding of it: rows, columns, and 1 for dense, or else where the columns begin."""
        tail = [1] if self.full else [0] * (self.columns + 1)
        return ", ".join(map(str, [self.rows, self.columns, *tail]))

    def unread(self) -> Array:
        """Return a result as an input of its derivatives, which do not need it: a pattern without entries."""
        return replace(self, name=f"out_{self.name}", full=False)

    def jacobian(self, x: Array, *, full: bool = True) -> Array:
        """Return its Jacobian by another array."""
        return Array(f"jac_{self.name}_{x.name}", self.rows * self.columns, x.rows * x.columns, full)


Result = tuple[Array, str]
"""An output, and the call that fills it, but for its last argument; "" for one without entries."""

ONE = Array("", 1, 1)
"""A sum with weights, as an output."""

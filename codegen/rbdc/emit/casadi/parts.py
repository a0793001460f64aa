"""Arrays of CasADi's external functions, and the prefixes of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from rbdc.functions.declarations import Parameter

JACOBIAN, PRODUCTS = "jac_", "adj1_"
TWICE = (JACOBIAN + JACOBIAN, JACOBIAN + PRODUCTS)
"""CasADi's prefixes for derivatives of first order and of second order."""

Rooms = Mapping[str, int]
"""Sizes of parts of the work vector by name."""


@dataclass(frozen=True)
class CasadiArray:
    """An array of an external function.

    name: name in CasADi.
    rows, columns: size.
    full: whether it is dense; otherwise it has no entries.
    """

    name: str
    rows: int
    columns: int
    full: bool = True

    @staticmethod
    def of(p: Parameter) -> CasadiArray:
        """Return a parameter as a matrix. The slices of a tensor over its last indices are stacked
        vertically.
        """
        rows = p.size if len(p.shape) < 2 else prod(p.shape[:-1])
        return CasadiArray(p.name, rows, p.size // rows if rows else 1)

    @property
    def pattern(self) -> str:
        """The C constant with the pattern."""
        return f"{'dense' if self.full else 'empty'}_{self.rows}_{self.columns}"

    @property
    def numbers(self) -> str:
        """CasADi's encoding of the pattern: rows, columns, and 1 for dense, otherwise the starts of the
        columns.
        """
        tail = [1] if self.full else [0] * (self.columns + 1)
        return ", ".join(map(str, [self.rows, self.columns, *tail]))

    def unread(self) -> CasadiArray:
        """Return a result as an input of its derivatives, which they do not read: its pattern is empty."""
        return replace(self, name=f"out_{self.name}", full=False)

    def jacobian(self, x: CasadiArray, *, full: bool = True) -> CasadiArray:
        """Return the Jacobian of the array by another one."""
        return CasadiArray(f"jac_{self.name}_{x.name}", self.rows * self.columns, x.rows * x.columns, full)


Result = tuple[CasadiArray, str]
"""An output, and the call that fills it, without its last argument; "" for an output without entries."""

ONE = CasadiArray("", 1, 1)
"""A weighted sum as an output."""


@dataclass(frozen=True)
class First:
    """First derivatives.

    prefix: prefix of their external function.
    by: arrays that this function takes, each with its parameter if the function can be differentiated by this
        array.
    entries: for each result: array, output, input (None for a frame or reference), and the name of the array
        that the library fills.
    calls: calls that compute them.
    rooms: arrays that the calls fill.
    """

    prefix: str
    by: list[tuple[CasadiArray, Parameter | None]]
    entries: Sequence[tuple[CasadiArray, CasadiArray, Parameter | None, str]]
    calls: list[str]
    rooms: Rooms


@dataclass(frozen=True)
class Second:
    """Second derivatives.

    call: returns the lines that fill arrays `t_k` at places.
    sizes: sizes of these arrays.
    of: for each array of first derivatives and each input, the C expression of the array of second
        derivatives; absent if they are zero.
    calls: calls that come once, before these lines.
    rooms: arrays that these calls fill.
    """

    call: Callable[[Sequence[str]], list[str]]
    sizes: Sequence[int]
    of: Mapping[tuple[str, str], str]
    calls: Sequence[str] = ()
    rooms: Rooms = field(default_factory=dict)

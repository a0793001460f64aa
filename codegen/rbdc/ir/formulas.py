"""Operations of formulas that templates spell out in C."""

from __future__ import annotations

from collections.abc import Callable

from rbdc.ir.cost import Cost, cost
from rbdc.ir.from_casadi import from_casadi, symbols
from rbdc.spatial import Scalars


def formula_cost(formula: Callable[..., Scalars], *sizes: int) -> Cost:
    """The counts of a formula of arrays of so many scalars, as it is written."""
    inputs = [(name, symbols(name, size)) for name, size in zip("abcdef", sizes, strict=False)]
    return cost(from_casadi("formula", inputs, [("results", formula(*(x for _, x in inputs)))]))

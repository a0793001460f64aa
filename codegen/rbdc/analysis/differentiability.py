"""Functions that can be differentiated in CasADi, JAX and PyTorch, and those that must be built for it, read
off the records. ``python -m rbdc.analysis.differentiability`` prints the table of the page.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from rbdc.functions.catalogue import known
from rbdc.functions.record import Differential, Function


@dataclass(frozen=True)
class Derivatives:
    """The functions that give the first and the second derivatives of one, "" where there are none.
    everywhere: the second ones are there in CasADi too.
    """

    name: str
    first: str
    second: str
    everywhere: bool = True


def differentiable() -> list[Derivatives]:
    """All functions with first derivatives, in the order of the documentation."""
    catalogue = known()
    found = []
    for name, function in catalogue.items():
        d = function.differential
        if d is not None and d.first in catalogue:
            found.append(Derivatives(name, d.first, *_second(catalogue, d)))
    return found


def _second(catalogue: dict[str, Function], d: Differential) -> tuple[str, bool]:
    if d.second:
        return d.second, True
    then = catalogue[d.first].differential
    if then is not None and then.first in catalogue:
        return then.first, True
    others = (f.differential for f in catalogue.values())
    return next((o.second for o in others if o is not None and o.first == d.first and o.second), ""), False


def table() -> str:
    """The table in Markdown."""
    lines = [
        "| function | first derivatives | second derivatives | CasADi | JAX, PyTorch |",
        "|---|---|---|---|---|",
    ]
    for row in differentiable():
        orders = ["first and second" if row.second else "first"] * 2
        if not row.everywhere:
            orders[0] = "first"
        names = " | ".join(f"`{name}`" if name else "" for name in (row.name, row.first, row.second))
        lines.append(f"| {names} | {' | '.join(orders)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")

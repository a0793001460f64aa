"""Functions that can be differentiated in CasADi, JAX and PyTorch, and those that must be built for it, read
off the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rbdc.functions.catalogue import ANY, functions_of
from rbdc.functions.record import Differential, Function
from rbdc.model.bodies import Contact, ContactKind, Frame
from rbdc.spatial import Placement

TOUCHING = replace(ANY, contacts=(Contact("", ContactKind.POINT, Frame("", 0, Placement.identity())),))
"""A model that has every function."""


@dataclass(frozen=True)
class Derivatives:
    """The functions that give the first and the second derivatives of one, and those by external forces; ""
    where there are none.
    """

    name: str
    first: str
    second: str
    forces: str


def differentiable() -> list[Derivatives]:
    """Return all functions with first derivatives, in the order of the documentation."""
    catalogue = functions_of(TOUCHING)
    functions = []
    for name, function in catalogue.items():
        d = function.differential
        if d is not None and d.first in catalogue:
            functions.append(Derivatives(name, d.first, _second(catalogue, d), d.forces))
    return functions


def _second(catalogue: Mapping[str, Function], d: Differential) -> str:
    if d.second:
        return d.second
    for name in (d.first, d.weighted):
        then = catalogue[name].differential if name else None
        if then is not None:
            return then.first
    return ""


def table() -> str:
    """Return the table of docs/functions.md."""
    lines = [
        "| function | first derivatives | second derivatives | with respect to `fext` |",
        "|---|---|---|---|",
    ]
    for row in differentiable():
        names = (row.name, row.first, row.second, row.forces)
        lines.append(f"| {' | '.join(f'`{name}`' if name else '' for name in names)} |")
    return "\n".join(lines)

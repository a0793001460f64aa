"""The loops of a function of second derivatives, which follow straight-line code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.ir.loops import Loop, LoopNest, Statement, names_in
from rbdc.model import Problem
from rbdc.planning.paths import forward, inverse, vector
from rbdc.planning.paths.layout import layout_of
from rbdc.planning.paths.products import WIDTHS
from rbdc.planning.paths.start import drive_tables, operators, slopes
from rbdc.planning.paths.tables import PathTables


def path_loops(model: Problem, declaration: FunctionDeclaration, *, solved: bool) -> LoopNest:
    """Return the loops of a function. Straight-line code before them computes `state` and, for forward
    dynamics (`solved`), `inverse`.
    """
    layout = layout_of(model, declaration.scalar)
    if solved and layout.loaded:  # with world-fixed forces, accelerations depend on q of the root
        layout = replace(layout, free=False)
    path, outputs, drives = PathTables(layout), [p.name for p in declaration.outputs], drive_tables(model)
    weights = [p.name for p in declaration.inputs if p.kind is Kind.WEIGHTS]
    statements = [*operators(layout), *(slopes(layout, driven=bool(drives)) if solved else ())]
    if weights:
        statements += vector.hessian(path, weights[0], outputs, solved=solved)
    elif solved:
        statements += forward.AccelerationTensors(path, outputs).statements()
    else:
        statements += inverse.Torques(path, outputs).statements()
    n, columns, lanes = layout.size, layout.columns, layout.lanes
    sizes = {"state": layout.state * n + lanes, "op": layout.operators * columns + lanes}
    sizes |= {"inverse": n * n + lanes}
    sizes |= {"sides": 2 * columns * n, "total": WIDTHS[0] * lanes}
    sizes |= (vector if weights else forward if solved else inverse).arrays(layout)
    statements = list(_running(statements))
    named = set(names_in(statements))
    return LoopNest(
        tuple(table for table in (*drives, *path.tables()) if table.name in named),
        {name: size for name, size in sizes.items() if name in named},
        tuple(statements),
        widths={name: lanes for name in VECTORS if name in named},
    )


VECTORS = ("total", "forces", "root", "turned")
"""Names of the arrays whose entries are vectors."""


def _running(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield all statements except loops that never run: a robot may have no joint below its root."""
    for part in statements:
        if not isinstance(part, Loop):
            yield part
        elif not (isinstance(part.start, int) and isinstance(part.stop, int) and part.start >= part.stop):
            body = tuple(_running(part.body))
            yield from (replace(part, body=body),) if body else ()

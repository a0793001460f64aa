"""The loops of a function of second derivatives, after the straight-line code that they start from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.ir.indices import tables_in
from rbdc.ir.loops import Call, Loop, LoopNest, Statement, Step, Switch, every
from rbdc.model import Problem
from rbdc.planning.paths import forward, inverse, vector
from rbdc.planning.paths.layout import OPERATORS, STATE, layout
from rbdc.planning.paths.products import WIDTHS
from rbdc.planning.paths.start import drive_tables, operators, slopes
from rbdc.planning.paths.tables import PathTables


def path_loops(model: Problem, declaration: FunctionDeclaration, *, solved: bool) -> LoopNest:
    """The loops of a function. What comes before gives `state` and, where dynamics are solved, `inverse`."""
    made = layout(model, declaration.scalar)
    path, outputs, drives = PathTables(made), [p.name for p in declaration.outputs], drive_tables(model)
    weights = [p.name for p in declaration.inputs if p.kind is Kind.WEIGHTS]
    statements = [*operators(made), *(slopes(made, driven=bool(drives)) if solved else ())]
    if weights:
        statements += vector.hessian(path, weights[0], outputs, solved=solved)
    elif solved:
        statements += forward.Accelerations(path, outputs).statements()
    else:
        statements += inverse.Torques(path, outputs).statements()
    n, columns, lanes = made.size, made.columns, made.lanes
    sizes = {"state": STATE * n + lanes, "op": OPERATORS * columns + lanes, "inverse": n * n + lanes}
    sizes |= {"sides": 2 * columns * n, "total": WIDTHS[0] * lanes}
    sizes |= (vector if weights else forward if solved else inverse).arrays(made)
    statements = list(_running(statements))
    named = set(_named(statements))
    return LoopNest(
        tuple(table for table in (*drives, *path.tables()) if table.name in named),
        {name: size for name, size in sizes.items() if name in named},
        tuple(statements),
        widths={name: lanes for name in VECTORS if name in named},
    )


VECTORS = ("total", "forces", "root", "turned")
"""The arrays of vectors."""


def _running(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Statements without loops that never run: a robot may have no joint below its root."""
    for part in statements:
        if not isinstance(part, Loop):
            yield part
        elif not (isinstance(part.start, int) and isinstance(part.stop, int) and part.start >= part.stop):
            body = tuple(_running(part.body))
            yield from (replace(part, body=body),) if body else ()


def _named(statements: Sequence[Statement]) -> Iterator[str]:
    """The arrays that statements name, and the tables that they look up."""
    for part in every(statements):
        match part:
            case Step() | Call():
                places = part.places.values()
                yield from (place.array for place in places)
                indices = [index for place in places for index, _ in (*place.strides, (place.count or 0, 1))]
            case Loop():
                indices = [part.start, part.stop]
            case Switch():
                indices = [part.on]
            case _:
                indices = []
        if isinstance(part, Call):
            indices += part.indices.values()
            yield from _named(part.routine.statements)
        yield from (table for index in indices for table in tables_in(index))

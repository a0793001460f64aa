"""Solutions of a symmetric system for many right-hand sides, columns side by side in the lanes of vectors.

A straight-line kernel gives right-hand sides B, known parts K and the factors of A = L^T D L. What is left
is the same arithmetic for every column, L^T Y = B and L X = D^-1 Y, row by row over blocks of columns
(`rbdc.planning.columns`). A is M, or M with the rows of contacts before it, whose solutions are the
function's outputs over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import add_kernels, function_file
from rbdc.emit.render import braced
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.planning.columns import (
    ColumnPlan,
    RowPair,
    SolveRow,
    kernel,
    plan_of,
    row_pairs,
    solve,
    solve_cost,
    strips,
)

PART = 600
"""About so many products of a block in one C function."""

STORES = 100
"""The most blocks that gcc clears one by one: M^-1 of kuka_iiwa (14) takes 0.8 of the time so, its
derivatives of forward dynamics (42) 0.96 to 1, those of HyQ (252) 1.08 (gcc 12, a Xeon).
"""


def column_source(
    robot: str, declaration: FunctionDeclaration, programs: Sequence[Program]
) -> FunctionSource:
    """The C of a function whose outputs are solutions of its `System`. `programs` compute what `preparation`
    declares, the first of two without the optional inputs.
    """
    plan, name = plan_of(programs, declaration), f"{robot}_{declaration.name}"
    kernels = [kernel(program, plan) for program in programs]
    total = cost(kernels[0]) + solve_cost(plan)
    source = FunctionSource(declaration, total, method="cholesky")
    parts, call = add_kernels(robot, f"{name}_columns", kernels, source)
    source.files[f"{name}.c"] = function_file(
        robot,
        source,
        body="columns.c.jinja",
        parts=parts,
        early=_solve(f"{name}_solve", plan, plan.early_blocks),
        late=_solve(f"{name}_solve_late", plan, plan.late_blocks),
        sizes=_sizes(plan),
        lanes=plan.lanes,
        call=call,
        results=[
            (plan.system.joints, _runs(plan.system.solutions, plan, plan.system.contacts)),
            (plan.system.contacts, _runs(plan.system.of_contacts, plan, 0)),
        ],
        inverse="" if plan.system.inverse is None else plan.system.inverse.name,
        known=[_known(plan, *entry) for entry in plan.known],
    )
    return source


def _runs(parameters: Sequence[Parameter], plan: ColumnPlan, row: int) -> list[dict[str, Any]]:
    """Columns of outputs that lie side by side in a row, of those whose first row is this row of the system:
    the output's name and its columns in all, the first of them, how many they are, and where they begin.
    """
    found = []
    for side, p in enumerate(parameters):
        columns = range(p.shape[1])
        starts = [c for c in columns if c == 0 or plan.position(side, c) != plan.position(side, c - 1) + 1]
        for first, end in pairwise([*starts, len(columns)]):
            own = {"output": p.name, "width": len(columns), "first": first, "count": end - first}
            found.append(own | {"place": plan.place(side, row, first)})
    return found


def _known(plan: ColumnPlan, side: int, row: int, column: int) -> tuple[str, int]:
    """The output that an entry of a solution is in, and the place there."""
    contacts = plan.system.contacts
    of = plan.system.solutions if row >= contacts else plan.system.of_contacts
    return of[side].name, (row - contacts if row >= contacts else row) * of[side].shape[1] + column


def _sizes(plan: ColumnPlan) -> dict[str, int | None]:
    """Numbers of entries as the template lays them out: rows of M; blocks and entries in a row
    of columns; all of them; entries of `factor`, of `pivots` and of `known`, at least one; what a step along
    the diagonal of the identity takes, and where that begins; blocks, where they are few. A loop has a row, a
    factor 0 and a pivot 1 more.
    """
    row, more = plan.blocks * plan.lanes, int(plan.looped)
    blocks = (plan.size + more) * plan.blocks
    return {
        "joints": plan.system.joints,
        "blocks": plan.blocks,
        "row": row,
        "columns": blocks * plan.lanes,
        "stores": blocks if blocks <= STORES else None,
        "factor": max(len(plan.factor) + more, 1),
        "pivots": plan.size + more,
        "known": max(len(plan.known), 1),
        "diagonal": row + 1,
        "identity": plan.place(len(plan.system.sides), plan.system.contacts, 0) if plan.system.inverse else 0,
        "zero": len(plan.factor) if plan.looped else None,
        "one": plan.size if plan.looped else None,
    }


def _solve(name: str, plan: ColumnPlan, blocks: range) -> dict[str, Any]:
    """The solve for some blocks of columns: functions with rows written out, or a loop for strips of as many
    blocks, of which some can be all zeros; and their names.
    """
    parts = [] if plan.looped else _parts(name, solve(plan, blocks))
    cut = [(strip, row_pairs(plan, strip)) for strip in strips(blocks)] if plan.looped else []
    loops = [
        _loop(f"{name}_by{width}", plan, [(strip, own) for strip, own in cut if own and len(strip) == width])
        for width in sorted({len(strip) for strip, own in cut if own})
    ]
    calls = [made for made, _ in parts] + [loop["name"] for loop in loops]
    return {"parts": parts, "loops": loops, "calls": calls}


def _loop(name: str, plan: ColumnPlan, cut: Sequence[tuple[range, list[RowPair]]]) -> dict[str, Any]:
    """A loop over strips, each with its pairs of rows: the C function's name, its tables as C and the type of
    their numbers, and its bodies, for long registers and for others: lanes of their vectors, and those of a
    row by their numbers.

    pairs: where two rows begin, their pivots, the entry of L between them, and the end of their terms; terms:
    entries of L for both, and where the other row begins.
    """
    pairs, terms = list[str](), list[str]()
    for strip, own in cut:
        for pair in own:
            terms += [braced((x, y, other * plan.blocks + strip.start)) for x, y, other in pair.terms]
            rows = (pair.first, pair.second)
            places = braced(row.number * plan.blocks + strip.start for row in rows)
            pivots = braced(row.number if row.scaled else plan.size for row in rows)
            pairs.append(braced((places, pivots, pair.within, len(terms))))
    largest = max((plan.size + 1) * plan.blocks, len(plan.factor), len(terms))
    return {
        "name": name,
        "pairs": pairs,
        "count": len(pairs),
        "terms": terms or [braced((0, 0, 0))],
        "bodies": [(n * plan.lanes, range(len(cut[0][0]) // n)) for n in (2, 1)],
        "number": "unsigned short" if largest < 1 << 16 else "unsigned",
    }


def _parts(name: str, rows: Sequence[SolveRow]) -> list[tuple[str, list[SolveRow]]]:
    """The C functions of rows that are written out, names and rows, cut between rows."""
    parts: list[list[SolveRow]] = []
    for row in rows:
        if not parts or sum(r.products for r in parts[-1]) + row.products > PART:
            parts.append([])
        parts[-1].append(row)
    return [(f"{name}{number + 1}", part) for number, part in enumerate(parts)]

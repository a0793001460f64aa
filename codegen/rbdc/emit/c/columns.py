"""Solutions of a symmetric system for many right-hand sides, columns side by side in the lanes of vectors.

A straight-line kernel gives right-hand sides B, known parts K and the factors of A = L^T D L. What is left
is the same arithmetic for every column, L^T Y = B and L X = D^-1 Y, row by row over blocks of columns
(`rbdc.emit.column_solve`). A is M, or M with the rows of contacts before it, whose solutions are the
function's outputs over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import add_headers, add_kernels, batch_view, figures, headers
from rbdc.emit.c.vectors import lanes_header
from rbdc.emit.column_solve import ColumnPlan, SolveRow, System, in_strips, solve, solve_cost, strip_rows
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Array, Program

PART = 600
"""About so many products of a block in one C function."""


def preparation(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """The outputs that the kernel computes for the system of a function."""
    system = System.of(declaration)
    size = system.size
    outputs = [
        Parameter(f"{what}_{p.name}", (size, p.shape[1]), "", by_forces=p.by_forces)
        for what in ("side", "known")
        for p in system.sides
    ]
    outputs += [Parameter(name, (size, size), "") for name in ("factor", "pivots")]
    return replace(declaration, outputs=(*outputs, *system.beside))


def plan_of(programs: Sequence[Program], declaration: FunctionDeclaration) -> ColumnPlan:
    """The plan that serves all kernels."""
    system = System.of(declaration)
    sides, widths = len(system.sides), [p.shape[1] for p in system.sides]

    def nonzero(which: int, columns: int) -> list[tuple[int, int]]:
        entries = {
            k for p in programs for k, value in enumerate(p.results[which]) if p.values[value].constant != 0.0
        }
        return [divmod(k, columns) for k in sorted(entries)]

    plan = ColumnPlan(
        system,
        declaration.scalar,
        [(m, *entry) for m in range(sides) for entry in nonzero(m, widths[m])],
        [(m, *entry) for m in range(sides) for entry in nonzero(sides + m, widths[m])],
        nonzero(2 * sides, system.size),
    )
    return in_strips(plan)


def kernel(program: Program, plan: ColumnPlan) -> Program:
    """The program with its outputs where the plan has them."""
    sides = plan.system.sides

    def entries(first: int, of: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
        return tuple(program.results[first + m][row * sides[m].shape[1] + column] for m, row, column in of)

    factor, pivots = program.results[2 * len(sides)], program.results[2 * len(sides) + 1]
    indices = tuple(plan.place(*entry) for entry in plan.stored)
    outputs = {
        Array("columns", len(plan.stored), output_indices=indices): entries(0, plan.stored),
        Array("known", len(plan.known)): entries(len(sides), plan.known),
        Array("factor", len(plan.factor)): tuple(
            factor[row * plan.size + column] for row, column in plan.factor
        ),
        Array("pivots", plan.size): tuple(pivots[k * plan.size + k] for k in range(plan.size)),
        **{
            Array(p.name, p.size): program.results[2 * len(sides) + 2 + number]
            for number, p in enumerate(plan.system.beside)
        },
    }
    return replace(program, outputs=tuple(outputs), results=tuple(outputs.values()))


def column_cost(program: Program, declaration: FunctionDeclaration) -> Cost:
    """The operations of a function that is made so, each on a block as one."""
    plan = plan_of([program], declaration)
    return cost(kernel(program, plan)) + solve_cost(solve(plan), plan)


def column_source(
    robot: str,
    declaration: FunctionDeclaration,
    programs: Sequence[Program],
    version: str,
    *,
    loop: bool = True,
) -> FunctionSource:
    """The C of a function whose outputs are solutions of its `System`. `programs` compute what `preparation`
    declares, the first of two without the optional inputs; `loop`: its batch is a loop over samples.
    """
    plan, name = plan_of(programs, declaration), f"{robot}_{declaration.name}"
    kernels, made = [kernel(program, plan) for program in programs], solve(plan)
    source = FunctionSource(declaration, cost(kernels[0]) + solve_cost(made, plan), method="columns")
    add_headers(source, robot, kernels, version)
    source.style = "columns"
    source.files |= lanes_header(robot, version, declaration.scalar)
    views = add_kernels(robot, f"{name}_columns", f"{name}_columns", kernels, source, version)
    strips = _strips(name, made, plan) if plan.strip else None
    solves = [] if strips else _solve_parts(name, made)
    source.statements += sum(row.statements for _, part in solves for row in part)
    source.files[f"{name}.c"] = render(
        "columns.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(source.cost),
        version=version,
        headers=headers(source),
        foreign=views.foreign,
        parts=views.parts,
        solves=solves,
        strips=strips,
        sizes=_sizes(plan),
        lanes=plan.lanes,
        **declaration.scalar.words,
        prototype=declaration.c_prototype(robot, batch=False),
        call=views.call,
        outputs=_outputs(plan.system.solutions, plan, plan.system.contacts),
        of_contacts=_outputs(plan.system.of_contacts, plan, 0),
        inverse="" if plan.system.inverse is None else plan.system.inverse.name,
        known=[_known(plan, *entry) for entry in plan.known],
        batch=batch_view(robot, declaration) if loop else None,
    )
    return source


def _outputs(parameters: Sequence[Parameter], plan: ColumnPlan, row: int) -> list[tuple[str, int, int]]:
    """The outputs whose first row is one of the system's: names, columns, and where these begin among all."""
    return [(p.name, p.shape[1], plan.place(side, row, 0)) for side, p in enumerate(parameters)]


def _known(plan: ColumnPlan, side: int, row: int, column: int) -> tuple[str, int]:
    """The output that an entry of a solution is in, and the place there."""
    contacts = plan.system.contacts
    of = plan.system.solutions if row >= contacts else plan.system.of_contacts
    return of[side].name, (row - contacts if row >= contacts else row) * of[side].shape[1] + column


@dataclass(frozen=True)
class _Sizes:
    """Numbers of entries as the template lays them out: rows of the system, of M, of contacts; blocks and
    entries in a row of columns; all of them; entries of `factor` and `known`, at least one; what a step along
    the diagonal of the identity takes, and where that begins.
    """

    rows: int
    joints: int
    contacts: int
    blocks: int
    row: int
    columns: int
    factor: int
    known: int
    diagonal: int
    identity: int


def _sizes(plan: ColumnPlan) -> _Sizes:
    row = plan.blocks * plan.lanes
    return _Sizes(
        plan.size,
        plan.system.joints,
        plan.system.contacts,
        plan.blocks,
        row,
        columns=plan.size * row,
        factor=max(len(plan.factor), 1),
        known=max(len(plan.known), 1),
        diagonal=row + 1,
        identity=plan.place(len(plan.system.sides), plan.system.contacts, 0),
    )


@dataclass(frozen=True)
class _Strips:
    """The solve as a loop: the C function's name, rows of its table as numbers in C (where they begin, the
    pivot, where their terms end), `count` of them, of which the first `upward` are not scaled; terms; and the
    numbers of the `width` blocks of a strip.
    """

    name: str
    upward: int
    count: int
    rows: list[str]
    terms: list[str]
    width: int
    blocks: range


def _strips(name: str, rows: Sequence[SolveRow], plan: ColumnPlan) -> _Strips:
    """The tables of the solve in strips."""
    made = strip_rows(rows, plan)
    ends = accumulate(len(row.terms) for row in made)
    return _Strips(
        f"{name}_solve",
        sum(row.pivot < 0 for row in made),
        len(made),
        [f"{row.own}, {max(row.pivot, 0)}, {end}" for row, end in zip(made, ends, strict=True)],
        [f"{factor}, {other}" for row in made for factor, other in row.terms],
        plan.strip,
        range(plan.strip),
    )


def _solve_parts(name: str, rows: Sequence[SolveRow]) -> list[tuple[str, list[SolveRow]]]:
    """The C functions of the solve, names and rows, cut between rows."""
    parts: list[list[SolveRow]] = [[]]
    for row in rows:
        if parts[-1] and sum(r.products for r in parts[-1]) + row.products > PART:
            parts.append([])
        parts[-1].append(row)
    return [(f"{name}_solve{number + 1}", part) for number, part in enumerate(parts)]

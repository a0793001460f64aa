"""Solutions with M for many right-hand sides, columns side by side in the lanes of vectors.

A straight-line kernel gives right-hand sides B, known parts K and the factors of M^-1 = W D^-1 W^T. What is
left is the same arithmetic for every column, Y = D^-1 W^T B and X = W Y, which is written row by row over
blocks of columns, blocks of zeros left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import add_headers, add_kernels, add_lanes_header, batch_view, figures, headers
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Array, Program

PART = 600
"""About so many products of a block in one C function."""


def preparation(declaration: FunctionDeclaration, size: int) -> FunctionDeclaration:
    """The outputs that the kernel computes for a function whose last output is M^-1 (size, size) and whose
    others are solutions with M.
    """
    names = [p.name for p in declaration.outputs[:-1]]
    outputs = [*(f"side_{name}" for name in names), *(f"known_{name}" for name in names), "factor", "pivots"]
    return replace(declaration, outputs=tuple(Parameter(name, (size, size), "") for name in outputs))


@dataclass
class Plan:
    """Where everything lies. `stored`: (right-hand side, row, column) of the entries that can differ from
    zero; `known` likewise; `factor`: (row, column) of those of W below its diagonal of ones. A row of columns
    holds all right-hand sides, then those of the identity; a block of columns fills a vector of `scalar`.
    """

    size: int
    sides: int
    scalar: ScalarType
    stored: list[tuple[int, int, int]] = field(default_factory=list)
    known: list[tuple[int, int, int]] = field(default_factory=list)
    factor: list[tuple[int, int]] = field(default_factory=list)

    @property
    def lanes(self) -> int:
        """Columns in a block."""
        return self.scalar.single_lanes

    @property
    def blocks(self) -> int:
        """Blocks of columns in a row."""
        return -(-(self.sides + 1) * self.size // self.lanes)

    def block(self, side: int, column: int) -> int:
        """The block of a row in which a column is."""
        return (side * self.size + column) // self.lanes

    def place(self, side: int, row: int, column: int) -> int:
        """Place of a right-hand side's entry among all columns."""
        return row * self.blocks * self.lanes + side * self.size + column


def plan_of(programs: Sequence[Program], size: int, scalar: ScalarType) -> Plan:
    """The plan that serves all kernels."""
    sides = (len(programs[0].outputs) - 2) // 2

    def nonzero(which: int) -> list[tuple[int, int]]:
        entries = {
            k for p in programs for k, value in enumerate(p.results[which]) if p.values[value].constant != 0.0
        }
        return [divmod(k, size) for k in sorted(entries)]

    return Plan(
        size,
        sides,
        scalar,
        [(m, *entry) for m in range(sides) for entry in nonzero(m)],
        [(m, *entry) for m in range(sides) for entry in nonzero(sides + m)],
        nonzero(2 * sides),
    )


def kernel(program: Program, plan: Plan) -> Program:
    """The program with its outputs where the plan has them."""

    def entries(first: int, of: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
        return tuple(program.results[first + m][row * plan.size + column] for m, row, column in of)

    factor, pivots = program.results[2 * plan.sides], program.results[2 * plan.sides + 1]
    indices = tuple(plan.place(*entry) for entry in plan.stored)
    outputs = {
        Array("columns", len(plan.stored), output_indices=indices): entries(0, plan.stored),
        Array("known", len(plan.known)): entries(plan.sides, plan.known),
        Array("factor", len(plan.factor)): tuple(
            factor[row * plan.size + column] for row, column in plan.factor
        ),
        Array("pivots", plan.size): tuple(pivots[k * plan.size + k] for k in range(plan.size)),
    }
    return replace(program, outputs=tuple(outputs), results=tuple(outputs.values()))


@dataclass(frozen=True)
class Sum:
    """The sum of one block: its number in the row, the entry of y where it lies, and whether the row has
    numbers there already.
    """

    block: int
    entry: int
    filled: bool


@dataclass(frozen=True)
class Term:
    """Another row times an entry of W: for each of its blocks the number in the row and the entry of y."""

    factor: int
    blocks: list[tuple[int, int]]


@dataclass(frozen=True)
class Row:
    """One row of the solve: sums over blocks and what is added to them. pivot: whose inverse scales the row,
    as C; empty for none.
    """

    title: str
    sums: list[Sum]
    terms: list[Term]
    pivot: str

    @property
    def products(self) -> int:
        """Blocks that are multiplied and added."""
        return sum(len(term.blocks) for term in self.terms)

    @property
    def scaled(self) -> int:
        """Blocks that are only scaled."""
        return len(self.sums) if self.pivot else 0

    @property
    def statements(self) -> int:
        """Lines of C."""
        return 1 + len(self.terms) + len(self.sums)


def solve(plan: Plan) -> list[Row]:
    """Y = D^-1 W^T B in the order of the rows, then X = W Y in the opposite one: what a row needs has not
    been overwritten yet.
    """
    below = {
        k: [(number, i) for number, (i, j) in enumerate(plan.factor) if j == k] for k in range(plan.size)
    }
    above = {
        k: [(number, j) for number, (i, j) in enumerate(plan.factor) if i == k] for k in range(plan.size)
    }
    filled: dict[int, set[int]] = {k: {plan.block(plan.sides, k)} for k in range(plan.size)}  # the identity
    for side, row, column in plan.stored:
        filled[row].add(plan.block(side, column))
    solved = {k: filled[k].union(*(filled[i] for _, i in below[k])) for k in range(plan.size)}
    rows = [
        replace(_row(plan, k, below[k], filled), title=f"row {k} of Y = D^-1 W^T B", pivot=f"pivots[{k}]")
        for k in range(plan.size)
    ]
    upward = [k for k in reversed(range(plan.size)) if above[k]]
    return rows + [replace(_row(plan, k, above[k], solved), title=f"row {k} of X = W Y") for k in upward]


def _row(plan: Plan, k: int, terms: Sequence[tuple[int, int]], filled: Mapping[int, set[int]]) -> Row:
    """Row k plus the rows of `terms` times their entries of W, in the blocks that are not all zeros."""
    used = sorted(filled[k].union(*(filled[i] for _, i in terms)))
    sums = [Sum(b, k * plan.blocks + b, b in filled[k]) for b in used]
    products = [
        Term(number, [(b, i * plan.blocks + b) for b in sorted(filled[i])])
        for number, i in terms
        if filled[i]
    ]
    return Row("", sums, products, "")


def _cost(rows: Sequence[Row], plan: Plan) -> Cost:
    operations = sum(2 * row.products + row.scaled for row in rows)
    return Cost(vectors=operations, lane_flops=plan.lanes * operations)


def column_cost(program: Program, size: int, scalar: ScalarType) -> Cost:
    """The operations of a function that is made so, each on a block as one."""
    plan = plan_of([program], size, scalar)
    return cost(kernel(program, plan)) + _cost(solve(plan), plan)


def column_source(
    robot: str,
    declaration: FunctionDeclaration,
    programs: Sequence[Program],
    size: int,
    version: str,
    *,
    loop: bool = True,
) -> FunctionSource:
    """The C of a function whose last output is M^-1 (size, size) and whose others are solutions with M.
    `programs` compute what `preparation` declares, the first of two without the optional input; `loop`: its
    batch is a loop over samples.
    """
    plan, name = plan_of(programs, size, declaration.scalar), f"{robot}_{declaration.name}"
    kernels, made = [kernel(program, plan) for program in programs], solve(plan)
    source = FunctionSource(declaration, cost(kernels[0]) + _cost(made, plan), method="columns")
    add_headers(source, robot, kernels, version)
    source.style = "columns"
    add_lanes_header(source, robot, version)
    views = add_kernels(robot, f"{name}_columns", f"{name}_columns", kernels, source, version)
    solves = _solve_parts(name, made)
    source.statements += sum(row.statements for row in made)
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
        sizes=_sizes(plan),
        lanes=plan.lanes,
        **declaration.scalar.words,
        prototype=declaration.c_prototype(robot, batch=False),
        call=views.call,
        outputs=[_Output(p.name, number * size) for number, p in enumerate(declaration.outputs)],
        inverse=declaration.outputs[-1].name,
        known=[(declaration.outputs[m].name, row * size + column) for m, row, column in plan.known],
        batch=batch_view(robot, declaration) if loop else None,
    )
    return source


@dataclass(frozen=True)
class _Output:
    """An output as the template lays it out: the first of its columns among all."""

    name: str
    first: int


@dataclass(frozen=True)
class _Sizes:
    """Numbers of entries as the template lays them out: rows of M; blocks and entries in a row of columns;
    all of them; entries of `factor` and `known`, at least one; what a step along the diagonal of the identity
    takes, and where that begins.
    """

    rows: int
    blocks: int
    row: int
    columns: int
    factor: int
    known: int
    diagonal: int
    identity: int


def _sizes(plan: Plan) -> _Sizes:
    row = plan.blocks * plan.lanes
    return _Sizes(
        plan.size,
        plan.blocks,
        row,
        columns=plan.size * row,
        factor=max(len(plan.factor), 1),
        known=max(len(plan.known), 1),
        diagonal=row + 1,
        identity=plan.sides * plan.size,
    )


@dataclass(frozen=True)
class _SolvePart:
    """A C function with some rows of the solve."""

    name: str
    rows: list[Row]


def _solve_parts(name: str, rows: Sequence[Row]) -> list[_SolvePart]:
    """The C functions of the solve, cut between rows."""
    parts: list[list[Row]] = [[]]
    for row in rows:
        if parts[-1] and sum(r.products for r in parts[-1]) + row.products > PART:
            parts.append([])
        parts[-1].append(row)
    return [_SolvePart(f"{name}_solve{number + 1}", part) for number, part in enumerate(parts)]

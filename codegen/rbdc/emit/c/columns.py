"""Solutions of a symmetric system for many right-hand sides, columns side by side in the lanes of vectors.

A straight-line kernel gives right-hand sides B, known parts K and the factors of A = L^T D L. What is left
is the same arithmetic for every column, L^T Y = B and L X = D^-1 Y, which is written row by row over blocks
of columns, blocks of zeros left out. A is M, or M with the rows of contacts before it, whose solutions are
the function's outputs over them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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


@dataclass(frozen=True)
class System:
    """The system of a function whose matrices over the joints are solutions, the last of them by unit forces:
    a block of A^-1. columns: of each of them, one for each direction of the joints; contacts: rows of
    contacts, of which there is a matrix for each of these; beside: its vectors, which are no solutions.
    """

    solutions: tuple[Parameter, ...]
    of_contacts: tuple[Parameter, ...]
    beside: tuple[Parameter, ...]

    @staticmethod
    def of(declaration: FunctionDeclaration) -> System:
        """The system of a function by its outputs."""
        matrices = [p for p in declaration.outputs if len(p.shape) == 2]
        return System(
            tuple(p for p in matrices if not p.in_space),
            tuple(p for p in matrices if p.in_space),
            tuple(p for p in declaration.outputs if len(p.shape) < 2),
        )

    @property
    def columns(self) -> int:
        """Columns of an output, and rows of M."""
        return self.solutions[-1].shape[1]

    @property
    def contacts(self) -> int:
        """Rows of contacts."""
        return self.of_contacts[0].shape[0] if self.of_contacts else 0

    @property
    def size(self) -> int:
        """Rows of A."""
        return self.contacts + self.columns


def preparation(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """The outputs that the kernel computes for the system of a function."""
    system = System.of(declaration)
    names, size, sides = [p.name for p in system.solutions[:-1]], system.size, (system.size, system.columns)
    outputs = [Parameter(f"{what}_{name}", sides, "") for what in ("side", "known") for name in names]
    outputs += [Parameter(name, (size, size), "") for name in ("factor", "pivots")]
    return replace(declaration, outputs=(*outputs, *system.beside))


@dataclass
class Plan:
    """Where everything lies. `stored`: (right-hand side, row, column) of the entries that can differ from
    zero; `known` likewise; `factor`: (row, column) of those of L below its diagonal of ones. A row of columns
    holds all right-hand sides, then those of the identity; a block of columns fills a vector of `scalar`.
    """

    system: System
    sides: int
    scalar: ScalarType
    stored: list[tuple[int, int, int]] = field(default_factory=list)
    known: list[tuple[int, int, int]] = field(default_factory=list)
    factor: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Rows of the system."""
        return self.system.size

    @property
    def columns(self) -> int:
        """Columns of a right-hand side."""
        return self.system.columns

    @property
    def lanes(self) -> int:
        """Columns in a block."""
        return self.scalar.single_lanes

    @property
    def blocks(self) -> int:
        """Blocks of columns in a row."""
        return -(-(self.sides + 1) * self.columns // self.lanes)

    def block(self, side: int, column: int) -> int:
        """The block of a row in which a column is."""
        return (side * self.columns + column) // self.lanes

    def mirrored(self, row: int) -> range:
        """The blocks of a row that the symmetry of A^-1 gives: left of its diagonal."""
        own = self.sides * self.columns
        return range(-(-own // self.lanes), (own + max(row - self.system.contacts, 0)) // self.lanes)

    def place(self, side: int, row: int, column: int) -> int:
        """Place of a right-hand side's entry among all columns."""
        return row * self.blocks * self.lanes + side * self.columns + column


def plan_of(programs: Sequence[Program], declaration: FunctionDeclaration) -> Plan:
    """The plan that serves all kernels."""
    system = System.of(declaration)
    sides = len(system.solutions) - 1

    def nonzero(which: int, columns: int = system.columns) -> list[tuple[int, int]]:
        entries = {
            k for p in programs for k, value in enumerate(p.results[which]) if p.values[value].constant != 0.0
        }
        return [divmod(k, columns) for k in sorted(entries)]

    return Plan(
        system,
        sides,
        declaration.scalar,
        [(m, *entry) for m in range(sides) for entry in nonzero(m)],
        [(m, *entry) for m in range(sides) for entry in nonzero(sides + m)],
        nonzero(2 * sides, system.size),
    )


def kernel(program: Program, plan: Plan) -> Program:
    """The program with its outputs where the plan has them."""

    def entries(first: int, of: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
        return tuple(program.results[first + m][row * plan.columns + column] for m, row, column in of)

    factor, pivots = program.results[2 * plan.sides], program.results[2 * plan.sides + 1]
    indices = tuple(plan.place(*entry) for entry in plan.stored)
    outputs = {
        Array("columns", len(plan.stored), output_indices=indices): entries(0, plan.stored),
        Array("known", len(plan.known)): entries(plan.sides, plan.known),
        Array("factor", len(plan.factor)): tuple(
            factor[row * plan.size + column] for row, column in plan.factor
        ),
        Array("pivots", plan.size): tuple(pivots[k * plan.size + k] for k in range(plan.size)),
        **{
            Array(p.name, p.size): program.results[2 * plan.sides + 2 + number]
            for number, p in enumerate(plan.system.beside)
        },
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
    """Another row times an entry of L: for each of its blocks the number in the row and the entry of y."""

    factor: int
    blocks: list[tuple[int, int]]


@dataclass(frozen=True)
class Row:
    """One row of the solve: sums over blocks and what is taken from them. pivot: whose inverse scales the row
    first, as C; empty for none.
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
    """L^T Y = B from the last row up, then L X = D^-1 Y from the first one down, in place; of X = A^-1, which
    is symmetric, blocks left of the diagonal are left out. The rows that were made last are taken last.
    """
    size, numbers = plan.size, {entry: number for number, entry in enumerate(plan.factor)}
    below = {
        k: [(numbers[i, k], i) for i in reversed(range(k + 1, size)) if (i, k) in numbers]
        for k in range(size)
    }
    before = {k: [(numbers[k, i], i) for i in range(k) if (k, i) in numbers] for k in range(size)}
    filled: dict[int, set[int]] = {k: set() for k in range(size)}
    for k in range(plan.columns):  # the identity
        filled[plan.system.contacts + k].add(plan.block(plan.sides, k))
    for side, row, column in plan.stored:
        filled[row].add(plan.block(side, column))
    upward = [k for k in reversed(range(size)) if below[k]]
    made = [replace(_row(plan, below[k], filled, k), title=f"row {k} of L^T Y = B") for k in upward]
    for k in range(size):
        row = _row(plan, before[k], filled, k, plan.mirrored(k))
        made.append(replace(row, title=f"row {k} of L X = D^-1 Y", pivot=f"pivots[{k}]"))
    return made


def _row(
    plan: Plan,
    terms: Sequence[tuple[int, int]],
    filled: dict[int, set[int]],
    k: int,
    without: Collection[int] = (),
) -> Row:
    """Row k less the rows of `terms` times their entries of L, in the blocks that are not all zeros, but for
    some; those are then what is filled.
    """
    used = sorted(filled[k].union(*(filled[i] for _, i in terms)).difference(without))
    sums = [Sum(b, k * plan.blocks + b, b in filled[k]) for b in used]
    taken = [(number, i, sorted(filled[i].intersection(used))) for number, i in terms]
    products = [
        Term(number, [(b, i * plan.blocks + b) for b in blocks]) for number, i, blocks in taken if blocks
    ]
    filled[k] = set(used)
    return Row("", sums, products, "")


def _cost(rows: Sequence[Row], plan: Plan) -> Cost:
    operations = sum(2 * row.products + row.scaled for row in rows)
    return Cost(vectors=operations, lane_flops=plan.lanes * operations)


def column_cost(program: Program, declaration: FunctionDeclaration) -> Cost:
    """The operations of a function that is made so, each on a block as one."""
    plan = plan_of([program], declaration)
    return cost(kernel(program, plan)) + _cost(solve(plan), plan)


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
        outputs=_outputs(plan.system.solutions, plan, plan.system.contacts),
        of_contacts=_outputs(plan.system.of_contacts, plan, 0),
        inverse=plan.system.solutions[-1].name,
        known=[_known(plan, *entry) for entry in plan.known],
        batch=batch_view(robot, declaration) if loop else None,
    )
    return source


@dataclass(frozen=True)
class _Output:
    """An output as the template lays it out: where its first row begins among all columns."""

    name: str
    first: int


def _outputs(parameters: Sequence[Parameter], plan: Plan, row: int) -> list[_Output]:
    """The outputs whose first row is one of the system's."""
    return [_Output(p.name, plan.place(side, row, 0)) for side, p in enumerate(parameters)]


def _known(plan: Plan, side: int, row: int, column: int) -> tuple[str, int]:
    """The output that an entry of a solution is in, and the place there."""
    contacts = plan.system.contacts
    of = plan.system.solutions if row >= contacts else plan.system.of_contacts
    return of[side].name, (row - contacts if row >= contacts else row) * plan.columns + column


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


def _sizes(plan: Plan) -> _Sizes:
    row = plan.blocks * plan.lanes
    return _Sizes(
        plan.size,
        plan.columns,
        plan.system.contacts,
        plan.blocks,
        row,
        columns=plan.size * row,
        factor=max(len(plan.factor), 1),
        known=max(len(plan.known), 1),
        diagonal=row + 1,
        identity=plan.place(plan.sides, plan.system.contacts, 0),
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

"""Functions whose results are solutions of one system L^T D L X = B: what their straight-line code gives,
where it lies in blocks of columns, and what each row of the solve takes from the others.

Blocks of zeros are left out where rows are written out; in a loop, rows of zeros in a strip. Columns that are
zeros unless optional inputs are given come last, and are solved for with these alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.nodes import Array, Program

STRIP = 6
"""The most blocks of columns that a loop takes at once, of two rows together: 16 registers hold their sums, a
block of another row and two entries of L. A block that is loaded serves both rows.

Measured on a Zen 4 core, derivatives of constrained dynamics of HyQ (four points) and Unitree G1 (two
surfaces), time in that of one row and 12 or 14 blocks at once, by gcc 12: 0.94 and 0.90; in that of three
rows and 4 blocks, thrice with AVX-512, 0.98 and 1.02, by clang 19 0.98 and 1.03, for AVX2 0.96 to 1.03.
"""


@dataclass(frozen=True)
class System:
    """The system of a function whose matrices over the joints are solutions. sides: those for right-hand
    sides that are computed; inverse: that for unit forces, a block of A^-1, if there is one; of_contacts:
    their rows of contacts, in this order, if A has such; beside: vectors, which are no solutions.
    """

    sides: tuple[Parameter, ...]
    inverse: Parameter | None
    of_contacts: tuple[Parameter, ...]
    beside: tuple[Parameter, ...]

    @staticmethod
    def of(declaration: FunctionDeclaration) -> System:
        """Return the system of a function by its outputs."""
        matrices = [p for p in declaration.outputs if len(p.shape) == 2]
        inverses = [p for p in matrices if p.kind is Kind.INVERSE]
        return System(
            tuple(p for p in matrices if p.kind is Kind.JOINT_ROWS),
            inverses[0] if inverses else None,
            tuple(p for p in matrices if p.in_space),
            tuple(p for p in declaration.outputs if len(p.shape) < 2),
        )

    @property
    def solutions(self) -> tuple[Parameter, ...]:
        """All of them, the inverse last."""
        return self.sides if self.inverse is None else (*self.sides, self.inverse)

    @property
    def joints(self) -> int:
        """Rows of M."""
        return self.solutions[-1].shape[0]

    @property
    def contacts(self) -> int:
        """Rows of contacts."""
        return self.of_contacts[0].shape[0] if self.of_contacts else 0

    @property
    def size(self) -> int:
        """Rows of A."""
        return self.contacts + self.joints

    def first(self, solution: int) -> int:
        """Return the first column of a solution among those of all."""
        return sum(p.shape[1] for p in self.solutions[:solution])


@dataclass(frozen=True)
class ColumnPlan:
    """Where everything lies. `order`: the columns of all right-hand sides and of the identity as they lie in
    a row; from the `early`-th on they are zeros unless optional inputs are given. `stored`: (right-hand side,
    row, column) of the entries that can differ from zero; `known` likewise; `factor`: (row, column) of
    those of L below its diagonal of ones. A block of columns fills a vector of `scalar`. looped: the solve is
    a loop over strips of blocks; otherwise it is written out.
    """

    system: System
    scalar: ScalarType
    order: Sequence[int]
    early: int
    stored: Sequence[tuple[int, int, int]]
    known: Sequence[tuple[int, int, int]]
    factor: Sequence[tuple[int, int]]
    looped: bool = False

    @property
    def size(self) -> int:
        """Rows of the system."""
        return self.system.size

    @property
    def lanes(self) -> int:
        """Columns in a block."""
        return self.scalar.single_lanes

    @property
    def row(self) -> int:
        """Numbers in a row of columns."""
        return self.blocks * self.lanes

    @property
    def early_blocks(self) -> range:
        """The blocks of a row that are always solved for."""
        return range(self._blocks_of(self.early))

    @property
    def late_blocks(self) -> range:
        """The others, of columns that are zeros unless optional inputs are given."""
        first = self.early_blocks.stop
        return range(first, first + self._blocks_of(max(0, len(self.order) - first * self.lanes)))

    def _blocks_of(self, columns: int) -> int:
        """Return blocks of so many columns; for a loop pairs of them, which fill long registers."""
        pair = 1 + self.looped
        return -(-columns // (pair * self.lanes)) * pair

    @property
    def blocks(self) -> int:
        """Blocks of columns in a row."""
        return self.late_blocks.stop

    @cached_property
    def _position(self) -> dict[int, int]:
        return {column: position for position, column in enumerate(self.order)}

    def position(self, side: int, column: int) -> int:
        """Return the place of a right-hand side's column in a row."""
        return self._position[self.system.first(side) + column]

    def block(self, side: int, column: int) -> int:
        """Return the block of a row in which a column is."""
        return self.position(side, column) // self.lanes

    def mirrored(self, row: int) -> range:
        """Return the blocks of a row that the symmetry of A^-1 gives: left of its diagonal."""
        if self.system.inverse is None:
            return range(0)
        own = self.position(len(self.system.sides), 0)
        return range(-(-own // self.lanes), (own + max(row - self.system.contacts, 0)) // self.lanes)

    def place(self, side: int, row: int, column: int) -> int:
        """Place of a right-hand side's entry among all columns."""
        return row * self.row + self.position(side, column)

    def filled(self, blocks: range) -> list[set[int]]:
        """For each row those of the blocks in which a right-hand side or the identity is not zero."""
        made = [set[int]() for _ in range(self.size)]
        for k in range(self.system.joints if self.system.inverse else 0):
            made[self.system.contacts + k].add(self.block(len(self.system.sides), k))
        for side, row, column in self.stored:
            made[row].add(self.block(side, column))
        return [own.intersection(blocks) for own in made]


@dataclass(frozen=True)
class SolveRow:
    """One row of the solve, by its number, in blocks that are not all zeros. scaled: by the inverse of its
    pivot, before anything is taken from it; terms: numbers of entries of L, of other rows, and the blocks in
    which the products of these are taken from this one. filled: the blocks that are not all zeros before:
    without loads of the others kuka's derivatives of forward dynamics take 0.88 of the time by clang 19, 1.14
    by gcc 12 (Zen 4).
    """

    number: int
    scaled: bool
    blocks: list[int]
    terms: list[tuple[int, int, list[int]]]
    filled: Collection[int] = ()

    @property
    def products(self) -> int:
        """Blocks that are multiplied and added."""
        return sum(len(blocks) for *_, blocks in self.terms)


def solve(plan: ColumnPlan, blocks: range) -> list[SolveRow]:
    """Return L^T Y = B from the last row up, then L X = D^-1 Y from the first one down, in place, in these
    blocks; of X = A^-1, which is symmetric, blocks left of the diagonal are left out. The rows that were made
    last are taken last.
    """
    size, numbers = plan.size, {entry: number for number, entry in enumerate(plan.factor)}
    filled, rows = plan.filled(blocks), list[SolveRow]()

    def make(k: int, others: Iterable[int], *, scaled: bool, without: Collection[int] = ()) -> None:
        places = [(i, (k, i) if scaled else (i, k)) for i in others]
        found = [(numbers[place], i) for i, place in places if place in numbers]
        used = sorted(filled[k].union(*(filled[i] for _, i in found)).difference(without))
        taken = [(number, i, sorted(filled[i].intersection(used))) for number, i in found]
        terms = [term for term in taken if term[2]]
        if used and (terms or scaled):
            rows.append(SolveRow(k, scaled, used, terms, filled[k]))
        filled[k] = set(used)

    for k in reversed(range(size)):
        make(k, reversed(range(k + 1, size)), scaled=False)
    for k in range(size):
        make(k, range(k), scaled=True, without=plan.mirrored(k))
    return rows


def strips(blocks: range) -> list[range]:
    """Return the blocks that a loop takes at once: pairs of them, as many each time but for one pair."""
    count = -(-len(blocks) // STRIP)
    ends = [len(blocks) // 2 * k // count * 2 for k in range(1, count + 1)]
    return [blocks[start:end] for start, end in pairwise([0, *ends])]


class RowPair(NamedTuple):
    """Two rows that a loop makes together, the second perhaps one beyond the last of the system. terms: the
    entries of L by which another row is taken off the first and off the second, and its number; within: that
    by which the first is taken off the second. An entry that is zero has the number after the last one.
    """

    first: SolveRow
    second: SolveRow
    terms: list[tuple[int, int, int]]
    within: int


def row_pairs(plan: ColumnPlan, strip: range) -> list[RowPair]:
    """Return the rows of a loop for one strip of blocks, those on the way up, then those on the way down."""
    rows, pairs, none = solve(plan, strip), list[RowPair](), len(plan.factor)
    for down in (False, True):
        own = [*(row for row in rows if row.scaled == down), SolveRow(plan.size, False, [], [])]
        for first, second in zip(own[::2], own[1::2], strict=False):
            of_first, of_second = ({i: x for x, i, _ in row.terms} for row in (first, second))
            within = of_second.pop(first.number, none)
            others = {**of_first, **of_second}
            terms = [(of_first.get(i, none), of_second.get(i, none), i) for i in others]
            pairs.append(RowPair(first, second, terms, within))
    return pairs


def preparation(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """Return the outputs that the kernel computes for the system of a function."""
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
    """Return the plan that serves all kernels."""
    system = System.of(declaration)
    sides, widths = len(system.sides), [p.shape[1] for p in system.sides]

    def nonzero(which: int, columns: int) -> list[tuple[int, int]]:
        entries = {entry for p in programs for entry in _nonzero(p, which)}
        return [divmod(k, columns) for k in sorted(entries)]

    early = {
        system.first(m) + entry % widths[m] for m in range(sides) for entry in _nonzero(programs[0], m)
    } | set(range(system.first(sides), system.first(len(system.solutions))))
    late = sorted(set(range(system.first(sides))) - early)
    return ColumnPlan(
        system,
        declaration.scalar,
        [*sorted(early), *late],
        len(early),
        [(m, *entry) for m in range(sides) for entry in nonzero(m, widths[m])],
        [(m, *entry) for m in range(sides) for entry in nonzero(sides + m, widths[m])],
        nonzero(2 * sides, system.size),
    )


def _nonzero(program: Program, which: int) -> list[int]:
    """Return the entries of a result that can differ from zero."""
    return [k for k, value in enumerate(program.results[which]) if program.values[value].constant != 0.0]


def kernel(program: Program, plan: ColumnPlan) -> Program:
    """Return the program with its outputs where the plan has them."""
    sides = plan.system.sides

    def entries(first: int, of: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
        return tuple(program.results[first + m][row * sides[m].shape[1] + column] for m, row, column in of)

    factor, pivots = program.results[2 * len(sides)], program.results[2 * len(sides) + 1]
    stored = [(m, *divmod(k, p.shape[1])) for m, p in enumerate(sides) for k in _nonzero(program, m)]
    indices = tuple(plan.place(*entry) for entry in stored)
    outputs = {
        Array("columns", len(stored), output_indices=indices): entries(0, stored),
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
    there = {array: made for array, made in outputs.items() if made}
    return replace(program, outputs=tuple(there), results=tuple(there.values()))

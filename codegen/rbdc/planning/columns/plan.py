"""Functions whose results are solutions of one system L^T D L X = B: the results of their straight-line code,
the layout in blocks of columns, and the products that each row of the solve subtracts.

A block is a vector of columns; a strip is the blocks that a loop takes at once. Written-out rows omit blocks
of zeros; a loop skips rows that are zero in a strip. Columns that are zero without optional inputs come last,
and are solved only if these inputs are passed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.nodes import ArgumentArray, Program

STRIP = 6
"""Largest number of blocks of columns that a loop takes at once, for two rows together: 16 registers hold the
sums of both rows, a block of another row and two entries of L. A loaded block serves both rows.

Relative time for derivatives of constrained dynamics, of HyQ (four points) and Unitree G1 (two surfaces), on
a Zen 4 core:

    relative to                                  HyQ   Unitree G1
    one row and 12 or 14 blocks, gcc 12          0.94  0.90
    three rows and 12 blocks, AVX-512, gcc 12    0.98  1.02
    three rows and 12 blocks, AVX-512, clang 19  0.98  1.03
    three rows and 4 blocks, AVX2                0.96 to 1.03
"""


@dataclass(frozen=True)
class System:
    """The system of a function whose matrices over the joints are solutions.

    sides: outputs that are solutions for computed right-hand sides.
    inverse: output that is the solution for unit forces, a block of A^-1; None without one.
    of_contacts: outputs for the rows of contacts of all solutions, in order; empty without contacts.
    beside: outputs that are vectors, not solutions.
    """

    sides: tuple[Parameter, ...]
    inverse: Parameter | None
    of_contacts: tuple[Parameter, ...]
    beside: tuple[Parameter, ...]

    @staticmethod
    def of(declaration: FunctionDeclaration) -> System:
        """Return the system that a function's outputs define."""
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
        """All solutions, the inverse last."""
        return self.sides if self.inverse is None else (*self.sides, self.inverse)

    @property
    def joints(self) -> int:
        """Number of rows of M."""
        return self.solutions[-1].shape[0]

    @property
    def contacts(self) -> int:
        """Number of rows of contacts."""
        return self.of_contacts[0].shape[0] if self.of_contacts else 0

    @property
    def size(self) -> int:
        """Number of rows of A."""
        return self.contacts + self.joints

    def first(self, solution: int) -> int:
        """Return the first column of a solution among all columns."""
        return sum(p.shape[1] for p in self.solutions[:solution])


@dataclass(frozen=True)
class ColumnPlan:
    """The layout of a solve.

    system: the system.
    scalar: type of the numbers; a block of columns fills one vector of this type.
    order: columns of all right-hand sides and of the identity, in their order in a row.
    early: number of columns that are always solved; later columns are zero without optional inputs.
    stored: (right-hand side, row, column) of the entries of B that can differ from zero.
    known: (right-hand side, row, column) of the entries of X with known parts.
    factor: (row, column) of the entries of L below its unit diagonal.
    looped: whether the solve is a loop over strips of blocks instead of written out.
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
        """Number of rows of the system."""
        return self.system.size

    @property
    def lanes(self) -> int:
        """Number of columns in a block."""
        return self.scalar.single_lanes

    @property
    def row(self) -> int:
        """Number of entries in a row of columns."""
        return self.blocks * self.lanes

    @property
    def early_blocks(self) -> range:
        """The blocks of a row that are always solved for."""
        return range(self._blocks_of(self.early))

    @property
    def late_blocks(self) -> range:
        """The blocks of a row whose columns are zero without optional inputs."""
        first = self.early_blocks.stop
        return range(first, first + self._blocks_of(max(0, len(self.order) - first * self.lanes)))

    def _blocks_of(self, columns: int) -> int:
        """Return the number of blocks of columns; even for a loop: two blocks fill a long register."""
        pair = 1 + self.looped
        return -(-columns // (pair * self.lanes)) * pair

    @property
    def blocks(self) -> int:
        """Number of blocks in a row."""
        return self.late_blocks.stop

    @cached_property
    def _position(self) -> dict[int, int]:
        return {column: position for position, column in enumerate(self.order)}

    def position(self, side: int, column: int) -> int:
        """Return the position of a right-hand side's column in a row."""
        return self._position[self.system.first(side) + column]

    def block(self, side: int, column: int) -> int:
        """Return the block of a row that contains a column."""
        return self.position(side, column) // self.lanes

    def mirrored(self, row: int) -> range:
        """Return the blocks of a row that the symmetry of A^-1 determines: those left of its diagonal."""
        if self.system.inverse is None:
            return range(0)
        first = self.position(len(self.system.sides), 0)
        return range(-(-first // self.lanes), (first + max(row - self.system.contacts, 0)) // self.lanes)

    def place(self, side: int, row: int, column: int) -> int:
        """Return the position of a right-hand side's entry among all columns."""
        return row * self.row + self.position(side, column)

    def filled(self, blocks: range) -> list[set[int]]:
        """Return for each row the blocks in which a right-hand side or the identity is not zero."""
        filled = [set[int]() for _ in range(self.size)]
        for k in range(self.system.joints if self.system.inverse else 0):
            filled[self.system.contacts + k].add(self.block(len(self.system.sides), k))
        for side, row, column in self.stored:
            filled[row].add(self.block(side, column))
        return [of_row.intersection(blocks) for of_row in filled]


@dataclass(frozen=True)
class SolveRow:
    """One row of the solve, in blocks that are not all zero.

    number: index of the row.
    scaled: whether the row is multiplied by its inverse pivot before anything is subtracted.
    blocks: its blocks.
    terms: index of an entry of L, index of another row, and the blocks in which their product is subtracted.
    filled: blocks that are not zero before the row is computed. If only these are loaded, the derivatives of
        forward dynamics of the iiwa take 0.88 of the time with clang 19, 1.14 with gcc 12 (Zen 4).
    """

    number: int
    scaled: bool
    blocks: list[int]
    terms: list[tuple[int, int, list[int]]]
    filled: Collection[int] = ()

    @property
    def products(self) -> int:
        """Number of block products of the row."""
        return sum(len(blocks) for *_, blocks in self.terms)


def solve(plan: ColumnPlan, blocks: range) -> list[SolveRow]:
    """Return the rows of L^T Y = B from the last one up, then of L X = D^-1 Y from the first one down,
    computed in place in `blocks`. For X = A^-1, which is symmetric, blocks left of the diagonal are
    omitted. The terms of a row use recently computed rows last.
    """
    size, numbers = plan.size, {entry: number for number, entry in enumerate(plan.factor)}
    filled, rows = plan.filled(blocks), list[SolveRow]()

    def make(k: int, others: Iterable[int], *, scaled: bool, without: Collection[int] = ()) -> None:
        places = [(i, (k, i) if scaled else (i, k)) for i in others]
        factors = [(numbers[place], i) for i, place in places if place in numbers]
        used = sorted(filled[k].union(*(filled[i] for _, i in factors)).difference(without))
        eliminated = [(number, i, sorted(filled[i].intersection(used))) for number, i in factors]
        terms = [term for term in eliminated if term[2]]
        if used and (terms or scaled):
            rows.append(SolveRow(k, scaled, used, terms, filled[k]))
        filled[k] = set(used)

    for k in reversed(range(size)):
        make(k, reversed(range(k + 1, size)), scaled=False)
    for k in range(size):
        make(k, range(k), scaled=True, without=plan.mirrored(k))
    return rows


def strips(blocks: range) -> list[range]:
    """Return the strips of some blocks: each has an even number of blocks, and they differ by at most two."""
    count = -(-len(blocks) // STRIP)
    ends = [len(blocks) // 2 * k // count * 2 for k in range(1, count + 1)]
    return [blocks[start:end] for start, end in pairwise([0, *ends])]


class RowPair(NamedTuple):
    """Two rows that a loop computes together; the second may lie beyond the system.

    first, second: the rows.
    terms: indices of the entries of L with which another row is subtracted from the first and from the
        second, and the index of that row.
    within: index of the entry with which the first is subtracted from the second. Zeros have the index after
        the last entry of L.
    """

    first: SolveRow
    second: SolveRow
    terms: list[tuple[int, int, int]]
    within: int


def row_pairs(plan: ColumnPlan, strip: range) -> list[RowPair]:
    """Return the pairs of rows of a loop for one strip, those of L^T Y = B, then those of L X = D^-1 Y."""
    rows, pairs, none = solve(plan, strip), list[RowPair](), len(plan.factor)
    for down in (False, True):
        of_direction = [*(row for row in rows if row.scaled == down), SolveRow(plan.size, False, [], [])]
        for first, second in zip(of_direction[::2], of_direction[1::2], strict=False):
            of_first, of_second = ({i: x for x, i, _ in row.terms} for row in (first, second))
            within = of_second.pop(first.number, none)
            others = {**of_first, **of_second}
            terms = [(of_first.get(i, none), of_second.get(i, none), i) for i in others]
            pairs.append(RowPair(first, second, terms, within))
    return pairs


def preparation(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """Return the declaration of the straight-line kernel that prepares the system of a function."""
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
    """Return the layout that serves all programs: it omits only entries that are 0 in every program."""
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
    return [k for k, value in enumerate(program.results[which]) if program.values[value].constant != 0.0]


def kernel(program: Program, plan: ColumnPlan) -> Program:
    """Return the program with its outputs at the places of the layout."""
    sides = plan.system.sides

    def entries(first: int, of: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
        return tuple(program.results[first + m][row * sides[m].shape[1] + column] for m, row, column in of)

    factor, pivots = program.results[2 * len(sides)], program.results[2 * len(sides) + 1]
    stored = [(m, *divmod(k, p.shape[1])) for m, p in enumerate(sides) for k in _nonzero(program, m)]
    indices = tuple(plan.place(*entry) for entry in stored)
    outputs = {
        ArgumentArray("columns", len(stored), output_indices=indices): entries(0, stored),
        ArgumentArray("known", len(plan.known)): entries(len(sides), plan.known),
        ArgumentArray("factor", len(plan.factor)): tuple(
            factor[row * plan.size + column] for row, column in plan.factor
        ),
        ArgumentArray("pivots", plan.size): tuple(pivots[k * plan.size + k] for k in range(plan.size)),
        **{
            ArgumentArray(p.name, p.size): program.results[2 * len(sides) + 2 + number]
            for number, p in enumerate(plan.system.beside)
        },
    }
    there = {array: placed for array, placed in outputs.items() if placed}
    return replace(program, outputs=tuple(there), results=tuple(there.values()))

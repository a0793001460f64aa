"""The solve L^T D L X = B over blocks of columns: where everything lies, what each row takes from the others,
written out or in strips for a loop.

Blocks of zeros are left out where rows are written out; in a loop, rows of zeros in a strip. Columns that are
zeros unless optional inputs are given come last, and are solved for with these alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost

WORTH_A_LOOP, MORE_IN_A_LOOP = 1_200, 1.9
"""A solve of more operations is a loop where that has less than so many times these: what is written out
leaves out blocks of zeros, and half of an inverse.

Measured on a Zen 3 core (AVX2), minima of 6000 interleaved passes, the loop's time of a call by clang 14 and
gcc 12 in that of rows written out one by one (operations of the solve, the loop's in these). Derivatives of
constrained dynamics: HyQ on one point 0.84 and 0.92 (4,900, 1.61), an arm on a surface 0.98 and 1.03 (1,583,
2.08), under forces there 1.02 and 1.05 (567, 1.9); of impacts: HyQ on four points 0.75 and 0.86 (6,486,
1.27); of forward dynamics: a humanoid 0.63 and 0.81 (18,546, 1.73), TIAGo 0.76 and 0.87 (8,978, 1.83),
quadrupeds 0.84 to 0.86 and 0.93 to 0.97 (3,358, 1.88), UR5 on a free root 0.90 and 0.96 (about 1,600, 1.6),
panda 0.96 and 1.08 (888, 1.38), iiwa 1.09 and 1.13 (425, 2.5). M^-1: TIAGo 1.02 and 1.16 (2.4 and more),
Unitree G1 1.05 and 1.18 (the same), panda 1.32 and 1.14 (few).
"""

GROUP, STRIP = 3, 4
"""Rows that a loop makes together, and blocks of each: 16 registers hold their sums, a block of another row
and its entries of L. A block that is loaded serves all rows of a group.

Measured there, derivatives of constrained dynamics of HyQ (four points) and Unitree G1 (two surfaces), time
in that of one row and 14 blocks at once, for columns of zeros too: 0.89 and 0.85 by clang, 0.85 and 0.82 by
gcc. Solves by 2 rows of 6 or 5 blocks, 4 of 3 and 3 of 3 took 1.06 to 1.6 times as long, but HyQ's 2 of 6 by
clang 0.92.
"""


AT_ONCE = 3
"""Strips that a loop takes at once where there are 32 registers of 64 bytes: 18 sums, so that none waits.

Measured on a Xeon with AVX-512, derivatives of constrained dynamics of HyQ and Unitree G1, time in that of
registers of 32 bytes by clang 19 and gcc 12: 0.79 and 0.83, 0.89 and 0.92; one strip at a time 0.94 and 0.94,
0.93 and 0.98; strips alone in 32 bytes, three in 64: 0.79 and 0.83, 0.98 and 1.02.
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
        """The system of a function by its outputs."""
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
        """The first column of a solution among those of all."""
        return sum(p.shape[1] for p in self.solutions[:solution])


@dataclass
class ColumnPlan:
    """Where everything lies. `order`: the columns of all right-hand sides and of the identity as they lie in
    a row; from the `early`-th on they are zeros unless optional inputs are given. `stored`: (right-hand side,
    row, column) of the entries that can differ from zero; `known` likewise; `factor`: (row, column) of
    those of L below its diagonal of ones. A block of columns fills a vector of `scalar`. strip: blocks that
    a loop takes at once; 0 where the solve is written out.
    """

    system: System
    scalar: ScalarType
    order: Sequence[int]
    early: int
    stored: list[tuple[int, int, int]] = field(default_factory=list)
    known: list[tuple[int, int, int]] = field(default_factory=list)
    factor: list[tuple[int, int]] = field(default_factory=list)
    strip: int = 0

    @property
    def size(self) -> int:
        """Rows of the system."""
        return self.system.size

    @property
    def lanes(self) -> int:
        """Columns in a block."""
        return self.scalar.single_lanes

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
        """Blocks of so many columns: whole strips, or for a loop 2 if one needs no more, all of which fill
        long registers.
        """
        blocks = -(-columns // self.lanes)
        unit = min(self.strip, 2) if blocks <= 2 else self.strip
        return -(-blocks // unit) * unit if unit else blocks

    @property
    def blocks(self) -> int:
        """Blocks of columns in a row."""
        return self.late_blocks.stop

    @cached_property
    def _position(self) -> dict[int, int]:
        return {column: position for position, column in enumerate(self.order)}

    def position(self, side: int, column: int) -> int:
        """The place of a right-hand side's column in a row."""
        return self._position[self.system.first(side) + column]

    def block(self, side: int, column: int) -> int:
        """The block of a row in which a column is."""
        return self.position(side, column) // self.lanes

    def mirrored(self, row: int) -> range:
        """The blocks of a row that the symmetry of A^-1 gives: left of its diagonal."""
        if self.system.inverse is None:
            return range(0)
        own = self.position(len(self.system.sides), 0)
        return range(-(-own // self.lanes), (own + max(row - self.system.contacts, 0)) // self.lanes)

    def place(self, side: int, row: int, column: int) -> int:
        """Place of a right-hand side's entry among all columns."""
        return row * self.blocks * self.lanes + self.position(side, column)


@dataclass(frozen=True)
class BlockSum:
    """The sum of one block: its number in the row, the entry of y where it lies, and whether the row has
    numbers there already.
    """

    block: int
    entry: int
    filled: bool


@dataclass(frozen=True)
class Term:
    """Another row, the source, times an entry of L: for each of its blocks the number in the row and the
    entry of y.
    """

    factor: int
    source: int
    blocks: list[tuple[int, int]]


@dataclass(frozen=True)
class SolveRow:
    """One row of the solve: its number, sums over blocks and what is taken from them. pivot: that whose
    inverse scales the row first, as C; empty for none.
    """

    number: int
    title: str
    sums: list[BlockSum]
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


def solve(plan: ColumnPlan, blocks: range) -> list[SolveRow]:
    """L^T Y = B from the last row up, then L X = D^-1 Y from the first one down, in place, in these blocks;
    of X = A^-1, which is symmetric, blocks left of the diagonal are left out. The rows that were made last
    are taken last.
    """
    size, numbers = plan.size, {entry: number for number, entry in enumerate(plan.factor)}
    below = {
        k: [(numbers[i, k], i) for i in reversed(range(k + 1, size)) if (i, k) in numbers]
        for k in range(size)
    }
    before = {k: [(numbers[k, i], i) for i in range(k) if (k, i) in numbers] for k in range(size)}
    filled: dict[int, set[int]] = {k: set() for k in range(size)}
    for k in range(plan.system.joints if plan.system.inverse else 0):  # the identity
        filled[plan.system.contacts + k].add(plan.block(len(plan.system.sides), k))
    for side, row, column in plan.stored:
        filled[row].add(plan.block(side, column))
    for k in range(size):
        filled[k].intersection_update(blocks)
    upward = [k for k in reversed(range(size)) if below[k]]
    made = [replace(_row(plan, below[k], filled, k), title=f"row {k} of L^T Y = B") for k in upward]
    for k in range(size):
        downward = _row(plan, before[k], filled, k, plan.mirrored(k))
        made.append(replace(downward, title=f"row {k} of L X = D^-1 Y", pivot=f"pivots[{k}]"))
    return [row for row in made if row.sums]


def _row(
    plan: ColumnPlan,
    terms: Sequence[tuple[int, int]],
    filled: dict[int, set[int]],
    k: int,
    without: Collection[int] = (),
) -> SolveRow:
    """Row k less the rows of `terms` times their entries of L, in the blocks that are not all zeros, but for
    some; those are then what is filled.
    """
    used = sorted(filled[k].union(*(filled[i] for _, i in terms)).difference(without))
    sums = [BlockSum(b, k * plan.blocks + b, b in filled[k]) for b in used]
    taken = [(number, i, sorted(filled[i].intersection(used))) for number, i in terms]
    products = [
        Term(number, i, [(b, i * plan.blocks + b) for b in blocks]) for number, i, blocks in taken if blocks
    ]
    filled[k] = set(used)
    return SolveRow(k, "", sums, products, "")


@dataclass(frozen=True)
class RowGroup:
    """Rows that a loop makes together, `plan.size` in the place of one that there is not. pivots: numbers
    of those that scale them; terms: for each other row the entries of L by which it is taken off these, and
    its number; within: entries by which the first is taken off the others, then the second off the third.
    An entry that is zero has the number after the last one, so has the pivot of rows that are not scaled.
    """

    rows: tuple[int, ...]
    pivots: tuple[int, ...]
    terms: tuple[tuple[tuple[int, ...], int], ...]
    within: tuple[int, ...]

    @property
    def operations(self) -> int:
        """On each block of columns."""
        return GROUP * (1 + 2 * len(self.terms)) + 2 * len(self.within)


def strips(plan: ColumnPlan, blocks: range) -> list[range]:
    """The blocks that a loop takes at once."""
    return [blocks[first : first + plan.strip] for first in range(0, len(blocks), plan.strip)]


def row_groups(plan: ColumnPlan, strip: range) -> tuple[list[RowGroup], list[RowGroup]]:
    """The rows of a loop for one strip of blocks, so many at once: those on the way up that take something
    from others there, and those on the way down.
    """
    rows = solve(plan, strip)
    upward, downward = ([row for row in rows if bool(row.pivot) == down] for down in (False, True))
    return _groups([row for row in upward if row.terms], plan), _groups(downward, plan)


def _groups(rows: Sequence[SolveRow], plan: ColumnPlan) -> list[RowGroup]:
    padded = [*rows, *[SolveRow(plan.size, "", [], [], "")] * (-len(rows) % GROUP)]
    return [_group(padded[first : first + GROUP], plan) for first in range(0, len(padded), GROUP)]


def _group(rows: Sequence[SolveRow], plan: ColumnPlan) -> RowGroup:
    entries = [{term.source: term.factor for term in row.terms} for row in rows]
    numbers = [row.number for row in rows]
    others = dict.fromkeys(source for own in entries for source in own if source not in numbers)
    none = len(plan.factor)
    return RowGroup(
        tuple(numbers),
        tuple(row.number if row.pivot else plan.size for row in rows),
        tuple((tuple(own.get(source, none) for own in entries), source) for source in others),
        tuple(own.get(numbers[k], none) for k in range(GROUP) for own in entries[k + 1 :]),
    )


def solve_cost(plan: ColumnPlan) -> Cost:
    """Operations of the solve without optional inputs, each on a block as one."""
    if plan.strip:
        made = [(len(strip), row_groups(plan, strip)) for strip in strips(plan, plan.early_blocks)]
        operations = sum(width * group.operations for width, ways in made for way in ways for group in way)
    else:
        operations = sum(2 * row.products + row.scaled for row in solve(plan, plan.early_blocks))
    return Cost(vectors=operations, lane_flops=plan.lanes * operations)


def in_strips(plan: ColumnPlan) -> ColumnPlan:
    """The plan, with strips if the solve is better a loop."""
    looped, written = replace(plan, strip=STRIP), solve_cost(plan).vectors
    small = written <= WORTH_A_LOOP
    return plan if small or solve_cost(looped).vectors >= MORE_IN_A_LOOP * written else looped

"""The solve L^T D L X = B over blocks of columns: where everything lies, what each row takes from the others,
written out or in strips for a loop.

Blocks of zeros are left out where rows are written out; in a loop, strips of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost

WORTH_STRIPS = 5_000
"""Solves of more products of blocks are a loop over a table, which takes them by strips.

Measured on a contended Zen 3 core (AVX2), minima of 3000 interleaved passes: derivatives of HyQ's
constrained dynamics (four points; 6,137 products, or 7,644 in strips) 5.1 to 5.3 us written out, 4.1 to 4.2
as a loop by clang 19, 4.4 and 4.2 by gcc 12; of G1's (two surfaces; 19,998 products, 28,896 in strips) 21.1
and 14.6 by clang. Code shrinks from 337 to 237 KB, and from 1,091 to 665 KB.
"""

STRIP = 14
"""At most so many blocks in a strip: 16 registers hold their sums and an entry of L. Strips of 7 took no
more by clang and 4.4 us by gcc, strips of 2 blocks 5.4 us by both.
"""

FEW_MORE = 1.7
"""A loop takes strips of zeros along; it is taken where it has less than so many times the products.

On a Zen 3 core by clang 19 the loop takes 0.27 ns a product on HyQ, what is written out 0.49. G1's
derivatives on two surfaces have 1.44 times as many and gain; under the forces of contacts 1.65 times as many,
14.7 us written out and 11.4 as a loop, by gcc 12 12.0 and 10.6. Without contacts, where limbs hardly meet,
humanoids take a kernel along paths.
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
    """Where everything lies. `stored`: (right-hand side, row, column) of the entries that can differ from
    zero; `known` likewise; `factor`: (row, column) of those of L below its diagonal of ones. A row of columns
    holds all right-hand sides, then those of the identity; a block of columns fills a vector of `scalar`.
    strip: blocks that loops take at once, of which a row has a multiple; 0 where the solve is written out.
    """

    system: System
    scalar: ScalarType
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
    def blocks(self) -> int:
        """Blocks of columns in a row."""
        columns, strip = self.system.first(len(self.system.solutions)), self.strip or 1
        blocks = -(-columns // self.lanes)
        return -(-blocks // strip) * strip

    def block(self, side: int, column: int) -> int:
        """The block of a row in which a column is."""
        return (self.system.first(side) + column) // self.lanes

    def mirrored(self, row: int) -> range:
        """The blocks of a row that the symmetry of A^-1 gives: left of its diagonal."""
        if self.system.inverse is None:
            return range(0)
        own = self.system.first(len(self.system.sides))
        return range(-(-own // self.lanes), (own + max(row - self.system.contacts, 0)) // self.lanes)

    def place(self, side: int, row: int, column: int) -> int:
        """Place of a right-hand side's entry among all columns."""
        return row * self.blocks * self.lanes + self.system.first(side) + column


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
    """Another row times an entry of L: for each of its blocks the number in the row and the entry of y."""

    factor: int
    blocks: list[tuple[int, int]]


@dataclass(frozen=True)
class SolveRow:
    """One row of the solve: sums over blocks and what is taken from them. pivot: whose inverse scales the row
    first, as C; empty for none.
    """

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


def solve(plan: ColumnPlan) -> list[SolveRow]:
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
    for k in range(plan.system.joints if plan.system.inverse else 0):  # the identity
        filled[plan.system.contacts + k].add(plan.block(len(plan.system.sides), k))
    for side, row, column in plan.stored:
        filled[row].add(plan.block(side, column))
    upward = [k for k in reversed(range(size)) if below[k]]
    made = [replace(_row(plan, below[k], filled, k), title=f"row {k} of L^T Y = B") for k in upward]
    for k in range(size):
        downward = _row(plan, before[k], filled, k, plan.mirrored(k))
        made.append(replace(downward, title=f"row {k} of L X = D^-1 Y", pivot=f"pivots[{k}]"))
    return made


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
        Term(number, [(b, i * plan.blocks + b) for b in blocks]) for number, i, blocks in taken if blocks
    ]
    filled[k] = set(used)
    return SolveRow("", sums, products, "")


@dataclass(frozen=True)
class StripRow:
    """One row of the solve in one strip of its blocks. own: the entry of y where that begins; pivot: the
    number of that which scales it, -1 for none; terms: entries of L and of y whose products are taken off.
    """

    own: int
    pivot: int
    terms: list[tuple[int, int]]


def strip_rows(rows: Sequence[SolveRow], plan: ColumnPlan) -> list[StripRow]:
    """The solve in strips: a strip of a row takes whole strips of others, unless these are all zeros."""
    made = []
    for row in rows:
        k = row.sums[0].entry // plan.blocks
        for strip in sorted({s.block // plan.strip for s in row.sums}):
            taken = [
                (term.factor, term.blocks[0][1] // plan.blocks * plan.blocks + strip * plan.strip)
                for term in row.terms
                if any(block // plan.strip == strip for block, _ in term.blocks)
            ]
            made.append(StripRow(k * plan.blocks + strip * plan.strip, k if row.pivot else -1, taken))
    return made


def solve_cost(rows: Sequence[SolveRow], plan: ColumnPlan) -> Cost:
    """Operations of the solve, each on a block as one."""
    operations = sum(2 * row.products + row.scaled for row in rows)
    if plan.strip:
        strips = strip_rows(rows, plan)
        operations = plan.strip * sum(2 * len(row.terms) + (row.pivot >= 0) for row in strips)
    return Cost(vectors=operations, lane_flops=plan.lanes * operations)


def in_strips(plan: ColumnPlan) -> ColumnPlan:
    """The plan, with strips if the solve is better a loop."""
    products = sum(row.products for row in solve(plan))
    if products <= WORTH_STRIPS:
        return plan
    strips = replace(plan, strip=-(-plan.blocks // -(-plan.blocks // STRIP)))
    looped = strips.strip * sum(len(row.terms) for row in strip_rows(solve(strips), strips))
    return strips if looped < FEW_MORE * products else plan

"""The windows of columns and the supernodes of L, for each width of registers.

A supernode of L consists of consecutive columns; the parent of each is in the supernode, or one common column
outside.

For a supernode B let T be the inverse of L within B, and K = U / D of its joints, one row each. Take each
column of M^-1 as joint accelerations; a is the resulting acceleration of the body that carries B. Then
(M^-1)_BC = -T K a_C for the columns C before B, and (M^-1)_BB = T D_B^-1 T^T - T K a_B. This is the recursion
of Takahashi, Fagan and Chin (1973) by blocks, with L_BA = K S_A and a = S_A (M^-1)_A, where A are all
ancestors of B and the columns of S_A are their motion subspaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.functions.scalar_types import ScalarType
from rbdc.reduction.schedules import Schedule, Window, windows

LARGEST = 8
"""Largest number of columns of a supernode: the sums of all its rows stay in registers."""


@dataclass(frozen=True)
class SupernodeRow:
    """A column of a supernode.

    number: index of the column in the supernode.
    lane: its lane in the register.
    above: its ancestors in the supernode.
    below: its descendants in the supernode, the last one first.
    """

    number: int
    lane: int
    above: tuple[SupernodeRow, ...]
    below: tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """Shape of a supernode; supernodes of one shape share their code.

    parents: for each column the index of its parent in the supernode, -1 if the parent is outside.
    rooted: whether the columns are a free root's.
    top: whether the first column is the first of the matrix.
    lane: lane of the first column: not 0 if a register from this column on would end beyond the matrix.
    """

    parents: tuple[int, ...]
    rooted: bool
    top: bool
    lane: int = 0

    @cached_property
    def rows(self) -> tuple[SupernodeRow, ...]:
        """Columns of a supernode of this shape, by their numbers."""
        rows, above = list[SupernodeRow](), list[tuple[int, ...]]()
        for parent in self.parents:
            above.append(() if parent < 0 else (*above[parent], parent))
        for number, columns in enumerate(above):
            below = tuple(k for k in reversed(range(self.size)) if number in above[k])
            rows.append(SupernodeRow(number, self.lane + number, tuple(rows[k] for k in columns), below))
        return tuple(rows)

    @property
    def size(self) -> int:
        """Number of columns of the supernode."""
        return len(self.parents)

    @property
    def inner(self) -> list[SupernodeRow]:
        """Columns with ancestors within the supernode."""
        return [row for row in self.rows if row.above]


@dataclass(frozen=True)
class Supernode:
    """A supernode.

    start: index of its first column.
    carrier: column of the joint that carries it, -1 at a free root or the world.
    shape: its shape.
    """

    start: int
    carrier: int
    shape: Shape


def supernodes(schedule: Schedule, lanes: int) -> tuple[Supernode, ...]:
    """Return supernodes that cover all columns, none longer than a register; from the last column on, each is
    as long as possible.

    The split with the fewest products needs 0.98 to 1.0 times as many products (six robots with a windows
    kernel, registers of 2, 4 and 8 columns).
    """
    carriers, first = schedule.column_parents, schedule.first
    # each column of a free root is the parent of the next
    parents = [*range(-1, first - 1), *carriers[first:]]
    nodes, end = list[Supernode](), len(parents)
    while end:
        starts = range(max(0, end - min(lanes, LARGEST)), end)
        start = next(k for k in starts if not k < first < end and _hang_together(parents, k, end))
        within = tuple(max(-1, parent - start) for parent in parents[start:end])
        shape = Shape(within, start < first, start == 0, max(0, start + lanes - len(parents)))
        nodes.append(Supernode(start, carriers[start], shape))
        end = start
    return tuple(reversed(nodes))


def _hang_together(parents: Sequence[int], start: int, end: int) -> bool:
    return all(parent in (parents[start], *range(start, end)) for parent in parents[start:end])


PRODUCT_ROWS = 6
"""Number of rows of M^-1 that are multiplied by right-hand sides at once; each row has two sums, by q and v.

Time relative to 6 rows, for Unitree G1 on a Xeon with AVX-512:

                                              clang 19  gcc 12
    12 rows in 32 registers                   0.99      0.97
    4 and 5 rows, AVX2                        1.0 to 1.03
    solves by supernodes, not these products  1.00      1.03
"""

REGISTERS = (64, 32, 16)
"""Sizes of registers (bytes), longest first."""


@dataclass(frozen=True)
class Width:
    """Registers of `lanes` columns."""

    schedule: Schedule
    lanes: int

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """Windows over all columns of joints."""
        return windows(self.schedule, self.lanes)

    @cached_property
    def unattached(self) -> list[list[bool]]:
        """For each window and each group of rows of a product, whether all rows of the group are connected to
        the rows with entries only through a free root, or not at all.

        With this distinction Unitree G1 and the simple humanoid take 0.94 to 0.96 of the time.
        """
        schedule = self.schedule
        # all ancestors of a row with entries have entries: testing the uppermost joint is enough
        tops = [min((column, *above)) for column, above in enumerate(schedule.above_columns)]
        last = schedule.columns - PRODUCT_ROWS
        starts = [min(row, last) for row in range(0, schedule.columns, PRODUCT_ROWS)]
        windows = ({tile.row for tile in window.tiles} for window in self.windows)
        return [
            [
                start >= schedule.first and attached.isdisjoint(tops[start : start + PRODUCT_ROWS])
                for start in starts
            ]
            for attached in windows
        ]

    @cached_property
    def nodes(self) -> tuple[Supernode, ...]:
        """Supernodes of all columns."""
        return supernodes(self.schedule, self.lanes)


def widths_of(schedule: Schedule, scalar: ScalarType) -> list[Width]:
    """Return all widths, longest first, with at most as many lanes as columns besides a free root's."""
    widths = []
    for size in REGISTERS:
        lanes = size // scalar.size
        while lanes > schedule.columns - schedule.first:
            lanes //= 2
        widths.append(Width(schedule, lanes))
    return widths

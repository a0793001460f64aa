"""Supernodes of L: columns that follow each other, all that hang on the same column or on each other.

What is above the first of them is above all, so that L goes over them as small dense blocks, one after the
other from the root to the leaves. With T the inverse of L within a supernode B, A what is above it and
W = -T L_BA, M^-1 has (M^-1)_BC = W (M^-1)_AC for every C before B, and
(M^-1)_BB = T D_B^-1 T^T + W (M^-1)_AB, which is the recursion of Takahashi, Fagan and Chin (1973) by blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rbdc.emit.paths.solves.branches import Branches

LARGEST = 8
"""Columns of a supernode: so many rows of sums stay in registers."""

STARTED = 30
"""Cost of beginning with a supernode, in multiplications and additions of registers.

From 10 to 300 Atlas, Talos, Unitree G1 and the simple humanoid are split alike; with 0 Talos gets one more.
"""


@dataclass(frozen=True)
class Row:
    """A column of a supernode: its number there, how many of the supernode are above it, these, and those
    below it, the last first.
    """

    number: int
    above: tuple[int, ...]
    below: tuple[int, ...]

    @property
    def depth(self) -> int:
        """Its place on the path within the supernode."""
        return len(self.above)


@dataclass(frozen=True)
class Shape:
    """Shape that supernodes with the same code share: which of its columns hang on which, -1 for none;
    whether they are a free root's; in which lane of a register the first is, where a register that began with
    it would end beyond the matrix.
    """

    parents: tuple[int, ...]
    rooted: bool
    lane: int = 0

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its columns, by their numbers."""
        above: list[tuple[int, ...]] = []
        for parent in self.parents:
            above.append(() if parent < 0 else (*above[parent], parent))
        numbers = range(len(self.parents))
        return tuple(Row(k, above[k], tuple(j for j in reversed(numbers) if k in above[j])) for k in numbers)

    @property
    def pairs(self) -> int:
        """Columns with those above them within."""
        return sum(row.depth for row in self.rows)


@dataclass(frozen=True)
class Supernode:
    """Its first column, how many columns are above it, its shape."""

    start: int
    above: int
    shape: Shape

    @property
    def columns(self) -> range:
        """Columns that it has."""
        return range(self.start, self.start + len(self.shape.parents))


def supernodes(branches: Branches, lanes: int) -> tuple[Supernode, ...]:
    """All columns in supernodes no longer than a register, in the split whose inverse costs least."""
    return _split(branches.parents, branches.places, branches.schedule.first, lanes)


@lru_cache(maxsize=16)
def _split(
    parents: tuple[int, ...], places: tuple[int, ...], first: int, lanes: int
) -> tuple[Supernode, ...]:
    best: dict[int, tuple[float, tuple[Supernode, ...]]] = {len(parents): (0.0, ())}
    for start in reversed(range(len(parents))):
        options = []
        for end in range(start + 1, min(start + min(lanes, LARGEST), len(parents)) + 1):
            if parents[end - 1] != parents[start] and parents[end - 1] < start:
                break
            if start < first < end:
                break
            within = tuple(max(-1, parents[k] - start) for k in range(start, end))
            lane = max(0, start + lanes - len(parents))
            node = Supernode(start, places[start], Shape(within, start < first, lane))
            cost, others = best[end]
            options.append((cost + STARTED + inverse_products(node, lanes), (node, *others)))
        best[start] = min(options, key=lambda option: option[0])
    return best[0][1]


def shapes(nodes: Sequence[Supernode]) -> tuple[Shape, ...]:
    """Shapes that there are, in the order in which they come."""
    return tuple(dict.fromkeys(node.shape for node in nodes))


def factor_products(node: Supernode, first: int, lanes: int) -> int:
    """Multiplications with additions of registers for T and W of a supernode."""
    shape, own = node.shape, -(-6 // lanes)
    within = shape.pairs
    if shape.rooted:
        return within * (1 + -(-node.above // lanes))
    inner = sum(6 for row in shape.rows if row.above)
    return inner + within * (1 + own) + 6 * len(shape.rows) * -(-(node.above - first) // lanes)


def inverse_products(node: Supernode, lanes: int) -> int:
    """Code for its rows of the inverse, with what turns them into columns."""
    rows = len(node.shape.rows)
    before = -(-node.start // lanes)
    turned = lanes * (lanes.bit_length() - 1)
    return before * (rows * node.above + turned) + rows * (node.above + 1) + node.shape.pairs

"""Supernodes of L: columns that follow each other, all that hang on the same column or on each other.

With T the inverse of L within a supernode B, K the forces of its joints and a how what carries it accelerates
in each column of M^-1: (M^-1)_BC = -T K a_C for every C before B, and (M^-1)_BB = T D_B^-1 T^T - T K a_B.
That is the recursion of Takahashi, Fagan and Chin (1973) by blocks, with L_BA = K S_A for A above and
a = S_A (M^-1)_A.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rbdc.emit.paths.layout import Schedule

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


@dataclass(frozen=True)
class Shape:
    """Shape that supernodes with the same code share: which of its columns hang on which, -1 for none;
    whether they are a free root's; whether the matrix begins with them; in which lane of a register the
    first is, where a register that began with it would end beyond the matrix.
    """

    parents: tuple[int, ...]
    rooted: bool
    top: bool
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
        return sum(len(row.above) for row in self.rows)


@dataclass(frozen=True)
class Supernode:
    """Its first column, the column of the joint that carries it, -1 for none but a free root, how many such
    are above it, its shape.
    """

    start: int
    carrier: int
    above: int
    shape: Shape

    @property
    def columns(self) -> range:
        """Columns that it has."""
        return range(self.start, self.start + len(self.shape.parents))


def supernodes(schedule: Schedule, lanes: int) -> tuple[Supernode, ...]:
    """All columns in supernodes no longer than a register, in the split whose inverse costs least."""
    return _split(schedule.column_parents, schedule.first, lanes)


@lru_cache(maxsize=16)
def _split(carriers: tuple[int, ...], first: int, lanes: int) -> tuple[Supernode, ...]:
    parents = [*range(-1, first - 1), *carriers[first:]]  # a free root's columns one above the other
    places: list[int] = []
    for parent in carriers:
        places.append(0 if parent < 0 else places[parent] + 1)
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
            node = Supernode(
                start, carriers[start], places[start], Shape(within, start < first, start == 0, lane)
            )
            cost, others = best[end]
            options.append((cost + STARTED + inverse_products(node, lanes), (node, *others)))
        best[start] = min(options, key=lambda option: option[0])
    return best[0][1]


def factor_products(node: Supernode, lanes: int) -> int:
    """Multiplications with additions of registers for L, T and T K of a supernode."""
    return sum(6 for row in node.shape.rows if row.above) + node.shape.pairs * (1 + -(-6 // lanes))


def inverse_products(node: Supernode, lanes: int) -> int:
    """Code for its rows of the inverse, with what turns them into columns."""
    rows = len(node.shape.rows)
    accelerated, turned = 6 * (node.above + rows), lanes * (lanes.bit_length() - 1)
    return -(-node.start // lanes) * (accelerated + turned) + accelerated + rows + node.shape.pairs

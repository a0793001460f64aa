"""A solve in columns as a loop: tables of groups of rows and of their terms, and the C functions that go over
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from rbdc.emit.column_solve import AT_ONCE, GROUP, ColumnPlan, RowGroup, row_groups, strips
from rbdc.emit.render import braced


@dataclass(frozen=True)
class Strips:
    """The C function that takes so many strips at once, `width` blocks of columns: lanes of its vectors, and
    those of a row by their numbers.
    """

    strips: int
    width: int
    lanes: int
    blocks: range


@dataclass(frozen=True)
class Loop:
    """A solve as a loop: the C function's name, tables as C, and their type. runs: for strips of blocks and
    each way where they begin in a row, how many they are, which groups of rows, and where their terms begin;
    groups: where their rows begin, their pivots, entries of L within the group, the end of their terms;
    terms: entries of L, where the other row begins. members: numbers of the rows in a group, with their
    pairs; width: blocks of a strip; wide: the functions for strips where there are 32 long registers, that
    for several first; narrow: elsewhere.
    """

    name: str
    runs: list[str]
    groups: list[str]
    terms: list[str]
    members: range
    pairs: list[tuple[int, int]]
    width: int
    wide: list[Strips]
    narrow: list[Strips]
    number: str

    @property
    def count(self) -> int:
        """Runs."""
        return len(self.runs)

    @property
    def size(self) -> int:
        """Rows in a group."""
        return len(self.members)

    @property
    def within(self) -> int:
        """Entries of L within a group."""
        return len(self.pairs)

    @property
    def at_once(self) -> Strips | None:
        """The function for several strips, if any run has as many."""
        return self.wide[0] if len(self.wide) > 1 else None


def loop_of(name: str, plan: ColumnPlan, blocks: range) -> Loop:
    """The tables of a loop; strips with the rows of another on their way share that one's."""
    cut = strips(plan, blocks)
    ways = zip(*(map(tuple, row_groups(plan, strip)) for strip in cut), strict=True)
    groups, terms = list[str](), list[str]()
    runs: list[tuple[int, int, tuple[int, int, int]]] = []  # the first strip, how many, their tables
    known: dict[tuple[RowGroup, ...], tuple[int, int, int]] = {}
    for rows_of_strips in ways:
        for number, rows in enumerate(rows_of_strips):
            if rows not in known:
                known[rows] = (len(groups), len(groups) + len(rows), len(terms))
                for group in rows:
                    terms += [braced([braced(x), other * plan.blocks]) for x, other in group.terms]
                    places = [row * plan.blocks for row in group.rows]
                    parts = map(braced, (places, group.pivots, group.within))
                    groups.append(braced([*parts, len(terms)]))
            if number and runs[-1][2] == known[rows]:
                runs[-1] = (runs[-1][0], runs[-1][1] + 1, known[rows])
            else:
                runs.append((number, 1, known[rows]))
    width, lanes = len(cut[0]), plan.lanes
    several = [AT_ONCE] if max(count for _, count, _ in runs) >= AT_ONCE else []
    largest = max((plan.size + 1) * plan.blocks, len(plan.factor), len(terms))
    return Loop(
        name,
        [braced([cut[number].start, count, *tables]) for number, count, tables in runs],
        groups,
        terms or [braced([braced([0] * GROUP), 0])],
        range(GROUP),
        list(combinations(range(GROUP), 2)),
        width,
        [Strips(n, n * width, 2 * lanes, range(n * width // 2)) for n in (*several, 1)],
        [Strips(1, width, lanes, range(width))],
        "unsigned short" if largest < 1 << 16 else "unsigned",
    )

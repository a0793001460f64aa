"""A solve in columns as a loop: tables of groups of rows and of their terms, and the C functions that go over
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, combinations, groupby

from rbdc.emit.column_solve import AT_ONCE, GROUP, ColumnPlan, RowGroup, row_groups, strips
from rbdc.emit.render import braced

_PAIRS = list(combinations(range(GROUP), 2))

GROUP_WORDS = {"members": range(GROUP), "pairs": _PAIRS, "within": len(_PAIRS)}
"""The rows of a group by their numbers, their pairs, and how many these are, as templates have them."""


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
    terms: entries of L, where the other row begins. wide: the functions for strips where there are 32 long
    registers; at_once: that for several, if any run has as many; narrow: that for one elsewhere.
    """

    name: str
    runs: list[str]
    groups: list[str]
    terms: list[str]
    wide: list[Strips]
    at_once: Strips | None
    narrow: Strips
    number: str

    @property
    def count(self) -> int:
        """Runs."""
        return len(self.runs)


def loop_of(name: str, plan: ColumnPlan, blocks: range) -> Loop:
    """The tables of a loop; strips with the rows of another on their way share that one's."""
    cut = strips(plan, blocks)
    ways = list(zip(*(map(tuple, row_groups(plan, strip)) for strip in cut), strict=True))
    groups, terms = list[str](), list[str]()
    tables: dict[tuple[RowGroup, ...], tuple[int, int, int]] = {}
    for rows in dict.fromkeys(chain(*ways)):
        tables[rows] = (len(groups), len(groups) + len(rows), len(terms))
        for group in rows:
            terms += [braced([braced(x), other * plan.blocks]) for x, other in group.terms]
            places = [row * plan.blocks for row in group.rows]
            groups.append(braced([*map(braced, (places, group.pivots, group.within)), len(terms)]))
    alike = [(rows, list(run)) for way in ways for rows, run in groupby(range(len(cut)), way.__getitem__)]
    width, lanes = len(cut[0]), plan.lanes
    one, several = (Strips(n, n * width, 2 * lanes, range(n * width // 2)) for n in (1, AT_ONCE))
    at_once = several if max(len(run) for _, run in alike) >= AT_ONCE else None
    largest = max((plan.size + 1) * plan.blocks, len(plan.factor), len(terms))
    return Loop(
        name,
        [braced([cut[run[0]].start, len(run), *tables[rows]]) for rows, run in alike],
        groups,
        terms or [braced([braced([0] * GROUP), 0])],
        [at_once, one] if at_once else [one],
        at_once,
        Strips(1, width, lanes, range(width)),
        "unsigned short" if largest < 1 << 16 else "unsigned",
    )

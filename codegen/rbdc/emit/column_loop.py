"""A solve in columns as a loop: tables of groups of rows and of their terms, and the C functions that go over
them.
"""

from __future__ import annotations

from itertools import chain, combinations, groupby
from typing import Any

from rbdc.emit.column_solve import AT_ONCE, GROUP, ColumnPlan, RowGroup, row_groups, strips
from rbdc.emit.render import braced

_PAIRS = list(combinations(range(GROUP), 2))

GROUP_WORDS = {"members": range(GROUP), "pairs": _PAIRS, "within": len(_PAIRS)}
"""The rows of a group by their numbers, their pairs, and how many these are, as templates have them."""


def loop_of(name: str, plan: ColumnPlan, blocks: range) -> dict[str, Any]:
    """A solve as a loop: the C function's name, tables as C, and their type; strips with the rows of another
    on their way share that one's.

    runs: for strips of blocks and each way where they begin in a row, how many they are, which groups of
    rows, and where their terms begin; groups: where their rows begin, their pivots, entries of L within the
    group, the end of their terms; terms: entries of L, where the other row begins. wide: the functions for
    strips where there are 32 long registers; at_once: that for several, if any run has as many; narrow: that
    for one elsewhere.
    """
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

    def taking(count: int, lanes: int) -> dict[str, Any]:
        """The C function that takes so many strips at once: how many blocks of columns these are, lanes of
        its vectors, and those of a row by their numbers.
        """
        width = count * len(cut[0])
        return {"strips": count, "width": width, "lanes": lanes, "blocks": range(width * plan.lanes // lanes)}

    one, several = (taking(count, 2 * plan.lanes) for count in (1, AT_ONCE))
    at_once = several if max(len(run) for _, run in alike) >= AT_ONCE else None
    largest = max((plan.size + 1) * plan.blocks, len(plan.factor), len(terms))
    return {
        "name": name,
        "runs": [braced([cut[run[0]].start, len(run), *tables[rows]]) for rows, run in alike],
        "count": len(alike),
        "groups": groups,
        "terms": terms or [braced([braced([0] * GROUP), 0])],
        "wide": [at_once, one] if at_once else [one],
        "at_once": at_once,
        "narrow": taking(1, plan.lanes),
        "number": "unsigned short" if largest < 1 << 16 else "unsigned",
    }

"""The ancestors of each degree of freedom, and of each row of M in the elimination tree of M."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.model import Model


@dataclass(frozen=True)
class Ancestors:
    """Lists of the ancestors of each number (a degree of freedom or a row), from the root down, then the
    number itself.

    start: index in `entries` of the number's first ancestor, by number.
    own: index in `entries` of the number itself, by number.
    end: 1 + the largest descendant of the number (descendants follow the number), by number.
    entries: the lists of all leaves, joined. The list of a number is the beginning of a leaf's list.
    """

    start: tuple[int, ...]
    own: tuple[int, ...]
    end: tuple[int, ...]
    entries: tuple[int, ...]

    @staticmethod
    def of_parents(parents: Sequence[int]) -> Ancestors:
        """Return the ancestors, given the parent of each number (-1 for roots). Parents are smaller than
        their children.
        """
        start, places, entries = [-1] * len(parents), [-1] * len(parents), list[int]()
        for leaf in reversed(range(len(parents))):
            if places[leaf] >= 0:
                continue
            chain = [leaf]
            while parents[chain[-1]] >= 0:
                chain.append(parents[chain[-1]])
            for place, number in enumerate(reversed(chain), len(entries)):
                if places[number] < 0:
                    start[number], places[number] = len(entries), place
            entries += reversed(chain)
        end = [number + 1 for number in range(len(parents))]
        for number in reversed(range(len(parents))):
            if parents[number] >= 0:
                end[parents[number]] = max(end[parents[number]], end[number])
        return Ancestors(tuple(start), tuple(places), tuple(end), tuple(entries))

    def above(self, number: int) -> tuple[int, ...]:
        """Return the ancestors of a number, from the root down."""
        return self.entries[self.start[number] : self.own[number]]


def elimination_parents(model: Model, paths: Ancestors, paths_of_rows: Sequence[int] = ()) -> list[int]:
    """Return the parent of each row of M in the elimination tree. Eliminating a row fills in the entries
    between all rows that it couples. Without mimic joints the elimination tree is the robot's tree.

    paths_of_rows: for each row of contacts, the last degree of freedom of the path along which the row has
        entries. Rows of contacts precede the rows of M.
    """
    before = len(paths_of_rows)
    columns = [before + column for column, _, _ in dof_table(model)]
    couples: list[set[int]] = [set() for _ in range(before + model.nv)]
    for number, column in enumerate(columns):
        for other in (columns[k] for k in paths.above(number)):
            if other != column:
                couples[max(column, other)].add(min(column, other))
    for row, last in enumerate(paths_of_rows):
        for number in (*paths.above(last), last):
            couples[columns[number]].add(row)
    parents = [-1] * len(couples)
    for row in reversed(range(len(couples))):
        if couples[row]:
            parents[row] = max(couples[row])
            couples[parents[row]] |= couples[row] - {parents[row]}
    return parents

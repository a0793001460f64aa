"""The path above each degree of freedom, and above each row of M in its elimination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.model import Model


@dataclass(frozen=True)
class Ancestors:
    """For each of some numbers those above it, from the root, then itself: `entries` from `start` to `own`.

    One list per leaf is enough: what lies above a number is where the list of any leaf below it begins. What
    lies below a number comes after it and before `end`.
    """

    start: tuple[int, ...]
    own: tuple[int, ...]
    end: tuple[int, ...]
    entries: tuple[int, ...]

    @staticmethod
    def of_parents(parents: Sequence[int]) -> Ancestors:
        """From the parent of each number, smaller than itself; -1 for a root."""
        start, own, entries = [-1] * len(parents), [-1] * len(parents), list[int]()
        for leaf in reversed(range(len(parents))):
            if own[leaf] >= 0:
                continue
            chain = [leaf]
            while parents[chain[-1]] >= 0:
                chain.append(parents[chain[-1]])
            for place, number in enumerate(reversed(chain), len(entries)):
                if own[number] < 0:
                    start[number], own[number] = len(entries), place
            entries += reversed(chain)
        end = [number + 1 for number in range(len(parents))]
        for number in reversed(range(len(parents))):
            if parents[number] >= 0:
                end[parents[number]] = max(end[parents[number]], end[number])
        return Ancestors(tuple(start), tuple(own), tuple(end), tuple(entries))

    def above(self, number: int) -> tuple[int, ...]:
        """Return the numbers above this one, from the root."""
        return self.entries[self.start[number] : self.own[number]]


def elimination_parents(model: Model, paths: Ancestors, held: Sequence[int] = ()) -> list[int]:
    """Return the elimination tree of M over v: eliminating a row fills among all that it couples; the tree
    itself where nothing is coupled. held: rows before those of M, each with entries along the path of the
    last degree of freedom that it names.
    """
    before = len(held)
    columns = [before + column for column, _, _ in dof_table(model)]
    couples: list[set[int]] = [set() for _ in range(before + model.nv)]
    for number, column in enumerate(columns):
        for other in (columns[k] for k in paths.above(number)):
            if other != column:
                couples[max(column, other)].add(min(column, other))
    for row, last in enumerate(held):
        for number in (*paths.above(last), last):
            couples[columns[number]].add(row)
    parents = [-1] * len(couples)
    for row in reversed(range(len(couples))):
        if couples[row]:
            parents[row] = max(couples[row])
            couples[parents[row]] |= couples[row] - {parents[row]}
    return parents

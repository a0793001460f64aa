"""Sections: their order, and which values belong to each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

from rbdc.ir.nodes import Program, Section

LONGEST = 2000
"""Programs of more values keep their order: they have enough to do, and what waits in registers and memory
gets more, so some took less time and some more.
"""

WORTH_MOVING = 0.986
"""So do those that would take more than this part of their time by `_Schedule`.

That sees no registers, and little of what the order costs: on a Xeon HyQ's aba (0.987) took 1.13 of its
time by clang 19 and 1.04 by gcc 12 in the other order, crba of quadrupeds (0.98 to 0.985) 0.9 and 1.1, an
arm's crba and aba (0.92 to 0.97) 0.87 to 0.96 and 0.83 to 0.9.
"""

_WIDTH = 2.0
"""Operations that begin in a cycle."""


def order_sections(program: Program) -> Program:
    """Return sections in an order in which they wait less for each other.

    Before: sections as the algorithm writes them, one recursion after the other: a processor that looks some
    hundred operations ahead waits for one recursion and has not come to the next. After: the same sections,
    each whole, of those that could come next the one with the longest way to the end among those whose
    operands are ready, else the one whose operands are ready first. List scheduling, Graham (1969).

    Single calls of aba take 4 to 25 % less time so, those of crba 5 to 17 %.
    """
    if len(program.values) > LONGEST:
        return program
    schedule = _Schedule(program)
    before = schedule.run(lambda unit: (float(unit), 0.0))
    after = schedule.run(schedule.rank)
    return program.reordered(schedule.order) if after < WORTH_MOVING * before else program


class _Schedule:
    """A simulated run: operations begin in order, `_WIDTH` in a cycle.

    Each takes as long as it waits for its operands and its latency.
    """

    def __init__(self, program: Program) -> None:
        self._values = program.values
        users = program.users
        self._own = [
            0 if program.is_fused(index) else value.operation.latency
            for index, value in enumerate(program.values)
        ]
        path = list(self._own)
        for index in reversed(range(len(users))):
            path[index] += max((path[user] for user in users[index] if user >= 0), default=0)
        self._leaves = [index for index, value in enumerate(self._values) if value.operation.is_leaf]
        self._units = _runs(program, lambda index: self._values[index].section)
        self._operands = [
            {operand for index in unit for operand in self._values[index].arguments}.difference(unit)
            for unit in self._units
        ]
        self._ways = [max(path[index] for index in unit) for unit in self._units]
        self._ready: dict[int, float] = {}
        self._time = 0.0
        self.order: list[int] = []

    def run(self, rank: Callable[[int], tuple[float, float]]) -> float:
        """Put the units in order by their rank, and give the time of the last result.

        Of the units that could come next, whose operands have been begun, that of least rank does. What is no
        computation comes first.
        """
        self.order, self._time, self._ready = list(self._leaves), 0.0, dict.fromkeys(self._leaves, 0.0)
        waiting = list(range(len(self._units)))
        while waiting:
            begun = (k for k in waiting if all(index in self._ready for index in self._operands[k]))
            unit = min(begun, key=rank)
            waiting.remove(unit)
            self._begin(unit)
        return max(self._ready.values(), default=0.0)

    def rank(self, unit: int) -> tuple[float, float]:
        """Return the rank of a unit, less for what should come first.

        It is how long the unit waits for its operands, then how short the way to the end is.
        """
        ready = max((self._ready[index] for index in self._operands[unit]), default=0.0)
        return max(0.0, ready - self._time), -float(self._ways[unit])

    def _begin(self, unit: int) -> None:
        """Note when the values of a unit are ready."""
        for index in self._units[unit]:
            own = self._own[index]
            self._time += 1.0 / _WIDTH if own else 0.0
            operands = max((self._ready[operand] for operand in self._values[index].arguments), default=0.0)
            self._ready[index] = max(operands, self._time if own else 0.0) + own
        self.order += self._units[unit]


def _runs(program: Program, label: Callable[[int], object]) -> list[list[int]]:
    """Return the values that compute something, in runs with the same label."""
    computed = [index for index, value in enumerate(program.values) if not value.operation.is_leaf]
    return [list(run) for _, run in groupby(computed, key=label)]


def gather_labels(program: Program) -> Program:
    """Return values under the heading of what they are for; order and operations stay.

    Before: a value has the section of the label that needed it first, or that a pass made it for, so that
    what a section alone uses may cut it in two. After: a run of values between two of one other section,
    which nothing of its own section uses, belongs there; runs that have joined may be such a run again.
    """
    gathered = _gathered(program)
    return program if gathered == program else gather_labels(gathered)


def _gathered(program: Program) -> Program:
    """Return a program whose runs have joined the section around them, from the last run to the first."""
    values, users = list(program.values), program.users

    def label(index: int) -> Section:
        return program.sections[values[index].section]

    runs = _runs(program, label)
    for number in reversed(range(1, len(runs) - 1)):
        run, last, following = runs[number], runs[number - 1][-1], runs[number + 1][0]
        if label(last) != label(following):
            continue
        outside = {user for index in run for user in users[index] if user >= 0}.difference(run)
        if label(run[0]) not in map(label, outside):
            for index in run:
                values[index] = values[index]._replace(section=values[following].section)
    return replace(program, values=tuple(values))

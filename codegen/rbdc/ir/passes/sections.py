"""The order of sections, and the values that belong to each section."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

from rbdc.ir.nodes import Program, Section

LONGEST = 2000
"""Programs with more values keep their order. They have enough independent operations, and a new order needs
more registers and memory: some measured times rose, others fell.
"""

WORTH_MOVING = 0.986
"""Programs also keep their order if `_Schedule` predicts that the new order takes more than this fraction
of their time. The prediction does not model registers. Time in the new order, divided by the time in the old
order, on a Xeon:

    function             predicted        clang 19       gcc 12
    HyQ's aba            0.987            1.13           1.04
    crba of quadrupeds   0.98 to 0.985    0.9            1.1
    an arm's crba, aba   0.92 to 0.97     0.87 to 0.96   0.83 to 0.9
"""

_WIDTH = 2.0
"""Number of operations that start in a cycle."""


def order_sections(program: Program) -> Program:
    """Reorder sections so that they wait less for each other.

    Before: sections are in the order of the algorithm, one recursion after the other. A processor looks some
        hundred operations ahead: it waits for one recursion and does not reach the next. After: the same
        sections in another order. The next section is the one with the longest path to the end among those
        whose operands are ready; if there is none, the one whose operands are ready first. List scheduling,
        Graham (1969).

    Single calls of aba take 4 to 25 % less time, and calls of crba 5 to 17 % less.
    """
    if len(program.values) > LONGEST:
        return program
    schedule = _Schedule(program)
    before = schedule.run(lambda unit: (float(unit), 0.0))
    after = schedule.run(schedule.rank)
    return program.reordered(schedule.order) if after < WORTH_MOVING * before else program


class _Schedule:
    """A simulated run: operations start in order, `_WIDTH` in a cycle. Each waits for its operands and takes
    its latency.
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
        """Order the units (runs of values of one section) by rank; return the time of the last result.

        Among the units whose operands have started, the unit with the least rank comes next. Constants and
        inputs come first.
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
        """Return the rank of a unit: the time that it waits for its operands, then minus the length of its
        path to the end.
        """
        ready = max((self._ready[index] for index in self._operands[unit]), default=0.0)
        return max(0.0, ready - self._time), -float(self._ways[unit])

    def _begin(self, unit: int) -> None:
        for index in self._units[unit]:
            delay = self._own[index]
            self._time += 1.0 / _WIDTH if delay else 0.0
            operands = max((self._ready[operand] for operand in self._values[index].arguments), default=0.0)
            self._ready[index] = max(operands, self._time if delay else 0.0) + delay
        self.order += self._units[unit]


def _runs(program: Program, label: Callable[[int], object]) -> list[list[int]]:
    computed = [index for index, value in enumerate(program.values) if not value.operation.is_leaf]
    return [list(run) for _, run in groupby(computed, key=label)]


def gather_labels(program: Program) -> Program:
    """Move values to the section that uses them; order and operations are unchanged.

    Before: a value has the section of the label that needed it first, or for which a pass created it. Values
        of another section may therefore stand between the values of one section. After: a run of values
        between two runs of another section belongs to that other section, unless the run's own section uses
        it. The pass is repeated for the joined runs.
    """
    gathered = _gathered(program)
    return program if gathered == program else gather_labels(gathered)


def _gathered(program: Program) -> Program:
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

"""Values under the heading of what they are for.

Before: a value has the section of the label that needed it first, or that a pass made it for, so that what a
section alone uses may cut it in two. After: a run of values between two of one other section, which nothing
of its own section uses, belongs there. Order and operations stay.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from rbdc.ir.nodes import Program, Section


def gather_labels(program: Program) -> Program:
    """See the module's docstring."""
    values, users = list(program.values), program.users()

    def label(index: int) -> Section:
        return program.sections[values[index].section]

    computed = [index for index, value in enumerate(values) if not value.operation.is_leaf]
    runs = [list(run) for _, run in groupby(computed, key=label)]
    for number in reversed(range(1, len(runs) - 1)):
        run, last, following = runs[number], runs[number - 1][-1], runs[number + 1][0]
        if label(last) != label(following):
            continue
        outside = {user for index in run for user in users[index] if user >= 0}.difference(run)
        if label(run[0]) not in map(label, outside):
            for index in run:
                values[index] = values[index]._replace(section=values[following].section)
    return replace(program, values=tuple(values))

"""Chunking: several functions compute a long program, so that compilers take linear time and memory.

Before: one list of values. After: consecutive chunks of at most about `limit` operations, split at a
    section boundary if one is near. Values for later chunks go through workspaces, one for each width, whose
    slots are reused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from rbdc.ir.nodes import Program, Value


@dataclass(frozen=True)
class Chunks:
    """The chunks of a program and the workspaces between them.

    chunk_of: chunk of each value; -1 for constants and inputs, which need none.
    slot_of: slot of each value that a later chunk uses, in the workspace of its width.
    slots: number of slots by width.
    count: number of chunks.
    """

    chunk_of: tuple[int, ...]
    slot_of: dict[int, int]
    slots: dict[int, int]
    count: int


def chunk(program: Program, limit: float = inf) -> Chunks:
    """Split a program; see the module's docstring. A program of at most 1.5 `limit` operations is not
    split.
    """
    chunk_of = _assign(program, limit)
    last_use: dict[int, int] = {}
    for index, value in enumerate(program.values):
        for argument in () if value.operation.is_condition else _read(program, value):
            if chunk_of[argument] >= 0 and chunk_of[argument] != chunk_of[index]:
                last_use[argument] = max(last_use.get(argument, 0), chunk_of[index])
    slot_of: dict[int, int] = {}
    slots: dict[int, int] = {}
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[int, int]]] = {}
    current = -1
    for index in sorted(last_use):  # in order of computation, so by chunk
        while current < chunk_of[index]:
            current += 1
            for width, slot in busy.pop(current - 1, []):
                free.setdefault(width, []).append(slot)
        width = program.values[index].width
        slot = free[width].pop() if free.get(width) else slots.get(width, 0)
        slots[width] = max(slots.get(width, 0), slot + 1)
        slot_of[index] = slot
        busy.setdefault(last_use[index], []).append((width, slot))
    return Chunks(tuple(chunk_of), slot_of, dict(sorted(slots.items())), max([0, *chunk_of]) + 1)


def _read(program: Program, value: Value) -> Iterator[int]:
    """Yield the arguments of a value. Conditions are written where they are used, so they are replaced by
    their own arguments.
    """
    for argument in value.arguments:
        condition = program.values[argument]
        if condition.operation.is_condition:
            yield from _read(program, condition)
        else:
            yield argument


def _assign(program: Program, limit: float) -> list[int]:
    total = sum(1 for _ in program.arithmetic())
    if total <= 1.5 * limit:
        return [-1 if value.operation.is_leaf else 0 for value in program.values]
    size = total / round(total / limit)
    result, current, filled, section = [], 0, 0, 0
    for value in program.values:
        if value.operation.is_leaf:
            result.append(-1)
            continue
        boundary = value.section != section and filled >= 0.8 * size
        if boundary or filled >= 1.2 * size:
            current, filled = current + 1, 0
        section, filled = value.section, filled + 1
        result.append(current)
    return result

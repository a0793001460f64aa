"""Constant folding: operations on constants, and the identities of 0 and 1.

Before: ``2.0 * 3.0``, ``x + 0``, ``x * 1``, ``x * 0``, ``x - x``, ``x / 1``, ``c ? x : x``. After: ``6.0``,
x, x, 0, 0, x, x. Folding ``x * 0`` is what makes structural zeros vanish; inputs are taken as finite, as the
generated module checks for q.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.ir.builder import Builder
from rbdc.ir.operations import ADD, DIV, MUL, NEG, SUB, WHERE, Operation


def fold_constants(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """See the module's docstring."""
    if operation is SUB and arguments[0] == arguments[1]:
        return builder.constant(0.0)
    if operation is WHERE and arguments[1] == arguments[2]:
        return arguments[1]
    for k in arguments:
        value = builder.values[k]
        if value.constant is not None or value.numbers:
            return _simplified(builder, operation, arguments)
    return None


def _simplified(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """Value of an operation with some constants among its arguments."""
    numbers = [builder.number(k) for k in arguments]
    known = [n for n in numbers if n is not None]
    lanes = [builder.numbers(k) for k in arguments]
    if all(lanes) and (operation.is_defined is None or None not in numbers):
        return _fold(builder, operation, lanes)
    if operation is WHERE and numbers[0] is not None:
        return arguments[1] if numbers[0] else arguments[2]
    return _identity(builder, operation, arguments, numbers) if known and len(numbers) == 2 else None


def _fold(builder: Builder, operation: Operation, lanes: Sequence[Sequence[float]]) -> int | None:
    """The number of an operation on constants in each lane, if there is one."""
    width = max(map(len, lanes))
    columns = [[x[m % len(x)] for x in lanes] for m in range(width)]
    numeric, is_defined = operation.numeric, operation.is_defined
    if numeric is None or (is_defined is not None and not all(is_defined(*column) for column in columns)):
        return None
    return builder.lanes([numeric(*column) for column in columns])


def _identity(
    builder: Builder, operation: Operation, arguments: tuple[int, ...], numbers: list[float | None]
) -> int | None:
    (a, b), (x, y) = numbers, arguments
    if operation.is_sum and b == 0.0:
        return x
    if operation is ADD and a == 0.0:
        return y
    if operation is SUB and a == 0.0:
        return builder.apply(NEG, (y,))
    if (operation is MUL and 0.0 in (a, b)) or (operation is DIV and a == 0.0):
        return builder.constant(0.0)
    if operation is MUL and 1.0 in (a, b):
        return y if a == 1.0 else x
    if operation is MUL and -1.0 in (a, b):
        return builder.apply(NEG, (y if a == -1.0 else x,))
    if operation is DIV and b in (1.0, -1.0):
        return x if b == 1.0 else builder.apply(NEG, (x,))
    return None

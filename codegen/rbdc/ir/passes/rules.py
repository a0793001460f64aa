"""Rules: replacements of one operation on simplified values."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.ir.builder import Builder
from rbdc.ir.operations import ADD, DIV, MUL, NEG, NOT, SUB, WHERE, Operation


def fold_constants(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """Fold operations on constants, and apply the identities of 0 and 1.

    Before: ``2.0 * 3.0``, ``x + 0``, ``x * 1``, ``x * 0``, ``x - x``, ``x / 1``, ``c ? x : x``. After:
        ``6.0``, x, x, 0, 0, x, x. Folding ``x * 0`` removes structural zeros; inputs are taken as finite, as
        the generated module checks for q.
    """
    if operation is SUB and arguments[0] == arguments[1]:
        return builder.constant(0.0)
    if operation is WHERE and arguments[1] == arguments[2]:
        return arguments[1]
    for k in arguments:
        if builder.values[k].known:
            return _simplified(builder, operation, arguments)
    return None


def _simplified(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    numbers = [builder.values[k].constant for k in arguments]
    known = [n for n in numbers if n is not None]
    lanes = [builder.values[k].known for k in arguments]
    if all(lanes) and (operation.is_defined is None or None not in numbers):
        return _fold(builder, operation, lanes)
    if operation is WHERE and numbers[0] is not None:
        return arguments[1] if numbers[0] else arguments[2]
    return _identity(builder, operation, arguments, numbers) if known and len(numbers) == 2 else None


def _fold(builder: Builder, operation: Operation, lanes: Sequence[Sequence[float]]) -> int | None:
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


def join_choices(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """Join choices: CasADi writes ``c ? x : y`` as ``(c ? x : 0) + (!c ? y : 0)``.

    Before: the sum of two choices, of which one is 0 where the other is not. After: one choice. A choice with
        a negated condition becomes a choice with the condition and exchanged alternatives.
    """
    if operation is WHERE:
        condition, then, otherwise = arguments
        contrary = builder.values[condition]
        return (
            builder.apply(WHERE, (contrary.arguments[0], otherwise, then))
            if contrary.operation is NOT
            else None
        )
    if operation is not ADD:
        return None
    one, other = (builder.values[k] for k in arguments)
    if one.operation is not WHERE or other.operation is not WHERE or one.arguments[0] != other.arguments[0]:
        return None
    condition, then, otherwise = one.arguments
    _, other_then, other_otherwise = other.arguments
    zeros = [k for k in (then, otherwise, other_then, other_otherwise) if builder.values[k].constant == 0.0]
    if otherwise in zeros and other_then in zeros:
        return builder.apply(WHERE, (condition, then, other_otherwise))
    if then in zeros and other_otherwise in zeros:
        return builder.apply(WHERE, (condition, other_then, otherwise))
    return None


def normalise_signs(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """Move minus signs outwards: ``a - b`` and ``b - a``, ``x * -y`` and ``x * y`` become one value.

    Before: ``x + (-y)``, ``(-x) * y``, ``b - a`` (a before b), ``-(-x)``, ``(-2.0) * x``.
    After: ``x - y``, ``-(x * y)``, ``-(a - b)``, x, ``-(2.0 * x)``.
    A sign that reaches a sum makes it a difference at no cost.
    """
    if operation is NEG:
        return builder.negated(arguments[0])
    if operation.is_sum:
        return _sum(builder, operation, *arguments)
    if operation.is_product:
        return _product(builder, operation, *arguments)
    if operation.parity and len(arguments) == 1 and (inner := builder.negated(arguments[0])) is not None:
        positive = builder.apply(operation, (inner,))
        return positive if operation.parity > 0 else builder.apply(NEG, (positive,))
    return None


def _sum(builder: Builder, operation: Operation, x: int, y: int) -> int | None:
    minus_x, minus_y = builder.negated(x), builder.negated(y)
    if minus_y is not None:
        return builder.apply(SUB if operation is ADD else ADD, (x, minus_y))
    if minus_x is not None:
        if operation is ADD:
            return builder.apply(SUB, (y, minus_x))
        return builder.apply(NEG, (builder.apply(ADD, (minus_x, y)),))
    if operation is SUB and x > y:
        return builder.raw(NEG, (builder.apply(SUB, (y, x)),))
    return None


def _product(builder: Builder, operation: Operation, x: int, y: int) -> int | None:
    positive_x, positive_y = _positive(builder, x), _positive(builder, y)
    if positive_x is None and positive_y is None:
        return None
    result = builder.apply(
        operation, (x if positive_x is None else positive_x, y if positive_y is None else positive_y)
    )
    both = positive_x is not None and positive_y is not None
    return result if both else builder.apply(NEG, (result,))


def _positive(builder: Builder, index: int) -> int | None:
    value = builder.values[index]
    if value.operation is NEG:
        return value.arguments[0]
    return builder.constant(-value.constant) if value.constant is not None and value.constant < 0.0 else None


def order_operands(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """Sort the operands of + and * by index, so that ``a + b`` and ``b + a`` become one value.

    Before: ``b * a``. After: ``a * b``.
    """
    if operation.is_commutative and arguments[0] > arguments[1]:
        return builder.raw(operation, (arguments[1], arguments[0]))
    return None


RULES = (fold_constants, join_choices, normalise_signs, order_operands)
"""All rules, in the order in which an operation is offered to them."""

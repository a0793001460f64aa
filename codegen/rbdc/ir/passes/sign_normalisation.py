"""Sign normalisation: minus signs move outwards.

``a - b`` and ``b - a``, ``x * -y`` and ``x * y`` become one value.

Before: ``x + (-y)``, ``(-x) * y``, ``b - a`` (a made before b), ``-(-x)``, ``(-2.0) * x``.
After: ``x - y``, ``-(x * y)``, ``-(a - b)``, x, ``-(2.0 * x)``.
A sign that reaches a sum turns it into a difference for nothing.
"""

from __future__ import annotations

from rbdc.ir.builder import Builder
from rbdc.ir.operations import ADD, NEG, SUB, Operation


def normalise_signs(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """See the module's docstring."""
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
    """-x where value `index` is -x or a negative constant, else None."""
    value = builder.values[index]
    if value.operation is NEG:
        return value.arguments[0]
    return builder.constant(-value.constant) if value.constant is not None and value.constant < 0.0 else None

"""Sign normalisation: minus signs move outwards, so that ``a - b`` and ``b - a``, ``x * -y`` and ``x * y`` become one value.

Before: ``x + (-y)``, ``(-x) * y``, ``b - a`` (a made before b), ``-(-x)``, ``(-2.0) * x``.
After: ``x - y``, ``-(x * y)``, ``-(a - b)``, x, ``-(2.0 * x)``. A sign that reaches a sum turns it into a difference for nothing.
"""

from __future__ import annotations

from rbdc.ir.builder import Builder


def normalise_signs(builder: Builder, operation: str, arguments: tuple[int, ...]) -> int | None:
    """See the module's docstring."""
    if operation == "neg":
        return builder.negated(arguments[0])
    if operation in ("add", "sub"):
        return _sum(builder, operation, *arguments)
    if operation in ("mul", "div"):
        return _product(builder, operation, *arguments)
    if operation == "sin":
        return _outside(builder, "sin", arguments[0])
    if operation == "cos" and (inner := builder.negated(arguments[0])) is not None:
        return builder.apply("cos", (inner,))
    return None


def _outside(builder: Builder, operation: str, argument: int) -> int | None:
    inner = builder.negated(argument)
    return None if inner is None else builder.apply("neg", (builder.apply(operation, (inner,)),))


def _sum(builder: Builder, operation: str, x: int, y: int) -> int | None:
    minus_x, minus_y = builder.negated(x), builder.negated(y)
    if minus_y is not None:
        return builder.apply("sub" if operation == "add" else "add", (x, minus_y))
    if minus_x is not None:
        if operation == "add":
            return builder.apply("sub", (y, minus_x))
        return builder.apply("neg", (builder.apply("add", (minus_x, y)),))
    if operation == "sub" and x > y:
        return builder.raw("neg", (builder.apply("sub", (y, x)),))
    return None


def _product(builder: Builder, operation: str, x: int, y: int) -> int | None:
    positive_x, positive_y = _positive(builder, x), _positive(builder, y)
    if positive_x is None and positive_y is None:
        return None
    result = builder.apply(operation, (x if positive_x is None else positive_x, y if positive_y is None else positive_y))
    both = positive_x is not None and positive_y is not None
    return result if both else builder.apply("neg", (result,))


def _positive(builder: Builder, index: int) -> int | None:
    """-x where value `index` is -x or a negative constant, else None."""
    value = builder.values[index]
    if value.operation == "neg":
        return value.arguments[0]
    return builder.constant(-value.constant) if value.constant is not None and value.constant < 0.0 else None

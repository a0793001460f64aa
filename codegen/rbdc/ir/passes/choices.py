"""Choices: CasADi writes ``c ? x : y`` as ``(c ? x : 0) + (!c ? y : 0)``.

Before: the sum of two choices, of which one is 0 where the other is not. After: one choice.
"""

from __future__ import annotations

from rbdc.ir.builder import Builder
from rbdc.ir.operations import ADD, NOT, WHERE, Operation


def join_choices(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """See the module's docstring.

    A choice by the negation of a condition becomes one by the condition, with its alternatives exchanged.
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
    if builder.number(otherwise) == 0.0 and builder.number(other_then) == 0.0:
        return builder.apply(WHERE, (condition, then, other_otherwise))
    if builder.number(then) == 0.0 and builder.number(other_otherwise) == 0.0:
        return builder.apply(WHERE, (condition, other_then, otherwise))
    return None

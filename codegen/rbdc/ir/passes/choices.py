"""Choices: CasADi writes ``c ? x : y`` as ``(c ? x : 0) + (!c ? y : 0)``.

Before: the sum of two choices, of which one is 0 where the other is not. After: one choice.
"""

from __future__ import annotations

from rbdc.ir.builder import Builder


def join_choices(builder: Builder, operation: str, arguments: tuple[int, ...]) -> int | None:
    """See the module's docstring; a choice by the contrary of a condition is one by the condition, the other way round."""
    if operation == "where":
        condition, then, otherwise = arguments
        contrary = builder.values[condition]
        return builder.apply("where", (contrary.arguments[0], otherwise, then)) if contrary.operation == "not" else None
    if operation != "add":
        return None
    one, other = (builder.values[k] for k in arguments)
    if one.operation != "where" or other.operation != "where" or one.arguments[0] != other.arguments[0]:
        return None
    condition, then, otherwise = one.arguments
    _, other_then, other_otherwise = other.arguments
    if builder.number(otherwise) == 0.0 and builder.number(other_then) == 0.0:
        return builder.apply("where", (condition, then, other_otherwise))
    if builder.number(then) == 0.0 and builder.number(other_otherwise) == 0.0:
        return builder.apply("where", (condition, other_then, otherwise))
    return None

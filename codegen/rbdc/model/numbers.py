"""A model over other numbers than floats: what is computed from its constants alone is then as exact as these
are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from rbdc.spatial import Scalar

T = TypeVar("T")


def with_numbers(thing: T, number: Callable[[float], Scalar]) -> T:
    """The model, body, placement, ... with `number` of every float in it."""
    converted: T = _converted(thing, number)
    return converted


def _converted(thing: Any, number: Callable[[float], Scalar]) -> Any:
    if isinstance(thing, float):
        return number(thing)
    if isinstance(thing, tuple):
        return tuple(_converted(x, number) for x in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return replace(thing, **{f.name: _converted(getattr(thing, f.name), number) for f in fields(thing)})
    return thing

"""A model over other numbers than floats: what is computed from its constants alone is then as exact as these
are. A description over floats alone, whatever numbers it was made of.
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


def in_floats(thing: T) -> T:
    """The description, joint, placement, ... with every number a Python float: code that builds one may have
    given integers or NumPy's. Fields say what is a number.
    """
    converted: T = _in_floats(thing, "")
    return converted


def _in_floats(thing: Any, declared: Any) -> Any:
    if declared in ("float", "Scalar"):
        return float(thing)
    if isinstance(thing, tuple):
        return tuple(_in_floats(x, "") for x in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        return replace(thing, **{f.name: _in_floats(getattr(thing, f.name), f.type) for f in fields(thing)})
    return thing

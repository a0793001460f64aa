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
    """Return the model, body, placement, ... with `number` of every float in it."""
    converted: T = rebuilt(thing, lambda x, _: number(x) if isinstance(x, float) else x)
    return converted


def in_floats(thing: T) -> T:
    """Return the description, joint, placement, ... with every number a Python float: code that builds one
    may have given integers or NumPy's. Fields say what is a number.
    """
    converted: T = rebuilt(thing, lambda x, declared: float(x) if declared in ("float", "Scalar") else x)
    return converted


def rebuilt(thing: Any, leaf: Callable[[Any, Any], Any], declared: Any = "") -> Any:
    """Return dataclasses and tuples within each other, with `leaf` of all else: of the thing, and of the type
    that its field declares, "" in a tuple. Fields that do not count in comparisons stay.
    """
    if isinstance(thing, tuple):
        return tuple(rebuilt(x, leaf) for x in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        counting = [f for f in fields(thing) if f.compare]
        return replace(thing, **{f.name: rebuilt(getattr(thing, f.name), leaf, f.type) for f in counting})
    return leaf(thing, declared)

"""Models over numbers other than floats. Results are then as exact as these numbers. A description holds
floats only, whatever numbers it was built from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from rbdc.spatial import Scalar

T = TypeVar("T")


def with_numbers(thing: T, number: Callable[[float], Scalar]) -> T:
    """Return the model, body, placement, ... with `number` applied to every float."""
    converted: T = rebuilt(thing, lambda x, _: number(x) if isinstance(x, float) else x)
    return converted


def in_floats(thing: T) -> T:
    """Return the description, joint, placement, ... with every number as a Python float; code may have passed
    integers or NumPy scalars. The types of fields say which values are numbers.
    """
    converted: T = rebuilt(thing, lambda x, declared: float(x) if declared in ("float", "Scalar") else x)
    return converted


def rebuilt(thing: Any, leaf: Callable[[Any, Any], Any], declared: Any = "") -> Any:
    """Rebuild nested dataclasses and tuples, with `leaf` applied to all other values. Arguments of `leaf` are
    the value and the type that the field declares ("" in a tuple). Fields with compare=False are kept.
    """
    if isinstance(thing, tuple):
        return tuple(rebuilt(x, leaf) for x in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        counting = [f for f in fields(thing) if f.compare]
        return replace(thing, **{f.name: rebuilt(getattr(thing, f.name), leaf, f.type) for f in counting})
    return leaf(thing, declared)

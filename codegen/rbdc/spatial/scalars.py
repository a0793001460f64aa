"""Elementary functions for any scalar type.

A scalar is a Python or NumPy number or array, a symbolic scalar (`rbdc.ir.symbolic`), or an mpmath number.
This module imports neither CasADi nor mpmath: it calls the scalars' own methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

Scalar: TypeAlias = Any
"""Anything with ``+ - * /``; see the package docstring."""

Scalars: TypeAlias = Sequence[Scalar]
"""A vector of scalars: a configuration, velocities, torques."""


def is_number(x: Scalar) -> bool:
    """Return whether x is a plain Python number. Only plain numbers, not symbolic scalars, may decide which
    operations are computed.
    """
    return isinstance(x, (int, float))


def is_zero(x: Scalar) -> bool:
    """Return whether x is structurally zero; a symbolic zero is the constant 0."""
    return is_number(x) and bool(x == 0)


def _is_row(x: Scalar) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == object


def _computing(operation: str, scalars: Sequence[Scalar]) -> Scalar:
    """Return the scalar of the highest level that has the method `operation`, None if no scalar has it. This
    scalar treats those of lower levels as values.
    """
    able = (x for x in scalars if hasattr(x, operation))
    return max(able, key=lambda x: int(getattr(x, "level", 0)), default=None)


def _apply(name: str, *arguments: Scalar) -> Scalar:
    if all(is_number(x) for x in arguments):
        return getattr(math, name)(*(float(x) for x in arguments))
    if any(map(_is_row, arguments)):
        return np.frompyfunc(partial(_apply, name), len(arguments), 1)(*arguments)
    if all(isinstance(x, (int, float, complex, np.generic, np.ndarray)) for x in arguments):
        return getattr(np, {"atan2": "arctan2"}.get(name, name))(*arguments)
    scalar = _computing("elementary", arguments)
    if scalar is not None:
        return scalar.elementary(name, *arguments)
    for x in arguments:
        context = getattr(x, "context", None)
        if context is not None:  # mpmath
            return getattr(context, name)(*arguments)
    raise TypeError(f"no {name} for {[type(x).__name__ for x in arguments]}")


def sin(x: Scalar) -> Scalar:
    """Return the sine of an angle (rad)."""
    return _apply("sin", x)


def cos(x: Scalar) -> Scalar:
    """Return the cosine of an angle (rad)."""
    return _apply("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """Return the square root."""
    return _apply("sqrt", x)


def hypot(x: Scalar, y: Scalar) -> Scalar:
    """Return the length of the vector (x, y)."""
    return _apply("hypot", x, y)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y) in (-pi, pi]."""
    return _apply("atan2", y, x)


def polynomial(x: Scalar, *coefficients: Scalar) -> Scalar:
    """Return a polynomial of x (Horner's scheme), constant coefficient first; zero without coefficients."""
    *others, total = coefficients or (0.0,)
    for coefficient in reversed(others):
        total = coefficient + x * total
    return total


def where_less(a: Scalar, b: Scalar, then: Scalar, otherwise: Scalar) -> Scalar:
    """Return `then` if a < b, else `otherwise`; the branch not taken may be NaN."""
    scalars = (a, b, then, otherwise)
    if any(map(_is_row, scalars)):
        return np.frompyfunc(where_less, 4, 1)(*scalars)
    scalar = _computing("where_less", scalars)
    if scalar is not None:
        return scalar.where_less(*scalars)
    if any(isinstance(x, np.ndarray) for x in scalars):
        return np.where(np.less(a, b), then, otherwise)
    return then if a < b else otherwise


def in_one_piece(formulas: Callable[..., Sequence[Scalar]], *arguments: Scalar) -> Sequence[Scalar]:
    """Return formulas(*arguments).

    For symbolic scalars, generated code computes all results in one function call.
    """
    for x in arguments:
        if hasattr(x, "in_one_piece"):  # rbdc.ir.symbolic
            together: Sequence[Scalar] = x.in_one_piece(formulas, *arguments)
            return together
    return formulas(*arguments)

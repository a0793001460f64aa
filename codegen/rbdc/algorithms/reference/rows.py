"""Scalars side by side: one operation for many of them.

A row is a scalar too. Scalars that have `side_by_side` (`rbdc.verification`) make what that gives, dual
numbers a dual number of rows, all others an array (count, 1, 1) of NumPy's, or (count, 1, N) of arrays over
samples (N,), which goes with rows of all kinds. What is zero whatever the inputs stays the constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, cast

import numpy as np

from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import is_number, is_zero
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

T = TypeVar("T")


def side_by_side(row: Scalars) -> Scalar:
    """A row of scalars as one."""
    if all(is_zero(x) for x in row):
        return 0.0
    if any(type(x) is Tangent for x in row):
        return Tangent(side_by_side([value_of(x) for x in row]), side_by_side([rate_of(x) for x in row]))
    for x in row:
        if hasattr(x, "side_by_side"):
            return x.side_by_side(row)
    if all(map(_is_numeric, row)):
        return np.stack(np.broadcast_arrays(*map(np.atleast_1d, row)))[:, None]
    return _one_by_one(row)


def _is_numeric(x: Scalar) -> bool:
    return isinstance(x, (int, float, complex, np.number, np.ndarray))


def _one_by_one(row: Scalars) -> Scalar:
    """An array whose operations are those of its scalars."""
    array = np.empty((len(row), 1, 1), dtype=object)
    array[:, 0, 0] = row
    return array


def unit_rows(count: int, beside: Iterable[Scalar]) -> list[Scalar]:
    """The unit vectors of so many entries as rows, which go with all of the scalars `beside`."""
    given = list(beside)
    if any(np.ndim(getattr(x, "values", x)) > 2 for x in map(rate_of, given)):
        raise TypeError("derivatives side by side cannot be differentiated side by side")
    plain = all(hasattr(x, "side_by_side") or _is_numeric(x) for x in map(innermost, given))
    units = ([float(j == k) for j in range(count)] for k in range(count))
    return [side_by_side(unit) if plain else _one_by_one(unit) for unit in units]


def innermost(x: Scalar) -> Scalar:
    """The value of dual numbers of any depth."""
    while isinstance(x, Tangent):
        x = x.value
    return x


def apart(row: Scalar, count: int) -> list[Scalar]:
    """The `count` scalars of a row."""
    if is_number(row):
        return [row] * count
    if type(row) is Tangent:
        return tangents(apart(row.value, count), apart(row.rate, count))
    if isinstance(row, np.ndarray):
        return [x.item() if x.size == 1 else x for x in row[:, 0]]
    scalars: list[Scalar] = row.apart()
    return scalars


def together(things: Sequence[T]) -> T:
    """Dataclasses or tuples of scalars as one, whose scalars are rows."""
    first: Any = things[0]
    if isinstance(first, tuple):
        return cast(T, tuple(together(column) for column in zip(*cast(Any, things), strict=True)))
    if is_dataclass(first):
        columns = ([getattr(x, own.name) for x in things] for own in fields(first))
        return cast(T, cast(Any, type(first))(*map(together, columns)))
    return cast(T, side_by_side(things))


def picked(thing: T, places: Sequence[int]) -> T:
    """Entries of such a scalar at some places, in that order."""
    given: Any = thing
    if isinstance(given, tuple):
        return cast(T, tuple(picked(x, places) for x in given))
    if is_dataclass(given):
        parts: Any = [picked(getattr(given, own.name), places) for own in fields(given)]
        return cast(T, cast(Any, type(given))(*parts))
    if is_number(given):
        return thing
    if type(given) is Tangent:
        return cast(T, Tangent(picked(given.value, places), picked(given.rate, places)))
    return cast(T, given.picked(places) if hasattr(given, "picked") else given[places])

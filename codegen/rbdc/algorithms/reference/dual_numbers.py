"""Derivatives of recursions in the tangent space, using dual numbers (Clifford, 1873), and rows of scalars.

The recursion of a paper is evaluated over dual numbers, for one input after the other. All directions of an
input lie side by side in a row, so that one operation handles all of them. The rates of a configuration are
those at unit velocities of its joints.

A row of scalars is itself a scalar. The scalars' method `side_by_side` builds the row, if they have that
method (`rbdc.verification`). A row of dual numbers is a dual number of rows. Any other row is a NumPy array
(count, 1, 1), or (count, 1, N) for arrays over samples (N,), which broadcasts with rows of all kinds.
Structural zeros remain the constant 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from rbdc.algorithms.reference.sharing import once
from rbdc.algorithms.tools.linear import flat, identity
from rbdc.algorithms.tools.machine import packed
from rbdc.model import Model
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import is_number, is_zero
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

T = TypeVar("T")


def differentiated(
    model: Model,
    *inputs: Any,
    method: Callable[..., Any],
    configurations: Sequence[bool],
    kind: type[Tangent] = Tangent,
    **named: Any,
) -> tuple[list[Scalar], ...]:
    """Return the derivatives of each output of a method with respect to each of its first inputs: those of
    the first output with respect to all these inputs, then those of the next output.

    configurations: for each of these inputs, whether it is a configuration.
    kind: type of the dual numbers; derivatives that are differentiated again need another type.

    Checked against closed forms and differences.
    """
    vectors, derivatives = [y for y in inputs if isinstance(y, list)], []
    for k, configuration in enumerate(configurations):
        steps = once(_steps, model, k, configuration, kind, *vectors)
        results = [method(model, *inputs[:k], x, *inputs[k + 1 :], **named) for x in steps]
        derivatives.append(_by(results, model.nv if configuration else len(vectors[k]), kind))
    return tuple(one[y] for y in range(len(derivatives[0])) for one in derivatives)


def along(
    model: Model,
    *inputs: Any,
    method: Callable[..., Any],
    configurations: Sequence[bool],
    directions: Sequence[Scalars],
    kind: type[Tangent] = Tangent,
    **named: Any,
) -> tuple[list[Scalar], ...]:
    """Return the derivative of each output of a method when its first inputs move along `directions`
    together.

    Checked against products with derivatives.
    """
    moved = [
        once(stepped, model, x, direction, configuration, kind)
        for x, configuration, direction in zip(inputs, configurations, directions, strict=False)
    ]
    return tuple(_rates(method(model, *moved, *inputs[len(moved) :], **named), kind))


def stepped(
    model: Model, x: Scalars, direction: Scalars, configuration: bool, kind: type[Tangent] = Tangent
) -> list[Scalar]:
    """Return x as dual numbers with their rates along a direction; for a configuration, the direction
    is in the tangent space.
    """
    if not configuration:
        return [*tangents(x, direction, kind)]
    rates: list[Scalar] = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            place = model.q_slice(index)
            rates[place] = body.joint.rate(x[place], direction[model.v_slice(index)])
    return [*tangents(x, rates, kind)]


def _steps(
    model: Model, k: int, configuration: bool, kind: type[Tangent], *inputs: Scalars
) -> list[list[Scalar]]:
    directions = _directions(model.nv if configuration else len(inputs[k]), inputs, kind)
    return [stepped(model, inputs[k], units, configuration, kind) for units in directions]


def _directions(count: int, beside: Sequence[Scalars], kind: type[Tangent]) -> list[Scalars]:
    """Return the `count` unit vectors; for the kind `Tangent` one vector of rows, which broadcast with all
    scalars in `beside`.
    """
    if kind is Tangent:
        return [unit_rows(count, [x for y in beside for x in y])]
    return [*identity(count)]


def _by(results: Sequence[Any], count: int, kind: type[Tangent]) -> list[list[Scalar]]:
    rates = [_rates(outputs, kind) for outputs in results]
    if kind is Tangent:
        return [[x for row in output for x in scalars_of(row, count)] for output in rates[0]]
    return [[x for row in zip(*each, strict=True) for x in row] for each in zip(*rates, strict=True)]


def _rates(outputs: Any, kind: type[Tangent]) -> list[list[Scalar]]:
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return [[rate_of(x, kind) for x in (flat(y) if y and isinstance(y[0], list) else y)] for y in several]


def side_by_side(row: Scalars) -> Scalar:
    """Return a row of scalars as one scalar."""
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
    array = np.empty((len(row), 1, 1), dtype=object)
    array[:, 0, 0] = row
    return array


def unit_rows(count: int, beside: Iterable[Scalar]) -> list[Scalar]:
    """Return the `count` unit vectors as rows, which broadcast with all scalars in `beside`."""
    scalars = list(beside)
    if any(np.ndim(getattr(x, "values", x)) > 2 for x in map(rate_of, scalars)):
        raise TypeError("rows of dual numbers cannot be differentiated in rows: pass another `kind`")
    plain = all(hasattr(x, "side_by_side") or _is_numeric(x) for x in map(innermost, scalars))
    return [side_by_side(unit) if plain else _one_by_one(unit) for unit in identity(count)]


def innermost(x: Scalar) -> Scalar:
    """Return the value of dual numbers of any depth."""
    while isinstance(x, Tangent):
        x = x.value
    return x


def depth(x: Scalar) -> int:
    """Return how deep dual numbers are nested; 0 for other scalars."""
    return 1 + depth(x.value) if isinstance(x, Tangent) else 0


def scalars_of(row: Scalar, count: int) -> list[Scalar]:
    """Return the `count` scalars of a row."""
    if is_number(row):
        return [row] * count
    if type(row) is Tangent:
        return tangents(scalars_of(row.value, count), scalars_of(row.rate, count))
    if isinstance(row, np.ndarray):
        return [x.item() if x.size == 1 else x for x in row[:, 0]]
    scalars: list[Scalar] = row.row_scalars()
    return scalars


def together(things: Sequence[T]) -> T:
    """Combine scalars, quantities, or tuples or dataclasses of them into one whose scalars are rows."""
    numbers, (_, of) = (packed(x)[0] for x in things), packed(things[0])
    return cast(T, of([side_by_side(column) for column in zip(*numbers, strict=True)]))


def picked(thing: T, places: Sequence[int]) -> T:
    """Return `thing` with the entries of its rows at `places`, in that order."""
    numbers, of = packed(thing)
    return cast(T, of([_picked(x, places) for x in numbers]))


def _picked(row: Any, places: Sequence[int]) -> Scalar:
    if is_number(row):
        return row
    if type(row) is Tangent:
        return Tangent(_picked(row.value, places), _picked(row.rate, places))
    return row.picked(places) if hasattr(row, "picked") else row[places]

"""Derivatives of recursions in the tangent space by dual numbers (Clifford, 1873), and scalars side by side.

The recursion of a paper is evaluated over numbers with their rates along the directions of one input after
the other. The directions lie side by side, so that one operation handles many of them. The rates of a
configuration are those of its joints at unit velocities.

A row of scalars is itself a scalar. The scalars' method `side_by_side` builds it, if they have that method
(`rbdc.verification`). Dual numbers become a dual number of rows. All others become a NumPy array (count, 1,
1), or (count, 1, N) for arrays over samples (N,), which broadcasts with rows of all kinds. Structural zeros
remain the constant 0.
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
    """Return the derivatives of each output of a method by each of its first inputs: output by output and for
    each direction.

    configurations: for each of these vectors whether it is a configuration.
    kind: type of the numbers, for derivatives that are differentiated again.

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
    """Return the derivative of each output of a method along directions of its first inputs together.

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
    """Return x as dual numbers with their rates along a direction; for a configuration a direction of the
    tangent space.
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
    """Return input k stepped along each of its directions; for the outermost kind all directions side by
    side, as one.
    """
    directions = _directions(model.nv if configuration else len(inputs[k]), inputs, kind)
    return [stepped(model, inputs[k], units, configuration, kind) for units in directions]


def _directions(count: int, beside: Sequence[Scalars], kind: type[Tangent]) -> list[Scalars]:
    """Return the `count` unit vectors, or one vector of rows, which broadcast with all scalars in
    `beside`.
    """
    if kind is Tangent:
        return [unit_rows(count, [x for y in beside for x in y])]
    return [*identity(count)]


def _by(results: Sequence[Any], count: int, kind: type[Tangent]) -> list[list[Scalar]]:
    """Return the rates of each output along each direction, entry by entry."""
    rates = [_rates(outputs, kind) for outputs in results]
    if kind is Tangent:
        return [[x for row in output for x in scalars_of(row, count)] for output in rates[0]]
    return [[x for row in zip(*each, strict=True) for x in row] for each in zip(*rates, strict=True)]


def _rates(outputs: Any, kind: type[Tangent]) -> list[list[Scalar]]:
    """Return the rates of the entries of each output."""
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
    """Return an array that applies operations to each of its scalars."""
    array = np.empty((len(row), 1, 1), dtype=object)
    array[:, 0, 0] = row
    return array


def unit_rows(count: int, beside: Iterable[Scalar]) -> list[Scalar]:
    """Return the `count` unit vectors as rows, which broadcast with all scalars in `beside`."""
    scalars = list(beside)
    if any(np.ndim(getattr(x, "values", x)) > 2 for x in map(rate_of, scalars)):
        raise TypeError("derivatives side by side cannot be differentiated side by side")
    plain = all(hasattr(x, "side_by_side") or _is_numeric(x) for x in map(innermost, scalars))
    return [side_by_side(unit) if plain else _one_by_one(unit) for unit in identity(count)]


def innermost(x: Scalar) -> Scalar:
    """Return the value of dual numbers of any depth."""
    while isinstance(x, Tangent):
        x = x.value
    return x


def depth(x: Scalar) -> int:
    """Return the number of rates that dual numbers have of one another."""
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
    """Return scalars, quantities, or tuples or dataclasses of them as one, whose scalars are rows."""
    numbers, (_, of) = (packed(x)[0] for x in things), packed(things[0])
    return cast(T, of([side_by_side(column) for column in zip(*numbers, strict=True)]))


def picked(thing: T, places: Sequence[int]) -> T:
    """Return the entries of these rows at some places, in that order."""
    numbers, of = packed(thing)
    return cast(T, of([_picked(x, places) for x in numbers]))


def _picked(row: Any, places: Sequence[int]) -> Scalar:
    if is_number(row):
        return row
    if type(row) is Tangent:
        return Tangent(_picked(row.value, places), _picked(row.rate, places))
    return row.picked(places) if hasattr(row, "picked") else row[places]

"""Derivatives of a recursion in the tangent space, by dual numbers: Clifford (1873).

The recursion of a paper is evaluated over numbers with their rates along the directions of one input after
the other, which lie side by side; the rates of a configuration are those of its joints at unit velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rbdc.algorithms.reference.rows import apart, unit_rows
from rbdc.algorithms.reference.sharing import once
from rbdc.algorithms.tools.linear import flat
from rbdc.model import Model
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.tangent import Tangent, rate_of, tangents


def differentiated(
    model: Model,
    *given: Any,
    method: Callable[..., Any],
    configurations: Sequence[bool],
    kind: type[Tangent] = Tangent,
    **named: Any,
) -> tuple[list[Scalar], ...]:
    """The derivatives of each output of a method by each of its first inputs, which are vectors, and as is
    said configurations: output by output and for each direction. kind: the numbers, others than usual for
    derivatives that are differentiated themselves. Test: closed forms and differences.
    """
    vectors, found = [y for y in given if isinstance(y, list)], []
    for k, configuration in enumerate(configurations):
        steps = once(_steps, model, k, configuration, kind, *vectors)
        made = [method(model, *given[:k], x, *given[k + 1 :], **named) for x in steps]
        found.append(_by(made, model.nv if configuration else len(vectors[k]), kind))
    return tuple(one[y] for y in range(len(found[0])) for one in found)


def along(
    model: Model,
    *given: Any,
    method: Callable[..., Any],
    configurations: Sequence[bool],
    directions: Sequence[Scalars],
    kind: type[Tangent] = Tangent,
    **named: Any,
) -> tuple[list[Scalar], ...]:
    """The derivative of each output of a method along directions of its first inputs together. Test: products
    with derivatives.
    """
    moved = [
        once(stepped, model, x, direction, configuration, kind)
        for x, configuration, direction in zip(given, configurations, directions, strict=False)
    ]
    return tuple(_rates(method(model, *moved, *given[len(moved) :], **named), kind))


def stepped(
    model: Model, x: Scalars, direction: Scalars, configuration: bool, kind: type[Tangent] = Tangent
) -> list[Scalar]:
    """x as dual numbers with their rates along a direction, of a configuration one of the tangent space."""
    if not configuration:
        return [*tangents(x, direction, kind)]
    rates: list[Scalar] = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            place = model.q_slice(index)
            rates[place] = body.joint.rate(x[place], direction[model.v_slice(index)])
    return [*tangents(x, rates, kind)]


def _steps(
    model: Model, k: int, configuration: bool, kind: type[Tangent], *given: Scalars
) -> list[list[Scalar]]:
    """The input of number k stepped along each of its directions; the outermost ones side by side, as one."""
    directions = _directions(model.nv if configuration else len(given[k]), given, kind)
    return [stepped(model, given[k], units, configuration, kind) for units in directions]


def _directions(count: int, beside: Sequence[Scalars], kind: type[Tangent]) -> list[Scalars]:
    """The unit vectors of so many entries, or as one vector of rows, which go with all that is beside."""
    if kind is Tangent:
        return [unit_rows(count, [x for y in beside for x in y])]
    return [[float(j == k) for k in range(count)] for j in range(count)]


def _by(made: Sequence[Any], count: int, kind: type[Tangent]) -> list[list[Scalar]]:
    """The rates of each output along each direction, entry by entry, of what the steps made."""
    rates = [_rates(outputs, kind) for outputs in made]
    if kind is Tangent:
        return [[x for row in output for x in apart(row, count)] for output in rates[0]]
    return [[x for row in zip(*own, strict=True) for x in row] for own in zip(*rates, strict=True)]


def _rates(outputs: Any, kind: type[Tangent]) -> list[list[Scalar]]:
    """The rates of the entries of each output."""
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return [[rate_of(x, kind) for x in (flat(y) if y and isinstance(y[0], list) else y)] for y in several]

"""Derivatives of a recursion in the tangent space, by dual numbers: Clifford (1873).

The recursion of a paper is evaluated over numbers with their rates along one direction of an input after the
other; the rates of a configuration are those of its joints at unit velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rbdc.algorithms.tools.linear import dot, flat
from rbdc.model import Model
from rbdc.spatial import Force, Scalar, Scalars
from rbdc.spatial.tangent import Tangent, rate_of, tangents


def differentiated(
    model: Model,
    *given: Any,
    method: Callable[..., Any],
    configurations: Sequence[bool],
    forces: str = "",
    kind: type[Tangent] = Tangent,
    **named: Any,
) -> tuple[list[Scalar], ...]:
    """The derivatives of each output of a method by each of its first inputs, which are vectors, and as is
    said configurations, then by the external forces that it has by the name `forces`: output by output and
    for each direction. kind: the numbers, those of the derivatives that are differentiated here within
    others. Test: closed forms and differences.
    """
    found = []
    for k, configuration in enumerate(configurations):
        along = [
            _rates(method(model, *given[:k], tangents(given[k], step, kind), *given[k + 1 :], **named), kind)
            for step in _steps(model, given[k], configuration=configuration)
        ]
        found.append([[x for row in zip(*own, strict=True) for x in row] for own in zip(*along, strict=True)])
    if forces:
        flat_forces = [x for force in named[forces] for x in force.scalars()]
        others = {name: x for name, x in named.items() if name != forces}
        along = []
        for step in _steps(model, flat_forces, configuration=False):
            moved = tangents(flat_forces, step, kind)
            wrenches = [Force.of(moved[k : k + 6]) for k in range(0, len(moved), 6)]
            along.append(_rates(method(model, *given, **{forces: wrenches}, **others), kind))
        found.append([[x for row in zip(*own, strict=True) for x in row] for own in zip(*along, strict=True)])
    return tuple(one[y] for y in range(len(found[0])) for one in found)


def _steps(model: Model, x: Scalars, *, configuration: bool) -> Iterator[list[Scalar]]:
    """The rates of the entries of an input along each of its directions."""
    if not configuration:
        yield from ([float(j == k) for k in range(len(x))] for j in range(len(x)))
        return
    for body in model.bodies:
        q = slice(body.index_q, body.index_q + body.joint.nq)
        for j in range(body.joint.nv) if body.coupling is None else ():
            step: list[Scalar] = [0.0] * model.nq
            step[q] = body.joint.rate(x[q], [float(j == k) for k in range(body.joint.nv)])
            yield step


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
    moved = []
    for x, configuration, direction in zip(given, configurations, directions, strict=False):
        steps = _steps(model, x, configuration=configuration)
        moved.append(tangents(x, [dot(entry, direction) for entry in zip(*steps, strict=True)], kind))
    return tuple(_rates(method(model, *moved, *given[len(moved) :], **named), kind))


def _rates(outputs: Any, kind: type[Tangent]) -> list[list[Scalar]]:
    """The rates of the entries of each output."""
    several = outputs if isinstance(outputs, tuple) else (outputs,)
    return [[rate_of(x, kind) for x in (flat(y) if y and isinstance(y[0], list) else y)] for y in several]

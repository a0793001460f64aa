"""Time derivatives of dynamics, using nested dual numbers (Clifford 1873). The time derivative along a motion
is the derivative at (q, v, a, ...) along the direction (v, a, jerk, ...), taken once for each order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rbdc.algorithms.reference import aba as forward
from rbdc.algorithms.reference import rnea as inverse
from rbdc.algorithms.reference.couplings import at_configuration
from rbdc.algorithms.reference.dual_numbers import stepped
from rbdc.algorithms.tools.linear import Vector
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalar, Scalars
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

_KINDS: tuple[type[Tangent], ...] = tuple(
    type(f"InTime{level}", (Tangent,), {"__slots__": (), "level": level}) for level in range(4, 8)
)
"""Types of dual numbers, one for each order of time derivatives."""


def rnea_time_derivatives(
    model: Problem, q: Scalars, v: Scalars, *rates: Scalars, fext: Forces | None = None
) -> tuple[Vector, ...]:
    """Return tau (nv) and its time derivatives; `rates` are a, jerk and so on (nv each).
    Checked against differences.
    """
    motion, kinds = [q, v, *rates], _KINDS[: len(rates) - 1]
    for kind in kinds:
        motion = _moving(model, motion, kind)
    position, velocity, acceleration = motion
    return _derivatives(inverse.rnea(_at(model, position), position, velocity, acceleration, fext), kinds)


def aba_time_derivatives(
    model: Problem, q: Scalars, v: Scalars, *torques: Scalars, fext: Forces | None = None
) -> tuple[Vector, ...]:
    """Return ddq (nv) and its time derivatives; `torques` are tau and its time derivatives (nv each).
    Checked against inverse dynamics.
    """
    tau, kinds = list(torques), _KINDS[: len(torques) - 1]
    for kind in kinds:
        ddq = forward.aba(_at(model, q), q, v, tau[0], fext)
        q, v = _moving(model, [q, v, ddq], kind)
        tau = [tangents(x, rate, kind) for x, rate in pairwise(tau)]
    return _derivatives(forward.aba(_at(model, q), q, v, tau[0], fext), kinds)


def _at(model: Problem, q: Scalars) -> Problem:
    return at_configuration(model, q) if model.curves else model


def _moving(model: Problem, motion: Sequence[Scalars], kind: type[Tangent]) -> list[Scalars]:
    """Return the vectors of a motion as dual numbers; the rate of each vector is the next one."""
    q, v, *others = motion
    rates = (tangents(x, rate, kind) for x, rate in pairwise([v, *others]))
    return [stepped(model, q, v, configuration=True, kind=kind), *rates]


def _derivatives(values: Vector, kinds: Sequence[type[Tangent]]) -> tuple[Vector, ...]:
    """Return derivatives of each order n: rates of the first n kinds, values of the other kinds."""

    def read(x: Scalar, order: int) -> Scalar:
        for number, kind in reversed([*enumerate(kinds)]):
            x = rate_of(x, kind) if number < order else value_of(x, kind)
        return x

    return tuple([read(x, order) for x in values] for order in range(len(kinds) + 1))

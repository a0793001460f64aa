"""Derivatives of integration and difference on the configuration manifold, from what defines them: Iserles,
Munthe-Kaas, Norsett and Zanna, Lie-group methods (2000), section 2.6 and appendix B.

    by the step     the integral of Ad(exp(-s e)) over s from 0 to 1, by the rule of Gauss
    by the start    Ad(exp(-e))
    the inverse     the sum of B_k (-ad(e))^k / k!, with Bernoulli's numbers: for less than a whole turn
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import factorial

from numpy.polynomial.legendre import leggauss

from rbdc.algorithms.reference.manifold import difference, integrate
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Body, Model
from rbdc.spatial import Force, Motion, Scalar, Scalars

NODES = 24
"""Nodes of the rule of Gauss, which is exact to rounding for turns of some revolutions."""
TERMS = 72
"""Terms of the series, of which each is a fourth of the one two before at half a turn."""

Rates = Callable[[Body, Motion, Motion], Motion]


def dintegrate(model: Model, q: Scalars, dv: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """The derivatives of q (+) dv by q and dv (nv, nv) in the tangent spaces. Test: Pinocchio's
    dIntegrate.
    """
    del trace
    rule = [[0.5 + 0.5 * float(x), 0.5 * float(w)] for x, w in zip(*leggauss(NODES), strict=True)]
    between = [(_moved(model, dv, s), weight) for s, weight in rule]
    last = _moved(model, dv, 1.0)

    def by_start(body: Body, e: Motion, step: Motion) -> Motion:
        del e
        return body.joint.placement(last[_own(body)]).act_inverse(step)

    def by_step(body: Body, e: Motion, step: Motion) -> Motion:
        del e
        moved = [
            body.joint.placement(there[_own(body)]).act_inverse(step).scaled(weight)
            for there, weight in between
        ]
        return sum(moved, Motion.zero())

    return _matrix(model, dv, by_start), _matrix(model, dv, by_step)


def ddifference(model: Model, q0: Scalars, q1: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """The derivatives of the difference by q0 and q1 (nv, nv) in the tangent spaces. Test: Pinocchio's
    dDifference.
    """
    dv = difference(model, q0, q1, trace)
    by_start = _matrix(model, dv, lambda body, e, step: -_series(-e, step))
    return by_start, _matrix(model, dv, lambda body, e, step: _series(e, step))


def _own(body: Body) -> slice:
    return slice(body.index_q, body.index_q + body.joint.nq)


def _moved(model: Model, dv: Scalars, part: float) -> list[Scalar]:
    """Where a part of the step leads from the neutral configuration."""
    return integrate(model, list(model.neutral()), [part * x for x in dv])


def _series(e: Motion, step: Motion) -> Motion:
    """The inverse of the right Jacobian times a step."""
    total, term = Motion.zero(), step
    for coefficient in _bernoulli():
        total = total + term.scaled(coefficient)
        term = -e.cross(term)
    return total


@cache
def _bernoulli() -> list[float]:
    """B_k / k!, with B_1 = -1/2."""
    made: list[Fraction] = []
    for n in range(TERMS):
        rest = sum((c / factorial(n - k + 1) for k, c in enumerate(made)), Fraction(0))
        made.append(Fraction(n == 0) - rest)
    return [float(x) for x in made]


def _matrix(model: Model, dv: Scalars, rates: Rates) -> Matrix:
    """The rates along the motions of each joint, in its own coordinates."""
    rows: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for body in model.bodies:
        if body.coupling is not None:
            continue
        columns = body.joint.subspace()
        own = slice(body.index_v, body.index_v + body.joint.nv)
        e = body.joint.motion(dv[own])
        for k, step in enumerate(columns):
            rate = rates(body, e, step)
            for j, column in enumerate(columns):
                rows[own.start + j][own.start + k] = column.dot(Force(rate.linear, rate.angular))
    return rows

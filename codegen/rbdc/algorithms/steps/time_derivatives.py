"""Time derivatives of inverse and forward dynamics along a motion. The recursions run over power series.

The motion is given by its derivatives at one time: q, v, a, jerk and so on. The series of q(t) follows from
that of v(t), term by term, because dq/dt = `configuration_rate` (q, v).

Forward dynamics finds the coefficients a_n of t^n one after the other. The coefficient n of inverse dynamics
contains a_n only in the product M a_n, so the factors of M at t = 0 serve every n:

    a_n = M^-1 (tau_n - coefficient n of inverse dynamics with a_n = 0)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from rbdc.algorithms.couplings import at_configuration
from rbdc.algorithms.dynamics.forward_dynamics import Dynamics
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.tools.linear import Vector
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalars
from rbdc.spatial.series import Series, length_of, terms_of


def rnea_time_derivatives(
    model: Problem, q: Scalars, v: Scalars, *rates: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Vector, ...]:
    """Return tau (nv) and its time derivatives along a motion. rates: a, jerk and so on (nv each), one for
    each result. External forces have constant entries.
    Checked against Taylor series of torques along motions.
    """
    torques = _torques(model, q, v, rates, fext, trace)
    return tuple(_derivatives(torques, order) for order in range(len(rates)))


def aba_time_derivatives(
    dynamics: Dynamics,
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *rates: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Vector, ...]:
    """Return ddq (nv) and its time derivatives (nv each). rates: time derivatives of tau (nv each). dynamics:
    method of forward dynamics. Checked against `rnea_time_derivatives` of the results.
    """
    ddq, solve = dynamics(model, q, v, tau, fext, trace)
    accelerations = [ddq]
    for order, pushed in enumerate(rates, 1):
        known = _torques(model, q, v, [*accelerations, [0.0] * model.nv], fext, trace)
        moving = [x - y for x, y in zip(pushed, _derivatives(known, order), strict=True)]
        title = f"time derivative {order} of tau - inverse dynamics, with derivative {order} of qddot = 0"
        trace("forward dynamics", title, f"moving{order}", moving)
        accelerations.append(solve(moving))
    return tuple(accelerations)


def _torques(
    model: Problem, q: Scalars, v: Scalars, rates: Sequence[Scalars], fext: Forces | None, trace: Trace
) -> list[Series]:
    velocity, acceleration = _series([v, *rates[:-1]]), _series(rates)
    position = _configuration(model, q, velocity)
    there = at_configuration(model, position)
    return newton_euler(there, position, velocity, acceleration, fext, _term_by_term(trace))


def _series(derivatives: Sequence[Scalars]) -> list[Series]:
    rows = zip(*derivatives, strict=True)
    return [Series((1.0 / factorial(order)) * x for order, x in enumerate(row)) for row in rows]


def _derivatives(series: Scalars, order: int) -> Vector:
    return [float(factorial(order)) * terms_of(x, order + 1)[order] for x in series]


def _configuration(model: Problem, q: Scalars, velocity: Sequence[Series]) -> list[Series]:
    series = [Series([x]) for x in q]
    for count in range(1, max(map(length_of, velocity), default=1)):
        rates = configuration_rate(model, series, [Series(x.terms[:count]) for x in velocity])
        next_terms = [(1.0 / count) * terms_of(rate, count)[-1] for rate in rates]
        series = [Series([*x.terms, term]) for x, term in zip(series, next_terms, strict=True)]
    return series


def _term_by_term(trace: Trace) -> Trace:
    def record(section: str, formula: str, symbol: str, values: Scalars) -> None:
        count = max(map(length_of, values), default=1)
        for order, terms in enumerate(zip(*(terms_of(x, count) for x in values), strict=True)):
            term, mark = (f", coefficient of t^{order}", f"_t{order}") if order else ("", "")
            trace(section, f"{formula}{term}", f"{symbol}{mark}", terms)

    return record

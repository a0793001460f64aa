"""Hessians of weighted sums of torques or accelerations times a direction, at the cost of a few evaluations:
the rates of `vjp` in that direction (Pearlmutter, 1994), by adjoints over dual numbers.

For forward dynamics with s = M^-1 w, the products -dID^T s change by the direction of q and v, by that of the
accelerations, and by ds = -M^-1 dM s.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.derivatives.jvp import rnea_tangent, values_and_rates, without_rates
from rbdc.algorithms.derivatives.vjp import Solve, Vector, rnea_adjoint
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.forward_dynamics import (
    accelerations,
    by_articulated_bodies,
    inverse_inertia_product,
)
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.tools.linear import Factorisation
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Forces, Scalars
from rbdc.spatial.tangent import rate_of, tangents

Vectors = tuple[Vector, Vector, Vector]


def rnea_hessian_product(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    w: Scalars,
    *direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """The rates of w^T dtau_dq, w^T dtau_dv and w^T dtau_da (nv each) in the direction dq, dv, da. Test:
    `rnea_hessian_vector` times it.
    """
    dq, dv, da = direction
    moving = tangents(q, configuration_rate(model, q, dq))
    both = values_and_rates(trace)
    constant = without_rates(fext)
    by_q, by_v, by_a = rnea_adjoint(model, moving, tangents(v, dv), tangents(a, da), w, constant, both)
    return _rates(by_q), _rates(by_v), _rates(by_a)


def aba_hessian_product_by_factors(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    w: Scalars,
    *direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """The rates of w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau (nv each) in the direction dq, dv, dtau, with
    M = L^T D L. Test: `aba_hessian_vector` times it.
    """
    solve = Factorisation(crba(model, q, trace)).solve
    a = accelerations(model, q, v, tau, fext, trace, solve)
    return _forward(model, (q, v, a), (w, *direction), fext, trace, solve)


def aba_hessian_product_by_articulated_bodies(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    w: Scalars,
    *direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """Products with the Hessian of forward dynamics, by the articulated-body algorithm."""
    a = by_articulated_bodies(model, q, v, tau, fext, trace)
    return _forward(
        model, (q, v, a), (w, *direction), fext, trace, lambda x: inverse_inertia_product(model, q, x, trace)
    )


def _forward(
    model: Model,
    point: Sequence[Scalars],
    weights_and_direction: Sequence[Scalars],
    fext: Forces | None,
    trace: Trace,
    solve: Solve,
) -> Vectors:
    (q, v, a), (w, dq, dv, dtau) = point, weights_and_direction
    rest = [0.0] * model.nv
    moved = rnea_tangent(model, q, v, a, dq, dv, rest, fext=fext, trace=trace)
    da = solve([x - y for x, y in zip(dtau, moved, strict=True)])
    solved = solve(list(w))
    turned = solve(rnea_tangent(model.of_inertia(), q, rest, solved, dq, rest, rest, trace=trace))
    moving = tangents(q, configuration_rate(model, q, dq))
    weights = tangents(solved, [-x for x in turned])
    by_q, by_v, _ = rnea_adjoint(
        model, moving, tangents(v, dv), tangents(a, da), weights, without_rates(fext), values_and_rates(trace)
    )
    return [-x for x in _rates(by_q)], [-x for x in _rates(by_v)], [-x for x in turned]


def _rates(values: Scalars) -> Vector:
    return [rate_of(x) for x in values]

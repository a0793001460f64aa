"""Hessians of weighted sums of torques or accelerations times a direction, at the cost of a few evaluations:
the rates of `vjp` in that direction (Pearlmutter, 1994), by adjoints over dual numbers.

For forward dynamics with s = M^-1 w, the products -dID^T s change by the direction of q and v, by that of the
accelerations, and by ds = -M^-1 dM s.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.derivatives.jvp import rnea_tangent, values_and_rates, without_rates
from rbdc.algorithms.derivatives.vjp import Vector, rnea_adjoint
from rbdc.algorithms.dynamics.forward_dynamics import Dynamics
from rbdc.algorithms.manifold import configuration_rate
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
    """The rates of w^T dtau_dq, w^T dtau_dv and w^T dtau_da (nv each) in the direction dq, dv, da, of weights
    that may have rates themselves. Test: `rnea_hessian_vector` times it.
    """
    dq, dv, da = direction
    moving = tangents(q, configuration_rate(model, q, dq))
    constant, both = without_rates(fext), values_and_rates(trace)
    found = rnea_adjoint(model, moving, tangents(v, dv), tangents(a, da), w, constant, both)
    by_q, by_v, by_a = ([rate_of(x) for x in own] for own in found)
    return by_q, by_v, by_a


def aba_hessian_product(dynamics: Dynamics) -> Callable[..., Vectors]:
    """The algorithm (model, q, v, tau, w, *direction) for the rates of w^T ddq_dq, w^T ddq_dv and w^T
    ddq_dtau (nv each) in the direction dq, dv, dtau, with the solves of `dynamics`. Test:
    `aba_hessian_vector` times it.
    """

    def product(
        model: Model,
        q: Scalars,
        v: Scalars,
        tau: Scalars,
        *weights_and_direction: Scalars,
        fext: Forces | None = None,
        trace: Trace = silent,
    ) -> Vectors:
        (w, dq, dv, dtau), rest = weights_and_direction, [0.0] * model.nv
        a, solve = dynamics(model, q, v, tau, fext, trace)
        moved = rnea_tangent(model, q, v, a, dq, dv, rest, fext=fext, trace=trace)
        da = solve([x - y for x, y in zip(dtau, moved, strict=True)])
        solved = solve(list(w))
        turned = solve(rnea_tangent(model.of_inertia(), q, rest, solved, dq, rest, rest, trace=trace))
        weights = tangents(solved, [-x for x in turned])
        by_q, by_v, _ = rnea_hessian_product(model, q, v, a, weights, dq, dv, da, fext=fext, trace=trace)
        return [-x for x in by_q], [-x for x in by_v], [-x for x in turned]

    return product

"""Derivatives in one direction by the cheapest recursions: inverse dynamics over dual numbers, and solves
with M.

`rbdc.algorithms.reference.derivatives.products` multiplies the papers' matrices. Here `rnea_tangent` runs
`newton_euler` over values that carry their rates along, and forward dynamics follows by Carpentier and
Mansard's equation (24), M being factored once for all its solves.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.dynamics.forward_dynamics import Dynamics
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Force, Forces, Scalar, Scalars
from rbdc.spatial.tangent import rate_of, tangents, value_of

Vector = list[Scalar]


def rnea_tangent(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    *directions: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vector:
    """dtau_dq dq + dtau_dv dv + dtau_da da (nv) in the directions dq, dv and da. Test: the same product of
    `rnea_derivatives`.
    """
    dq, dv, da = directions
    moving = tangents(q, configuration_rate(model, q, dq))
    torque = newton_euler(
        model, moving, tangents(v, dv), tangents(a, da), without_rates(fext), values_and_rates(trace)
    )
    return [rate_of(x) for x in torque]


def without_rates(fext: Forces | None) -> list[Force] | None:
    """External forces as dual numbers; they are constant."""
    return None if fext is None else [Force.of(tangents(f.scalars(), [0.0] * 6)) for f in fext]


def values_and_rates(trace: Trace) -> Trace:
    """The trace of dual numbers that announces their values, then their rates."""

    def record(section: str, formula: str, symbol: str, values: Scalars) -> None:
        trace(section, formula, symbol, [value_of(x) for x in values])
        trace(section, f"rate of {formula}", f"d{symbol}", [rate_of(x) for x in values])

    return record


def aba_tangent(dynamics: Dynamics) -> Callable[..., Vector]:
    """The algorithm (model, q, v, tau, *directions) for ddq_dq dq + ddq_dv dv + ddq_dtau dtau (nv) in the
    directions dq, dv and dtau, with the solves of `dynamics`. Test: the product of `aba_derivatives`.
    """

    def tangent(
        model: Model,
        q: Scalars,
        v: Scalars,
        tau: Scalars,
        *directions: Scalars,
        fext: Forces | None = None,
        trace: Trace = silent,
    ) -> Vector:
        dq, dv, dtau = directions
        a, solve = dynamics(model, q, v, tau, fext, trace)
        moved = rnea_tangent(model, q, v, a, dq, dv, [0.0] * model.nv, fext=fext, trace=trace)
        return solve([x - y for x, y in zip(dtau, moved, strict=True)])

    return tangent

"""The papers' own recursions for the derivatives, in the form of the catalogue's methods."""

from __future__ import annotations

from rbdc.algorithms import carpentier_mansard
from rbdc.algorithms.crba import crba
from rbdc.algorithms.dofs import flat
from rbdc.algorithms.forward_derivatives import by_direct_inverse
from rbdc.algorithms.trace import Trace
from rbdc.catalogue import Evaluate, Function, Inputs
from rbdc.model import Model
from rbdc.spatial import Scalar


def rnea_derivatives(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    """Carpentier and Mansard, Algorithms 2 and 3, and M by the composite-rigid-body algorithm."""
    by_q, by_v = carpentier_mansard.rnea_derivatives(model, inputs["q"], inputs["v"], inputs["a"], trace=trace)
    return [flat(by_q), flat(by_v), flat(crba(model, inputs["q"], trace))]


def aba_derivatives(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
    """Equation (24) of the same with the direct algorithm for M^-1 of the companion report."""
    return [flat(m) for m in by_direct_inverse(model, inputs["q"], inputs["v"], inputs["tau"], trace=trace)]


BESIDE: dict[str, dict[str, Evaluate]] = {
    "rnea_derivatives": {"carpentier-mansard": rnea_derivatives},
    "aba_derivatives": {"direct-inverse": aba_derivatives},
}
"""Methods that `build` does not consider, by function."""


def all_methods(function: Function) -> dict[str, Evaluate]:
    """Those of the catalogue and those beside it."""
    return {**function.methods, **BESIDE.get(function.declaration.name, {})}

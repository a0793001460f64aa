"""The papers' own recursions, in the form of the catalogue's methods."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms import carpentier_mansard, idsva
from rbdc.algorithms.aba import aba
from rbdc.algorithms.crba import crba
from rbdc.algorithms.dofs import Matrix
from rbdc.algorithms.forward_derivatives import by_direct_inverse
from rbdc.algorithms.minverse import minverse
from rbdc.algorithms.products import aba_jvp, aba_vjp, rnea_jvp, rnea_vjp
from rbdc.algorithms.rnea import gravity_torque, nonlinear_effects, rnea
from rbdc.algorithms.trace import Trace, silent
from rbdc.catalogue import Evaluate, Function, body_space
from rbdc.model import Model
from rbdc.spatial import Force, Scalar


def _carpentier_mansard(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix]:
    """Their Algorithms 2 and 3, and M by the composite-rigid-body algorithm."""
    return (*carpentier_mansard.rnea_derivatives(model, q, v, a, fext, trace), crba(model, q, trace))


PAPERS: dict[str, dict[str, Evaluate]] = {
    "rnea": {"featherstone": body_space(rnea)},
    "nle": {"featherstone": body_space(nonlinear_effects)},
    "gravity_torque": {"featherstone": body_space(gravity_torque)},
    "crba": {"featherstone": body_space(crba)},
    "minverse": {"carpentier": body_space(minverse)},
    "aba": {"featherstone": body_space(aba)},
    "rnea_derivatives": {
        "idsva": body_space(idsva.rnea_derivatives),
        "carpentier-mansard": body_space(_carpentier_mansard),
    },
    "aba_derivatives": {"carpentier-mansard": body_space(by_direct_inverse)},
    "rnea_vjp": {"adjoint-idsva": body_space(rnea_vjp)},
    "aba_vjp": {"adjoint-idsva": body_space(aba_vjp)},
    "rnea_jvp": {"tangent-featherstone": body_space(rnea_jvp)},
    "aba_jvp": {"tangent-featherstone": body_space(aba_jvp)},
}
"""By function the papers' own recursions, on the model with the links' frames as the description has them."""


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """Those of a function; for one that is generated from the model as it is, the generated methods."""
    return PAPERS.get(function.declaration.name, dict(function.methods))

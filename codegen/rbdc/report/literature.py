"""The papers' own recursions, in the form of the catalogue's methods."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms import carpentier_mansard, idsva
from rbdc.algorithms.aba import aba
from rbdc.algorithms.centroidal import centre_of_mass, centroidal_momentum_matrix, com_jacobian, kinetic_energy, potential_energy
from rbdc.algorithms.coriolis import coriolis
from rbdc.algorithms.crba import crba
from rbdc.algorithms.dofs import Matrix
from rbdc.algorithms.forward_derivatives import by_direct_inverse
from rbdc.algorithms.minverse import minverse
from rbdc.algorithms.products import aba_jvp, aba_vjp, rnea_jvp, rnea_vjp
from rbdc.algorithms.regressor import torque_regressor
from rbdc.algorithms.rnea import gravity_torque, nonlinear_effects, rnea
from rbdc.algorithms.trace import Trace, silent
from rbdc.catalogue import Function
from rbdc.evaluation import Evaluate, on_model
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
    "rnea": {"featherstone": on_model(rnea)},
    "nle": {"featherstone": on_model(nonlinear_effects)},
    "gravity_torque": {"featherstone": on_model(gravity_torque)},
    "coriolis": {"echeandia-wensing": on_model(coriolis)},
    "crba": {"featherstone": on_model(crba)},
    "minverse": {"carpentier": on_model(minverse)},
    "aba": {"featherstone": on_model(aba)},
    "torque_regressor": {"atkeson": on_model(torque_regressor)},
    "rnea_derivatives": {
        "idsva": on_model(idsva.rnea_derivatives),
        "carpentier-mansard": on_model(_carpentier_mansard),
    },
    "aba_derivatives": {"carpentier-mansard": on_model(by_direct_inverse)},
    "rnea_vjp": {"adjoint-idsva": on_model(rnea_vjp)},
    "aba_vjp": {"adjoint-idsva": on_model(aba_vjp)},
    "rnea_jvp": {"tangent-featherstone": on_model(rnea_jvp)},
    "aba_jvp": {"tangent-featherstone": on_model(aba_jvp)},
    "com": {"featherstone": on_model(centre_of_mass)},
    "com_jacobian": {"orin-goswami-lee": on_model(com_jacobian)},
    "centroidal_momentum_matrix": {"orin-goswami-lee": on_model(centroidal_momentum_matrix)},
    "kinetic_energy": {"featherstone": on_model(kinetic_energy)},
    "potential_energy": {"featherstone": on_model(potential_energy)},
}
"""By function the papers' own recursions, on the model with the links' frames as the description has them."""


def deepest_frame(model: Model) -> int:
    """The frame that most joints carry: what the framed functions are measured with; the first of equals."""
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return depth.index(max(depth))


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """Those of a function; for one that is generated from the model as it is, the generated methods."""
    return PAPERS.get(function.declaration.name, dict(function.methods))

"""The records of the second derivatives of inverse and forward dynamics."""

from __future__ import annotations

from rbdc.algorithms.derivatives.hessians import aba_hessian_vector, rnea_hessian_vector
from rbdc.algorithms.derivatives.second_order import path_quantities, rnea_second_derivatives
from rbdc.algorithms.derivatives.second_order_forward import aba_second_derivatives
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import JointSpace, on_joint_space
from rbdc.functions.inputs import (
    acceleration,
    configuration,
    external_forces,
    generalised_force,
    velocity,
    weights,
)
from rbdc.functions.record import SECOND, Comparison, Function, Requirement
from rbdc.model import Model


def second_order(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    q, v, a = configuration(model), velocity(model), acceleration(model)
    tau, fext = generalised_force(model), external_forces(model)
    return [
        Function(
            FunctionDeclaration(
                "rnea_second_derivatives",
                "Second derivatives of inverse dynamics by q (in the tangent space) and v; those of M by q.",
                (q, v, a, fext),
                _tensors(model, "d2tau_dqdq", "d2tau_dvdv", "d2tau_dqdv", "dM_dq"),
                zeroed=True,
            ),
            {"compact": JointSpace(rnea_second_derivatives)},
            along_paths=on_joint_space(path_quantities),
            preset=SECOND,
            references={"idsva-so": ".derivatives.idsva_so:rnea_second_derivatives"},
            comparison=Comparison(peers={"pinocchio": ("rnea_second_derivatives",)}),
        ),
        Function(
            FunctionDeclaration(
                "aba_second_derivatives",
                "Second derivatives of forward dynamics by q (in the tangent space), v and tau.",
                (q, v, tau, fext),
                _tensors(model, "d2ddq_dqdq", "d2ddq_dvdv", "d2ddq_dqdv", "d2ddq_dqdtau"),
                zeroed=True,
            ),
            {"products": JointSpace(aba_second_derivatives)},
            along_paths=on_joint_space(path_quantities),
            uses=("aba", "aba_derivatives"),
            preset=SECOND,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={"fdsva-so": ".derivatives.fdsva_so:aba_second_derivatives"},
        ),
        Function(
            FunctionDeclaration(
                "rnea_hessian_vector",
                "Hessian of w^T tau by q (in the tangent space), v and a, by blocks.",
                (q, v, a, weights(model), fext),
                _blocks(model, "qq", "vv", "qv", "qa"),
            ),
            {"contracted": JointSpace(rnea_hessian_vector)},
            along_paths=on_joint_space(path_quantities),
            preset=SECOND,
            references={"contracted-idsva-so": ".derivatives.hessians:rnea_hessian_vector"},
        ),
        Function(
            FunctionDeclaration(
                "aba_hessian_vector",
                "Hessian of w^T ddq by q (in the tangent space), v and tau, by blocks.",
                (q, v, tau, weights(model), fext),
                _blocks(model, "qq", "vv", "qv", "qtau"),
            ),
            {"contracted": JointSpace(aba_hessian_vector)},
            along_paths=on_joint_space(path_quantities),
            uses=("aba", "aba_derivatives"),
            preset=SECOND,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={"contracted-fdsva-so": ".derivatives.hessians:aba_hessian_vector"},
        ),
    ]


def _tensors(model: Model, *names: str) -> tuple[Parameter, ...]:
    meaning = "[i, j, k]: of output i by the first, then by the second variable"
    return tuple(Parameter(name, (model.nv, model.nv, model.nv), meaning, Kind.JOINT_ROWS) for name in names)


def _blocks(model: Model, *names: str) -> tuple[Parameter, ...]:
    meaning = "[j, k]: by the first, then by the second variable"
    return tuple(
        Parameter(f"hessian_{name}", (model.nv, model.nv), meaning, Kind.JOINT_ROWS) for name in names
    )

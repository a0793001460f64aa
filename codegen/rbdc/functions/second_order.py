"""The records of the second derivatives of inverse and forward dynamics."""

from __future__ import annotations

from rbdc.algorithms.derivatives.hessian_products import aba_hessian_product, rnea_hessian_product
from rbdc.algorithms.derivatives.second_order import path_quantities, rnea_second_derivatives
from rbdc.algorithms.derivatives.second_order_forward import aba_second_derivatives
from rbdc.algorithms.dynamics.forward_dynamics import solved_by_articulated_bodies, solved_by_factors
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.derivatives import WITH_FORWARD_DYNAMICS
from rbdc.functions.evaluation import JointSpace, on_joint_space
from rbdc.functions.inputs import (
    acceleration,
    configuration,
    direction,
    external_forces,
    generalised_force,
    velocity,
    weights,
)
from rbdc.functions.record import SECOND, ChainRule, Comparison, Function, Requirement, SecondOrder
from rbdc.model import Model


def second_order(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    return [*_tensor_functions(model), *_directional(model)]


def _tensor_functions(model: Model) -> list[Function]:
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
            chain=ChainRule("rnea_derivatives", ("q", "v"), kept=(0, 3, 1, 4)),
            along_paths=on_joint_space(path_quantities),
            preset=SECOND,
            references={"idsva-so": ".derivatives.idsva_so:rnea_second_derivatives"},
            comparison=Comparison(
                second_order=SecondOrder("rnea", "rnea_derivatives", ((0, 0), (1, 1), (0, 1), (2, 0))),
                peers={"pinocchio": ("rnea_second_derivatives",)},
            ),
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
            chain=ChainRule("aba_derivatives", ("q", "v", "tau"), kept=(0, 4, 1, 2)),
            along_paths=on_joint_space(path_quantities),
            uses=("aba",),
            preset=SECOND,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={
                "fdsva-so-aza": ".derivatives.fdsva_so:by_dynamics",
                "fdsva-so-idfoza": ".derivatives.fdsva_so:by_derivatives",
                "fdsva-so": ".derivatives.fdsva_so:aba_second_derivatives",
            },
            comparison=Comparison(
                second_order=SecondOrder("aba", "aba_derivatives", ((0, 0), (1, 1), (0, 1), (0, 2))),
                peers={"pinocchio": ("aba_second_derivatives",)},
            ),
        ),
        Function(
            FunctionDeclaration(
                "rnea_hessian_vector",
                "Hessian of w^T tau by q (in the tangent space), v and a, by blocks.",
                (q, v, a, weights(model), fext),
                _blocks(model, "qq", "vv", "qv", "qa"),
            ),
            {},
            chain=ChainRule("rnea_vjp", ("q", "v", "a"), kept=(0, 4, 1, 2)),
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
            {},
            chain=ChainRule("aba_vjp", ("q", "v", "tau"), kept=(0, 4, 1, 2)),
            along_paths=on_joint_space(path_quantities),
            uses=("aba",),
            preset=SECOND,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={"contracted-fdsva-so": ".derivatives.hessians:aba_hessian_vector"},
        ),
    ]


def _directional(model: Model) -> list[Function]:
    q, v, a = configuration(model), velocity(model), acceleration(model)
    w, tau, fext = weights(model), generalised_force(model), external_forces(model)
    dq, dv, da, dtau = (direction(model, of.name) for of in (q, v, a, tau))
    return [
        Function(
            FunctionDeclaration(
                "rnea_hessian_product",
                "Hessian of w^T tau by q (in the tangent space), v and a times a direction.",
                (q, v, a, w, dq, dv, da, fext),
                _rates(model, q.name, v.name, a.name),
            ),
            {"adjoint": JointSpace(rnea_hessian_product)},
            chain=ChainRule("rnea_vjp", ("q", "v", "a"), directions=("dq", "dv", "da")),
            preset=SECOND,
            references={"idsva-so-times-direction": ".derivatives.hessians:rnea_hessian_product"},
        ),
        Function(
            FunctionDeclaration(
                "aba_hessian_product",
                "Hessian of w^T ddq by q (in the tangent space), v and tau times a direction.",
                (q, v, tau, w, dq, dv, dtau, fext),
                _rates(model, q.name, v.name, tau.name),
            ),
            {
                "articulated_bodies": JointSpace(aba_hessian_product(solved_by_articulated_bodies)),
                "cholesky": JointSpace(aba_hessian_product(solved_by_factors)),
            },
            chain=ChainRule("aba_vjp", ("q", "v", "tau"), directions=("dq", "dv", "dtau")),
            preset=SECOND,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            policy=WITH_FORWARD_DYNAMICS,
            references={"fdsva-so-times-direction": ".derivatives.hessians:aba_hessian_product"},
        ),
    ]


def _rates(model: Model, *names: str) -> tuple[Parameter, ...]:
    meaning = "one number for each direction"
    return tuple(Parameter(f"hessian_{name}", (model.nv,), meaning, Kind.JOINT_ROWS) for name in names)


def _tensors(model: Model, *names: str) -> tuple[Parameter, ...]:
    meaning = "[i, j, k]: of output i by the first, then by the second variable"
    return tuple(Parameter(name, (model.nv, model.nv, model.nv), meaning, Kind.JOINT_ROWS) for name in names)


def _blocks(model: Model, *names: str) -> tuple[Parameter, ...]:
    meaning = "[j, k]: by the first, then by the second variable"
    return tuple(
        Parameter(f"hessian_{name}", (model.nv, model.nv), meaning, Kind.JOINT_ROWS) for name in names
    )

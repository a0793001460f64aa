"""The records of the first derivatives of inverse and forward dynamics, and of products with them."""

from __future__ import annotations

from dataclasses import replace

from rbdc.algorithms.derivatives.forward_derivatives import (
    derivatives_by_factors,
    derivatives_by_inverse_factor,
    derivatives_of_branches,
    derivatives_to_solve,
)
from rbdc.algorithms.derivatives.jvp import aba_tangent, rnea_tangent
from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.derivatives.vjp import aba_adjoint, external_torque_adjoint, rnea_adjoint
from rbdc.algorithms.dynamics.forward_dynamics import solved_by_articulated_bodies, solved_by_factors
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.dynamics import by_shape, lagrangian
from rbdc.functions.evaluation import JointSpace, on_model
from rbdc.functions.inputs import (
    acceleration,
    configuration,
    direction,
    external_forces,
    generalised_force,
    in_space,
    inverse_last,
    velocity,
    weights,
)
from rbdc.functions.record import ALONE, ChainRule, Comparison, Differential, Function, Policy, Requirement
from rbdc.model import Model

FORWARD = frozenset({Requirement.REGULAR_INERTIA})
WITH_FORWARD_DYNAMICS = Policy(leader="aba")
"""Most of what sets the methods of these products apart is what they solve with M. Comparing their own found
the same method on nine of ten robots tried, 3 and 5 % less on the other (tiago_pro), and took longer than all
else.
"""


def derivatives(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    return [*_matrices(model), *_weighted(model), *_directional(model)]


def _matrices(model: Model) -> list[Function]:
    q, v, a, tau, fext = _inputs(model)

    def by(of: str, *inputs: str) -> tuple[Parameter, ...]:
        meaning = f"derivative by {{}}; row: of {of}, column: direction"
        shape = (model.nv, model.nv)
        return tuple(Parameter(f"{of}_d{x}", shape, meaning.format(x), Kind.JOINT_ROWS) for x in inputs)

    return [
        Function(
            FunctionDeclaration(
                "rnea_derivatives",
                "Derivatives of inverse dynamics by q (in the tangent space), v and a.",
                (q, v, a, fext),
                by("dtau", q.name, v.name, a.name),
            ),
            {"body_up": JointSpace(rnea_derivatives)},
            preset="optimisation",
            policy=Policy(
                counted_by_pass=True,
                rolled={"idsva": "inverse_dynamics_derivatives"},
                windows="inverse_dynamics_derivatives",
                one_by_one_in_limbs=True,
            ),
            chain=ChainRule("rnea", ("q", "v", "a")),
            along_curves={"body_up": JointSpace(rnea_derivatives)},
            references={
                **lagrangian(model, "sensitivity:sensitivities"),
                "idsva": ".derivatives.idsva:rnea_derivatives",
                "carpentier-mansard": ".derivatives.carpentier_mansard:rnea_derivatives",
            },
            comparison=Comparison(
                derivative_of="rnea",
                peers={"pinocchio": ("rnea_derivatives",), "cppadcodegen": ("CodeGenRNEADerivatives",)},
                benchmarked=True,
                headline=True,
            ),
        ),
        Function(
            FunctionDeclaration(
                "aba_derivatives",
                "Derivatives of forward dynamics by q (in the tangent space), v and tau.",
                (q, v, tau, fext),
                inverse_last(by("ddq", q.name, v.name, tau.name)),
            ),
            by_shape(
                model,
                cholesky=JointSpace(derivatives_by_factors),
                inverse_factor=JointSpace(derivatives_by_inverse_factor, derivatives_of_branches),
            ),
            to_solve=JointSpace(derivatives_to_solve),
            preset="optimisation",
            requires=FORWARD,
            policy=Policy(
                dense_right_sides=True,
                rolled={"cholesky": "forward_dynamics_derivatives"},
                windows="forward_dynamics_derivatives",
            ),
            chain=ChainRule("aba", ("q", "v", "tau")),
            along_curves={"inverse_factor": JointSpace(derivatives_by_inverse_factor)},
            references={"carpentier-mansard": ".derivatives.forward_derivatives:aba_derivatives"},
            comparison=Comparison(
                derivative_of="aba",
                peers={"pinocchio": ("aba_derivatives",), "cppadcodegen": ("CodeGenABADerivatives",)},
                benchmarked=True,
                headline=True,
            ),
        ),
    ]


def _weighted(model: Model) -> list[Function]:
    q, v, a, tau, fext = _inputs(model)
    w = weights(model)
    return [
        Function(
            FunctionDeclaration(
                "rnea_vjp",
                "Weighted sums of the rows of the derivatives of inverse dynamics: "
                "w^T dtau_dq, w^T dtau_dv, w^T dtau_da.",
                (q, v, a, w, fext),
                _vectors(model, "w_dtau_dq", "w_dtau_dv", "w_dtau_da"),
            ),
            {"adjoint": JointSpace(rnea_adjoint)},
            preset="optimisation",
            chain=ChainRule("rnea", ("q", "v", "a"), weights=("w",)),
            references={"idsva-weighted": ".derivatives.products:rnea_vjp"},
        ),
        Function(
            FunctionDeclaration(
                "aba_vjp",
                "Weighted sums of the rows of the derivatives of forward dynamics: "
                "w^T ddq_dq, w^T ddq_dv, w^T ddq_dtau.",
                (q, v, tau, w, fext),
                _vectors(model, "w_ddq_dq", "w_ddq_dv", "w_ddq_dtau"),
            ),
            {
                "articulated_bodies": JointSpace(aba_adjoint(solved_by_articulated_bodies)),
                "cholesky": JointSpace(aba_adjoint(solved_by_factors)),
            },
            preset="optimisation",
            requires=FORWARD,
            policy=WITH_FORWARD_DYNAMICS,
            chain=ChainRule("aba", ("q", "v", "tau"), weights=("w",)),
            references={"carpentier-mansard-weighted": ".derivatives.products:aba_vjp"},
        ),
        Function(
            FunctionDeclaration(
                "external_torque_vjp",
                "Weighted sums of the rows of the derivatives of external_torque: "
                "w^T dtau_dq, and w^T dtau_dfext, the bodies' velocities J w.",
                (q, w, replace(fext, optional=False)),
                (
                    *_vectors(model, "w_dtau_dq"),
                    *in_space("w_dtau_dfext", (6 * model.njoints,), "six numbers for each body's force"),
                ),
            ),
            {"adjoint": on_model(external_torque_adjoint)},
            preset=ALONE,
            chain=ChainRule("external_torque", ("q", "fext"), weights=("w",)),
            differential=Differential("external_torque_vjp_derivatives", derived=True),
            comparison=Comparison(checks_only=True),
        ),
    ]


def _directional(model: Model) -> list[Function]:
    q, v, a, tau, fext = _inputs(model)
    dq, dv, da, dtau = (direction(model, of.name) for of in (q, v, a, tau))
    return [
        Function(
            FunctionDeclaration(
                "rnea_jvp",
                "Derivative of inverse dynamics in one direction.",
                (q, v, a, dq, dv, da, fext),
                _vectors(model, "dtau"),
            ),
            {"tangent": JointSpace(rnea_tangent)},
            preset="optimisation",
            chain=ChainRule("rnea", ("q", "v", "a"), directions=("dq", "dv", "da")),
            references={"idsva-times-direction": ".derivatives.products:rnea_jvp"},
        ),
        Function(
            FunctionDeclaration(
                "aba_jvp",
                "Derivative of forward dynamics in one direction.",
                (q, v, tau, dq, dv, dtau, fext),
                _vectors(model, "dddq"),
            ),
            {
                "articulated_bodies": JointSpace(aba_tangent(solved_by_articulated_bodies)),
                "cholesky": JointSpace(aba_tangent(solved_by_factors)),
            },
            preset="optimisation",
            requires=FORWARD,
            policy=WITH_FORWARD_DYNAMICS,
            chain=ChainRule("aba", ("q", "v", "tau"), directions=("dq", "dv", "dtau")),
            references={"carpentier-mansard-times-direction": ".derivatives.products:aba_jvp"},
        ),
    ]


def _inputs(model: Model) -> tuple[Parameter, ...]:
    """q, v, a, tau and the external forces."""
    return (
        configuration(model),
        velocity(model),
        acceleration(model),
        generalised_force(model),
        external_forces(model),
    )


def _vectors(model: Model, *names: str) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(name, (model.nv,), "one number for each direction", Kind.JOINT_ROWS) for name in names
    )

"""The records of the torque regressor and of derivatives by parameters: those of links and payloads, and with
the option `regressor` those of the joints' drives.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rbdc.algorithms.dynamics import identification as algorithms
from rbdc.algorithms.dynamics.forward_dynamics import solved_by_articulated_bodies, solved_by_cholesky
from rbdc.algorithms.dynamics.regressor import (
    regressor_by_axes,
    regressor_by_forces,
    regressor_of_chosen_frames,
)
from rbdc.functions.evaluation import OnJointSpace, on_model
from rbdc.functions.inputs import Declared, declarations, friction_width
from rbdc.functions.record import ALONE, ChainRule, Comparison, Function, Requirement
from rbdc.model import Problem
from rbdc.model.regressor import DRIVE_QUANTITIES

DECLARATIONS = """
torque_regressor(q, v, a, friction_width)
    Regressor Y: Y parameters = rnea(q, v, a); {columns}.
    Y[nv, np]: joint torque regressor
rnea_parameter_vjp(q, v, a, w, friction_width)
    Gradient of w^T rnea(q, v, a) by the parameters of torque_regressor Y, without forming Y: w^T Y.
    w_dtau_dparameters[np]: one number for each parameter
rnea_parameter_hessian_product(q, v, a, w, dq, dv, da, friction_width)
    Second derivatives of w^T rnea by these parameters and by q (in the tangent space), v and a, times a
    direction of q, v and a: how rnea_parameter_vjp changes.
    hessian_parameters[np]: one number for each parameter
"""

FORWARD_DECLARATIONS = """
aba_parameter_vjp(q, v, tau, w, fext, parameters, friction_width)
    Gradient of w^T aba(q, v, tau) by the parameters of torque_regressor Y, without forming Y: -(M^-1 w)^T Y.
    w_ddq_dparameters[np]: one number for each parameter
aba_parameter_derivatives(q, v, tau, fext, parameters, friction_width)
    Derivatives of forward dynamics by the parameters of torque_regressor Y: -M^-1 Y.
    ddq_dparameters[nv, np]: row: of ddq, column: parameter
"""

_OF_LINKS = "10 per body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz"
_MOTION = ("q", "v", "a")


def identification(model: Problem) -> list[Function]:
    """Return all records, in the order of the documentation."""
    text = DECLARATIONS.format(columns=_columns(model))
    counts = "friction" in model.regressor
    declared = declarations(model, text, friction_width(model, counts=counts))
    width = friction_width(model, counts=counts or any(model.friction))
    return [*_inverse(model, declared), *_forward(declarations(model, FORWARD_DECLARATIONS, width))]


def _columns(model: Problem) -> str:
    """Return words for the columns of the regressor."""
    links = "links" in model.regressor
    payloads = [", of each body, then of each payload"] if any(row.added for row in model.parameters) else []
    drives = [name for name, quantity in DRIVE_QUANTITIES.items() if quantity.part in model.regressor]
    of_drives = [f"1 per joint: {', '.join(drives)}"] if drives else []
    return "; ".join([_OF_LINKS + "".join(payloads)] * links + of_drives)


def _inverse(model: Problem, declared: Declared) -> list[Function]:
    return [
        Function(
            declared["torque_regressor"],
            {
                name: on_model(
                    partial(algorithms.whole_regressor, links),
                    partial(regressor_of_chosen_frames, links) if _links_alone(model) else None,
                )
                for name, links in (("forces", regressor_by_forces), ("axes", regressor_by_axes))
            },
            references={"atkeson": "regressor:torque_regressor"},
            comparison=Comparison(peers={"pinocchio": ("torque_regressor",)}),
        ),
        Function(
            declared["rnea_parameter_vjp"],
            {"velocities": on_model(algorithms.weighted_regressor)},
            preset=ALONE,
            references={"atkeson-weighted": ".derivatives.products:rnea_parameter_vjp"},
            comparison=Comparison(checks_only=True),
        ),
        Function(
            declared["rnea_parameter_hessian_product"],
            {},
            preset=ALONE,
            chain=_along("rnea_parameter_vjp", _MOTION),
            comparison=Comparison(checks_only=True),
        ),
    ]


def _along(of: str, by: Sequence[str]) -> ChainRule:
    return ChainRule(of, tuple(by), directions=tuple(f"d{name}" for name in by))


def _links_alone(model: Problem) -> bool:
    """Return whether the regressor has the columns of bodies only, which limbs in lanes share."""
    return model.regressor == ("links",) and not any(row.added for row in model.parameters)


def _forward(declared: Declared) -> list[Function]:
    by_bodies = partial(algorithms.aba_weighted_regressor, solved_by_articulated_bodies)
    by_cholesky = partial(algorithms.aba_weighted_regressor, solved_by_cholesky)
    return [
        Function(
            declared["aba_parameter_vjp"],
            {"articulated_bodies": OnJointSpace(by_bodies), "cholesky": OnJointSpace(by_cholesky)},
            preset=ALONE,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={"atkeson-weighted": ".derivatives.products:aba_parameter_vjp"},
            comparison=Comparison(checks_only=True),
        ),
        Function(
            declared["aba_parameter_derivatives"],
            {"cholesky": OnJointSpace(algorithms.aba_by_parameters)},
            preset=ALONE,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={"atkeson-inverse": ".derivatives.products:aba_parameter_derivatives"},
            comparison=Comparison(checks_only=True),
        ),
    ]

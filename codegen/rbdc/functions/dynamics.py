"""The records of inverse and forward dynamics, of their time derivatives and of the joint-space inertia."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice
from typing import Any

from rbdc.algorithms.dynamics.christoffel import christoffel
from rbdc.algorithms.dynamics.coriolis import coriolis
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.external_forces import external_torque, load_torque
from rbdc.algorithms.dynamics.forward_dynamics import (
    by_articulated_bodies,
    by_cholesky,
    solved_by_articulated_bodies,
    solved_by_cholesky,
)
from rbdc.algorithms.dynamics.minverse import inverse_factors, minverse, minverse_of_branches
from rbdc.algorithms.dynamics.newton_euler import gravity_torque, newton_euler, nonlinear_effects
from rbdc.algorithms.steps.time_derivatives import aba_time_derivatives, rnea_time_derivatives
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.evaluation import OnJointSpace, joint_space, on_model
from rbdc.functions.inputs import Declared, declarations
from rbdc.functions.record import ALONE, Comparison, Differential, Function, Policy, Requirement
from rbdc.model import Problem

DECLARATIONS = """
rnea(q, v, a, fext, parameters, friction_width)
    Inverse dynamics: M(q) a + C(q, v) v + g(q) - sum of J^T fext.
    tau[nv]: generalised force (N, N m)
nle(q, v, parameters, friction_width)
    Nonlinear effects: C(q, v) v + g(q).
    tau[nv]: generalised force (N, N m)
gravity_torque(q, parameters)
    Generalised force of gravity: g(q).
    tau[nv]: generalised force (N, N m)
external_torque(q, fext!)
    Generalised force of the external forces: sum of J^T fext.
    tau[nv]: generalised force (N, N m)
load_torque(q, wrenches, arms)
    Generalised force of wrenches in world axes that act at points of the bodies: sum of J^T wrenches.
    tau[nv]: generalised force (N, N m)
coriolis(q, v, parameters)
    Coriolis matrix C(q, v), with dM/dt - 2 C skew-symmetric.
    C[nv, nv]: Coriolis matrix
christoffel(q, parameters)
    Christoffel symbols of the first kind of M(q): C(q, v)[i, j] is the sum of Gamma[i, j, k] v[k].
    Gamma[nv, nv, nv]: symbols [i, j, k] (kg, kg m, kg m^2)
crba(q, parameters)
    Joint-space inertia M(q), both triangles.
    M[nv, nv]: joint-space inertia (kg, kg m, kg m^2)
minverse(q, parameters)
    Inverse of the joint-space inertia, both triangles.
    Minv[inverse nv, nv]: inverse of M
aba(q, v, tau, fext, parameters, friction_width)
    Forward dynamics: M(q)^-1 (tau - C(q, v) v - g(q) + sum of J^T fext).
    ddq[nv]: generalised acceleration (m/s^2, rad/s^2)
"""

_MOTION = {
    "jerk": "rate of acceleration (m/s^3, rad/s^3)",
    "snap": "rate of jerk (m/s^4, rad/s^4)",
    "crackle": "rate of snap (m/s^5, rad/s^5)",
    "pop": "rate of crackle (m/s^6, rad/s^6)",
}
"""Time derivatives of accelerations, lowest order first."""

_TORQUES = {
    "dtau_dt": "first time derivative of tau (N/s, N m/s)",
    "d2tau_dt2": "second time derivative of tau (N/s^2, N m/s^2)",
    "d3tau_dt3": "third time derivative of tau (N/s^3, N m/s^3)",
    "d4tau_dt4": "fourth time derivative of tau (N/s^4, N m/s^4)",
}
"""Time derivatives of generalised forces, lowest order first."""

TIME_DECLARATIONS = """
rnea_time_derivatives(q, v, a, {motion}, fext, parameters, friction_width)
    Inverse dynamics and its time derivatives along a motion, up to order {order} (option `time_order`).
    Optional inputs are constant in time.
    tau[nv]: generalised force (N, N m)
{of_torques}
aba_time_derivatives(q, v, tau, {torques}, fext, parameters, friction_width)
    Forward dynamics and its time derivatives under torques that change with time, up to order
    {order} (option `time_order`). Optional inputs are constant in time.
    ddq[nv]: generalised acceleration (m/s^2, rad/s^2)
{of_motion}
"""


FORCES_AS_TORQUES: dict[str, Any] = {"forces": "external_torque", "through": "tau"}
"""How external forces enter the dynamics: the result of the function `forces` acts at `through`, which is an
output of inverse dynamics and an input of forward dynamics.
"""


def dynamics(model: Problem) -> list[Function]:
    """Return all records, in the order of the documentation."""
    terms = drive_terms(model)
    text = DECLARATIONS.replace("C(q, v) v + g(q)", " + ".join(["C(q, v) v + g(q)", *terms]))
    text = text.replace("- C(q, v) v - g(q)", " - ".join(["- C(q, v) v - g(q)", *terms]))
    declared = declarations(model, text, *_loads(model))
    return [*_inverse(model, declared), *_inertia(declared), *_others(declared)]


def _loads(model: Problem) -> tuple[Parameter, Parameter]:
    load = "wrench on each body at the body's point in `arms`: force, then moment, in world axes (N, N m)"
    arm = "point of each body where the wrench acts, in the frame of the body's joint (m)"
    return (
        Parameter("wrenches", (model.njoints, 6), load, Kind.VECTORS),
        Parameter("arms", (model.njoints, 3), arm, Kind.VECTORS),
    )


def drive_terms(model: Problem) -> list[str]:
    """Return the forces of joint drives in the equation of motion, as formulas."""
    terms = {"D v": any(model.damping), "K (q - q_rest)": any(model.stiffness)}
    terms["F v / sqrt(v^2 + w^2)"] = any(model.friction)
    return [term for term, counts in terms.items() if counts]


def equation(model: Problem) -> str:
    """Return the equation of motion as a formula, with the forces of drives."""
    terms = ["M(q) a", "C(q, v) v", "g(q)", *drive_terms(model)]
    return f"tau = {' + '.join(terms)} - sum of J^T fext"


def _inverse(model: Problem, declared: Declared) -> list[Function]:
    return [
        Function(
            declared["rnea"],
            {"newton_euler": joint_space(newton_euler)},
            preset="control",
            policy=Policy(counted_by_pass=True, rolled={"newton_euler": "inverse_dynamics"}),
            differential=Differential(
                "rnea_derivatives",
                "rnea_vjp",
                "rnea_second_derivatives",
                parameters="rnea_parameter_vjp",
                **FORCES_AS_TORQUES,
            ),
            references={**lagrangian(model, "inverse_dynamics"), "featherstone": "rnea:rnea"},
            oracle="featherstone",
            comparison=Comparison(
                peers={"pinocchio": ("rnea",), "cppadcodegen": ("CodeGenRNEA",)},
                benchmarked=True,
                headline=True,
            ),
        ),
        Function(
            declared["nle"],
            {"newton_euler": joint_space(nonlinear_effects)},
            preset="control",
            policy=Policy(rolled={"newton_euler": "nonlinear_effects"}),
            differential=_at_rest("nle_derivatives"),
            references={"featherstone": "rnea:nonlinear_effects"},
            comparison=Comparison(peers={"pinocchio": ("nle",)}),
        ),
        Function(
            declared["gravity_torque"],
            {"newton_euler": joint_space(gravity_torque)},
            preset="control",
            policy=Policy(rolled={"newton_euler": "gravity"}),
            differential=_of_gravity(model),
            references={"featherstone": "rnea:gravity_torque"},
            comparison=Comparison(peers={"pinocchio": ("gravity_torque",)}),
        ),
        Function(
            declared["external_torque"],
            {"leaves_to_root": OnJointSpace(external_torque)},
            preset=ALONE,
            differential=Differential("external_torque_derivatives", "external_torque_vjp"),
            references={"columns": ".derivatives.external_forces:external_torque"},
            comparison=Comparison(checks_only=True),
        ),
        Function(
            declared["load_torque"],
            {"leaves_to_root": on_model(load_torque)},
            preset=ALONE,
            differential=Differential("load_torque_derivatives"),
            references={"columns": ".derivatives.external_forces:load_torque"},
            comparison=Comparison(checks_only=True),
        ),
        Function(
            declared["coriolis"],
            {"composite": joint_space(coriolis)},
            references={"christoffel": "coriolis:coriolis"},
            comparison=Comparison(peers={"pinocchio": ("coriolis",)}, checks_only=True),
        ),
        Function(
            declared["christoffel"],
            {"composite": OnJointSpace(christoffel)},
            preset=ALONE,
            references={"christoffel": "coriolis:christoffel"},
            comparison=Comparison(checks_only=True),
        ),
    ]


def _of_gravity(model: Problem) -> Differential:
    """Return the names of the derivatives of gravity: the derivatives of inverse dynamics, unless these
    include springs.
    """
    if any(model.stiffness):
        return Differential("gravity_torque_derivatives", parameters="rnea_parameter_vjp")
    return _at_rest("gravity_torque_derivatives")


def _at_rest(alone: str) -> Differential:
    """Return the names of the derivatives of a function without accelerations: the derivatives of inverse
    dynamics, or those that the function `alone` computes.
    """
    names = ("rnea_derivatives", "rnea_vjp", "rnea_second_derivatives")
    return Differential(*names, alone=alone, parameters="rnea_parameter_vjp")


def lagrangian(model: Problem, name: str) -> dict[str, str]:
    """Return the place of the Lagrangian reference `name` if every joint has one coordinate."""
    simple = all(body.joint.nq == 1 and body.joint.nv == 1 for body in model.bodies)
    return {"zhakatayev": f"lagrangian:{name}"} if simple and model.njoints else {}


def _inertia(declared: Declared) -> list[Function]:
    return [
        Function(
            declared["crba"],
            {"crba": joint_space(crba)},
            preset="control",
            policy=Policy(counted_by_pass=True, rolled={"crba": "composite_bodies"}),
            differential=Differential("crba_derivatives"),
            references={"featherstone": "crba:crba"},
            comparison=Comparison(
                peers={"pinocchio": ("crba", "crba_world"), "cppadcodegen": ("CodeGenCRBA",)},
                benchmarked=True,
                headline=True,
            ),
        ),
        Function(
            declared["minverse"],
            {"cholesky": joint_space(minverse, minverse_of_branches)},
            to_solve=joint_space(inverse_factors),
            preset="control",
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            policy=Policy(rolled={"cholesky": "inverse_inertia"}, windows="inverse_inertia"),
            differential=Differential("minverse_derivatives"),
            references={"featherstone": "aba:minverse_by_cholesky", "carpentier": "aba:minverse"},
            oracle="carpentier",
            comparison=Comparison(
                peers={"pinocchio": ("minverse",), "cppadcodegen": ("CodeGenMinv",)},
                through_passes="direct",
                benchmarked=True,
            ),
        ),
    ]


def _others(declared: Declared) -> list[Function]:
    return [
        Function(
            declared["aba"],
            {"articulated_bodies": joint_space(by_articulated_bodies), "cholesky": joint_space(by_cholesky)},
            preset="control",
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            policy=Policy(
                rolled={
                    "articulated_bodies": "articulated_bodies",
                    "cholesky": "forward_dynamics_by_cholesky",
                }
            ),
            differential=Differential(
                "aba_derivatives",
                "aba_vjp",
                "rnea_second_derivatives",
                inverse=True,
                parameters="aba_parameter_vjp",
                **FORCES_AS_TORQUES,
            ),
            references={"featherstone": "aba:aba"},
            comparison=Comparison(
                peers={"pinocchio": ("aba", "aba_world"), "cppadcodegen": ("CodeGenABA",)},
                benchmarked=True,
                headline=True,
            ),
        )
    ]


def time_derivatives(model: Problem) -> list[Function]:
    """Return the records of time derivatives, up to the order of the model."""
    motion, torques = (dict(islice(words.items(), model.time_order)) for words in (_MOTION, _TORQUES))
    inputs = [*_inputs(model, motion, Kind.ACCELERATION), *_inputs(model, torques, Kind.FORCE)]
    names = {"motion": ", ".join(motion), "torques": ", ".join(torques), "order": model.time_order}
    outputs = {"of_motion": _outputs(motion), "of_torques": _outputs(torques)}
    declared = declarations(model, TIME_DECLARATIONS.format(**names, **outputs), *inputs)
    solves = {"articulated_bodies": solved_by_articulated_bodies, "cholesky": solved_by_cholesky}
    return [
        Function(
            declared["rnea_time_derivatives"],
            {"newton_euler": joint_space(rnea_time_derivatives)},
            preset=ALONE,
            references={"dual_numbers": ".derivatives.time_derivatives:rnea_time_derivatives"},
            comparison=Comparison(checks_only=True),
        ),
        Function(
            declared["aba_time_derivatives"],
            {name: joint_space(partial(aba_time_derivatives, solve)) for name, solve in solves.items()},
            preset=ALONE,
            requires=frozenset({Requirement.REGULAR_INERTIA}),
            references={"dual_numbers": ".derivatives.time_derivatives:aba_time_derivatives"},
            comparison=Comparison(checks_only=True),
        ),
    ]


def _inputs(model: Problem, meanings: Mapping[str, str], kind: Kind) -> list[Parameter]:
    return [Parameter(name, (model.nv,), meaning, kind) for name, meaning in meanings.items()]


def _outputs(meanings: Mapping[str, str]) -> str:
    return "\n".join(f"    {name}[nv]: {meaning}" for name, meaning in meanings.items())

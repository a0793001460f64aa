"""The records of centres of mass, momentum and energy, of regressors, and of derivatives with respect to the
parameters of regressors: the parameters of links and payloads, and with the option `regressor` also those of
the joints' drives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rbdc.algorithms import centroidal
from rbdc.algorithms import momentum as sums
from rbdc.algorithms.dynamics import identification as algorithms
from rbdc.algorithms.dynamics.forward_dynamics import solved_by_articulated_bodies, solved_by_cholesky
from rbdc.algorithms.dynamics.regressor import (
    regressor_by_axes,
    regressor_by_forces,
    regressor_of_chosen_frames,
)
from rbdc.algorithms.tools.parameters import DRIVE_QUANTITIES
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.evaluation import OnJointSpace, joint_space, on_model
from rbdc.functions.inputs import Declared, declarations, friction_width
from rbdc.functions.record import ALONE, ChainRule, Comparison, Differential, Function, Requirement
from rbdc.model import Problem

DECLARATIONS = """
com(q, parameters)
    Centre of mass of all links, in the world.
    position[3]: centre of mass (m)
com_jacobian(q, parameters)
    Jacobian of the centre of mass.
    J[3, nv]: Jacobian of the centre of mass
centroidal_momentum_matrix(q, parameters)
    Matrix A: A v is the momentum of the moving links about their centre of mass, linear rows first.
    A[6, nv]: centroidal momentum matrix
centroidal_momenta(q, v, a, parameters)
    Centroidal momentum h and its rate.
com_acceleration(q, v, a, parameters)
    Acceleration of the centre of mass of all links, in the world.
    acceleration[3]: acceleration of the centre of mass (m/s^2)
centroidal_momentum_derivative(q, v, a, parameters)
    Rate of the momentum of the moving links about their centre of mass, linear part first.
    dh[6]: rate of the centroidal momentum (N, N m)
centroidal_dynamics_derivatives(q, v, a, parameters)
    Derivatives of the centroidal momentum h with respect to q (in the tangent space), and of dh/dt with
    respect to q, v and a.
    dh_dq[6, nv]: [i, k]: derivative of h[i] (linear first) along direction k of q
    dhdot_dq dhdot_dv[6, nv]: [i, k]: derivative of (dh/dt)[i] (linear first) along direction k of <x>
    dhdot_da[6, nv]: [i, k]: derivative of (dh/dt)[i] (linear first) along direction k of <x>
kinetic_energy(q, v, parameters)
    Kinetic energy: v^T M(q) v / 2.
    energy[]: kinetic energy (J)
kinetic_energy_derivatives(q, v, parameters)
    Derivatives of kinetic energy with respect to q (in the tangent space) and v.
    denergy_dq[nv]: entry k: derivative along direction k of q (N, N m)
    denergy_dv[nv]: M v, the derivative with respect to v (kg m/s, kg m^2/s)
potential_energy(q, parameters)
    Potential energy of all links in the field of gravity.
    energy[]: potential energy (J)
static_regressor(q)
    Regressor Y: the first moment of the moving links is Y times the parameters. Parameters: m and m c (3)
    of each body.
    Y[3, 4 njoints]: static regressor
kinetic_energy_regressor(q, v)
    Regressor y: the kinetic energy of the moving links is y . parameters. Parameters: m, m c (3), Ixx,
    Ixy, Iyy, Ixz, Iyz, Izz of each body.
    y[10 njoints]: kinetic energy regressor
potential_energy_regressor(q)
    Regressor y: the potential energy of the moving links is y . parameters. Parameters: m, m c (3), Ixx,
    Ixy, Iyy, Ixz, Iyz, Izz of each body.
    y[10 njoints]: potential energy regressor
"""

REGRESSOR_DECLARATIONS = """
torque_regressor(q, v, a, friction_width)
    Regressor Y: rnea(q, v, a) is Y times the parameters. Parameters: {columns}.
    Y[nv, np]: joint torque regressor
rnea_parameter_vjp(q, v, a, w, friction_width)
    Gradient w^T Y of w^T rnea(q, v, a) with respect to the parameters of torque_regressor, computed without
    its matrix Y.
    w_dtau_dparameters[np]: one entry for each parameter
rnea_parameter_hessian_product(q, v, a, w, dq, dv, da, friction_width)
    Derivative of rnea_parameter_vjp along the direction (dq, dv, da): mixed second derivatives of
    w^T rnea(q, v, a).
    hessian_parameters[np]: one entry for each parameter
"""

PARAMETER_DECLARATIONS = """
aba_parameter_vjp(q, v, tau, w, fext, parameters, friction_width)
    Gradient -(M^-1 w)^T Y of w^T aba(q, v, tau) with respect to the parameters of torque_regressor, computed
    without its matrix Y.
    w_ddq_dparameters[np]: one entry for each parameter
aba_parameter_derivatives(q, v, tau, fext, parameters, friction_width)
    Derivatives -M^-1 Y of forward dynamics with respect to the parameters of torque_regressor, whose
    matrix is Y.
    ddq_dparameters[nv, np]: [i, k]: derivative of ddq[i] with respect to parameter k
"""

MOVED_DECLARATIONS = """
moved_parameters(inertial_parameters, pose)
    Inertial parameters of a body or payload, expressed in another frame; independent of the robot.
    moved[10]: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the other frame (kg, m)
"""

_OF_LINKS = "m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body"
_MOTION = ("q", "v", "a")
ANY = frozenset[Requirement]()
MASS = frozenset({Requirement.MASS})
MOVING = MASS | {Requirement.MOVING_MASS}


def momentum(model: Problem) -> list[Function]:
    """Return all records, in the order of the documentation."""
    declared, orin = declarations(model, DECLARATIONS), "orin-goswami-lee"
    by, regressor = partial(_by_subtrees, declared), partial(_regressor, declared)
    matrix = ("centroidal_momentum_matrix", "centroidal_momentum_matrix_ccrba")
    momenta = Function(  # it is not in the catalogue
        declared["centroidal_momenta"],
        {"newton_euler": OnJointSpace(centroidal.centroidal_momenta)},
        references={orin: "centroidal:centroidal_momenta"},
    )
    by_free_root = Function(
        declared["centroidal_dynamics_derivatives"],
        {"free_root": joint_space(centroidal.centroidal_dynamics_derivatives)},
        chain=ChainRule("centroidal_momenta", ("q", "v", "a"), kept=(0, 3, 4, 5), source=momenta),
        comparison=Comparison(checks_only=True),
        requires=MOVING,
    )
    of_kinetic_energy = Function(
        declared["kinetic_energy_derivatives"],
        {},
        chain=ChainRule("kinetic_energy", ("q", "v")),
        preset="optimisation",
        differential=Differential("kinetic_energy_second_derivatives"),
        comparison=Comparison(checks_only=True),
    )
    return [
        by(sums.com, "subtrees", "featherstone", MASS, ("com",), "com_jacobian"),
        by(sums.com_jacobian, "subtrees", orin, MASS, ("com_jacobian",), "com_second_derivatives"),
        by(sums.centroidal_momentum_matrix, "composite", orin, MOVING, matrix),
        by(centroidal.com_acceleration, "newton_euler", orin, MASS),
        by(centroidal.centroidal_momentum_derivative, "newton_euler", orin, MOVING),
        by_free_root,
        by(sums.kinetic_energy, "sum", "featherstone", ANY, ("kinetic_energy",)),
        of_kinetic_energy,
        by(sums.potential_energy, "subtrees", "featherstone", ANY, ("potential_energy",), "gravity_torque"),
        regressor(sums.static_regressor, "placements"),
        regressor(sums.kinetic_energy_regressor, "velocities"),
        regressor(sums.potential_energy_regressor, "placements"),
    ]


def _by_subtrees(
    declared: Declared,
    algorithm: Callable[..., Any],
    method: str,
    paper: str,
    requires: frozenset[Requirement],
    peers: tuple[str, ...] = (),
    derivatives: str = "",
) -> Function:
    """Return the record of a function whose algorithm and reference have its name. peers: Pinocchio's
    algorithms. derivatives: name of the function of its derivatives, if not the usual one.
    """
    name = algorithm.__name__
    return Function(
        declared[name],
        {method: joint_space(algorithm)},
        requires=requires,
        differential=Differential(derivatives or f"{name}_derivatives"),
        references={paper: f"centroidal:{name}"},
        comparison=Comparison(peers={"pinocchio": peers} if peers else {}),
    )


def _regressor(declared: Declared, algorithm: Callable[..., Any], method: str) -> Function:
    """Return the record of a regressor, whose parameters are in the links' own frames."""
    name = algorithm.__name__
    references = {"atkeson": f"regressor:{name}"}
    return Function(declared[name], {method: on_model(algorithm)}, references=references)


def identification(model: Problem) -> list[Function]:
    """Return all records, in the order of the documentation."""
    text = REGRESSOR_DECLARATIONS.format(columns=_of_columns(model))
    counts = "friction" in model.regressor
    declared = declarations(model, text, friction_width(model, counts=counts))
    width = friction_width(model, counts=counts or any(model.friction))
    by_parameters = _by_parameters(declarations(model, PARAMETER_DECLARATIONS, width))
    return [*_linear(model, declared), *by_parameters, _moved(model)]


def _moved(model: Problem) -> Function:
    """Return the record of the map of parameters between frames; it is linear, so parameters have the kind of
    weights.
    """
    of_body = "m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin of the body's frame (kg, m)"
    placed = "placement of the body's frame in the other frame, x y z qx qy qz qw (m, unit quaternion)"
    inertial = Parameter("inertial_parameters", (10,), of_body, Kind.WEIGHTS)
    pose = Parameter("pose", (7,), placed, Kind.PLACEMENTS)
    return Function(
        declarations(model, MOVED_DECLARATIONS, inertial, pose)["moved_parameters"],
        {"steiner": on_model(algorithms.moved_parameters)},
        preset=ALONE,
        references={"pseudo-inertia": "regressor:moved_parameters"},
        comparison=Comparison(checks_only=True),
    )


def _of_columns(model: Problem) -> str:
    links = "links" in model.regressor
    payloads = [", then of each payload"] if any(row.added for row in model.parameters) else []
    drives = [name for name, quantity in DRIVE_QUANTITIES.items() if quantity.part in model.regressor]
    of_drives = [f"{', '.join(drives)} of each joint"] if drives else []
    return "; ".join([_OF_LINKS + "".join(payloads)] * links + of_drives)


def _linear(model: Problem, declared: Declared) -> list[Function]:
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
    """Return whether the regressor has only columns of bodies, so that limbs can share vector lanes."""
    return model.regressor == ("links",) and not any(row.added for row in model.parameters)


def _by_parameters(declared: Declared) -> list[Function]:
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

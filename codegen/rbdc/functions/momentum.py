"""The records of centres of mass, momentum and energy."""

from __future__ import annotations

from rbdc.algorithms.centroidal import (
    centroidal_dynamics_derivatives,
    centroidal_momenta,
    centroidal_momentum_derivative,
    com_acceleration,
)
from rbdc.algorithms.momentum import (
    centre_of_mass,
    centroidal_momentum_matrix,
    com_jacobian,
    kinetic_energy,
    kinetic_energy_regressor,
    potential_energy,
    potential_energy_regressor,
    static_regressor,
)
from rbdc.functions.evaluation import OnJointSpace, joint_space, on_model
from rbdc.functions.inputs import Declared, declarations
from rbdc.functions.record import ChainRule, Comparison, Differential, Function, Requirement
from rbdc.model import Model

DECLARATIONS = """
com(q)
    Centre of mass of all links, in the world.
    position[3]: centre of mass (m)
com_jacobian(q)
    Jacobian of the centre of mass.
    J[3, nv]: Jacobian of the centre of mass
centroidal_momentum_matrix(q)
    A with A v the momentum about the centre of mass of the moving links, linear rows first.
    A[6, nv]: centroidal momentum matrix
centroidal_momenta(q, v, a)
    h and its rate.
com_acceleration(q, v, a)
    Acceleration of the centre of mass of all links, in the world.
    acceleration[3]: acceleration of the centre of mass (m/s^2)
centroidal_momentum_derivative(q, v, a)
    Rate of the momentum about the centre of mass of the moving links, linear part first.
    dh[6]: rate of the centroidal momentum (N, N m)
centroidal_dynamics_derivatives(q, v, a)
    Derivatives of the centroidal momentum h by q (in the tangent space), and of its rate by q, v and a.
    dh_dq dhdot_dq dhdot_dv dhdot_da[6, nv]: linear rows first, column: direction
kinetic_energy(q, v)
    Kinetic energy: v^T M(q) v / 2.
    energy[]: kinetic energy (J)
kinetic_energy_derivatives(q, v)
    Derivatives of kinetic energy by q (in the tangent space) and v.
    denergy_dq[nv]: derivative by q (N, N m)
    denergy_dv[nv]: derivative by v, M v (kg m/s, kg m^2/s)
potential_energy(q)
    Potential energy of all links in the field of gravity.
    energy[]: potential energy (J)
static_regressor(q)
    Y with Y parameters = the first moment of the moving links; 4 parameters a body: m, m c (3).
    Y[3, 4 njoints]: static regressor
kinetic_energy_regressor(q, v)
    y with y . parameters = the kinetic energy of the moving links; 10 parameters a body.
    y[10 njoints]: kinetic energy regressor
potential_energy_regressor(q)
    y with y . parameters = the potential energy of the moving links; 10 parameters a body.
    y[10 njoints]: potential energy regressor
"""

MASS = frozenset({Requirement.MASS})


def momentum(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    declared = declarations(model, DECLARATIONS)
    return [*_centres(declared), *_rates(declared), *_energies(declared), *_regressors(declared)]


def _centres(declared: Declared) -> list[Function]:
    return [
        Function(
            declared["com"],
            {"subtrees": joint_space(centre_of_mass)},
            requires=MASS,
            differential=Differential("com_jacobian"),
            references={"featherstone": "centroidal:centre_of_mass"},
            comparison=Comparison(peers={"pinocchio": ("com",)}),
        ),
        Function(
            declared["com_jacobian"],
            {"subtrees": joint_space(com_jacobian)},
            requires=MASS,
            differential=Differential("com_second_derivatives"),
            references={"orin-goswami-lee": "centroidal:com_jacobian"},
            comparison=Comparison(peers={"pinocchio": ("com_jacobian",)}),
        ),
        Function(
            declared["centroidal_momentum_matrix"],
            {"composite": joint_space(centroidal_momentum_matrix)},
            requires=MASS | {Requirement.MOVING_MASS},
            differential=Differential("centroidal_momentum_matrix_derivatives"),
            references={"orin-goswami-lee": "centroidal:centroidal_momentum_matrix"},
            comparison=Comparison(
                peers={"pinocchio": ("centroidal_momentum_matrix", "centroidal_momentum_matrix_ccrba")}
            ),
        ),
    ]


def _rates(declared: Declared) -> list[Function]:
    moving = MASS | {Requirement.MOVING_MASS}
    momenta = Function(  # not in the catalogue
        declared["centroidal_momenta"],
        {"newton_euler": OnJointSpace(centroidal_momenta)},
        references={"orin-goswami-lee": "centroidal:centroidal_momenta"},
    )
    return [
        Function(
            declared["com_acceleration"],
            {"newton_euler": joint_space(com_acceleration)},
            requires=MASS,
            differential=Differential("com_acceleration_derivatives"),
            references={"orin-goswami-lee": "centroidal:com_acceleration"},
        ),
        Function(
            declared["centroidal_momentum_derivative"],
            {"newton_euler": joint_space(centroidal_momentum_derivative)},
            requires=moving,
            differential=Differential("centroidal_momentum_derivative_derivatives"),
            references={"orin-goswami-lee": "centroidal:centroidal_momentum_derivative"},
        ),
        Function(
            declared["centroidal_dynamics_derivatives"],
            {"free_root": joint_space(centroidal_dynamics_derivatives)},
            chain=ChainRule("centroidal_momenta", ("q", "v", "a"), kept=(0, 3, 4, 5), source=momenta),
            comparison=Comparison(checks_only=True),
            requires=moving,
        ),
    ]


def _regressors(declared: Declared) -> list[Function]:
    return [
        Function(
            declared["static_regressor"],
            {"placements": on_model(static_regressor)},
            references={"atkeson": "regressor:static_regressor"},
        ),
        Function(
            declared["kinetic_energy_regressor"],
            {"velocities": on_model(kinetic_energy_regressor)},
            references={"atkeson": "regressor:kinetic_energy_regressor"},
        ),
        Function(
            declared["potential_energy_regressor"],
            {"placements": on_model(potential_energy_regressor)},
            references={"atkeson": "regressor:potential_energy_regressor"},
        ),
    ]


def _energies(declared: Declared) -> list[Function]:
    return [
        Function(
            declared["kinetic_energy"],
            {"sum": joint_space(kinetic_energy)},
            differential=Differential("kinetic_energy_derivatives"),
            references={"featherstone": "centroidal:kinetic_energy"},
            comparison=Comparison(peers={"pinocchio": ("kinetic_energy",)}),
        ),
        Function(
            declared["kinetic_energy_derivatives"],
            {},
            chain=ChainRule("kinetic_energy", ("q", "v")),
            preset="optimisation",
            differential=Differential("kinetic_energy_second_derivatives"),
            comparison=Comparison(checks_only=True),
        ),
        Function(
            declared["potential_energy"],
            {"subtrees": joint_space(potential_energy)},
            differential=Differential("gravity_torque"),
            references={"featherstone": "centroidal:potential_energy"},
            comparison=Comparison(peers={"pinocchio": ("potential_energy",)}),
        ),
    ]

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
    potential_energy,
)
from rbdc.algorithms.other_regressors import (
    kinetic_energy_regressor,
    potential_energy_regressor,
    static_regressor,
)
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import JointSpace, on_joint_space, on_model
from rbdc.functions.inputs import acceleration, configuration, in_space, velocity
from rbdc.functions.record import ChainRule, Comparison, Differential, Function, Requirement
from rbdc.model import Model

MASS = frozenset({Requirement.MASS})


def momentum(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    return [*_centres(model), *_rates(model), *_energies(model), *_regressors(model)]


def _centres(model: Model) -> list[Function]:
    q, nv = configuration(model), model.nv
    return [
        Function(
            FunctionDeclaration(
                "com",
                "Centre of mass of all links, in the world.",
                (q,),
                in_space("position", (3,), "centre of mass (m)"),
            ),
            {"subtrees": JointSpace(centre_of_mass)},
            requires=MASS,
            differential=Differential("com_jacobian"),
            references={"featherstone": "centroidal:centre_of_mass"},
            comparison=Comparison(peers={"pinocchio": ("com",)}),
        ),
        Function(
            FunctionDeclaration(
                "com_jacobian",
                "Jacobian of the centre of mass.",
                (q,),
                in_space("J", (3, nv), "Jacobian of the centre of mass"),
            ),
            {"subtrees": JointSpace(com_jacobian)},
            requires=MASS,
            differential=Differential("com_second_derivatives", derived=True),
            references={"orin-goswami-lee": "centroidal:com_jacobian"},
            comparison=Comparison(peers={"pinocchio": ("com_jacobian",)}),
        ),
        Function(
            FunctionDeclaration(
                "centroidal_momentum_matrix",
                "A with A v the momentum about the centre of mass of the moving links, linear rows first.",
                (q,),
                in_space("A", (6, nv), "centroidal momentum matrix"),
            ),
            {"composite": JointSpace(centroidal_momentum_matrix)},
            requires=MASS | {Requirement.MOVING_MASS},
            differential=Differential("centroidal_momentum_matrix_derivatives", derived=True),
            references={"orin-goswami-lee": "centroidal:centroidal_momentum_matrix"},
            comparison=Comparison(
                peers={"pinocchio": ("centroidal_momentum_matrix", "centroidal_momentum_matrix_ccrba")}
            ),
        ),
    ]


def _rates(model: Model) -> list[Function]:
    q, v, a, shape = configuration(model), velocity(model), acceleration(model), (6, model.nv)
    moving = MASS | {Requirement.MOVING_MASS}
    names = ("dh_dq", "dhdot_dq", "dhdot_dv", "dhdot_da")
    momenta = Function(  # not in the catalogue
        FunctionDeclaration("centroidal_momenta", "h and its rate.", (q, v, a), ()),
        {"newton_euler": on_joint_space(centroidal_momenta)},
        references={"orin-goswami-lee": "centroidal:centroidal_momenta"},
    )
    return [
        Function(
            FunctionDeclaration(
                "com_acceleration",
                "Acceleration of the centre of mass of all links, in the world.",
                (q, v, a),
                in_space("acceleration", (3,), "acceleration of the centre of mass (m/s^2)"),
            ),
            {"newton_euler": JointSpace(com_acceleration)},
            requires=MASS,
            differential=Differential("com_acceleration_derivatives", derived=True),
            references={"orin-goswami-lee": "centroidal:com_acceleration"},
        ),
        Function(
            FunctionDeclaration(
                "centroidal_momentum_derivative",
                "Rate of the momentum about the centre of mass of the moving links, linear part first.",
                (q, v, a),
                in_space("dh", (6,), "rate of the centroidal momentum (N, N m)"),
            ),
            {"newton_euler": JointSpace(centroidal_momentum_derivative)},
            requires=moving,
            differential=Differential("centroidal_momentum_derivative_derivatives", derived=True),
            references={"orin-goswami-lee": "centroidal:centroidal_momentum_derivative"},
        ),
        Function(
            FunctionDeclaration(
                "centroidal_dynamics_derivatives",
                "Derivatives of the centroidal momentum h by q (in the tangent space), "
                "and of its rate by q, v and a.",
                (q, v, a),
                tuple(
                    Parameter(name, shape, "linear rows first, column: direction", Kind.SPACE_ROWS)
                    for name in names
                ),
            ),
            {"free_root": JointSpace(centroidal_dynamics_derivatives)},
            chain=ChainRule("centroidal_momenta", ("q", "v", "a"), kept=(0, 3, 4, 5), source=momenta),
            comparison=Comparison(checks_only=True),
            requires=moving,
        ),
    ]


def _regressors(model: Model) -> list[Function]:
    q, v, ten = configuration(model), velocity(model), (10 * model.njoints,)
    return [
        Function(
            FunctionDeclaration(
                "static_regressor",
                "Y with Y parameters = the first moment of the moving links; "
                "4 parameters a body: m, m c (3).",
                (q,),
                in_space("Y", (3, 4 * model.njoints), "static regressor"),
            ),
            {"placements": on_model(static_regressor)},
            references={"atkeson": "regressor:static_regressor"},
        ),
        Function(
            FunctionDeclaration(
                "kinetic_energy_regressor",
                "y with y . parameters = the kinetic energy of the moving links; 10 parameters a body.",
                (q, v),
                in_space("y", ten, "kinetic energy regressor"),
            ),
            {"velocities": on_model(kinetic_energy_regressor)},
            references={"atkeson": "regressor:kinetic_energy_regressor"},
        ),
        Function(
            FunctionDeclaration(
                "potential_energy_regressor",
                "y with y . parameters = the potential energy of the moving links; 10 parameters a body.",
                (q,),
                in_space("y", ten, "potential energy regressor"),
            ),
            {"placements": on_model(potential_energy_regressor)},
            references={"atkeson": "regressor:potential_energy_regressor"},
        ),
    ]


def _energies(model: Model) -> list[Function]:
    q, v, row = configuration(model), velocity(model), (model.nv,)
    return [
        Function(
            FunctionDeclaration(
                "kinetic_energy",
                "Kinetic energy: v^T M(q) v / 2.",
                (q, v),
                in_space("energy", (), "kinetic energy (J)"),
            ),
            {"sum": JointSpace(kinetic_energy)},
            differential=Differential("kinetic_energy_derivatives"),
            references={"featherstone": "centroidal:kinetic_energy"},
            comparison=Comparison(peers={"pinocchio": ("kinetic_energy",)}),
        ),
        Function(
            FunctionDeclaration(
                "kinetic_energy_derivatives",
                "Derivatives of kinetic energy by q (in the tangent space) and v.",
                (q, v),
                (
                    Parameter("denergy_dq", row, "derivative by q (N, N m)", Kind.JOINT_ROWS),
                    Parameter("denergy_dv", row, "derivative by v, M v (kg m/s, kg m^2/s)", Kind.JOINT_ROWS),
                ),
            ),
            {},
            chain=ChainRule("kinetic_energy", ("q", "v")),
            preset="optimisation",
            differential=Differential("kinetic_energy_second_derivatives", derived=True),
            comparison=Comparison(checks_only=True),
        ),
        Function(
            FunctionDeclaration(
                "potential_energy",
                "Potential energy of all links in the field of gravity.",
                (q,),
                in_space("energy", (), "potential energy (J)"),
            ),
            {"subtrees": JointSpace(potential_energy)},
            differential=Differential("gravity_torque"),
            references={"featherstone": "centroidal:potential_energy"},
            comparison=Comparison(peers={"pinocchio": ("potential_energy",)}),
        ),
    ]

"""The records of centres of mass, momentum and energy."""

from __future__ import annotations

from rbdc.algorithms.momentum import (
    centre_of_mass,
    centroidal_momentum_matrix,
    com_jacobian,
    kinetic_energy,
    potential_energy,
)
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.evaluation import JointSpace
from rbdc.functions.inputs import configuration, in_space, velocity
from rbdc.functions.record import Comparison, Differential, Function, Requirement
from rbdc.model import Model

MASS = frozenset({Requirement.MASS})


def momentum(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    return [*_centres(model), *_energies(model)]


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
            references={"orin-goswami-lee": "centroidal:centroidal_momentum_matrix"},
            comparison=Comparison(
                peers={"pinocchio": ("centroidal_momentum_matrix", "centroidal_momentum_matrix_ccrba")}
            ),
        ),
    ]


def _energies(model: Model) -> list[Function]:
    q, v = configuration(model), velocity(model)
    return [
        Function(
            FunctionDeclaration(
                "kinetic_energy",
                "Kinetic energy: v^T M(q) v / 2.",
                (q, v),
                in_space("energy", (), "kinetic energy (J)"),
            ),
            {"sum": JointSpace(kinetic_energy)},
            references={"featherstone": "centroidal:kinetic_energy"},
            comparison=Comparison(peers={"pinocchio": ("kinetic_energy",)}),
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

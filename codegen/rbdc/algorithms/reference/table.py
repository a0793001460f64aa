"""Every function with the papers' methods for it, the last of which is the reference.

A method is called with a model as read and the function's inputs in their order, each a list of scalars; `fext`, a list of `Force` in the
bodies' frames, where the function has external forces, and `trace` go by name. Those of `FRAMED` take the inputs, the frame's number and
"LOCAL", "WORLD" or "LOCAL_WORLD_ALIGNED". What comes back is a vector, a matrix by rows, or a tuple of these, as the function's outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from rbdc.algorithms.reference import carpentier_mansard, centroidal, idsva, manifold, products
from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.coriolis import coriolis
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.forward_derivatives import aba_derivatives
from rbdc.algorithms.reference.frame_derivatives import frame_acceleration_derivatives, frame_velocity_derivatives
from rbdc.algorithms.reference.frames import frame_acceleration, frame_jacobian, frame_velocity
from rbdc.algorithms.reference.kinematics import forward_kinematics
from rbdc.algorithms.reference.minverse import minverse
from rbdc.algorithms.reference.regressor import torque_regressor
from rbdc.algorithms.reference.rnea import gravity_torque, nonlinear_effects, rnea

Method: TypeAlias = Callable[..., Any]

METHODS: Mapping[str, Mapping[str, Method]] = {
    "rnea": {"featherstone": rnea},
    "nle": {"featherstone": nonlinear_effects},
    "gravity_torque": {"featherstone": gravity_torque},
    "coriolis": {"echeandia-wensing": coriolis},
    "crba": {"featherstone": crba},
    "minverse": {"carpentier": minverse},
    "aba": {"featherstone": aba},
    "torque_regressor": {"atkeson": torque_regressor},
    "rnea_derivatives": {
        "idsva": idsva.rnea_derivatives,
        "carpentier-mansard": carpentier_mansard.rnea_derivatives,
    },
    "aba_derivatives": {"carpentier-mansard": aba_derivatives},
    "rnea_vjp": {"adjoint-idsva": products.rnea_vjp},
    "aba_vjp": {"adjoint-idsva": products.aba_vjp},
    "rnea_jvp": {"tangent-featherstone": products.rnea_jvp},
    "aba_jvp": {"tangent-featherstone": products.aba_jvp},
    "forward_kinematics": {"featherstone": forward_kinematics},
    "frame_jacobian": {"featherstone": frame_jacobian},
    "frame_velocity": {"featherstone": frame_velocity},
    "frame_acceleration": {"featherstone": frame_acceleration},
    "frame_velocity_derivatives": {"carpentier-mansard": frame_velocity_derivatives},
    "frame_acceleration_derivatives": {"carpentier-mansard": frame_acceleration_derivatives},
    "com": {"featherstone": centroidal.centre_of_mass},
    "com_jacobian": {"orin-goswami-lee": centroidal.com_jacobian},
    "centroidal_momentum_matrix": {"orin-goswami-lee": centroidal.centroidal_momentum_matrix},
    "kinetic_energy": {"featherstone": centroidal.kinetic_energy},
    "potential_energy": {"featherstone": centroidal.potential_energy},
    "integrate": {"murray-li-sastry": manifold.integrate},
    "difference": {"murray-li-sastry": manifold.difference},
}
"""By function and by method."""

FRAMED = (
    "frame_jacobian",
    "frame_velocity",
    "frame_acceleration",
    "frame_velocity_derivatives",
    "frame_acceleration_derivatives",
)
"""The functions of a frame and what its motion refers to."""


def reference_of(name: str) -> Method:
    """The method of a function that decides; KeyError for a function that there is not."""
    return list(METHODS[name].values())[-1]

"""Robots with contacts and closed loops, and what other libraries make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read

Array = NDArray[np.float64]

FEET = ("lf", "rf", "lh", "rh")
POINTS = tuple(f"{foot}=point@{foot}_foot:0.01,0.02,-0.03,0.1,0.2,0.3" for foot in FEET)
SOLES = ("left=surface@left_ankle_roll_link:0.03,0,-0.03", "right=surface@right_ankle_roll_link:0.03,0,-0.03")


def on_feet() -> Problem:
    """Return HyQ on four points."""
    return read("hyq", BuildOptions(root_joint="free-flyer", contacts=POINTS))


def constraint_models(
    model: pin.Model, contacts: Problem, targets: Array | None = None, gains: Array | None = None
) -> Any:
    """Return Pinocchio's constraints for the contacts of a model, LOCAL."""
    constraints = pin.StdVec_RigidConstraintModel()
    world = 0
    for number, contact in enumerate(contacts.contacts):
        kind = pin.ContactType.CONTACT_3D if contact.kind.components == 3 else pin.ContactType.CONTACT_6D
        places: list[Any] = []
        for frame in (contact.first, contact.second):
            if frame is None:
                where = pin.XYZQUATToSE3(targets[world]) if targets is not None else pin.SE3.Identity()
                places += [0, where]
                world += 1
                continue
            placement = frame.placement
            rotation = np.array(placement.rotation.rows(), dtype=float)
            where = pin.SE3(rotation, np.array(placement.translation.scalars(), dtype=float))
            joint = 0 if frame.body < 0 else model.getJointId(contacts.bodies[frame.body].joint_name)
            joint = joint if joint < model.njoints else 1
            places += [joint, where]
        constraint = pin.RigidConstraintModel(kind, model, *places, pin.ReferenceFrame.LOCAL)
        if gains is not None:
            constraint.m_baumgarte_parameters.Kp = gains[number, 0]
            constraint.m_baumgarte_parameters.Kd = gains[number, 1]
        constraints.append(constraint)
    return constraints

"""Models handed over to Pinocchio's C++, as text archives: one library serves all robots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdc.model import WORLD, Model
from rbdc.model.joints import JointType
from rbdc.spatial import Placement, RigidInertia, Scalar


def save_model(model: Model, path: Path) -> str | None:
    """Write the model as Pinocchio's text archive; None, or the reason why Pinocchio cannot represent it."""
    import pinocchio

    pin: Any = pinocchio
    if model.coupled:
        return "coupled mimic joints: Pinocchio's own are not used here"
    if any(model.damping) or not model.only_damped:
        return "damping, springs or dry friction: Pinocchio's functions do not have them"
    made = pin.Model()
    made.name = "robot"
    made.gravity = pin.Motion(_array([*model.gravity.scalars(), 0.0, 0.0, 0.0]))
    for index, body in enumerate(model.bodies):
        joint = _joint(pin, body.joint)
        if joint is None:
            return f"a {body.joint.kind} joint that Pinocchio does not have this way"
        parent = 0 if body.parent == WORLD else body.parent + 1
        added = made.addJoint(parent, joint, _se3(pin, body.placement), f"joint{index}")
        made.appendBodyToJoint(added, _inertia(pin, body.inertia), pin.SE3.Identity())
    made.armature = _array(model.armature)
    made.inertias[0] = _inertia(pin, model.base_inertia)
    for index, frame in enumerate(model.frames):
        joint_index = 0 if frame.body == WORLD else frame.body + 1
        placement = _se3(pin, frame.placement)
        made.addFrame(
            pin.Frame(f"frame{index}", joint_index, 0, placement, pin.FrameType.BODY, pin.Inertia.Zero())
        )
    made.saveToText(str(path))
    Path(f"{path}.contacts").write_text(_contacts(model), encoding="utf-8")
    return None


def _contacts(model: Model) -> str:
    """A line for each contact: its rows, and of both frames the joint, the rotation by rows and the place.
    Nothing where Pinocchio does not have one of them.
    """
    if any(contact.rows not in (3, 6) or not contact.whole for contact in model.contacts):
        return ""
    lines = []
    for contact in model.contacts:
        words: list[object] = [contact.rows]
        for frame in (contact.first, contact.second):
            placement = Placement.identity() if frame is None else frame.placement
            words.append(0 if frame is None or frame.body == WORLD else frame.body + 1)
            words += [repr(float(x)) for x in placement.scalars()]
        lines.append(" ".join(map(str, words)))
    return "".join(f"{line}\n" for line in lines)


def _joint(pin: Any, joint: JointType) -> Any:
    """Pinocchio's joint, the fast one for a coordinate axis; None where Pinocchio has no such type."""
    own = joint.pinocchio()
    if own is None:
        return None
    made = getattr(pin, own.name)
    return made() if own.axis is None else made(_array(own.axis))


def _parameters(inertia: RigidInertia) -> list[Scalar]:
    """m, m c, and the inertia about the origin."""
    return [inertia.mass, *inertia.first_moment.scalars(), *inertia.about_origin.scalars()]


def _inertia(pin: Any, inertia: RigidInertia) -> Any:
    """Pinocchio's inertia from the dynamic parameters m, m c and the inertia about the origin."""
    parameters = _array([float(x) for x in _parameters(inertia)])
    if parameters[0] != 0.0:
        return pin.Inertia.FromDynamicParameters(parameters)
    xx, xy, yy, xz, yz, zz = parameters[4:]  # without mass there is no centre to divide for
    return pin.Inertia(0.0, _array([0.0, 0.0, 0.0]), _array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _se3(pin: Any, placement: Placement) -> Any:
    return pin.SE3(_array(placement.rotation.rows()), _array(placement.translation.scalars()))


def _array(values: Any) -> Any:
    import numpy as np

    return np.array(values, dtype=float)

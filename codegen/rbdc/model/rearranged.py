"""Descriptions rearranged before they become models: joints that are locked or have another armature, another
link as the root, frames that are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rbdc.errors import OptionError
from rbdc.model.description import Description, Joint, Limits, Link, Note
from rbdc.model.joints import ONE_DOF
from rbdc.model.joints.coupling import composed
from rbdc.model.options import JointNumbers, ModelOptions, Origin
from rbdc.model.xml import free_name, shown
from rbdc.spatial import Placement, Rotation, Vector3


def rearranged(description: Description, options: ModelOptions) -> Description:
    """The description with the options' armature and frames, its root where they want it, and their joints
    locked.

    The description must make a tree. Raises OptionError for links and joints that it does not have, and for
    joints that cannot be locked or turned round.
    """
    description = _with_armature(description, options.armature)
    for name, link, numbers in options.frames:
        description = _with_frame(description, name, link, numbers)
    if options.base is not None:
        description = _rooted_at(description, options.base)
    return _locked(description, options.lock, coupled=options.mimic == "coupled")


def _with_armature(description: Description, given: JointNumbers) -> Description:
    """The description with some joints' armature in place of its own; OptionError for a joint that it does
    not have, or that is fixed.
    """
    kinds, numbers = {joint.name: joint.kind for joint in description.joints}, dict(given)
    for name in numbers:
        if kinds.get(name, "fixed") == "fixed":
            problem = "is fixed" if name in kinds else "does not exist"
            raise OptionError(
                f'--armature: joint "{shown(name)}" {problem}; there are {_moving(description)}'
            )
    joints = [replace(own, armature=numbers.get(own.name, own.armature)) for own in description.joints]
    return replace(description, joints=tuple(joints))


def _with_frame(description: Description, name: str, link: str, numbers: Origin) -> Description:
    """A link without mass more, fixed to another at x, y, z (m) and roll, pitch, yaw (rad)."""
    names, joints = {own.name for own in description.links}, {own.name for own in description.joints}
    if link not in names:
        raise OptionError(f'--frame {shown(name)}: there is no link "{shown(link)}"')
    if not name or name in names:
        raise OptionError(f'--frame: there is a link "{shown(name)}" already; give the frame another name')
    x, y, z, *angles = numbers
    placement = Placement(Rotation.from_rpy(*angles), Vector3(x, y, z))
    joint = Joint(free_name(f"{name}_fixed", joints), "fixed", link, name, placement)
    links = (*description.links, Link(name))
    return replace(description, links=links, joints=(*description.joints, joint))


def _locked(description: Description, given: JointNumbers, *, coupled: bool) -> Description:
    """Joints fixed where they are at some values of their coordinates; where mimic joints are `coupled`, what
    follows a locked joint is locked too.
    """
    joints = {joint.name: joint for joint in description.joints}
    for name, _ in given:
        kind = joints[name].kind if name in joints else None
        called = f'--lock: joint "{shown(name)}"'
        if kind is None:
            raise OptionError(f"{called} does not exist; there are {_moving(description)}")
        if kind not in ONE_DOF:
            raise OptionError(f"{called} is {kind}: only joints with one coordinate are locked")
    values = _followers(joints, dict(given)) if coupled else dict(given)
    made = []
    for joint in description.joints:
        if joint.name in values:
            at = joint.placement.compose(joint.joint_type().placement([values[joint.name]]))
            joint = Joint(joint.name, "fixed", joint.parent, joint.child, at, line=joint.line)
        elif joint.mimic is not None and joint.mimic.leader in values:
            joint = replace(joint, mimic=None)
        made.append(joint)
    notes = []
    for name, value in values.items():
        limits, line = joints[name].limits, joints[name].line
        if not limits.lower <= value <= limits.upper:
            problem = f'--lock: joint "{shown(name)}" is fixed at {value:.6g}, beyond its limits'
            notes.append(Note(f"{problem}, {limits.lower:.6g} and {limits.upper:.6g}", line))
    return replace(description, joints=tuple(made), notes=(*description.notes, *notes))


def _followers(joints: Mapping[str, Joint], values: Mapping[str, float]) -> dict[str, float]:
    """These values, and where joints are that follow those which have them, directly or through others."""
    known = dict(values)
    while more := {
        joint.name: composed(joint.mimic.coefficients, [known[joint.mimic.leader]])[0]
        for joint in joints.values()
        if joint.name not in known and joint.mimic is not None and joint.mimic.leader in known
    }:
        known |= more
    return known


def _moving(description: Description) -> str:
    return ", ".join(shown(joint.name) for joint in description.joints if joint.kind != "fixed")


def _rooted_at(description: Description, base: str) -> Description:
    """The tree hung up at another link: the joints between it and the root are turned round.

    A joint's coordinate means the same as before: its axis points the other way, and it stands in its child.
    """
    names = {link.name for link in description.links}, {joint.name for joint in description.joints}
    if base not in names[0]:
        raise OptionError(f'--base: there is no link "{shown(base)}"')
    carrier = {joint.child: joint for joint in description.joints}
    turned: dict[str, tuple[list[Link], list[Joint]]] = {}
    while base in carrier:
        joint = carrier[base]
        turned[joint.name] = _turned_round(joint, *names)
        base = joint.parent
    links = [*description.links, *(link for more, _ in turned.values() for link in more)]
    joints = [own for joint in description.joints for own in turned.get(joint.name, ([], [joint]))[1]]
    return replace(description, links=tuple(links), joints=tuple(joints))


def _turned_round(joint: Joint, links: set[str], joints: set[str]) -> tuple[list[Link], list[Joint]]:
    """A joint from its child to its parent: with X the joint's frame in the parent, the parent is at
    J^-1 X^-1 in the child. The link without mass in between is there where X is not nothing.
    """
    back = joint.placement.inverse()
    if joint.kind == "fixed":
        return [], [replace(joint, parent=joint.child, child=joint.parent, placement=back)]
    if joint.kind not in ONE_DOF:
        problem = f'joint "{shown(joint.name)}" between it and the root is {joint.kind}'
        raise OptionError(f"--base: {problem}: only joints with one coordinate are turned round")
    round_ = replace(
        joint, parent=joint.child, child=joint.parent, placement=Placement.identity(), axis=-joint.axis
    )
    if joint.placement == Placement.identity():
        return [], [round_]
    between, fixed = free_name(f"{joint.name}_turned", links), free_name(f"{joint.name}_fixed", joints)
    links.add(between)
    joints.add(fixed)
    moving = replace(round_, child=between)
    return [Link(between)], [moving, Joint(fixed, "fixed", between, joint.parent, back, limits=Limits())]

"""Descriptions rearranged before they become models: rotations that are rounded, joints that are locked or
have another armature, another link as the root, frames that are added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from rbdc.errors import OptionError
from rbdc.model.description import Description, Effect, Joint, Limits, Link, Note
from rbdc.model.joints import ONE_DOF
from rbdc.model.joints.coupling import composed
from rbdc.model.options import LIKELY_MEANT, JointNumbers, ModelOptions, Origin
from rbdc.model.xml import free_name, shown
from rbdc.runtime._suggestions import suggestion
from rbdc.spatial import AnyRotation, Placement, Rotation, Vector3

_ROUNDING = 1e-15
_ORTHONORMAL = 4e-15
"""The most that rounding leaves of products of the rows of a rotation."""


def rearranged(description: Description, options: ModelOptions) -> Description:
    """Return the description with its rotations rounded, with the options' armature and frames, its root
    where they want it, and their joints locked.

    The description must make a tree. Raises OptionError for links and joints that it does not have, and for
    joints that cannot be locked or turned round.
    """
    description = _with_armature(_with_snapped_rotations(description, options.snap), options.armature)
    for name, link, numbers in options.frames:
        description = _with_frame(description, name, link, numbers)
    if options.base is not None:
        description = _rooted_at(description, options.base)
    return _locked(description, options.lock, coupled=options.mimic == "coupled")


def _with_armature(description: Description, given: JointNumbers) -> Description:
    """Return the description with some joints' armature in place of its own; OptionError for a joint that it
    does not have, or that is fixed.
    """
    kinds, numbers = {joint.name: joint.kind for joint in description.joints}, dict(given)
    for name in numbers:
        if kinds.get(name, "fixed") == "fixed":
            problem = "is fixed" if name in kinds else "does not exist"
            raise OptionError(f'`armature`: joint "{shown(name)}" {problem}; {_moving(description, name)}')
    joints = [replace(own, armature=numbers.get(own.name, own.armature)) for own in description.joints]
    return replace(description, joints=tuple(joints))


def _with_frame(description: Description, name: str, link: str, numbers: Origin) -> Description:
    """Return a link without mass more, fixed to another at x, y, z (m) and roll, pitch, yaw (rad)."""
    names, joints = {own.name for own in description.links}, {own.name for own in description.joints}
    if link not in names:
        problem = f'`frame`: {shown(name)}: there is no link "{shown(link)}"'
        raise OptionError(f"{problem}; {suggestion(shown(link), map(shown, names))}")
    if not name or name in names:
        raise OptionError(f'`frame`: there is a link "{shown(name)}" already; give the frame another name')
    x, y, z, *angles = numbers
    placement = Placement(Rotation.from_rpy(*angles), Vector3(x, y, z))
    joint = Joint(free_name(f"{name}_fixed", joints), "fixed", link, name, placement)
    links = (*description.links, Link(name))
    return replace(description, links=links, joints=(*description.joints, joint))


def _locked(description: Description, given: JointNumbers, *, coupled: bool) -> Description:
    """Return joints fixed where they are at some values of their coordinates; where mimic joints are
    `coupled`, what follows a locked joint is locked too.
    """
    joints = {joint.name: joint for joint in description.joints}
    for name, _ in given:
        kind = joints[name].kind if name in joints else None
        called = f'`lock`: joint "{shown(name)}"'
        if kind is None:
            raise OptionError(f"{called} does not exist; {_moving(description, name)}")
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
            problem = f'`lock`: joint "{shown(name)}" is fixed at {value:.6g}, beyond its limits'
            message = f"{problem}, {limits.lower:.6g} and {limits.upper:.6g}"
            notes.append(Note(message, line, Effect.ASKED))
    return replace(description, joints=tuple(made), notes=(*description.notes, *notes))


def _followers(joints: Mapping[str, Joint], values: Mapping[str, float]) -> dict[str, float]:
    """Return these values, and where joints are that follow those which have them, directly or through
    others.
    """
    known = dict(values)
    while more := {
        joint.name: composed(joint.mimic.coefficients, [known[joint.mimic.leader]])[0]
        for joint in joints.values()
        if joint.name not in known and joint.mimic is not None and joint.mimic.leader in known
    }:
        known |= more
    return known


def _moving(description: Description, name: str) -> str:
    moving = (shown(joint.name) for joint in description.joints if joint.kind != "fixed")
    return suggestion(shown(name), moving)


def _rooted_at(description: Description, base: str) -> Description:
    """Return the tree hung up at another link: the joints between it and the root are turned round.

    A joint's coordinate means the same as before: its axis points the other way, and it stands in its child.
    """
    names = {link.name for link in description.links}, {joint.name for joint in description.joints}
    if base not in names[0]:
        there = suggestion(shown(base), (shown(own.name) for own in description.links))
        raise OptionError(f'`base`: there is no link "{shown(base)}"; {there}')
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
    """Return a joint from its child to its parent: with X the joint's frame in the parent, the parent is at
    J^-1 X^-1 in the child. The link without mass in between is there where X is not nothing.
    """
    back = joint.placement.inverse()
    if joint.kind == "fixed":
        return [], [replace(joint, parent=joint.child, child=joint.parent, placement=back)]
    if joint.kind not in ONE_DOF:
        problem = f'joint "{shown(joint.name)}" between it and the root is {joint.kind}'
        raise OptionError(f"`base`: {problem}: only joints with one coordinate are turned round")
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


def _with_snapped_rotations(description: Description, snap: float) -> Description:
    """Return the description with entries of joint rotations within `snap` of 0, 1 or -1 rounded, and a note
    that counts them, or that counts what a larger `snap` would round.

    Raises OptionError where the reader has already rounded by more.
    """
    if snap < description.snapped:
        raise OptionError(
            f"snap={snap:g}: the model was read with snap={description.snapped:g}, "
            f"which cannot be undone: give it to rbdc.Model.from_file"
        )
    made = [_snapped_joint(joint, snap) for joint in description.joints]
    notes = _notes(description.joints, made, snap)
    return replace(description, joints=tuple(made), notes=(*description.notes, *notes))


def snapped(rotation: AnyRotation, snap: float) -> Rotation:
    """Return a rotation with what is meant to be 0, 1 or -1, within `snap` or rounding, made so; as it is
    where that leaves no rotation: an entry may also be small as the product of the sines of two small angles
    that are meant.
    """
    snap = max(snap, _ROUNDING)
    rows = [_snapped_row(row, snap) for row in rotation.rows()]
    products = [sum(a * b for a, b in zip(x, y, strict=True)) - float(x is y) for x in rows for y in rows]
    orthonormal = max(map(abs, products)) <= _ORTHONORMAL + snap * snap
    return Rotation.from_rows(rows if orthonormal else rotation.rows())


def _snapped_joint(joint: Joint, snap: float) -> Joint:
    placement = joint.placement
    return replace(joint, placement=Placement(snapped(placement.rotation, snap), placement.translation))


def _snapped_row(row: list[float], snap: float) -> list[float]:
    """Return the row of a rotation with what is meant to be 0, 1 or -1 made so. The cosine of a small angle
    that is meant stays, however close to 1: it becomes 1 only if the others become 0.
    """
    zeroed = [0.0 if abs(entry) <= snap else entry for entry in row]
    tolerance = snap if zeroed.count(0.0) == 2 else _ROUNDING
    return [math.copysign(1.0, entry) if abs(abs(entry) - 1.0) <= tolerance else entry for entry in zeroed]


def _notes(written: tuple[Joint, ...], made: list[Joint], snap: float) -> Iterator[Note]:
    pairs = [(one.placement.rotation, two.placement.rotation) for one, two in zip(written, made, strict=True)]
    what = "entries of joint rotations"
    if moved := sum(_moved(before, after) for before, after in pairs):
        yield Note(f"{moved} {what} within {snap} of 0, 1 or -1 were taken as exactly that")
    if kept := sum(_moved(after, snapped(after, LIKELY_MEANT)) for _, after in pairs):
        remedy = f"`snap={LIKELY_MEANT}` takes them as exact and saves operations"
        yield Note(f"{kept} {what} are within {LIKELY_MEANT} of 0, 1 or -1 and are kept as written; {remedy}")


def _moved(before: AnyRotation, after: AnyRotation) -> int:
    """Return how many entries changed by more than rounding."""
    pairs = zip(chain(*before.rows()), chain(*after.rows()), strict=True)
    return sum(abs(a - b) > _ROUNDING for a, b in pairs)

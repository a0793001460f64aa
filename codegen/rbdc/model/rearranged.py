"""Changes of descriptions before they become models: rounded rotations, locked joints, other armature,
another root link, added frames, universal joints as chains.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from rbdc.errors import DescriptionError, OptionError
from rbdc.model.description import UNIVERSAL, Description, Effect, Joint, Limits, Link, Note
from rbdc.model.joints import ONE_DOF
from rbdc.model.joints.coupling import composed
from rbdc.model.options import LIKELY_MEANT, JointNumbers, ModelOptions, Origin
from rbdc.model.xml import free_name, shown
from rbdc.runtime._suggestions import suggestion
from rbdc.spatial import AnyRotation, Placement, Rotation, Vector3

_ROUNDING = 1e-15
_ORTHONORMAL = 4e-15
"""Largest rounding error of products of the rows of a rotation."""

_PARALLEL = 1e-9
"""Largest sine of the angle between axes that count as parallel."""


def rearranged(description: Description, options: ModelOptions) -> Description:
    """Return the description with its rotations rounded and the options applied: armature, frames, root link,
    locked joints.

    The description must be a tree. Raises OptionError for links and joints that it does not have, and for
    joints that cannot be locked or reversed.
    """
    description = _with_armature(_with_snapped_rotations(description, options.snap), options.armature)
    for name, link, numbers in options.frames:
        description = _with_frame(description, name, link, numbers)
    if options.base is not None:
        description = _rooted_at(description, options.base)
    return _locked(description, options.lock, coupled=options.mimic == "coupled")


def _with_armature(description: Description, armatures: JointNumbers) -> Description:
    """Replace the armature of joints. Raises OptionError for a joint that does not exist or is fixed."""
    kinds, numbers = {joint.name: joint.kind for joint in description.joints}, dict(armatures)
    for name in numbers:
        if kinds.get(name, "fixed") == "fixed":
            problem = "is fixed" if name in kinds else "does not exist"
            raise OptionError(f'`armature`: joint "{shown(name)}" {problem}; {_moving(description, name)}')
    joints = [replace(one, armature=numbers.get(one.name, one.armature)) for one in description.joints]
    return replace(description, joints=tuple(joints))


def _with_frame(description: Description, name: str, link: str, numbers: Origin) -> Description:
    """Return the description with a new link `name` without mass, fixed to `link` at x, y, z (m) and roll,
    pitch, yaw (rad).
    """
    names, joints = {one.name for one in description.links}, {one.name for one in description.joints}
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


def _locked(description: Description, positions: JointNumbers, *, coupled: bool) -> Description:
    """Return the description with joints fixed at values of their coordinates. If mimic joints are `coupled`,
    the followers of a locked joint are locked too.
    """
    joints = {joint.name: joint for joint in description.joints}
    for name, _ in positions:
        kind = joints[name].kind if name in joints else None
        called = f'`lock`: joint "{shown(name)}"'
        if kind is None:
            raise OptionError(f"{called} does not exist; {_moving(description, name)}")
        if kind not in ONE_DOF:
            raise OptionError(f"{called} is {kind}: only joints with one coordinate can be locked")
    values = _followers(joints, dict(positions)) if coupled else dict(positions)
    joints_left = []
    for joint in description.joints:
        if joint.name in values:
            at = joint.placement.compose(joint.joint_type().placement([values[joint.name]]))
            joint = Joint(joint.name, "fixed", joint.parent, joint.child, at, line=joint.line)
        elif joint.mimic is not None and joint.mimic.leader in values:
            joint = replace(joint, mimic=None)
        joints_left.append(joint)
    notes = []
    for name, value in values.items():
        limits, line = joints[name].limits, joints[name].line
        if not limits.lower <= value <= limits.upper:
            problem = f'`lock`: joint "{shown(name)}" is fixed at {value:.6g}, beyond its limits'
            message = f"{problem}, {limits.lower:.6g} and {limits.upper:.6g}"
            notes.append(Note(message, line, Effect.ASKED))
    return replace(description, joints=tuple(joints_left), notes=(*description.notes, *notes))


def _followers(joints: Mapping[str, Joint], values: Mapping[str, float]) -> dict[str, float]:
    """Return the given values, and the values of the joints that follow these joints, directly or through
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
    """Return the tree with the root link `base`: the joints between the old root and the new one are
    reversed.

    The coordinate of a joint keeps its meaning: the axis is reversed, and the joint's frame is fixed in its
    old child.
    """
    names = {link.name for link in description.links}, {joint.name for joint in description.joints}
    if base not in names[0]:
        there = suggestion(shown(base), (shown(each.name) for each in description.links))
        raise OptionError(f'`base`: there is no link "{shown(base)}"; {there}')
    carrier = {joint.child: joint for joint in description.joints}
    turned: dict[str, tuple[list[Link], list[Joint]]] = {}
    while base in carrier:
        joint = carrier[base]
        turned[joint.name] = _turned_round(joint, *names)
        base = joint.parent
    links = [*description.links, *(link for more, _ in turned.values() for link in more)]
    joints = [each for joint in description.joints for each in turned.get(joint.name, ([], [joint]))[1]]
    return replace(description, links=tuple(links), joints=tuple(joints))


def _turned_round(joint: Joint, links: set[str], joints: set[str]) -> tuple[list[Link], list[Joint]]:
    """Return links and joints that replace a joint and lead from its child to its parent. With X the joint's
    frame in the parent and J the joint's motion, the parent is at J^-1 X^-1 in the child. Unless X is the
    identity, a link without mass is inserted between J^-1 and X^-1.
    """
    back = joint.placement.inverse()
    if joint.kind == "fixed":
        return [], [replace(joint, parent=joint.child, child=joint.parent, placement=back)]
    if joint.kind not in ONE_DOF:
        problem = f'joint "{shown(joint.name)}" between this link and the root is {joint.kind}'
        raise OptionError(f"`base`: {problem}: only joints with one coordinate can be reversed")
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
    """Return the description with joint rotations whose entries within `snap` of 0, 1 or -1 are rounded.
    Notes say how many entries were rounded, and how many a larger `snap` would round.

    Raises OptionError if the reader has already rounded by more.
    """
    if snap < description.snapped:
        raise OptionError(
            f"snap={snap:g}: the model was read with snap={description.snapped:g}, "
            f"which cannot be undone: pass snap to rbdc.Model.from_file"
        )
    joints = [_snapped_joint(joint, snap) for joint in description.joints]
    notes = _notes(description.joints, joints, snap)
    return replace(description, joints=tuple(joints), notes=(*description.notes, *notes))


def snapped(rotation: AnyRotation, snap: float) -> Rotation:
    """Return a rotation whose entries within `snap`, or within rounding, of 0, 1 or -1 are rounded.

    Return it unchanged if the rounded rows are not orthonormal. An example is an entry that is the product of
    the sines of two small angles: rounding makes it 0, but keeps the larger sines.
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
    """Return a row of a rotation with entries rounded to 0, 1 or -1. An entry close to 1, such as the cosine
    of a small angle, is rounded only if the two other entries become 0.
    """
    zeroed = [0.0 if abs(entry) <= snap else entry for entry in row]
    tolerance = snap if zeroed.count(0.0) == 2 else _ROUNDING
    return [math.copysign(1.0, entry) if abs(abs(entry) - 1.0) <= tolerance else entry for entry in zeroed]


def _notes(written: tuple[Joint, ...], new: list[Joint], snap: float) -> Iterator[Note]:
    pairs = [(one.placement.rotation, two.placement.rotation) for one, two in zip(written, new, strict=True)]
    what = "entries of joint rotations"
    if moved := sum(_moved(before, after) for before, after in pairs):
        yield Note(f"rounded {moved} {what} that were within {snap} of 0, 1 or -1")
    if count := sum(_moved(after, snapped(after, LIKELY_MEANT)) for _, after in pairs):
        remedy = f"`snap={LIKELY_MEANT}` rounds them and saves operations"
        near = f"within {LIKELY_MEANT} of 0, 1 or -1"
        yield Note(f"{count} {what} are {near} and are kept as written; {remedy}")


def _moved(before: AnyRotation, after: AnyRotation) -> int:
    pairs = zip(chain(*before.rows()), chain(*after.rows()), strict=True)
    return sum(abs(a - b) > _ROUNDING for a, b in pairs)


def without_universal(description: Description) -> Description:
    """Return the description with two revolute joints in place of each universal joint (Cardan, Hooke):
    NAME_1 and NAME_2, with the link NAME_cross between them, which has no mass. Each of the two joints gets
    the limits, damping, friction and armature of the universal joint.

    A universal joint turns by q1 about its axis e1 in the parent, then by q2 about its axis e2 in the child.
    With J the rotation by q2, the motion subspace in the child is S(q) = [J^T e1, e2], and c_J = dS/dt v =
    (J^T e1) x e2 v1 v2. The chain has the same q, v, M and forces: its second body moves by S(q) v, and the
    velocity products of its revolute joints, whose subspaces are constant, are c_J.
    Checked against Pinocchio's universal joint.

    Raises DescriptionError for parallel axes, and for a universal joint that mimics another joint.
    """
    if not any(joint.kind == UNIVERSAL for joint in description.joints):
        return description
    links = {link.name for link in description.links}
    names = {joint.name for joint in description.joints}
    joints, crosses = list[Joint](), list[Link]()
    for joint in description.joints:
        if joint.kind != UNIVERSAL:
            joints.append(joint)
            continue
        _check(description, joint)
        cross = Link(free_name(f"{joint.name}_cross", links), line=joint.line)
        links.add(cross.name)
        crosses.append(cross)
        for half in _halves(joint, cross.name):
            joints.append(replace(half, name=free_name(half.name, names)))
            names.add(joints[-1].name)
    return replace(description, links=(*description.links, *crosses), joints=tuple(joints))


def _halves(joint: Joint, cross: str) -> Iterator[Joint]:
    yield replace(joint, name=f"{joint.name}_1", kind="revolute", child=cross)
    yield replace(
        joint,
        name=f"{joint.name}_2",
        kind="revolute",
        parent=cross,
        placement=Placement.identity(),
        axis=joint.second_axis,
    )


def _check(description: Description, joint: Joint) -> None:
    called = f'joint "{shown(joint.name)}"'
    if joint.mimic is not None:
        problem = f"{called} is universal and follows another"
        raise DescriptionError(
            problem, "only joints with one coordinate can follow", description.file, joint.line
        )
    if joint.stiffness != 0.0:
        problem = f"{called} is universal and has a spring"
        raise DescriptionError(
            problem, "give springs only to joints with one coordinate", description.file, joint.line
        )
    one, other = joint.axis, joint.second_axis
    sizes = [math.hypot(*x.scalars()) for x in (one, other, one.cross(other))]
    if not sizes[2] > _PARALLEL * sizes[0] * sizes[1]:
        problem = f"{called} is universal with parallel axes"
        raise DescriptionError(
            problem, "give two directions that differ, usually x and y", description.file, joint.line
        )

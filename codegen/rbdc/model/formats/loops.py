"""A loop of joints: which joint to leave out of the tree, and the option that holds the joint's links
together instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rbdc.model.bodies import ContactKind
from rbdc.model.description import Joint
from rbdc.model.joints import ONE_DOF, Helical
from rbdc.model.xml import shown
from rbdc.option_fields import asked
from rbdc.spatial import AnyRotation, Placement, Rotation, Vector3

_KINDS = {
    "revolute": ContactKind.REVOLUTE,
    "continuous": ContactKind.REVOLUTE,
    "spherical": ContactKind.POINT,
    "fixed": ContactKind.WELD,
}
"""The kind of loop that constrains the same motion as a joint."""
_PARALLEL = 1e-6
"""Sine of the largest angle between axes that count as parallel: descriptions write about six digits."""
_SYNTAX = "=:@,"
"""Characters that names in the text of a loop must not contain."""


def instead(joints: Sequence[Joint], both: tuple[Joint, Joint]) -> str:
    """Return which of two joints that carry the same link to remove, and the --loop that replaces it.

    A joint that closes a cycle below the link is removed. Without such a joint, the last joint that a loop
    can replace (`_KINDS`) is removed.
    """
    closing = [joint for joint in both if joint.parent in _below(joint.child, joints, both)]
    chosen = [joint for joint in closing or reversed(both) if joint.kind in _KINDS] or [both[-1]]
    joint = chosen[0]
    removed = f'remove joint "{shown(joint.name)}"'
    if joint.parent == joint.child:
        return removed
    if joint.kind not in _KINDS or any(c in _SYNTAX for c in joint.name + joint.parent + joint.child):
        return "remove one of them, and hold its links together with `loop='NAME=KIND@LINK:...=LINK:...'`"
    rest = [other for other in joints if other is not joint]
    return f"{removed} and give {asked('loop', _loop(joint, rest))}"


def _below(link: str, joints: Sequence[Joint], without: Sequence[Joint]) -> set[str]:
    links, waiting = {link}, [link]
    while waiting:
        above = waiting.pop()
        new = {j.child for j in joints if j.parent == above and j not in without} - links
        links |= new
        waiting += new
    return links


def _loop(joint: Joint, rest: Sequence[Joint]) -> str:
    """Return the text of the option: the frame of the joint in its parent and in its child."""
    kind, turn = _KINDS[joint.kind], Rotation.identity()
    if kind is ContactKind.REVOLUTE:
        turn = Rotation.from_z_to(_direction(joint))
        kind = ContactKind.POINT if _in_a_plane(joint, rest) else kind
    whole = kind is not ContactKind.POINT
    frames = (joint.placement.compose(Placement(turn, Vector3.zero())), Placement(turn, Vector3.zero()))
    one, other = (_numbers(frame, whole=whole) for frame in frames)
    return f"{joint.name}={kind.value}@{joint.parent}:{one}={joint.child}:{other}"


def _numbers(frame: Placement, *, whole: bool) -> str:
    numbers = [*frame.translation.scalars(), *(frame.rotation.rpy() if whole else ())]
    return ",".join(f"{round(float(x), 12) + 0.0:.12g}" for x in numbers)


def _direction(joint: Joint) -> Vector3:
    """Return the unit vector along the axis of a joint with one coordinate, in the joint's frame."""
    (column,) = joint.joint_type().subspace()
    return column.linear if joint.kind == "prismatic" else column.angular


def _in_a_plane(joint: Joint, rest: Sequence[Joint]) -> bool:
    """Return whether a loop moves in the plane normal to the axis of one of its joints; then a point
    constrains the same motion as the joint.
    """
    carriers = {part.child: part for part in reversed(rest)}
    one, other = (_chain(link, carriers) for link in (joint.parent, joint.child))
    loop = [part for part in (*one, *other) if (part in one) != (part in other)]
    normal = _turned(one, joint)
    return all(
        part.kind == "fixed" or (part.kind in ONE_DOF and _keeps(part, _turned(chain, part), normal))
        for part in loop
        for chain in [_chain(part.parent, carriers)]
    )


def _keeps(joint: Joint, axis: Vector3, normal: Vector3) -> bool:
    """Return whether a joint moves everything within planes with this normal."""
    if joint.kind == Helical.kind:
        return False
    if joint.kind == "prismatic":
        return abs(float(axis.dot(normal))) < _PARALLEL
    return math.hypot(*axis.cross(normal).scalars()) < _PARALLEL


def _chain(link: str, carriers: dict[str, Joint]) -> list[Joint]:
    chain: list[Joint] = []
    while link in carriers and carriers[link] not in chain:
        chain.append(carriers[link])
        link = chain[-1].parent
    return chain


def _turned(chain: Sequence[Joint], joint: Joint) -> Vector3:
    """Return the axis of the joint at the end of a chain, in the root's axes, at zero coordinates."""
    turn: AnyRotation = Rotation.identity()
    for carrier in reversed(chain):
        turn = turn.compose(carrier.placement.rotation)
    return turn.compose(joint.placement.rotation).apply(_direction(joint))

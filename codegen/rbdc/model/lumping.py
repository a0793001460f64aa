"""Lumping of a description: order joints, merge fixed links into bodies, assign degrees of freedom."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.errors import DescriptionError
from rbdc.model.bodies import WORLD, Body, Contact, ContactKind, Frame
from rbdc.model.description import (
    DRIVE_NUMBERS,
    STANDARD_GRAVITY,
    Actuator,
    Description,
    Effect,
    Joint,
    Link,
    Note,
    measurable,
)
from rbdc.model.joints.coupling import Coupling, composed, reach
from rbdc.model.numbers import in_floats
from rbdc.model.options import Gravity, ModelOptions, RootJoint
from rbdc.model.rearranged import rearranged, without_universal
from rbdc.model.validation import mimic_problem, negative_moment, validate
from rbdc.model.xml import shown
from rbdc.spatial import Inertia, Placement, Vector3

ROOT_JOINT_NAME = "root_joint"
"""The name of a free-flyer root's joint, as in Pinocchio."""

_X, _Y, _Z = Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)
_SHIFTS = (("x", "prismatic", _X), ("y", "prismatic", _Y), ("z", "prismatic", _Z))
_ROLL, _PITCH, _YAW = (("roll", "revolute", _X), ("pitch", "revolute", _Y), ("yaw", "revolute", _Z))

CHAINS: Mapping[RootJoint, tuple[tuple[str, str, Vector3], ...]] = {
    "free-flyer-rpy": (*_SHIFTS, _ROLL, _PITCH, _YAW),
    "free-flyer-zyx": (*_SHIFTS, _YAW, _PITCH, _ROLL),
}
"""Free roots with Euler angles: name, kind and axis of each joint, from the world on. The root link is at
x, y, z and turned by Rx(roll) Ry(pitch) Rz(yaw), or by Rz(yaw) Ry(pitch) Rx(roll), which is URDF's rpy.
Checked against Pinocchio's composite of a translation and spherical ZYX.
"""


def lumped(written: Description, options: ModelOptions) -> dict[str, Any]:
    """Return the fields of the `Model` of a description under options, by name.

    Raises OptionError for an option that cannot be applied, DescriptionError for a description that is not a
    robot.
    """
    written = without_universal(written)
    validate(written)  # rearranging needs a tree
    description = rearranged(written, options)
    field, gravity_notes = _gravity(description, options)
    coupled = options.mimic == "coupled"
    notes = validate(description, coupled=coupled, included=options.drive_terms)
    description = in_floats(description)
    by_name = options.joint_order == "name" and not description.in_order
    walk = _Walk(description, options.root_joint, by_name)
    if not walk.bodies:
        raise DescriptionError(
            "nothing moves: every joint is fixed",
            "describe a joint that moves, or give `root_joint='free-flyer'`",
            description.file,
        )
    _check_magnitudes(description, walk)
    notes += _indefinite_notes(description, walk, allow=options.allow_invalid_inertia)
    bodies, coupling_notes = _couple(description, walk.bodies, coupled)
    bodies, nq, nv = numbered(bodies)
    loops, idle_notes = _loops(description, walk.frames)
    bent = {body.joint_name for body in bodies if body.coupling is not None and body.coupling.higher}
    moving = {body.joint_name for body in bodies}
    acting = [replace(m, gains=tuple(g for g in m.gains if g[0] in moving)) for m in description.actuators]
    actuators, actuator_notes = of_others([motor for motor in acting if motor.gains], bent)
    notes += [*idle_notes, *coupling_notes, *_namesake_notes(description, options.root_joint)]
    notes += [*_massless_notes(bodies), *gravity_notes, *actuator_notes]
    return {
        "name": description.name,
        "bodies": tuple(bodies),
        "frames": tuple(walk.frames),
        "nq": nq,
        "nv": nv,
        "base_inertia": walk.base_inertia,
        "gravity": Vector3(*field),
        "notes": (*description.notes, *notes),
        "file": description.file,
        "description_hash": description.text_hash,
        "loops": tuple(loops),
        "actuators": tuple(actuators),
    }


def of_others(actuators: Sequence[Actuator], bent: Collection[str]) -> tuple[list[Actuator], list[Note]]:
    """Return the motors, except motors on joints that follow others along curves (not linearly), and notes on
    the omitted motors.
    """
    left_out = [actuator for actuator in actuators if any(joint in bent for joint, *_ in actuator.gains)]
    what = "acts on a joint that does not follow its leader linearly: it is not in the actuation matrix"
    notes = [Note(f'actuator "{shown(actuator.name)}" {what}') for actuator in left_out]
    return [actuator for actuator in actuators if actuator not in left_out], notes


def _loops(description: Description, frames: Sequence[Frame]) -> tuple[list[Contact], list[Note]]:
    """Return the loops of a description, moving side first. Loops between links that do not move relative to
    each other are left out, with notes.
    """
    known = {frame.name: frame for frame in frames}
    loops, notes = [], []
    for loop in description.loops:
        first, second = (
            replace(known[link], placement=known[link].placement.compose(placement))
            for link, placement in (loop.first, loop.second)
        )
        if first.body == WORLD:
            first, second = second, first
        if first.body != second.body:
            kind = ContactKind(loop.kind)
            loops.append(Contact(loop.name, kind, first, second, tuple(range(kind.components))))
            continue
        name, one, other = (shown(named.name) for named in (loop, first, second))
        problem = f'"{one}" and "{other}" do not move relative to each other'
        notes.append(Note(f'loop "{name}" is ignored: {problem}'))
    return loops, notes


def _gravity(description: Description, options: ModelOptions) -> tuple[Gravity, list[Note]]:
    """Return gravity from the options or else from the description, with a note if it is not the standard
    one.
    """
    standard = tuple(STANDARD_GRAVITY.scalars())
    field = options.gravity or ModelOptions(gravity=description.gravity).gravity or standard
    if options.gravity is not None or field == standard:
        return field, []
    return field, [Note(f"gravity is taken from the description: {' '.join(map(repr, field))}")]


def root_joints(kind: RootJoint, root: str) -> list[Joint]:
    """Return the joints that carry the link `root`, from the world on: one joint, or six joints and between
    them links that have the joints' names.
    """
    if kind not in CHAINS:
        return [Joint(ROOT_JOINT_NAME, "floating" if kind == "free-flyer" else "fixed", "", root)]
    names = [f"root_{name}" for name, *_ in CHAINS[kind]]
    links = ["", *names[:-1], root]
    return [
        Joint(name, part, above, child, axis=axis)
        for name, (_, part, axis), above, child in zip(names, CHAINS[kind], links, links[1:], strict=False)
    ]


class _Walk:
    """Depth-first walk from the root's joint over all links; siblings by joint name or as listed."""

    def __init__(self, description: Description, root_joint: RootJoint, by_name: bool) -> None:
        self.bodies: list[Body] = []
        self.frames: list[Frame] = []
        self.links: list[Link] = []
        """The link of each frame."""
        self.base_inertia = Inertia.zero()
        links = {link.name: link for link in description.links}
        children: dict[str, list[Joint]] = {}
        for joint in sorted(description.joints, key=lambda j: j.name) if by_name else description.joints:
            children.setdefault(joint.parent, []).append(joint)
        carried = {joint.child for joint in description.joints}
        root = next(link.name for link in description.links if link.name not in carried)
        *above_root, last = root_joints(root_joint, root)
        for joint in above_root:
            self._add_body(joint, len(self.bodies) - 1, Placement.identity())
        waiting = [(last, Frame("", len(self.bodies) - 1 if self.bodies else WORLD, Placement.identity()))]
        while waiting:
            joint, above = waiting.pop()
            self._visit(links[joint.child], joint, above)
            frame = self.frames[-1]
            waiting += [(below, frame) for below in reversed(children.get(joint.child, []))]

    def _visit(self, link: Link, joint: Joint, above: Frame) -> None:
        """Record the frame of a link, append a body if the joint moves, and add the link's inertia to the
        body that carries the link.
        """
        body, placement = above.body, above.placement.compose(joint.placement)
        if joint.kind != "fixed":
            self._add_body(joint, body, placement)
            body, placement = len(self.bodies) - 1, Placement.identity()
        self.frames.append(Frame(link.name, body, placement))
        self.links.append(link)
        inertia = Inertia.zero() if link.inertia is None else link.inertia.moved(placement)
        if body == WORLD:
            self.base_inertia = self.base_inertia + inertia
        else:
            self.bodies[body] = replace(self.bodies[body], inertia=self.bodies[body].inertia + inertia)

    def _add_body(self, joint: Joint, parent: int, placement: Placement) -> None:
        drive = {name: getattr(joint, name) for name in DRIVE_NUMBERS}
        body = Body(
            joint.child, joint.name, joint.joint_type(), parent, placement, Inertia.zero(), joint.limits,
            index_q=0, index_v=0, described=joint.kind, **drive,
        )  # fmt: skip
        self.bodies.append(body)


def _check_magnitudes(description: Description, walk: _Walk) -> None:
    """Raise DescriptionError if combined numbers of links are too large."""
    for frame, link in zip(walk.frames, walk.links, strict=True):
        inertia = walk.base_inertia if frame.body == WORLD else walk.bodies[frame.body].inertia
        if not measurable(*frame.placement.scalars(), *inertia.scalars()):
            problem = f'link "{shown(frame.name)}" has a position or a mass that is too large'
            raise DescriptionError(problem, "give metres and kilograms", description.file, link.line)


def _indefinite_notes(description: Description, walk: _Walk, *, allow: bool) -> list[Note]:
    """Return notes on links with indefinite inertia. Raise DescriptionError if the moving body of the link
    has an indefinite inertia too, unless `allow`.

    Only the sum over a body's links enters the equations of motion. For links fixed to the world, only mass
    and centre of mass count, in `com` and `potential_energy`.
    """
    notes = []
    for frame, link in zip(walk.frames, walk.links, strict=True):
        moment = None if link.inertia is None else negative_moment(link.inertia)
        if moment is None:
            continue
        problem = f'link "{shown(link.name)}" has an inertia with the negative principal moment {moment:.6g}'
        if frame.body == WORLD:
            notes.append(Note(f"{problem}: it does not move, so its moments have no effect", link.line))
        elif negative_moment(walk.bodies[frame.body].inertia) is None:
            reason = "the sum over the links of its body has no negative moment"
            notes.append(Note(f"{problem}: used as written, because {reason}", link.line))
        elif allow:
            message = f"{problem}: used as written; forward dynamics may not be defined"
            notes.append(Note(message, link.line, Effect.ASKED))
        else:
            remedy = (
                "a body's inertia is positive semi-definite: "
                "check the signs of ixy, ixz, iyz, or give `allow_invalid_inertia=True`"
            )
            raise DescriptionError(problem, remedy, description.file, link.line)
    return notes


def _couple(description: Description, bodies: list[Body], coupled: bool) -> tuple[list[Body], list[Note]]:
    """Return the bodies and notes. Mimic joints get the coupling to the final leader of their chain: the
    composition of the chain's polynomials.
    """
    joints = {joint.name: joint for joint in description.joints}
    followers = [
        j
        for j in description.joints
        if j.mimic and j.kind != "fixed" and not mimic_problem(j, j.mimic.leader, joints)[0]
    ]
    if not followers:
        return bodies, []
    line = followers[0].line
    if not coupled:
        problem = "mimic joints are taken as independent; `mimic='coupled'` removes them from q"
        return bodies, [Note(f"{len(followers)} {problem}", line, Effect.ALL)]
    index = {body.joint_name: k for k, body in enumerate(bodies)}
    result = list(bodies)
    notes = [Note(f"{len(followers)} mimic joints follow their leaders and have no entries in q", line)]
    for joint in followers:
        curve, leader = [0.0, 1.0], joint
        while leader.mimic is not None:  # q_joint is the polynomial `curve` of q_leader
            curve, leader = composed(curve, leader.mimic.coefficients), joints[leader.mimic.leader]
        if not measurable(*curve):
            follows = f'joint "{shown(joint.name)}" follows "{shown(leader.name)}"'
            problem = f"{follows} to positions that are too large"
            raise DescriptionError(problem, "give metres and radians", description.file, joint.line)
        offset, multiplier, *higher = curve
        coupling = Coupling(index[leader.name], multiplier, offset, tuple(higher))
        result[index[joint.name]] = replace(result[index[joint.name]], coupling=coupling)
        least, most = reach(curve, leader.limits.lower, leader.limits.upper)
        if least < joint.limits.lower - 1e-9 or most > joint.limits.upper + 1e-9:
            problem = "leaves its limits, which are ignored, at positions within its leader's limits"
            notes.append(Note(f'joint "{shown(joint.name)}" {problem}', joint.line))
    return result, notes


def numbered(bodies: list[Body]) -> tuple[list[Body], int, int]:
    """Return the bodies with the indices of their joints in q and v; a follower has those of its leader."""
    nq = nv = 0
    placed: list[Body] = []
    for body in bodies:
        placed.append(replace(body, index_q=nq, index_v=nv))
        if body.coupling is None:
            nq, nv = nq + body.joint.nq, nv + body.joint.nv
    for k, body in enumerate(placed):
        if body.coupling is not None:
            leader = placed[body.coupling.leader]
            placed[k] = replace(body, index_q=leader.index_q, index_v=leader.index_v)
    return placed, nq, nv


def _namesake_notes(description: Description, root_joint: RootJoint) -> list[Note]:
    problem = "has the name of a joint of the free root: rename it"
    names = {joint.name for joint in root_joints(root_joint, "") if joint.kind != "fixed"}
    return [
        Note(f'joint "{shown(joint.name)}" {problem}', joint.line)
        for joint in description.joints
        if joint.name in names and joint.kind != "fixed"
    ]


def _massless_notes(bodies: list[Body]) -> list[Note]:
    heavy = [body.armature != 0.0 or any(x != 0.0 for x in body.inertia.scalars()) for body in bodies]
    for k in reversed(range(len(bodies))):
        if heavy[k] and bodies[k].parent != WORLD:
            heavy[bodies[k].parent] = True
    names = [f'"{shown(body.name)}"' for body, has in zip(bodies, heavy, strict=True) if not has]
    if not names:
        return []
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [Note(f"no link in the subtree of {listed} has mass: forward dynamics is not defined")]

"""Choice of link frames. The frame of each one-dof joint may rotate about its z axis and slide along it; the
search minimises the operations of the recursions, which `work_of` estimates.

A rotation can zero gamma in a child's rotation Rz(gamma) Rx(alpha) Rz(theta), put a child's offset on an
axis, or zero an inertial parameter. A translation can zero a component of an offset, or an inertial
parameter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rbdc.model import WORLD
from rbdc.model.joint_space import ROUNDING, JointSpaceBody, JointSpaceModel, about_z, right_angles
from rbdc.reduction.z_axes import largest, reframed
from rbdc.spatial import Placement, Vector3

FARTHEST = 2.0
"""Largest translation of a frame, relative to the robot's longest offset. Nearly parallel axes meet
kilometres away; a translation so far would lose digits.
"""


def work_of(body: JointSpaceBody) -> int:
    """Return the work that a body causes in the recursions, from its nonzero constants. A root has one axis
    and passes no force on, so its inertial parameters count half and its offset does not count.

    The weight of a constant is about half of the operations that it causes in two evaluations of inverse
    dynamics and one of composite inertias. Counting the operations themselves led to frames with the same
    work for every robot in `rbdc.robots`, except for TIAGo if frames do not slide (0.998 of the work).
    """
    first, second, offset = (
        sum(float(x) != 0.0 for x in part.scalars())
        for part in (body.inertia.first_moment, body.inertia.second_moments(), body.placement.translation)
    )
    numbers = 2 * first + second
    turned = 16 * sum(0.0 not in (turn.c, turn.s) for turn in (body.gamma, body.alpha))
    turned += right_angles(body.theta) is None
    return turned + (numbers if body.parent == WORLD else 2 * (numbers + 2 * offset))


def searched(model: JointSpaceModel, *, slide: bool = True) -> JointSpaceModel:
    """Before: a regrouped joint-space model. After: the same model with frames that minimise the sum of
    `work_of`, greedily. Without `slide` origins do not move.
    """
    bodies = list(model.bodies)
    children = [model.children(index) for index in range(model.njoints)]
    farthest = (
        FARTHEST * max((largest(body.placement.translation) for body in bodies), default=0.0)
        if slide
        else 0.0
    )
    before: list[JointSpaceBody] = []
    while bodies != before:  # each change reduces the work
        before = list(bodies)
        for index in range(model.njoints):
            _improve(bodies, index, children, farthest)
    return replace(model, bodies=tuple(bodies))


def _improve(
    bodies: list[JointSpaceBody], index: int, children: Sequence[Sequence[int]], farthest: float
) -> None:
    """Try every move of one link's frame, also together with descendants (`_runs`), and keep the best."""
    if bodies[index].joint.main_axis() is None:
        return
    saved, best = 0, {}
    for run in _runs(bodies, index, children):
        touched = sorted({k for member in run for k in (member, *children[member])})
        start = {k: bodies[k] for k in touched}
        work = sum(map(work_of, start.values()))
        leaving = [bodies[k] for k in touched if k not in run]
        for slide in (x for x in _slides([bodies[k] for k in run], leaving) if abs(x) <= farthest):
            slid = start
            for k, sign in run.items():
                slid = _moved(slid, k, children[k], 0.0, sign * slide)
            alone = len(run) == 1
            for angle in _angles(slid[index], [slid[k] for k in children[index]]) if alone else [0.0]:
                moved = _moved(slid, index, children[index], angle, 0.0)
                less = work - sum(map(work_of, moved.values()))
                if less > saved:
                    saved, best = less, moved
    for k, body in best.items():
        bodies[k] = body


def _runs(
    bodies: Sequence[JointSpaceBody], index: int, children: Sequence[Sequence[int]]
) -> list[dict[int, int]]:
    """Return runs of links on parallel axes: the link alone, then with children, then with grandchildren, and
    so on. Each link has the sign 1, or -1 if its axis is opposite to the first one.
    """
    runs = [{index: 1}]
    last = {index: 1}
    while last:
        last = {
            k: sign * round(bodies[k].alpha.c)
            for member, sign in last.items()
            for k in children[member]
            if bodies[k].joint.rotation == "angle" and bodies[k].alpha.s == 0.0
        }
        if last:
            runs.append({**runs[-1], **last})
    return runs


def _angles(body: JointSpaceBody, children: Sequence[JointSpaceBody]) -> list[float]:
    """Return candidate rotations (rad)."""
    h, k = body.inertia.first_moment, body.inertia.second_moments()
    angles = [
        0.0,
        -body.theta,
        math.atan2(h.y, h.x),
        math.atan2(k.yz, k.xz),
        0.5 * math.atan2(2.0 * k.xy, k.xx - k.yy),
    ]
    for child in children:
        offset = child.placement.translation
        angles += [math.atan2(child.gamma.s, child.gamma.c), math.atan2(offset.y, offset.x)]
    quarter = math.pi / 2.0
    return list(dict.fromkeys(angle + turn * quarter for angle in angles for turn in (0, 1)))


def _slides(run: Sequence[JointSpaceBody], children: Sequence[JointSpaceBody]) -> list[float]:
    """Return candidate translations (m) of a run along its first axis; only 0 for a prismatic joint, whose
    zero second moments a translation would make nonzero.
    """
    body = run[0]
    if body.joint.rotation == "none":
        return [0.0]
    p, axis = body.placement.translation, body.placement.rotation.z
    slides = [0.0, *(turn * child.placement.translation.z for child in children for turn in (1.0, -1.0))]
    slides += [-x / n for x, n in zip(p.scalars(), axis.scalars(), strict=True) if abs(n) > ROUNDING]
    for member in run:
        h, k = member.inertia.first_moment, member.inertia.second_moments()
        slides += [second / first for first, second in ((h.x, k.xz), (h.y, k.yz)) if first != 0.0]
    return list(dict.fromkeys(float(x) for x in slides))


def _moved(
    bodies: dict[int, JointSpaceBody], index: int, children: Sequence[int], angle: float, slide: float
) -> dict[int, JointSpaceBody]:
    if angle == 0.0 and slide == 0.0:
        return bodies
    move = Placement(about_z(angle, 0.0), Vector3(0.0, 0.0, slide))
    seen = {k: reframed(bodies[k], move, None) for k in children}
    return {**bodies, index: reframed(bodies[index], None, move), **seen}

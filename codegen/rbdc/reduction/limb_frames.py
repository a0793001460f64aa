"""Frames of isomorphic limbs (`rbdc.reduction.limbs`): in a group, the frames of all limbs are chosen like
those of the first limb.

Each link's frame may be rotated by quarter turns about z. It may also be turned over, which reverses the
joint. The chosen rotations put the zeros of all limbs' constants into the same places; few constants differ
in sign.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rbdc.model import WORLD
from rbdc.model.joint_space import ROUNDING, JointSpaceBody, JointSpaceModel, about_z
from rbdc.reduction.limbs import THETA, LimbGroup, constants
from rbdc.reduction.z_axes import reframed
from rbdc.spatial import Placement, Rotation, Vector3
from rbdc.spatial.vectors import AXES

OTHER_ZERO, OTHER_THETA, BACKWARDS, OTHER_TURN, OTHER_NUMBER = 100.0, 0.5, 2.0, 1.5, 0.05
"""Costs of differences between limbs, in this order: a constant that is zero in one limb only, a different
theta, a reversed joint, a different sine or cosine of a fixed angle, any other different number.

Limbs run in lanes of one program. If the direction of a joint or the sign of a fixed angle differs, each use
of it costs a multiplication by a sign. Other different constants cost no operation.

Operations with these costs / with an earlier search, which chose body by body and charged different numbers
as much as different signs:

HyQ: rnea 477 / 490, M 217 / 234, aba 992 / 1019, derivatives of rnea 1681 / 1759.
Unitree G1: rnea 1909 / 1946, M 1831 / 1915, aba 4299 / 4378, derivatives of rnea 12063 / 12421.
"""


_TURNS = tuple(
    Placement(turn, Vector3.zero())
    for over in (Rotation.from_z_to(z) for z in (AXES[2], -AXES[2]))
    for turn in (about_z(quarter * math.pi / 2.0, 0.0).compose(over) for quarter in range(4))
)
"""Rotations of a frame: quarter turns about z, the identity first; then the same turns after turning over."""
_OVER = 4
"""Index of the first rotation that turns the frame over."""


def aligned(model: JointSpaceModel, limbs: Sequence[LimbGroup]) -> tuple[JointSpaceModel, list[float]]:
    """Return the joint-space model with the frames of all limbs of a group like those of the first limb, and
    the sign of each body's joint, -1 if it was reversed.

    Dynamic programming from the leaves to the root minimises the cost over all rotations of all frames: a
    link's constants depend only on the rotations of its frame and of its parent's frame.
    """
    like = {other: first for group in limbs for first, *others in group.lanes() for other in others}

    least: dict[tuple[int, int], tuple[float, int]] = {}

    def cost(index: int, above: int, turn: int) -> float:
        """Return the least cost of a subtree for rotations of its root (`turn`) and of the root's parent
        (`above`).
        """
        total = sum(least[child, turn][0] for child in model.children(index))
        if index in like:
            turned = reframed(model.bodies[index], _TURNS[above], _TURNS[turn])
            total += _difference(model.bodies[like[index]], turned)
        return total + (BACKWARDS if turn >= _OVER else 0.0)

    choices = {index: range(len(_TURNS) if index in like else 1) for index in range(WORLD, model.njoints)}
    for index in reversed(range(model.njoints)):
        for above in choices[model.bodies[index].parent]:
            least[index, above] = min((cost(index, above, turn), turn) for turn in choices[index])

    turns: dict[int, int] = {WORLD: 0}
    bodies, signs = list(model.bodies), [1.0] * model.njoints
    for index, body in enumerate(model.bodies):
        above = turns[body.parent]
        turns[index] = least[index, above][1]
        if index in like or above:
            bodies[index] = reframed(body, _TURNS[above], _TURNS[turns[index]])
        signs[index] = -1.0 if turns[index] >= _OVER else 1.0
    return replace(model, bodies=tuple(bodies)), signs


def _difference(one: JointSpaceBody, other: JointSpaceBody) -> float:
    total = 0.0
    for k, (x, y) in enumerate(zip(constants(one), constants(other), strict=True)):
        if k != THETA and (abs(x) < ROUNDING) != (abs(y) < ROUNDING):
            total += OTHER_ZERO
        elif abs(x - y) > 1e-9 * max(abs(x), abs(y)):
            total += OTHER_TURN if k < THETA else OTHER_THETA if k == THETA else OTHER_NUMBER
    return total

"""The work that a body gives to the recursions, counted without CasADi: what the search for link frames makes
small.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rbdc.algorithms.dynamics.newton_euler import BodyMotion, Spin, body_motion, wrench
from rbdc.model.joint_space import JointSpaceBody, cosine_and_sine
from rbdc.model.joints import JointType
from rbdc.model.tree import WORLD
from rbdc.spatial import AnyRotation, MomentInertia, Placement, Rotation, Symmetric3, Vector3
from rbdc.spatial.axis_rotations import AxisRotation, rotation_product


class Counted:
    """A scalar without a value that counts what is done with it; operations with 0 and +-1 are free, as they
    are folded.
    """

    def __init__(self, tally: list[int]) -> None:
        self.tally = tally

    def _one(self) -> Counted:
        self.tally[0] += 1
        return self

    def __add__(self, other: Any) -> Any:
        return self if isinstance(other, float) and other == 0.0 else self._one()

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float) and other in (0.0, 1.0, -1.0):
            return 0.0 if other == 0.0 else self
        return self._one()

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self

    def elementary(self, name: str, *arguments: Any) -> Any:
        """sin and cos: the same for every frame, so they do not count."""
        del name, arguments
        return self


def work_of(body: JointSpaceBody) -> int:
    """Additions and multiplications of one body: twice those of inverse dynamics, once those of composing
    inertias.
    """
    h, k, p = body.inertia.first_moment, body.inertia.second_moments(), body.placement.translation
    zeros = tuple(float(x) == 0.0 for x in (body.inertia.mass, *h.scalars(), *k.scalars(), *p.scalars()))
    turned = tuple(_kinds(angle) for angle in (body.gamma, body.alpha))
    return _work(body.joint, turned, 0.0 in cosine_and_sine(body.theta), zeros, body.parent == WORLD)


def _kinds(angle: float) -> tuple[float, float]:
    """Its cosine and sine: 0, 1 and -1 as they are, anything else the same."""
    c, s = (x if x in (0.0, 1.0, -1.0) else 0.5 for x in cosine_and_sine(angle))
    return c, s


@lru_cache(maxsize=100_000)
def _work(
    joint: JointType,
    turned: tuple[tuple[float, float], ...],
    straight: bool,
    zeros: tuple[bool, ...],
    root: bool,
) -> int:
    tally = [0]

    def vector() -> Vector3:
        return Vector3(*(Counted(tally) for _ in range(3)))

    m, hx, hy, hz, *k, px, py, pz = (0.0 if zero else 0.7 for zero in zeros)
    inertia = MomentInertia(m, Vector3(hx, hy, hz), Symmetric3(*k))
    own: AnyRotation = Rotation.identity()
    if joint.rotation == "angle":
        own = AxisRotation("z", Counted(tally), Counted(tally))
    steps: list[AnyRotation] = [AxisRotation("z", *turned[0]), AxisRotation("x", *turned[1]), own]
    placement = Placement(rotation_product(steps), Vector3(px, py, pz))
    tally[0] += 0 if straight else 1
    rates = [joint.motion([Counted(tally) for _ in range(joint.nv)]) for _ in range(2)]
    above = (
        None
        if root
        else (BodyMotion(vector(), vector(), vector()), Spin((vector(), vector(), vector()), vector()))
    )
    motion = body_motion(placement, above, rates[0], rates[1], Vector3(0.0, 0.0, -0.7))
    force = wrench(inertia, motion, Spin.of(motion.w, motion.alpha))
    if not root:
        placement.act_force(force)
    tally[0] *= 2
    if not root:
        MomentInertia(
            0.0 if m == 0.0 else Counted(tally), vector(), Symmetric3(*(Counted(tally) for _ in range(6)))
        ).moved(placement)
    return tally[0]

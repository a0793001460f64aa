"""The motion of bodies and the forces that it requires. `BodyMotion` uses the bodies' frames and the
classical acceleration of each origin; `SpatialMotion` uses spatial vectors.

Derivation. A body turns with w (rad/s) and alpha (rad/s^2), and its origin accelerates by a (m/s^2). With U =
[alpha] + [w][w] a point at r accelerates by a + U r. Mass m, first moment h = sum m r and second moments K
= sum m r r^T then give the wrench about the origin:

    F = sum m (a + U r)     = m a + U h
    N = sum m r x (a + U r) = h x a + n,   n_x = sum_k (K_yk U_zk - K_zk U_yk), and cyclic

With the entries of U, of which U_zz - U_yy = w_z^2 - w_y^2,

    n_x = K_yy U_zy - K_zz U_yz + K_yz (w_z^2 - w_y^2) + K_xy U_zx - K_xz U_yx

A child's frame lies at P, turned by R, in its parent's. If the child moves with the parent, the child's w,
alpha and a are R^T w, R^T alpha and R^T (a + U P) of the parent. The joint adds the velocity (v_J, w_J) = S
qdot, which is constant in the child's frame. This frame turns by w + w_J, and v_J moves its origin past the
points of the parent, which turn by w. With w, alpha and a in the child's frame,

    w_child = w + w_J
    alpha_child = alpha + S_angular qddot + w x w_J
    a_child = a + S_linear qddot + (w + w_J) x v_J + w x v_J

Gravity is an acceleration -g of the world.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from rbdc.algorithms.tools.machine import Array, Body, Machine, Quantity
from rbdc.errors import UnsupportedError
from rbdc.model.joints import JointType
from rbdc.spatial import Force, Motion, Placement, RigidInertia, Scalar, Vector3
from rbdc.spatial.scalars import is_zero


@dataclass(frozen=True)
class Spin:
    """U = [alpha] + [w][w].

    rows: its entries by row.
    differences: differences of its diagonal, which n needs.
    """

    rows: tuple[Vector3, Vector3, Vector3]
    differences: Vector3

    @staticmethod
    def of(w: Vector3, alpha: Vector3) -> Spin:
        """Return U of an angular velocity (rad/s) and acceleration (rad/s^2)."""
        xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
        xy, yz, xz = w.x * w.y, w.y * w.z, w.x * w.z
        rows = (
            Vector3(-(yy + zz), xy - alpha.z, xz + alpha.y),
            Vector3(xy + alpha.z, -(xx + zz), yz - alpha.x),
            Vector3(xz - alpha.y, yz + alpha.x, -(xx + yy)),
        )
        return Spin(rows, Vector3(zz - yy, xx - zz, yy - xx))

    def times(self, r: Vector3) -> Vector3:
        """Return U r."""
        return Vector3(*(row.dot(r) for row in self.rows))


class AnyMotion(ABC):
    """The motion of a body, in the body's frame or in the common frame of a machine.

    law: formula of its wrench.
    """

    law: ClassVar[str]

    @abstractmethod
    def named(self) -> list[tuple[str, str, list[Scalar]]]:
        """Return formulas, symbols and their values, for comments in the C."""

    @abstractmethod
    def seen_from(self, placement: Placement) -> Self:
        """Return this motion of a parent as the motion of a child that moves along, in the frame of the
        child.
        """

    @abstractmethod
    def moved_by_joint(self, b: Body, seconds: Sequence[Scalar]) -> Self:
        """Return the motion after the body's joint has added its motion; `seconds` are the joint's
        accelerations.
        """

    @abstractmethod
    def wrench(self, inertia: RigidInertia) -> Force:
        """Return the wrench that the motion of a body requires."""

    def without_own(self, joint: JointType) -> tuple[Self, list[Scalar]]:
        """Return the motion without its acceleration along the joint's directions, and the joint
        accelerations that cancel this acceleration. Directions that are not along an axis keep theirs, with
        the joint acceleration zero.
        """
        raise UnsupportedError(f"{type(self).__name__} does not choose accelerations of joints")

    def at_rest(self) -> Self:
        """Return the motion with zero linear velocity."""
        return self


MotionKind = TypeVar("MotionKind", bound=AnyMotion)


@dataclass(frozen=True)
class BodyMotion(AnyMotion):
    """The motion of a body in its own frame.

    w, alpha: angular velocity and acceleration (rad/s, rad/s^2).
    a: classical acceleration of the origin (m/s^2).
    spin: U.
    """

    law = "F = m a + U h, N = h x a + n(U, K): wrench of the motion, moments h and K"
    w: Vector3
    alpha: Vector3
    a: Vector3
    spin: Spin

    @staticmethod
    def turning(w: Vector3, alpha: Vector3, a: Vector3) -> BodyMotion:
        """Return the motion with these w, alpha and a."""
        return BodyMotion(w, alpha, a, Spin.of(w, alpha))

    @staticmethod
    def of_world(gravity: Vector3) -> BodyMotion:
        """Return the motion of the world, which accelerates by -g."""
        return BodyMotion.turning(Vector3.zero(), Vector3.zero(), -gravity)

    @staticmethod
    def of(scalars: Sequence[Scalar]) -> BodyMotion:
        """Rebuild a motion from its `scalars`, without `Spin.differences`, which children do not need."""
        w, alpha, a, *rows = (Vector3.of(scalars[k : k + 3]) for k in range(0, 18, 3))
        return BodyMotion(w, alpha, a, Spin((rows[0], rows[1], rows[2]), Vector3.zero()))

    def scalars(self) -> list[Scalar]:
        """Return eighteen numbers: w, alpha, a, the rows of U."""
        return [x for row in (self.w, self.alpha, self.a, *self.spin.rows) for x in row.scalars()]

    def named(self) -> list[tuple[str, str, list[Scalar]]]:
        formula = "w, alpha, a: angular velocity, angular and linear acceleration; U = [alpha] + [w][w]"
        return [(formula, "m", self.scalars()[:9])]

    def seen_from(self, placement: Placement) -> Any:
        r, point = placement.rotation, self.a + self.spin.times(placement.translation)
        return BodyMotion.turning(*map(r.apply_transposed, (self.w, self.alpha, point)))

    def moved_by_joint(self, b: Body, seconds: Sequence[Scalar]) -> Any:
        # The joint's velocity is constant in the body's frame, which turns at w + rate.angular in the world.
        w, rate, second = self.w, b.motion(b.rates()), b.motion(seconds)
        origin = self.a + second.linear + (w + w + rate.angular).cross(rate.linear)
        return BodyMotion.turning(
            w + rate.angular, self.alpha + second.angular + w.cross(rate.angular), origin
        )

    def without_own(self, joint: JointType) -> tuple[Any, list[Scalar]]:
        entries = Motion(self.a, self.alpha).scalars()
        seconds: list[Scalar] = []
        for direction in joint.subspace():
            axis = [k for k, x in enumerate(direction.scalars()) if x != 0.0]
            if len(axis) > 1:
                seconds.append(0.0)
                continue
            seconds.append(-direction.scalars()[axis[0]] * entries[axis[0]])
            entries[axis[0]] = 0.0
        left = Motion.of(entries)
        return BodyMotion.turning(self.w, left.angular, left.linear), seconds

    def wrench(self, inertia: RigidInertia) -> Force:
        h, k, spin = inertia.first_moment, inertia.second_moments(), self.spin
        w, alpha, (x, y, z) = self.w, self.alpha, spin.rows
        turning = Vector3(
            _turned(k.yy, k.zz, z.y, y.z, w.y * w.z, alpha.x)
            + k.yz * spin.differences.x
            + k.xy * z.x
            - k.xz * y.x,
            _turned(k.zz, k.xx, x.z, z.x, w.x * w.z, alpha.y)
            + k.xz * spin.differences.y
            + k.yz * x.y
            - k.xy * z.y,
            _turned(k.xx, k.yy, y.x, x.y, w.x * w.y, alpha.z)
            + k.xy * spin.differences.z
            + k.xz * y.z
            - k.yz * x.z,
        )
        return Force(self.a.scaled(inertia.mass) + spin.times(h), h.cross(self.a) + turning)


@dataclass(frozen=True)
class SpatialMotion(AnyMotion):
    """Velocity v and acceleration a of a body, as spatial vectors; the world accelerates by -g."""

    law = "f = I a + v x* I v"
    v: Motion
    a: Motion

    @classmethod
    def of_world(cls, gravity: Vector3) -> Self:
        """Return the motion of the world, which accelerates by -g."""
        return cls(Motion.zero(), Motion(-gravity, Vector3.zero()))

    def named(self) -> list[tuple[str, str, list[Scalar]]]:
        velocity = "V = V_parent + J qdot", "V", self.v.scalars()
        return [velocity, ("A = A_parent + J qddot + V_parent x J qdot", "A", self.a.scalars())]

    def seen_from(self, placement: Placement) -> Any:
        return type(self)(placement.act_inverse(self.v), placement.act_inverse(self.a))

    def moved_by_joint(self, b: Body, seconds: Sequence[Scalar]) -> Any:
        moved = self.v + b.motion(b.rates())
        return type(self)(moved, self.a + b.motion(seconds) + self.turned(b))

    def turned(self, b: Body) -> Motion:
        """Return v x S qdot."""
        return self.v.cross(b.motion(b.rates()))

    def wrench(self, inertia: RigidInertia) -> Force:
        return inertia @ self.a + self.v.cross_force(inertia @ self.v)

    def rates_of(self, s: Motion) -> tuple[Motion, Motion]:
        """Return psidot = v x s and psiddot = a x s + v x psidot of a direction s of a child's joint."""
        psi_rate = self.v.cross(s)
        return psi_rate, self.a.cross(s) + self.v.cross(psi_rate)


def body_motions(
    m: Machine, world: MotionKind, chosen: Callable[[Any], bool] = lambda _: False
) -> Iterator[tuple[Body, MotionKind, MotionKind, list[Scalar]]]:
    """Yield for each body, from the root to the leaves: the body, its motion with its joint at rest, its
    motion, and its joint's accelerations. These are the machine's, or, for a `chosen` body, those at which
    the body does not accelerate along its joint.
    """
    motion = m.array("motion", type(world), world)
    for b in m.down("motions and forces, from the root to the leaves"):
        second = [0.0] * b.joint.nv if chosen(b) else b.seconds()
        carried = b.from_parent(motion[b.parent])
        moved = carried.moved_by_joint(b, second)
        moved = moved.at_rest() if b.resting else moved
        if chosen(b):
            moved, second = moved.without_own(b.joint)
        for formula, symbol, values in moved.named():
            b.label(formula, symbol, values)
        motion[b] = moved
        yield b, carried, moved, second


def body_velocities(m: Machine) -> Array[Motion]:
    """Return v_i = X v_parent + S qdot, in each body's own frame (m/s, rad/s)."""
    velocity = m.array("v", Motion, Motion.zero())
    for b in m.down():
        velocity[b] = v = b.from_parent(velocity[b.parent]) + b.motion(b.rates())
        b.label("v = X v_parent + S qdot", "v", v.scalars())
    return velocity


def subtree_sums(m: Machine, quantities: Array[Quantity]) -> Array[Quantity]:
    """Return the sums of the bodies' quantities over subtrees, each in the frame of the subtree's root."""
    for b in m.up():
        b.add_to_parent(quantities, quantities[b])
    return quantities


def _turned(
    first: Scalar, second: Scalar, above: Scalar, below: Scalar, product: Scalar, alpha: Scalar
) -> Scalar:
    """Return first * above - second * below for the entries above, below = product +- alpha of U."""
    if is_zero(first) or is_zero(second):
        return first * above - second * below
    return (first + second) * alpha + (first - second) * product

"""Inverse dynamics by Newton and Euler with the classical acceleration of each body's origin.

Derivation. A body turns with w (rad/s) and alpha (rad/s^2), and its origin accelerates by a (m/s^2). With U =
[alpha] + [w][w] its point at r accelerates by a + U r. Mass m, first moment h = sum m r and second moments K
= sum m r r^T then give the wrench about the origin:

    F = sum m (a + U r)     = m a + U h
    N = sum m r x (a + U r) = h x a + n,   n_x = sum_k (K_yk U_zk - K_zk U_yk), and cyclic

With the entries of U, of which U_zz - U_yy = w_z^2 - w_y^2,

    n_x = K_yy U_zy - K_zz U_yz + K_yz (w_z^2 - w_y^2) + K_xy U_zx - K_xz U_yx

A child's frame lies at P, turned by R, in its parent's. Before its joint moves it has R^T w, R^T alpha and
R^T (a + U P) from there. The joint adds the velocity (v_J, w_J) = S qdot, constant in the child's frame,
which turns by w + w_J with w what it has from its parent; v_J moves it past the parent's points, which turn
by w:

    w_child = w + w_J
    alpha_child = alpha + S_angular qddot + w x w_J
    a_child = a + S_linear qddot + (w + w_J) x v_J + w x v_J

so that no linear velocity of any body is needed. Gravity is an acceleration -g of the world. From the leaves
to the root tau = S^T f, and f of the parent takes the child's, carried over.
`rbdc.algorithms.dynamics.drives` adds what the drives of joints take.

Luh, Walker and Paul (1980); the sparse inertial parameters are Khalil and Gautier's. Test: the two forms,
this one and `rbdc.algorithms.reference.rnea`, agree on every model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.dynamics.drives import with_drives
from rbdc.algorithms.dynamics.external_forces import without_external
from rbdc.algorithms.tools.joint_coordinates import joint_accelerations, joint_velocities
from rbdc.algorithms.tools.kinematics import joint_placements, joint_torques
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.model.joints import JointType
from rbdc.spatial import Force, Forces, Motion, Placement, RigidInertia, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero


@dataclass(frozen=True)
class Spin:
    """U = [alpha] + [w][w] by its entries, and the differences of its diagonal that n needs."""

    rows: tuple[Vector3, Vector3, Vector3]
    differences: Vector3

    @staticmethod
    def of(w: Vector3, alpha: Vector3) -> Spin:
        """U of an angular velocity (rad/s) and acceleration (rad/s^2)."""
        xx, yy, zz = w.x * w.x, w.y * w.y, w.z * w.z
        xy, yz, xz = w.x * w.y, w.y * w.z, w.x * w.z
        rows = (
            Vector3(-(yy + zz), xy - alpha.z, xz + alpha.y),
            Vector3(xy + alpha.z, -(xx + zz), yz - alpha.x),
            Vector3(xz - alpha.y, yz + alpha.x, -(xx + yy)),
        )
        return Spin(rows, Vector3(zz - yy, xx - zz, yy - xx))

    def times(self, r: Vector3) -> Vector3:
        """U r."""
        return Vector3(*(row.dot(r) for row in self.rows))


@dataclass(frozen=True)
class BodyMotion:
    """Angular velocity w, angular acceleration alpha, and the classical acceleration a of the origin, in the
    body's frame; U.
    """

    w: Vector3
    alpha: Vector3
    a: Vector3
    spin: Spin

    @staticmethod
    def of(w: Vector3, alpha: Vector3, a: Vector3) -> BodyMotion:
        """From w, alpha and a."""
        return BodyMotion(w, alpha, a, Spin.of(w, alpha))


def newton_euler(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> list[Scalar]:
    """tau (nv; N, N m) at q (nq), v (nv; m/s, rad/s) and a (nv; m/s^2, rad/s^2).

    `fext` has the external wrench on each body (N, N m), about the origin and in the axes of its frame, or of
    the world's if the model has `world_forces`. Test: tau is that of `rbdc.algorithms.reference.rnea` on
    every model.
    """
    placements = joint_placements(model, q, trace)
    forces, _ = _forward(model, v, joint_accelerations(model, v, a), placements, trace)
    forces = without_external(model, placements, forces, fext, trace)
    return with_drives(model, joint_torques(model, placements, forces, trace), q, v, a, trace)


def nonlinear_effects(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> list[Scalar]:
    """C(q, v) v + g(q), and what drives resist (nv): inverse dynamics at zero acceleration."""
    return newton_euler(model, q, v, [0.0] * model.nv, trace=trace)


def gravity_torque(model: Problem, q: Scalars, trace: Trace = silent) -> list[Scalar]:
    """g(q) (nv): inverse dynamics at rest, without springs."""
    model = replace(model, drive_terms=())
    return newton_euler(model, q, [0.0] * model.nv, [0.0] * model.nv, trace=trace)


def reference_pass(
    model: Problem, v: Scalars, placements: Sequence[Placement], trace: Trace = silent
) -> tuple[list[Force], list[Scalar]]:
    """Wrenches at joint accelerations (nv) of our choosing, and those: forward dynamics is the rest from
    there, whatever they are.

    They are those at which no body accelerates along its own joint, which takes fewer operations than that
    joints do not accelerate; a free root falls with the world's acceleration. Joints that are coupled do not
    accelerate, nor do those with armature, which would have to be overcome again.
    """
    own = Counter(body.index_v for body in model.bodies)
    still = joint_accelerations(model, v, [0.0] * model.nv)
    chosen = [
        None if own[b.index_v] == 1 and is_zero(b.armature) else x
        for b, x in zip(model.bodies, still, strict=True)
    ]
    wrenches, seconds = _forward(model, v, chosen, placements, trace)
    reference: list[Scalar] = [0.0] * model.nv
    for index, second in enumerate(seconds):
        if model.bodies[index].coupling is None:
            reference[model.v_slice(index)] = second
    return wrenches, reference


def _forward(
    model: Problem,
    v: Scalars,
    seconds: Sequence[list[Scalar] | None],
    placements: Sequence[Placement],
    trace: Trace,
) -> tuple[list[Force], list[list[Scalar]]]:
    """The wrench that moves each body, the world accelerating by -g, and the accelerations of the joints:
    those of `seconds`, or in place of None those of `reference_pass`.

    Each wrench follows on the motion that it needs, most of which nothing else does: few values live at a
    time.
    """
    forces: list[Force] = []
    found: list[list[Scalar]] = []
    motions = body_motions(model, v, seconds, placements, trace)
    for body, (motion, second) in zip(model.bodies, motions, strict=True):
        found.append(second)
        forces.append(wrench(body.inertia, motion))
        trace(body.name, "F = m a + U h, N = h x a + n(U, K)", f"f{len(forces) - 1}", forces[-1].scalars())
    return forces, found


def body_motions(
    model: Problem,
    v: Scalars,
    seconds: Sequence[list[Scalar] | None],
    placements: Sequence[Placement],
    trace: Trace = silent,
) -> Iterator[tuple[BodyMotion, list[Scalar]]]:
    """Body by body from the root: its motion, and the accelerations of its joint as in `_forward`; each when
    it is asked for.
    """
    motions: list[BodyMotion] = []
    rates = joint_velocities(model, v)
    for index, body in enumerate(model.bodies):
        parent = None if body.parent == WORLD else motions[body.parent]
        rate, second = body.joint.motion(rates[index]), seconds[index]
        given = Motion.zero() if second is None else body.joint.motion(second)
        motion = moved_by_joint(carried_motion(placements[index], parent, model.gravity), rate, given)
        if second is None:
            motion, second = _without_own(motion, body.joint)
        values = [*motion.w.scalars(), *motion.alpha.scalars(), *motion.a.scalars()]
        trace(body.name, "w, alpha, and a = R^T (a_parent + U_parent P)", f"m{index}", values)
        motions.append(motion)
        yield motion, second


def _without_own(motion: BodyMotion, joint: JointType) -> tuple[BodyMotion, list[Scalar]]:
    """The motion without its acceleration along those directions of the joint that are axes, and the joint's
    acceleration that does it.
    """
    entries = Motion(motion.a, motion.alpha).scalars()
    seconds: list[Scalar] = []
    for direction in joint.subspace():
        axis = [k for k, x in enumerate(direction.scalars()) if x != 0.0]
        if len(axis) > 1:
            seconds.append(0.0)
            continue
        seconds.append(-direction.scalars()[axis[0]] * entries[axis[0]])
        entries[axis[0]] = 0.0
    left = Motion.of(entries)
    return BodyMotion.of(motion.w, left.angular, left.linear), seconds


def carried_motion(placement: Placement, parent: BodyMotion | None, gravity: Vector3) -> BodyMotion:
    """The motion that a body has from its parent, before its joint moves; no parent: the world."""
    r = placement.rotation
    if parent is None:
        return BodyMotion.of(Vector3.zero(), Vector3.zero(), r.apply_transposed(-gravity))
    point = parent.a + parent.spin.times(placement.translation)
    return BodyMotion.of(*map(r.apply_transposed, (parent.w, parent.alpha, point)))


def moved_by_joint(carried: BodyMotion, rate: Motion, second: Motion) -> BodyMotion:
    """The motion of a body with that of its joint, `rate` and `second` being S qdot and S qddot."""
    # The joint's velocity is constant in the body's frame, which turns at w + its own rate in the world.
    w = carried.w
    origin = carried.a + second.linear + (w + w + rate.angular).cross(rate.linear)
    return BodyMotion.of(w + rate.angular, carried.alpha + second.angular + w.cross(rate.angular), origin)


def wrench(inertia: RigidInertia, motion: BodyMotion) -> Force:
    """(F, N) that moves a body so."""
    h, k, spin = inertia.first_moment, inertia.second_moments(), motion.spin
    w, alpha, (x, y, z) = motion.w, motion.alpha, spin.rows
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
    return Force(motion.a.scaled(inertia.mass) + spin.times(h), h.cross(motion.a) + turning)


def _turned(
    first: Scalar, second: Scalar, above: Scalar, below: Scalar, product: Scalar, alpha: Scalar
) -> Scalar:
    """first above - second below, with above = product + alpha and below = product - alpha two entries of U.
    Where neither moment is zero by their sum and difference, which are constants: hardly ever are both
    entries needed for anything else.
    """
    if is_zero(first) or is_zero(second):
        return first * above - second * below
    return (first + second) * alpha + (first - second) * product

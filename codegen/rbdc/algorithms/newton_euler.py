"""Inverse dynamics by Newton and Euler with the classical acceleration of each body's origin: no linear velocities are needed.

With U = [alpha] + [w][w] the points of a body accelerate by a + U r, so with second moments K the wrench about the origin is
F = m a + U h and N = h x a + n, where n_x = K_yy U_zy - K_zz U_yz + K_yz (w_z^2 - w_y^2) + K_xy U_zx - K_xz U_yx and cyclic.
Luh, Walker and Paul (1980); the sparse inertial parameters are Khalil and Gautier's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.dofs import joint_velocities
from rbdc.algorithms.kinematics import joint_placements
from rbdc.algorithms.rnea import backward_pass
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Inertia, MomentInertia, Motion, Placement, Scalar, Vector3


@dataclass(frozen=True)
class BodyMotion:
    """Angular velocity w, angular acceleration alpha, and the classical acceleration a of the origin, in the body's frame."""

    w: Vector3
    alpha: Vector3
    a: Vector3


@dataclass(frozen=True)
class Spin:
    """U = [alpha] + [w][w] by its entries, and the differences of its diagonal that n needs."""

    rows: tuple[Vector3, Vector3, Vector3]
    differences: Vector3

    @staticmethod
    def of(w: Vector3, alpha: Vector3) -> Spin:
        """From angular velocity and acceleration."""
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


def newton_euler(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> list[Scalar]:
    """tau (nv) as `rbdc.algorithms.rnea` has it. Test: the two agree on every model."""
    placements = joint_placements(model, q, trace)
    forces = forward_pass(model, v, a, placements, trace)
    if fext is not None:
        forces = [force - given for force, given in zip(forces, fext, strict=True)]
    return backward_pass(model, placements, forces, trace)


def nonlinear_effects(model: Model, q: Sequence[Scalar], v: Sequence[Scalar], trace: Trace = silent) -> list[Scalar]:
    """C(q, v) v + g(q) (nv): inverse dynamics at zero acceleration."""
    return newton_euler(model, q, v, [0.0] * model.nv, trace=trace)


def gravity_torque(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> list[Scalar]:
    """g(q) (nv): inverse dynamics at rest."""
    return newton_euler(model, q, [0.0] * model.nv, [0.0] * model.nv, trace=trace)


def forward_pass(
    model: Model, v: Sequence[Scalar], a: Sequence[Scalar], placements: Sequence[Placement], trace: Trace = silent
) -> list[Force]:
    """The wrench that moves each body, the world accelerating by -g: a = R^T (a_parent + U_parent P) and the joint's own terms.

    Each wrench follows on the motion that it needs, most of which nothing else does: few values live at a time.
    """
    motions: list[tuple[BodyMotion, Spin]] = []
    forces: list[Force] = []
    rates, seconds = joint_velocities(model, v), joint_velocities(model, a)
    for index, body in enumerate(model.bodies):
        parent = None if body.parent == WORLD else motions[body.parent]
        rate, second = body.joint.motion(rates[index]), body.joint.motion(seconds[index])
        motion = body_motion(placements[index], parent, rate, second, model.gravity)
        values = [*motion.w.scalars(), *motion.alpha.scalars(), *motion.a.scalars()]
        trace(body.name, "w, alpha, and a = R^T (a_parent + U_parent P)", f"m{index}", values)
        motions.append((motion, Spin.of(motion.w, motion.alpha)))
        forces.append(wrench(body.inertia, *motions[-1]))
        trace(body.name, "F = m a + U h, N = h x a + n(U, K)", f"f{index}", forces[-1].scalars())
    return forces


def body_motion(
    placement: Placement, parent: tuple[BodyMotion, Spin] | None, rate: Motion, second: Motion, gravity: Vector3
) -> BodyMotion:
    """One step down the tree; no parent: the world. `rate` and `second` are S qdot and S qddot."""
    r, p = placement.rotation, placement.translation
    if parent is None:
        w, alpha, origin = Vector3.zero(), Vector3.zero(), r.apply_transposed(-gravity)
    else:
        above, spin = parent
        w, alpha = r.apply_transposed(above.w), r.apply_transposed(above.alpha)
        origin = r.apply_transposed(above.a + spin.times(p))
    # The joint's velocity is constant in the body's frame, which turns with w + its own rate against the world.
    origin = origin + second.linear + (w + w + rate.angular).cross(rate.linear)
    return BodyMotion(w + rate.angular, alpha + second.angular + w.cross(rate.angular), origin)


def wrench(inertia: Inertia | MomentInertia, motion: BodyMotion, spin: Spin) -> Force:
    """(F, N) that moves a body so."""
    h, k, (x, y, z) = inertia.first_moment, inertia.second_moments(), spin.rows
    turning = Vector3(
        k.yy * z.y - k.zz * y.z + k.yz * spin.differences.x + k.xy * z.x - k.xz * y.x,
        k.zz * x.z - k.xx * z.x + k.xz * spin.differences.y + k.yz * x.y - k.xy * z.y,
        k.xx * y.x - k.yy * x.y + k.xy * spin.differences.z + k.xz * y.z - k.yz * x.z,
    )
    return Force(motion.a.scaled(inertia.mass) + spin.times(h), h.cross(motion.a) + turning)

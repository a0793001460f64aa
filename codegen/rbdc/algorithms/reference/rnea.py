"""Recursive Newton-Euler algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 5.1;
Carpentier and Mansard (2018), Algorithm 1. External forces in the inertial frame: Caron's tutorial.

Drives are added joint by joint: armature and damping (Featherstone, section 9.6), linear springs, and dry
friction with the smooth sign x / sqrt(x^2 + w^2) of the rate x, where w is the friction width. The drive of a
mimic joint acts along the joint's own coordinate; its force is mapped to the joint that it follows.
Derivatives of drive forces are computed with dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rbdc.algorithms.reference.dual_numbers import along
from rbdc.algorithms.tools.joint_coordinates import (
    joint_accelerations,
    joint_positions,
    joint_velocities,
    reduce_vector,
)
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Vector
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import OneFrame
from rbdc.model import WORLD, Body, DriveTerm, Frame, Problem
from rbdc.spatial import Force, Forces, Motion, Placement, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero, sqrt
from rbdc.spatial.tangent import OuterTangent, Tangent


def rnea(model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None) -> list[Scalar]:
    """Return tau = M(q) a + C(q, v) v + g(q) + r(q, v) - sum_i J_i^T f_i (nv; N, N m), with the resistance r
    of the drives and the external forces f_i.

    fext: external forces on the bodies, each in its body's frame, or in the world's frame if the model has
        `world_forces`.

    Checked: tau is linear in a with matrix crba(q); forward dynamics of tau returns a.
    """
    m = Numbers(model, q, v, a, following(model, q, fext))
    return with_drives(model, m.reduced_vector(inverse_dynamics(m)), q, v, a)


def nonlinear_effects(model: Problem, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return C(q, v) v + g(q) + r(q, v) (nv): inverse dynamics at zero acceleration."""
    return rnea(model, q, v, [0.0] * model.nv)


def gravity_torque(model: Problem, q: Scalars) -> list[Scalar]:
    """Return g(q) (nv), the gradient of the potential energy: inverse dynamics at rest without springs."""
    model = replace(model, drive_terms=())
    return rnea(model, q, [0.0] * model.nv, [0.0] * model.nv)


def inverse_dynamics(m: Machine) -> Array[Scalar]:
    """Return the torques of all degrees of freedom without those of drives (Algorithm 1)."""
    return joint_torques(m, body_forces(m, *forward_pass(m)))


def joint_torques(m: Machine, f: Array[Force]) -> Array[Scalar]:
    """Return tau = S^T f; in `f`, replace the forces on bodies by those on their subtrees (lines 12-17)."""
    tau = m.vector("tau")
    for b in m.up():
        for k in b.columns():
            tau[k] = k.s.dot(f[b])
        b.add_to_parent(f, f[b])
    return tau


def body_velocities(m: Machine) -> Array[Motion]:
    """Return v_i = X v_parent + S qdot (line 7)."""
    v = m.array("V", Motion, Motion.zero())
    for b in m.down():
        v[b] = b.from_parent(v[b.parent]) + b.motion(b.rates())
    return v


def forward_pass(m: Machine, world: Motion | None = None) -> tuple[Array[Motion], Array[Motion]]:
    """Return velocities and accelerations of the bodies (lines 2-9); the acceleration of the world is -g
    unless `world` is passed.
    """
    v = body_velocities(m)
    a = m.array("A", Motion, falling(m) if world is None else world)
    for b in m.down():
        a[b] = b.from_parent(a[b.parent]) + b.motion(b.seconds())
        if not b.rooted:  # v x S qdot vanishes at the root, where v = S qdot
            a.add(b, v[b].cross(b.motion(b.rates())))
    return v, a


def falling(m: Machine) -> Motion:
    """Return the acceleration of the world that represents gravity."""
    return Motion(-m.gravity, Vector3.zero())


def body_forces(m: Machine, v: Array[Motion], a: Array[Motion]) -> Array[Force]:
    """Return f = I a + v x* I v of each body (lines 10-11), minus the external force."""
    f = m.array("F", Force)
    for b in m.down():
        f[b] = b.inertia() @ a[b] + v[b].cross_force(b.inertia() @ v[b])
    for b in m.loaded():
        f.add(b, -b.external_force())
    return f


def following(model: Problem, q: Scalars, fext: Forces | None) -> Forces:
    """Return external forces, if any, at q in the frames of the bodies (N, N m): a world-frame force f_0
    becomes f_i = iX0* f_0.
    """
    if fext is None or not model.world_forces:
        return fext or ()
    return [x.act_inverse_force(force) for x, force in zip(world_placements(model, q), fext, strict=True)]


def with_drives(model: Problem, torques: Scalars, q: Scalars, v: Scalars, a: Scalars) -> Vector:
    """Return tau + K a + r(q, v) (nv; N, N m), with the armature K and the resistance r of the drives."""
    joints = zip(model.bodies, joint_accelerations(model, v, a), strict=True)
    inertial = [0.0 if is_zero(body.armature) else body.armature * x for body, each in joints for x in each]
    terms = zip(torques, reduce_vector(model, inertial), resistance(model, q, v), strict=True)
    return [torque + inertia + resisting for torque, inertia, resisting in terms]


def resistance(model: Problem, q: Scalars, v: Scalars) -> Vector:
    """Return r(q, v) (nv; N, N m): damping, springs and dry friction. Checked against MuJoCo and against
    energies along motions.
    """
    forces = [force for body, x, rate in _joints(model, q, v) for force in _forces(model, body, x, rate)]
    return reduce_vector(model, forces)


def resistance_by_q(model: Problem, q: Scalars, v: Scalars) -> Vector:
    """Return the diagonal of dr/dq (nv): the derivative of r along the direction (1, ..., 1)."""
    return _where_all_step(model, q, lambda model, q: resistance(model, q, v), OuterTangent, position=True)


def resistance_by_v(model: Problem, q: Scalars, v: Scalars) -> Vector:
    """Return the diagonal of dr/dv (nv)."""
    return _where_all_step(model, v, lambda model, v: resistance(model, q, v), OuterTangent)


def resistance_by_vv(model: Problem, q: Scalars, v: Scalars) -> Vector:
    """Return the diagonal of the tensor d2r/dv2 (nv)."""
    return _where_all_step(model, v, lambda model, v: resistance_by_v(model, q, v), Tangent)


def _where_all_step(
    model: Problem, x: Scalars, method: Callable[..., Vector], kind: type[Tangent], *, position: bool = False
) -> Vector:
    steps = ([1.0] * model.nv,)
    (rates,) = along(model, x, method=method, configurations=(position,), directions=steps, kind=kind)
    return rates


def _joints(model: Problem, q: Scalars, v: Scalars) -> list[tuple[Body, Scalars, Scalars]]:
    return list(zip(model.bodies, joint_positions(model, q), joint_velocities(model, v), strict=True))


def _forces(model: Problem, body: Body, x: Scalars, rates: Scalars) -> Vector:
    forces: Vector = [0.0] * len(rates)
    if DriveTerm.DAMPING in model.drive_terms:
        forces = [0.0 if is_zero(body.damping) else body.damping * rate for rate in rates]
    if DriveTerm.SPRINGS in model.drive_terms and not is_zero(body.stiffness):
        forces[0] = forces[0] + body.stiffness * (x[0] - body.spring_rest)
    if DriveTerm.FRICTION in model.drive_terms and not is_zero(body.friction):
        width = model.friction_width
        signs = [0.0 if is_zero(rate) else rate / sqrt(rate * rate + width * width) for rate in rates]
        forces = [force + body.friction * sign for force, sign in zip(forces, signs, strict=True)]
    return forces


@dataclass(frozen=True)
class TreeMotions:
    """Motions in the world's coordinates, by index of the body or WORLD.

    columns: for each degree of freedom, the index of its joint, and its column of the motion subspace.
    """

    placements: dict[int, Placement]
    velocities: dict[int, Motion]
    accelerations: dict[int, Motion]
    columns: list[tuple[int, Motion]]

    def placement(self, frame: Frame) -> Placement:
        """Return the placement of a frame."""
        return self.placements[frame.body].compose(frame.placement)

    def jacobian(self, model: Problem, body: int, seen: Callable[[Motion], Motion]) -> list[Motion]:
        """Return the column J_k of a body for each degree of freedom of the tree, mapped by `seen`; zero
        unless the joint carries the body.
        """
        carriers = set(model.support(body))
        return [seen(s) if joint in carriers else Motion.zero() for joint, s in self.columns]


def tree_motions(model: Problem, q: Scalars, v: Scalars | None, a: Scalars | None) -> TreeMotions:
    """Return the motion of the tree; None for v or a means zero."""
    m, still = OneFrame(model, q, v, a), Motion.zero()
    velocities, accelerations = map(m.in_order, forward_pass(m, still))
    return TreeMotions(
        {WORLD: Placement.identity(), **dict(enumerate(m.placements))},
        {WORLD: still, **dict(enumerate(velocities))},
        {WORLD: still, **dict(enumerate(accelerations))},
        [(k.body.at, k.s) for k in m.columns()],
    )

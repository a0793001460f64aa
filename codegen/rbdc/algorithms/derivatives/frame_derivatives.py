"""Derivatives of a frame's velocity and acceleration by q, v and a, in the form of Carpentier and Mansard,
section III-D.

In the frame's own coordinates a step of degree of freedom k moves all that is above its joint by -s_k x, s_k
= X^-1 S_k, and leaves what is from the joint on to the frame alone. With v_l, a_l the velocity and
acceleration of the body above the joint, d the velocity of the frame relative to that body, and b relative to
the body that the joint carries (d = S_k qdot + b):

    dv/dq_k = v_l x s_k                        dv/dv_k = s_k
    da/dq_k = a_l x s_k + (v_l x s_k) x d      da/dv_k = v_l x s_k + s_k x b      da/da_k = s_k

In WORLD and LOCAL_WORLD_ALIGNED the step moves the coordinates as well: X m changes by X (s_k x m), R m by R
(w_k x m).
"""

from __future__ import annotations

from rbdc.algorithms.frames import bends_of, express, frame_columns, frame_matrix, plus_columns, with_bends
from rbdc.algorithms.tools.joint_coordinates import joint_accelerations, joint_velocities
from rbdc.algorithms.tools.linear import Matrix
from rbdc.model import Model
from rbdc.spatial import Motion, Placement, Scalars, Vector3
from rbdc.spatial.vectors import motion_sum


def frame_velocity_derivatives(
    model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix]:
    """dv_dq, dv_dv (6, nv) of `frame_velocity`, in the tangent space of q."""
    columns, world = frame_columns(model, q, frame)
    rates = joint_velocities(model, v)
    steps = {index: motion_sum(own, rates[index]) for index, own in columns.items()}
    velocity, above = sum(steps.values(), Motion.zero()), Motion.zero()
    by_q: dict[int, list[Motion]] = {}
    for index in reversed(columns):
        by_q[index] = [above.cross(s) + turning(s, velocity, reference) for s in columns[index]]
        above = above + steps[index]
    dv_dq, dv_dv = (_expressed(model, by, world, reference) for by in (by_q, columns))
    whole = {index: [express(s, world, reference) for s in own] for index, own in columns.items()}
    return with_bends(model, v, dv_dq, whole), dv_dv


def frame_acceleration_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix, Matrix]:
    """da_dq, da_dv, da_da (6, nv) of `frame_acceleration`, in the tangent space of q."""
    columns, world = frame_columns(model, q, frame)
    rates, rate_derivatives = joint_velocities(model, v), joint_accelerations(model, v, a)
    steps = {index: motion_sum(own, rates[index]) for index, own in columns.items()}
    pushes = {index: motion_sum(own, rate_derivatives[index]) for index, own in columns.items()}
    acceleration, below = Motion.zero(), Motion.zero()
    relative: dict[int, Motion] = {}
    for index, step in steps.items():
        acceleration = acceleration + pushes[index] + step.cross(below)
        relative[index] = below
        below = below + step
    by_q: dict[int, list[Motion]] = {}
    by_v: dict[int, list[Motion]] = {}
    bends = bends_of(model, columns)
    bent_by_q: list[tuple[int, Motion]] = []
    bent_by_v: list[tuple[int, Motion]] = []
    velocity_above, acceleration_above = Motion.zero(), Motion.zero()
    for index in reversed(columns):
        step, below = steps[index], relative[index]
        moved = [velocity_above.cross(s) for s in columns[index]]
        by_q[index] = [
            acceleration_above.cross(s) + m.cross(below + step) + turning(s, acceleration, reference)
            for s, m in zip(columns[index], moved, strict=True)
        ]
        by_v[index] = [m + s.cross(below) for s, m in zip(columns[index], moved, strict=True)]
        if index in bends:
            k, (bend, jerk) = model.bodies[index].index_v, bends[index]
            by_rate = (velocity_above.cross(bend) + bend.cross(below)).scaled(v[k])
            by_place = by_rate + bend.scaled(a[k]) + jerk.scaled(v[k] * v[k])
            bent_by_q.append((k, express(by_place, world, reference)))
            bent_by_v.append((k, express(bend.scaled(2.0 * v[k]), world, reference)))
        acceleration_above = acceleration_above + pushes[index] + velocity_above.cross(step)
        velocity_above = velocity_above + step
    da_dq, da_dv, da_da = (_expressed(model, by, world, reference) for by in (by_q, by_v, columns))
    return plus_columns(da_dq, bent_by_q), plus_columns(da_dv, bent_by_v), da_da


def turning(s: Motion, motion: Motion, reference: str) -> Motion:
    """The term of the derivative of a LOCAL motion due to axes of `reference` not going along with s."""
    if reference == "LOCAL":
        return Motion.zero()
    return (s if reference == "WORLD" else Motion(Vector3.zero(), s.angular)).cross(motion)


def _expressed(model: Model, columns: dict[int, list[Motion]], world: Placement, reference: str) -> Matrix:
    return frame_matrix(
        model, {index: [express(m, world, reference) for m in own] for index, own in columns.items()}
    )

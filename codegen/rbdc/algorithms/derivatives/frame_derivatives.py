"""Derivatives of a frame's velocity and acceleration with respect to q, v and a, in the form of Carpentier
and Mansard, section III-D.

In the coordinates of the frame, a step of degree of freedom k changes every motion m on the root's side of
the joint by -s_k x m, where s_k = X^-1 S_k. Motions between the joint and the frame do not change. Let v_l
and a_l be the velocity and acceleration of the joint's parent body, d the velocity of the frame relative to
the parent body, and b the velocity of the frame relative to the joint's body (d = S_k qdot + b):

    dv/dq_k = v_l x s_k                        dv/dv_k = s_k
    da/dq_k = a_l x s_k + (v_l x s_k) x d      da/dv_k = v_l x s_k + s_k x b      da/da_k = s_k

In other references the step also moves the frame's placement X and rotation R. This adds X (s_k x m) to the
change of a motion X m in WORLD, and R (w_k x m) to that of R m in LOCAL_WORLD_ALIGNED (w_k: angular part of
s_k).
"""

from __future__ import annotations

from rbdc.algorithms.frames import PathToRoot, frame_velocity
from rbdc.algorithms.tools.joint_coordinates import joint_accelerations
from rbdc.algorithms.tools.linear import Matrix, transposed
from rbdc.model import Model
from rbdc.spatial import Motion, Scalars, Vector3


def frame_velocity_derivatives(
    model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix]:
    """Return dv_dq, dv_dv (6, nv) of `frame_velocity`, in the tangent space of q."""
    climb = PathToRoot.of(model, q, frame, reference)
    moving, above, by_q = climb.moving(v), Motion.zero(), dict[int, list[Motion]]()
    for index in reversed(climb.columns):
        columns = climb.columns[index]
        by_q[index] = [above.cross(s) + turning(s, moving.velocity, reference) for s in columns]
        above = above + moving.steps[index]
    return climb.matrix(by_q, climb.bends(v)), climb.matrix(climb.columns)


def frame_acceleration_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix, Matrix]:
    """Return da_dq, da_dv, da_da (6, nv) of `frame_acceleration`, in the tangent space of q."""
    climb = PathToRoot.of(model, q, frame, reference)
    moving, pushes = climb.moving(v), climb.sums(joint_accelerations(model, v, a))
    acceleration, curves = climb.acceleration(moving, pushes), climb.curves()
    by_q: dict[int, list[Motion]] = {}
    by_v: dict[int, list[Motion]] = {}
    bent_by_q: list[tuple[int, Motion]] = []
    bent_by_v: list[tuple[int, Motion]] = []
    velocity_above, acceleration_above = Motion.zero(), Motion.zero()
    for index in reversed(climb.columns):
        columns, step, below = climb.columns[index], moving.steps[index], moving.relative[index]
        moved = [velocity_above.cross(s) for s in columns]
        by_q[index] = [
            acceleration_above.cross(s) + m.cross(below + step) + turning(s, acceleration, reference)
            for s, m in zip(columns, moved, strict=True)
        ]
        by_v[index] = [m + s.cross(below) for s, m in zip(columns, moved, strict=True)]
        if index in curves:
            k, curve = model.bodies[index].index_v, curves[index]
            bend, jerk = columns[0].scaled(curve.curvature), columns[0].scaled(curve.jerk)
            by_rate = (velocity_above.cross(bend) + bend.cross(below)).scaled(v[k])
            by_place = by_rate + bend.scaled(a[k]) + jerk.scaled(v[k] * v[k])
            bent_by_q.append((k, climb.expressed(by_place)))
            bent_by_v.append((k, climb.expressed(bend.scaled(2.0 * v[k]))))
        acceleration_above = acceleration_above + pushes[index] + velocity_above.cross(step)
        velocity_above = velocity_above + step
    return climb.matrix(by_q, bent_by_q), climb.matrix(by_v, bent_by_v), climb.matrix(climb.columns)


def frame_classical_acceleration_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix, Matrix]:
    """Return da_dq, da_dv, da_da (6, nv) of `frame_classical_acceleration`: the derivatives of the spatial
    acceleration plus dw x v + w x dv, with the frame's velocity (v, w) and its derivatives (dv, dw).
    """
    velocity = frame_velocity(model, q, v, frame, reference)
    spatial = frame_acceleration_derivatives(model, q, v, a, frame, reference)
    of_velocity = frame_velocity_derivatives(model, q, v, frame, reference)
    matrices = [
        transposed(
            [
                classical_change(Motion.of(x), Motion.of(y), velocity).scalars()
                for x, y in zip(transposed(matrix), transposed(others), strict=True)
            ]
        )
        for matrix, others in zip(spatial, of_velocity, strict=False)
    ]
    by_q, by_v = (matrix or [[] for _ in range(6)] for matrix in matrices)
    return by_q, by_v, spatial[2]


def classical_change(acceleration: Motion, velocity: Motion, at: Motion) -> Motion:
    """Return the change of the classical acceleration. acceleration, velocity: changes of the spatial
    acceleration and of the velocity. at: the velocity.
    """
    more = velocity.angular.cross(at.linear) + at.angular.cross(velocity.linear)
    return Motion(acceleration.linear + more, acceleration.angular)


def turning(s: Motion, motion: Motion, reference: str) -> Motion:
    """Return the term of the derivative of a LOCAL motion that arises because the axes of `reference` do not
    move with s.
    """
    if reference == "LOCAL":
        return Motion.zero()
    return (s if reference == "WORLD" else Motion(Vector3.zero(), s.angular)).cross(motion)

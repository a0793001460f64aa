"""Derivatives of a frame's velocity and acceleration by q (in the tangent space), v and a, derived in the
world's coordinates.

A step of degree of freedom k moves all that its joint carries by the world motion J_k, so that every column
J_l of the bodies from i, which joint k carries, to the frame changes by J_k x J_l. With V and A of the frame,
V_p and A_p of the parent of i, the sums V = sum of J_l qdot_l and A = sum of J_l qddot_l + V_l x J_l qdot_l,
and the identity of Jacobi:

    dV/dq_k = J_k x (V - V_p)                               dV/dv_k = J_k
    dA/dq_k = J_k x (A - A_p) + (V_p x J_k) x (V - V_p)     dA/dv_k = V_i x J_k + J_k x (V - V_p)
    dA/da_k = J_k

What sees them from a place X that the step moves by U_k has X^-1 (dm - U_k x m) of a motion m: U_k is J_k for
LOCAL, for LOCAL_WORLD_ALIGNED the velocity that J_k gives to the frame's origin, and zero for WORLD. Compare
Carpentier and Mansard (2018), III-D.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.frames import Carriers, carriers, matrix_of, plus_bends, viewpoint
from rbdc.algorithms.tools.linear import Matrix
from rbdc.model import Model
from rbdc.spatial import Motion, Scalars, Vector3


def frame_velocity_derivatives(
    model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix]:
    """dv_dq, dv_dv (6, nv) of `frame_velocity`. Tests: complex-step of it, central differences."""
    carried = carriers(model, q, v, None, frame)
    velocity, above = carried.velocity(), Motion.zero()
    by_q: list[list[Motion]] = []
    for own, own_velocity in zip(carried.columns, carried.velocities, strict=True):
        by_q.append([j.cross(velocity - above) for j in own])
        above = own_velocity
    dv_dq = _seen(model, carried, by_q, reference, moved=velocity)
    dv_dq = plus_bends(model, v, dv_dq, carried, viewpoint(carried.frame, reference))
    return dv_dq, _seen(model, carried, carried.columns, reference)


def frame_acceleration_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[Matrix, Matrix, Matrix]:
    """da_dq, da_dv, da_da (6, nv) of `frame_acceleration`. Tests: complex-step of it, central differences."""
    carried = carriers(model, q, v, a, frame)
    velocity, acceleration = carried.velocity(), carried.acceleration()
    v_above, a_above = Motion.zero(), Motion.zero()
    by_q: list[list[Motion]] = []
    by_v: list[list[Motion]] = []
    for own, own_velocity, own_acceleration in zip(
        carried.columns, carried.velocities, carried.accelerations, strict=True
    ):
        rest = velocity - v_above
        by_q.append([j.cross(acceleration - a_above) + v_above.cross(j).cross(rest) for j in own])
        by_v.append([own_velocity.cross(j) + j.cross(rest) for j in own])
        v_above, a_above = own_velocity, own_acceleration
    da_dq = _seen(model, carried, by_q, reference, moved=acceleration)
    da_dv, da_da = (_seen(model, carried, by, reference) for by in (by_v, carried.columns))
    return da_dq, da_dv, da_da


def _seen(
    model: Model,
    carried: Carriers,
    columns: Sequence[Sequence[Motion]],
    reference: str,
    moved: Motion | None = None,
) -> Matrix:
    """The matrix of columns in the coordinates of `reference`; those of a derivative by q of the motion
    `moved`, whose coordinates the step moves as well.
    """
    seen = viewpoint(carried.frame, reference)
    found = []
    for own, steps in zip(columns, carried.columns, strict=True):
        if moved is not None:
            own = [m - _turning(j, carried, reference).cross(moved) for m, j in zip(own, steps, strict=True)]
        found.append([seen.act_inverse(m) for m in own])
    return matrix_of(model, carried.bodies, found)


def _turning(j: Motion, carried: Carriers, reference: str) -> Motion:
    """U_k, how a step along J_k moves the place that motions are seen from."""
    if reference == "WORLD":
        return Motion.zero()
    if reference == "LOCAL":
        return j
    return Motion(j.linear + j.angular.cross(carried.frame.translation), Vector3.zero())

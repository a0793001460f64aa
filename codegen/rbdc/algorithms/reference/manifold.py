"""Integration and difference on the configuration manifold by the exponential and the logarithm as textbooks
have them.

Rotations by unit quaternions (x, y, z, w), Hamilton's; motions by the same formulas over dual numbers, unit
dual quaternions: Clifford (1873), Kotelnikov's principle of transference. With a real part r and a dual part
d a motion turns by r and moves by 2 d r*. Sola, Deray and Atchuthan, A micro Lie theory (2018), for SE(2).
The conventions are those of the joint types and Pinocchio's: velocities in the child's frame; `integrate`
gives unit quaternions on the side of q, `difference` the short way round. Real scalars only, for sides are
taken by comparison.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.reference.derivatives.dual_numbers import differentiated
from rbdc.errors import UnsupportedError
from rbdc.model import Model
from rbdc.model.joints import FreeFlyer, JointType, Planar, Spherical
from rbdc.spatial import Motion, Placement, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import atan2, cos, sin, sqrt, where_less
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

NEAR_ZERO = 1e-6
"""Squared angles and sines below it go into series, of which the first term left out is less than 1e-37."""

Vector = list[Scalar]


def integrate(model: Model, q: Scalars, dv: Scalars) -> Vector:
    """q (+) dv (nq): the configuration that the constant velocity dv reaches in unit time. Test: the matrix
    exponential.
    """
    result: Vector = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            own = model.q_slice(index)
            result[own] = _integrated(body.joint, q[own], dv[model.v_slice(index)])
    return result


def difference(model: Model, q0: Scalars, q1: Scalars) -> Vector:
    """The dv (nv) with q0 (+) dv = q1 (m, rad). Test: that identity; zero where q0 = q1."""
    result: Vector = [0.0] * model.nv
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            own, place = model.q_slice(index), model.v_slice(index)
            result[place] = _difference(body.joint, q0[own], q1[own])
    return result


def dintegrate(model: Model, q: Scalars, dv: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The derivatives of q (+) dv by q and dv (nv nv each), all in the tangent spaces, by dual numbers. Test:
    Pinocchio's dIntegrate.
    """
    there = integrate(model, q, dv)

    def moved(model: Model, q: Scalars, dv: Scalars) -> Vector:
        return difference(model, there, integrate(model, q, dv))

    by_q, by_step = differentiated(model, list(q), list(dv), method=moved, configurations=(True, False))
    return by_q, by_step


def ddifference(model: Model, q0: Scalars, q1: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The derivatives of the difference by q0 and q1 (nv nv each) in the tangent spaces, by dual numbers.
    Test: Pinocchio's dDifference.
    """
    given = list(q0), list(q1)
    by_first, by_second = differentiated(model, *given, method=difference, configurations=(True, True))
    return by_first, by_second


def _integrated(joint: JointType, q: Scalars, dv: Scalars) -> Vector:
    if joint.euclidean:
        return [x + dx for x, dx in zip(q, dv, strict=True)]
    return _of(_EXPONENTIALS, joint)(joint, q, dv)


def _difference(joint: JointType, q0: Scalars, q1: Scalars) -> Vector:
    if joint.euclidean:
        return [x1 - x0 for x0, x1 in zip(q0, q1, strict=True)]
    return _of(_LOGARITHMS, joint)(joint, q0, q1)


_Map = Callable[[JointType, Scalars, Scalars], Vector]


def _of(maps: dict[type[JointType], _Map], joint: JointType) -> _Map:
    if type(joint) not in maps:
        raise UnsupportedError(f"no exponential and logarithm for a joint of type {joint.kind}")
    return maps[type(joint)]


class Dual(Tangent):
    """A scalar of a motion: what turns and, by the dual unit, what moves, whatever rates both have."""

    __slots__ = ()
    level = 5


def _exponential(w: Scalars) -> Vector:
    """The quaternion of a rotation vector."""
    v = Vector3.of(w)
    u2 = 0.25 * v.dot(v)
    quarter = _sinc(0.25 * u2)
    return [*v.scaled(0.5 * _sinc(u2)).scalars(), 1.0 - 0.5 * u2 * quarter * quarter]


def _logarithm(turn: Scalars) -> Vector3:
    """The rotation vector of a unit quaternion, at most half a turn long."""
    *vector, real = turn
    side, v = where_less(real, 0.0, -1.0, 1.0), Vector3.of(vector)
    return v.scaled(side * 2.0 * _angle_over_sine(v.dot(v), side * real))


def _spherical_exponential(joint: JointType, q: Scalars, dv: Scalars) -> Vector:
    """q exp(w), with the rotation vector w."""
    del joint
    return _turned(q, _exponential(dv))


def _free_exponential(joint: JointType, q: Scalars, dv: Scalars) -> Vector:
    turn = _exponential(tangents(dv[3:], dv[:3], Dual))
    real, dual = ([read(x, Dual) for x in turn] for read in (value_of, rate_of))
    moved = Vector3.of(_product(dual, _conjugate(real))[:3]).scaled(2.0)
    position = Vector3.of(q[:3]) + joint.placement(q).rotation.apply(moved)
    return [*position.scalars(), *_turned(q[3:], real)]


def _planar_exponential(joint: JointType, q: Scalars, dv: Scalars) -> Vector:
    """p + R V(t) v with V = [sin t, cos t - 1; 1 - cos t, sin t] / t, and the rotation as a unit vector."""
    x, y, c, s = q
    t = dv[2]
    along, quarter = _sinc(t * t), _sinc(0.25 * t * t)
    across = 0.5 * t * quarter * quarter
    dx, dy = along * dv[0] - across * dv[1], across * dv[0] + along * dv[1]
    turned = [c * cos(t) - s * sin(t), s * cos(t) + c * sin(t)]
    return [x + c * dx - s * dy, y + s * dx + c * dy, *_unit(turned)]


def _spherical_logarithm(joint: JointType, q0: Scalars, q1: Scalars) -> Vector:
    """The rotation vector of q0^-1 q1."""
    del joint
    return _logarithm(_unit(_product(_conjugate(q0), q1))).scalars()


def _free_logarithm(joint: JointType, q0: Scalars, q1: Scalars) -> Vector:
    turn = _unit(_product(_conjugate(q0[3:]), q1[3:]))
    between = Vector3.of(q1[:3]) - Vector3.of(q0[:3])
    return _motion(turn, joint.placement(q0).rotation.apply_transposed(between)).scalars()


def logarithm_of_placement(placement: Placement) -> Motion:
    """The motion that leads to a placement in unit time; turns of less than half a revolution."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = placement.rotation.rows()
    c = 0.5 * sqrt(1.0 + xx + yy + zz)
    scale = 0.25 / c
    return _motion([(zy - yz) * scale, (xz - zx) * scale, (yx - xy) * scale, c], placement.translation)


def _motion(turn: Scalars, offset: Vector3) -> Motion:
    """The logarithm of a placement by its unit quaternion and its translation."""
    dual = _product([*offset.scaled(0.5).scalars(), 0.0], turn)
    found = _logarithm(tangents(turn, dual, Dual)).scalars()
    linear, angular = (Vector3.of(read(x, Dual) for x in found) for read in (rate_of, value_of))
    return Motion(linear, angular)


def _planar_logarithm(joint: JointType, q0: Scalars, q1: Scalars) -> Vector:
    """V(t)^-1 R0^T (p1 - p0) with V^-1 = (t/2) [cot(t/2), 1; -1, cot(t/2)], and the angle t."""
    c, s = q0[2:]
    dx, dy = q1[0] - q0[0], q1[1] - q0[1]
    x, y = c * dx + s * dy, c * dy - s * dx
    half = 0.5 * atan2(c * q1[3] - s * q1[2], c * q1[2] + s * q1[3])
    cotangent = cos(half) / _sinc(half * half)
    return [cotangent * x + half * y, cotangent * y - half * x, 2.0 * half]


_EXPONENTIALS: dict[type[JointType], _Map] = {
    Spherical: _spherical_exponential,
    FreeFlyer: _free_exponential,
    Planar: _planar_exponential,
}
_LOGARITHMS: dict[type[JointType], _Map] = {
    Spherical: _spherical_logarithm,
    FreeFlyer: _free_logarithm,
    Planar: _planar_logarithm,
}


def _product(a: Scalars, b: Scalars) -> Vector:
    """The quaternion a b."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def _unit(entries: Scalars) -> Vector:
    """A vector divided by its length."""
    length = sqrt(sum((x * x for x in entries), 0.0))
    return [x / length for x in entries]


def _conjugate(q: Scalars) -> Vector:
    x, y, z, w = q
    return [-x, -y, -z, w]


def _turned(q: Scalars, turn: Scalars) -> Vector:
    """q times a quaternion, or its negative, the same rotation: the one nearer to q."""
    other = _unit(_product(q, turn))
    side = where_less(sum((x * y for x, y in zip(q, other, strict=True)), 0.0), 0.0, -1.0, 1.0)
    return [side * x for x in other]


def _sinc(t2: Scalar) -> Scalar:
    """sin(t) / t of t^2, which has derivatives by it at 0 too."""
    t = sqrt(where_less(t2, NEAR_ZERO, 1.0, t2))
    series = 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0))))
    return where_less(t2, NEAR_ZERO, series, sin(t) / t)


def _angle_over_sine(s2: Scalar, c: Scalar) -> Scalar:
    """u / sin u of the square of the sine and of the cosine of u, likewise."""
    sine = sqrt(where_less(s2, NEAR_ZERO, 1.0, s2))
    last = 1.0 + s2 * 49.0 / 72.0 * (1.0 + s2 * 81.0 / 110.0)
    series = 1.0 + s2 / 6.0 * (1.0 + s2 * 9.0 / 20.0 * (1.0 + s2 * 25.0 / 42.0 * last))
    return where_less(s2, NEAR_ZERO, series, atan2(sine, c) / sine)

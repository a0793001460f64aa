"""Integration and difference on the configuration manifold, using exponentials and logarithms of unit
quaternions and unit dual quaternions (Clifford 1873; Kotelnikov's principle of transference).

Rotations are Hamilton's unit quaternions (x, y, z, w). Rigid motions are unit dual quaternions: the same
formulas hold, with dual numbers in place of real ones. A motion with real part r and dual part d turns by r
and moves by 2 d r*. Joints whose coordinates cannot simply be added use quaternions or dual quaternions. The
conventions are those of Pinocchio: velocities are in the child's frame, `integrate` returns the unit
quaternion nearer to q, and `difference` goes the short way round. Scalars must be real, because comparisons
choose the sign of quaternions.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.tools.linear import Vector
from rbdc.errors import UnsupportedError
from rbdc.model import Model
from rbdc.model.joints import FreeFlyer, JointType, Planar, Spherical
from rbdc.spatial import Motion, Placement, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import atan2, cos, sin, sqrt, where_less
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

NEAR_ZERO = 1e-6
"""Functions of squared angles or squared sines below this value use series, whose first omitted term is less
than 1e-37.
"""


def integrate(model: Model, q: Scalars, dv: Scalars) -> Vector:
    """Return q (+) dv (nq): the configuration that the constant velocity dv reaches in unit time.
    Checked against the matrix exponential.
    """
    result: Vector = []
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            result += _integrated(body.joint, q[model.q_slice(index)], dv[model.v_slice(index)])
    return result


def difference(model: Model, q0: Scalars, q1: Scalars) -> Vector:
    """Return the dv (nv; m, rad) with q0 (+) dv = q1. Checked: q0 (+) dv = q1; dv = 0 if q0 = q1."""
    result: Vector = []
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            entries = model.q_slice(index)
            result += _difference(body.joint, q0[entries], q1[entries])
    return result


def dintegrate(model: Model, q: Scalars, dv: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Return the derivatives of q (+) dv with respect to q and dv (nv * nv each), all in the tangent spaces,
    using dual numbers.

    Checked against Pinocchio's dIntegrate.
    """
    there = integrate(model, q, dv)

    def moved(model: Model, q: Scalars, dv: Scalars) -> Vector:
        return difference(model, there, integrate(model, q, dv))

    by_q, by_step = differentiated(model, list(q), list(dv), method=moved, configurations=(True, False))
    return by_q, by_step


def ddifference(model: Model, q0: Scalars, q1: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Return the derivatives of the difference with respect to q0 and q1 (nv * nv each) in the tangent
    spaces, using dual numbers.

    Checked against Pinocchio's dDifference.
    """
    ends = list(q0), list(q1)
    by_first, by_second = differentiated(model, *ends, method=difference, configurations=(True, True))
    return by_first, by_second


def commutator(model: Model, x: Scalars, y: Scalars) -> Vector:
    """Return [x, y] (nv) of tangent vectors, joint by joint. Checked against dintegrate."""
    result: Vector = []
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            one, other = (vector[model.v_slice(index)] for vector in (x, y))
            result += _commutator(body.joint, one, other)
    return result


_DIRECTIONS: dict[type[JointType], Sequence[int]] = {
    Spherical: (3, 4, 5),
    FreeFlyer: range(6),
    Planar: (0, 1, 5),
}
"""For each joint type, the entries of a motion, in the joint's axes, that its velocities set."""


def _directions(joint: JointType) -> Sequence[int]:
    if type(joint) not in _DIRECTIONS:
        raise UnsupportedError(f"no exponential and logarithm for a joint of type {joint.kind}")
    return _DIRECTIONS[type(joint)]


def _commutator(joint: JointType, x: Scalars, y: Scalars) -> Vector:
    if joint.euclidean:
        return [0.0] * joint.nv
    directions = _directions(joint)
    one, other = (_motion_along(directions, vector) for vector in (x, y))
    turned = one.cross(other).scalars()
    return [turned[k] for k in directions]


def _motion_along(directions: Sequence[int], entries: Scalars) -> Motion:
    by_direction = dict(zip(directions, entries, strict=True))
    return Motion.of([by_direction.get(k, 0.0) for k in range(6)])


def _integrated(joint: JointType, q: Scalars, dv: Scalars) -> Vector:
    if joint.euclidean:
        return [x + dx for x, dx in zip(q, dv, strict=True)]
    turn, moved = _exponential(_motion_along(_directions(joint), dv))
    before, position = _pose(joint, q)
    return _entries(joint, _turned(before, turn), position + _rotated(before, moved))


def _difference(joint: JointType, q0: Scalars, q1: Scalars) -> Vector:
    if joint.euclidean:
        return [x1 - x0 for x0, x1 in zip(q0, q1, strict=True)]
    directions, (first, start), (second, end) = _directions(joint), _pose(joint, q0), _pose(joint, q1)
    back = _conjugate(first)
    motion = _motion(_unit(_product(back, second)), _rotated(back, end - start)).scalars()
    return [motion[k] for k in directions]


def _pose(joint: JointType, q: Scalars) -> tuple[Vector, Vector3]:
    """Return the quaternion and the position of a joint in its own axes."""
    if isinstance(joint, Planar):
        x, y, c, s = q
        half = 0.5 * atan2(s, c)
        return [0.0, 0.0, sin(half), cos(half)], Vector3(x, y, 0.0)
    return list(q[-4:]), Vector3.of(q[:3]) if isinstance(joint, FreeFlyer) else Vector3.zero()


def _entries(joint: JointType, turn: Vector, position: Vector3) -> Vector:
    if isinstance(joint, Planar):
        _, _, z, w = turn
        return [position.x, position.y, w * w - z * z, 2.0 * w * z]
    return [*position.scalars(), *turn] if isinstance(joint, FreeFlyer) else turn


class Dual(Tangent):
    """A number a + b e with e^2 = 0. a holds the rotation of a motion, b its translation. a and b may have
    rates.
    """

    __slots__ = ()
    level = 10


def _exponential(motion: Motion) -> tuple[Vector, Vector3]:
    """Return the quaternion and the translation that a constant motion reaches in unit time."""
    v = Vector3.of(tangents(motion.angular.scalars(), motion.linear.scalars(), Dual))
    u2 = 0.25 * v.dot(v)
    quarter = _sinc(0.25 * u2)
    turn = [*v.scaled(0.5 * _sinc(u2)).scalars(), 1.0 - 0.5 * u2 * quarter * quarter]
    real, dual = ([read(x, Dual) for x in turn] for read in (value_of, rate_of))
    return real, Vector3.of(_product(dual, _conjugate(real))[:3]).scaled(2.0)


def _logarithm(turn: Scalars) -> Vector3:
    """Return the rotation vector of a unit quaternion, at most half a turn long."""
    *vector, real = turn
    side, v = where_less(real, 0.0, -1.0, 1.0), Vector3.of(vector)
    return v.scaled(side * 2.0 * _angle_over_sine(v.dot(v), side * real))


def logarithm_of_placement(placement: Placement) -> Motion:
    """Return the constant motion that reaches a placement in unit time; at half a turn, one of two.

    Row k of `multiples` is the quaternion times 4 x, where x is entry k of the quaternion. The row with the
    largest x is the most accurate (Shepperd, Quaternion from rotation matrix, 1978).
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = placement.rotation.rows()
    multiples = (
        [1.0 + xx - yy - zz, yx + xy, xz + zx, zy - yz],
        [yx + xy, 1.0 - xx + yy - zz, zy + yz, xz - zx],
        [xz + zx, zy + yz, 1.0 - xx - yy + zz, yx - xy],
        [zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz],
    )
    turn, largest = multiples[0], multiples[0][0]
    for k, row in enumerate(multiples[1:], 1):
        turn = [where_less(largest, row[k], a, b) for a, b in zip(row, turn, strict=True)]
        largest = where_less(largest, row[k], row[k], largest)
    return _motion([0.5 / sqrt(largest) * x for x in turn], placement.translation)


def log6(model: Model, pose: Scalars) -> list[Scalar]:
    """Return the logarithm (6) of a placement x y z qx qy qz qw. Checked against `exp6`."""
    del model
    return _motion(pose[3:], Vector3.of(pose[:3])).scalars()


def exp6(model: Model, twist: Scalars) -> Vector:
    """Return the placement x y z qx qy qz qw that a constant motion reaches in unit time.

    Of the two quaternions it is the one whose real part is not negative.
    Checked against the matrix exponential.
    """
    del model
    turn, moved = _exponential(Motion.of(twist))
    side = where_less(turn[3], 0.0, -1.0, 1.0)
    return [*moved.scalars(), *(side * x for x in turn)]


def _motion(turn: Scalars, offset: Vector3) -> Motion:
    """Return the logarithm of a placement from its unit quaternion and its translation."""
    dual = _product([*offset.scaled(0.5).scalars(), 0.0], turn)
    logarithm = _logarithm(tangents(turn, dual, Dual)).scalars()
    linear, angular = (Vector3.of(read(x, Dual) for x in logarithm) for read in (rate_of, value_of))
    return Motion(linear, angular)


def _rotated(turn: Scalars, v: Vector3) -> Vector3:
    return Vector3.of(_product(_product(turn, [*v.scalars(), 0.0]), _conjugate(turn))[:3])


def _product(a: Scalars, b: Scalars) -> Vector:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def _unit(entries: Scalars) -> Vector:
    length = sqrt(sum((x * x for x in entries), 0.0))
    return [x / length for x in entries]


def _conjugate(q: Scalars) -> Vector:
    x, y, z, w = q
    return [-x, -y, -z, w]


def _turned(q: Scalars, turn: Scalars) -> Vector:
    """Return q times a quaternion, with the sign that is nearer to q."""
    other = _unit(_product(q, turn))
    side = where_less(sum((x * y for x, y in zip(q, other, strict=True)), 0.0), 0.0, -1.0, 1.0)
    return [side * x for x in other]


def _sinc(t2: Scalar) -> Scalar:
    """Return sin(t) / t as a function of t^2, which can be differentiated at 0 too."""
    t = sqrt(where_less(t2, NEAR_ZERO, 1.0, t2))
    series = 1.0 - t2 / 6.0 * (1.0 - t2 / 20.0 * (1.0 - t2 / 42.0 * (1.0 - t2 / 72.0 * (1.0 - t2 / 110.0))))
    return where_less(t2, NEAR_ZERO, series, sin(t) / t)


def _angle_over_sine(s2: Scalar, c: Scalar) -> Scalar:
    """Return u / sin u from the squared sine and the cosine of u; it can be differentiated at 0 too."""
    sine = sqrt(where_less(s2, NEAR_ZERO, 1.0, s2))
    last = 1.0 + s2 * 49.0 / 72.0 * (1.0 + s2 * 81.0 / 110.0)
    series = 1.0 + s2 / 6.0 * (1.0 + s2 * 9.0 / 20.0 * (1.0 + s2 * 25.0 / 42.0 * last))
    return where_less(s2, NEAR_ZERO, series, atan2(sine, c) / sine)

"""Unit quaternions (x, y, z, w) and the exponential and logarithm of SO(3), SE(3) and SE(2), without NaN at
the identity.

The formulas contain ratios such as sin(t/2)/t, which are even functions of the angle t. `_exponential` and
`_logarithm` compute the ratios with sines and roots, and near zero with Taylor series. Generated code uses
polynomials instead (`rbdc.emit.c.polynomials`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.spatial.scalars import Scalar, atan2, cos, in_one_piece, polynomial, sin, sqrt, where_less
from rbdc.spatial.vectors import Vector3

SMALL_SQUARED_ANGLE = 1e-3
"""Below this value of t^2 the truncated series are exact to rounding: the dropped terms are less than
1e-17.
"""

_NEGLIGIBLE = 1e-30
"""Added to a squared angle or a squared sine to avoid 0/0. It changes ratios such as sin(t)/t, which are even
functions, by less than rounding.
"""


def _length(squared: Scalar) -> Scalar:
    """Return the square root; for zero, a tiny positive number that is safe as a divisor."""
    return sqrt(squared + _NEGLIGIBLE)


def _exponential(t2: Scalar) -> list[Scalar]:
    """Return cos(t/2), sin(t/2)/t and (t - sin t)/t^3 from the squared angle t2."""
    t = _length(t2)
    real, ratio = cos(0.5 * t), sin(0.5 * t) / t
    exact = (1.0 - 2.0 * ratio * real) / (t2 + _NEGLIGIBLE)
    series = polynomial(t2, 1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800)
    return [real, ratio, where_less(t2, SMALL_SQUARED_ANGLE, series, exact)]


def _logarithm(cosine: Scalar, squared_sine: Scalar) -> list[Scalar]:
    """Return t / sin(t/2) and (1 - (t/2) cot(t/2))/t^2 from the cosine and the squared sine of t/2.

    The cosine is not negative. If the point (cosine, sine) lies off the unit circle, the first result is
    divided by the distance of this point from the origin.
    """
    sine = _length(squared_sine)
    t = 2.0 * atan2(sine, cosine)
    t2 = t * t
    exact = (1.0 - 0.5 * t * cosine / sine) / t2
    series = polynomial(t2, 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
    squared = squared_sine / (cosine * cosine + _NEGLIGIBLE)
    near = 2.0 * polynomial(squared, 1.0, -1 / 3, 1 / 5, -1 / 7, 1 / 9, -1 / 11) / cosine
    ratio = where_less(squared, SMALL_SQUARED_ANGLE, near, t / sine)  # the series keeps derivatives defined
    return [ratio, where_less(t2, SMALL_SQUARED_ANGLE, series, exact)]


def multiply(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Return the Hamilton product a b."""
    va, vb = Vector3.of(a[:3]), Vector3.of(b[:3])
    vector = vb.scaled(a[3]) + va.scaled(b[3]) + va.cross(vb)
    return [*vector.scalars(), a[3] * b[3] - va.dot(vb)]


def quaternion_rate(q: Sequence[Scalar], w: Vector3) -> list[Scalar]:
    """Return dq/dt = q (w, 0) / 2 at the body-frame angular velocity w."""
    return [0.5 * entry for entry in multiply(q, [*w.scalars(), 0.0])]


def quaternion_of(rows: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """Return one of the two unit quaternions of a rotation matrix, accurate at every angle.

    Of four formulas, the function uses one that does not divide by a small number (Day, Converting a
    Rotation Matrix to a Quaternion, 2014).
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rows
    by_x = [1.0 + xx - yy - zz, yx + xy, xz + zx, zy - yz]
    by_y = [yx + xy, 1.0 - xx + yy - zz, zy + yz, xz - zx]
    by_z = [xz + zx, zy + yz, 1.0 - xx - yy + zz, yx - xy]
    by_w = [zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz]
    below = [where_less(yy, xx, a, b) for a, b in zip([*by_x, by_x[0]], [*by_y, by_y[1]], strict=True)]
    above = [where_less(xx, -yy, a, b) for a, b in zip([*by_z, by_z[2]], [*by_w, by_w[3]], strict=True)]
    *entries, largest = (where_less(zz, 0.0, a, b) for a, b in zip(below, above, strict=True))
    part = 0.5 / sqrt(largest)
    return [part * entry for entry in entries]


def conjugate(q: Sequence[Scalar]) -> list[Scalar]:
    """Return the inverse of a unit quaternion."""
    return [-q[0], -q[1], -q[2], q[3]]


def normalized(q: Sequence[Scalar]) -> list[Scalar]:
    """Return q divided by its norm. q is a quaternion, or a cosine and a sine."""
    norm = sqrt(sum(entry * entry for entry in q))
    return [entry / norm for entry in q]


@dataclass(frozen=True)
class Exponential:
    """The exponential of a rotation vector.

    w: rotation vector (rad), of length t.
    half_cosine: cos(t/2).
    half_sine_ratio: sin(t/2)/t.
    cubic_ratio: (t - sin t)/t^3.
    """

    w: Vector3
    half_cosine: Scalar
    half_sine_ratio: Scalar
    cubic_ratio: Scalar

    def quaternion(self) -> list[Scalar]:
        """Return the unit quaternion of the rotation with a positive real part."""
        sign = where_less(self.half_cosine, 0.0, -1.0, 1.0)
        return [*self.w.scaled(sign * self.half_sine_ratio).scalars(), sign * self.half_cosine]


def exponential(w: Vector3) -> Exponential:
    """Return the exponential of the rotation vector w."""
    return Exponential(w, *in_one_piece(_exponential, w.dot(w)))


def turned(q: Sequence[Scalar], turn: Exponential) -> list[Scalar]:
    """Return q exp(w), normalised, for the exponential `turn` of w. Its sign is the one that makes it nearer
    to q, as in Pinocchio.
    """
    return multiply(normalized(q), turn.quaternion())


@dataclass(frozen=True)
class Logarithm:
    """The logarithm of a rotation.

    w: rotation vector (rad), of length t <= pi.
    squared_angle: t^2.
    cotangent_ratio: (1 - (t/2) cot(t/2))/t^2.
    """

    w: Vector3
    squared_angle: Scalar
    cotangent_ratio: Scalar


def logarithm(q: Sequence[Scalar]) -> Logarithm:
    """Return the logarithm of a unit quaternion."""
    sign = where_less(q[3], 0.0, -1.0, 1.0)
    vector = Vector3.of(q[:3])
    squared_sine = vector.dot(vector)
    ratio, cotangent_ratio = in_one_piece(_logarithm, sign * q[3], squared_sine)
    return Logarithm(vector.scaled(sign * ratio), ratio * ratio * squared_sine, cotangent_ratio)


def integrate_translation(turn: Exponential, linear: Vector3) -> Vector3:
    """Return V(w) v, the translation of exp([v; w]) in SE(3).

    V = 1 + (1-cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2, 1 - cos t = 2 sin^2(t/2).
    """
    ratio, first = turn.half_sine_ratio, turn.w.cross(linear)
    return linear + first.scaled(2.0 * ratio * ratio) + turn.w.cross(first).scaled(turn.cubic_ratio)


def differentiate_translation(turn: Logarithm, translation: Vector3) -> Vector3:
    """Return V(w)^-1 p, the linear part of the logarithm in SE(3).

    V^-1 = (1 - b t^2) 1 - [w]/2 + b w w^T, b = (1 - (t/2) cot(t/2))/t^2.
    """
    b, w = turn.cotangent_ratio, turn.w
    return (
        translation.scaled(1.0 - b * turn.squared_angle)
        + w.scaled(b * w.dot(translation))
        - w.cross(translation).scaled(0.5)
    )


def _nonzero(x: Scalar) -> Scalar:
    """Return x, or 1 if x is nearly zero, so that the branch not taken can divide by it."""
    return where_less(x * x, _NEGLIGIBLE, 1.0, x)


def planar_exponential(angle: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Return the cosine and the sine of a planar rotation by t (rad), and c, s of V = [[c, -s], [s, c]].

    V v is the translation of exp([v; t]) in SE(2). V is sin(h)/h times the rotation by h = t/2.
    """
    c, ratio, _ = in_one_piece(_exponential, angle * angle)
    s = ratio * angle
    return 1.0 - 2.0 * s * s, 2.0 * s * c, 2.0 * ratio * c, 2.0 * ratio * s


def planar_logarithm(cosine: Scalar, sine: Scalar) -> tuple[Scalar, Scalar]:
    """Return the angle t (rad) of a planar rotation, and p = (t/2) cot(t/2); V^-1 in SE(2) is [[p, t/2],
    [-t/2, p]].
    """
    angle = atan2(sine, cosine)
    # cot(t/2) = (1 + cos t) / sin t = sin t / (1 - cos t): one of the two quotients has no cancellation
    above = where_less(cosine, 0.0, sine, 1.0 + cosine)
    below = where_less(cosine, 0.0, 1.0 - cosine, _nonzero(sine))
    at_end = where_less(cosine, 0.0, 0.0, 1.0)
    return angle, where_less(sine * sine, _NEGLIGIBLE, at_end, 0.5 * angle * (above / below))

"""Unit quaternions (x, y, z, w) and the exponential and logarithm of SO(3), SE(3) and SE(2), without NaN at identity.

Near zero the ratios such as sin(t)/t come from their Taylor series; `where_less` picks the branch, so both stay finite in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.spatial.scalars import Scalar, atan2, cos, sin, sqrt, where_less
from rbdc.spatial.vectors import Vector3

# Below this squared angle the truncated series are exact to rounding (first dropped term t^8/9! < 1e-17 there).
SMALL_SQUARED_ANGLE = 1e-3


def _series(t2: Scalar, *coefficients: float) -> Scalar:
    """Horner's scheme in t2, constant coefficient first."""
    total: Scalar = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient + t2 * total
    return total


def _angle(t2: Scalar) -> Scalar:
    """sqrt(t2), kept away from zero so that a division by it in the branch not taken is harmless."""
    return sqrt(where_less(t2, SMALL_SQUARED_ANGLE, 1.0, t2))


def _half_sine_ratio(t2: Scalar) -> Scalar:
    """sin(t/2)/t of the squared angle t2."""
    t = _angle(t2)
    return where_less(t2, SMALL_SQUARED_ANGLE, _series(t2, 1 / 2, -1 / 48, 1 / 3840, -1 / 645120, 1 / 185794560), sin(0.5 * t) / t)


def _half_cosine(t2: Scalar) -> Scalar:
    """cos(t/2) of the squared angle t2."""
    return where_less(
        t2, SMALL_SQUARED_ANGLE, _series(t2, 1.0, -1 / 8, 1 / 384, -1 / 46080, 1 / 10321920), cos(0.5 * _angle(t2))
    )


def _cubic_ratio(t2: Scalar) -> Scalar:
    """(t - sin t)/t^3 of the squared angle t2; sin t = 2 sin(t/2) cos(t/2), which the exponential has already."""
    t = _angle(t2)
    sine = 2.0 * sin(0.5 * t) * cos(0.5 * t)
    return where_less(t2, SMALL_SQUARED_ANGLE, _series(t2, 1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800), (t - sine) / (t * t * t))


def multiply(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Hamilton product a b."""
    va, vb = Vector3.of(a[:3]), Vector3.of(b[:3])
    vector = vb.scaled(a[3]) + va.scaled(b[3]) + va.cross(vb)
    return [*vector.scalars(), a[3] * b[3] - va.dot(vb)]


def quaternion_rate(q: Sequence[Scalar], w: Vector3) -> list[Scalar]:
    """dq/dt = q (w, 0) / 2 at the body-frame angular velocity w."""
    return [0.5 * entry for entry in multiply(q, [*w.scalars(), 0.0])]


def conjugate(q: Sequence[Scalar]) -> list[Scalar]:
    """The inverse of a unit quaternion."""
    return [-q[0], -q[1], -q[2], q[3]]


def normalized(q: Sequence[Scalar]) -> list[Scalar]:
    """q divided by its norm."""
    norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return [entry / norm for entry in q]


def towards(reference: Sequence[Scalar], q: Sequence[Scalar]) -> list[Scalar]:
    """Of q and -q, the same rotation, the one on the side of `reference` (Pinocchio's choice too)."""
    product = sum(a * b for a, b in zip(reference, q, strict=True))
    sign = where_less(product, 0.0, -1.0, 1.0)
    return [sign * entry for entry in q]


def exponential(w: Vector3) -> list[Scalar]:
    """The quaternion of the rotation vector w (rad)."""
    t2 = w.dot(w)
    return [*w.scaled(_half_sine_ratio(t2)).scalars(), _half_cosine(t2)]


@dataclass(frozen=True)
class Logarithm:
    """The rotation vector w (rad, of length at most pi), its length, and sine and cosine of half of that. Where `squared` is below
    SMALL_SQUARED_ANGLE series serve, and angle and sine are only there to be divided by.
    """

    w: Vector3
    angle: Scalar
    sine: Scalar
    cosine: Scalar
    squared: Scalar


def logarithm(q: Sequence[Scalar]) -> Logarithm:
    """The logarithm of a unit quaternion."""
    sign = where_less(q[3], 0.0, -1.0, 1.0)
    vector, real = Vector3.of(q[:3]).scaled(sign), sign * q[3]
    s2 = vector.dot(vector)
    s = _angle(s2)
    angle = 2.0 * atan2(s, real)
    # t/2 = atan(s/c); for small s: 2 atan(s/c)/s = (2/c) (1 - x/3 + x^2/5 - ...), x = (s/c)^2.
    safe = where_less(s2, SMALL_SQUARED_ANGLE, real, 1.0)
    x = s2 / (safe * safe)
    small = (2.0 / safe) * _series(x, 1.0, -1 / 3, 1 / 5, -1 / 7, 1 / 9, -1 / 11)
    return Logarithm(vector.scaled(where_less(s2, SMALL_SQUARED_ANGLE, small, angle / s)), angle, s, real, s2)


def planar_logarithm(cosine: Scalar, sine: Scalar) -> Logarithm:
    """The logarithm of the rotation about z whose angle has this cosine and sine."""
    angle = atan2(sine, cosine)
    t2 = angle * angle
    t = _angle(t2)
    return Logarithm(Vector3(0.0, 0.0, angle), t, sin(0.5 * t), cos(0.5 * t), t2)


def integrate_translation(w: Vector3, linear: Vector3) -> Vector3:
    """V(w) v: the translation of exp([v; w]) in SE(3); V = 1 + (1-cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2, 1 - cos t = 2 sin^2(t/2)."""
    t2 = w.dot(w)
    ratio, first = _half_sine_ratio(t2), w.cross(linear)
    return linear + first.scaled(2.0 * ratio * ratio) + w.cross(first).scaled(_cubic_ratio(t2))


def differentiate_translation(turn: Logarithm, translation: Vector3) -> Vector3:
    """V(w)^-1 p: the linear part of the logarithm in SE(3); V^-1 = 1 - [w]/2 + b [w]^2, b = (1 - (t/2) cot(t/2))/t^2."""
    w = turn.w
    exact = (1.0 - 0.5 * turn.angle * turn.cosine / turn.sine) / (turn.angle * turn.angle)
    series = _series(w.dot(w), 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
    b = where_less(turn.squared, SMALL_SQUARED_ANGLE, series, exact)
    first = w.cross(translation)
    return translation - first.scaled(0.5) + w.cross(first).scaled(b)

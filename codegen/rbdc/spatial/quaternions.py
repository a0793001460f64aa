"""Unit quaternions (x, y, z, w) and the exponential and logarithm of SO(3), SE(3) and SE(2), without NaN at identity.

Near zero the ratios such as sin(t)/t come from their Taylor series; `where_less` picks the branch, so both stay finite in use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.spatial.scalars import Scalar, atan2, cos, sin, sqrt, where_less
from rbdc.spatial.vectors import Vector3

SMALL_SQUARED_ANGLE = 1e-3
"""Below it the truncated series are exact to rounding (first dropped term t^8/9! < 1e-17 there)."""

_NEGLIGIBLE = 1e-30
"""Beside a squared angle or sine: ratios such as sin(t)/t are even functions, which it changes by less than rounding, and not 0/0."""


def _series(t2: Scalar, *coefficients: float) -> Scalar:
    """Horner's scheme in t2, constant coefficient first."""
    total: Scalar = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = coefficient + t2 * total
    return total


def _length(squared: Scalar) -> Scalar:
    """The square root, of zero next to nothing instead, so that it can divide."""
    return sqrt(squared + _NEGLIGIBLE)


def _half_sine_ratio(t2: Scalar) -> Scalar:
    """sin(t/2)/t of the squared angle t2."""
    t = _length(t2)
    return sin(0.5 * t) / t


def _half_cosine(t2: Scalar) -> Scalar:
    """cos(t/2) of the squared angle t2."""
    return cos(0.5 * _length(t2))


def _cubic_ratio(t2: Scalar) -> Scalar:
    """(t - sin t)/t^3 of the squared angle t2; sin t = 2 sin(t/2) cos(t/2), which the exponential has already."""
    exact = (1.0 - 2.0 * _half_sine_ratio(t2) * _half_cosine(t2)) / (t2 + _NEGLIGIBLE)
    return where_less(t2, SMALL_SQUARED_ANGLE, _series(t2, 1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800), exact)


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
    """q, a quaternion or a cosine and a sine, divided by its norm."""
    norm = sqrt(sum(entry * entry for entry in q))
    return [entry / norm for entry in q]


def exponential(w: Vector3) -> list[Scalar]:
    """The quaternion of the rotation vector w (rad), of q and -q, the same rotation, that with a positive real part."""
    t2 = w.dot(w)
    real = _half_cosine(t2)
    sign = where_less(real, 0.0, -1.0, 1.0)
    return [*w.scaled(sign * _half_sine_ratio(t2)).scalars(), sign * real]


def turned(q: Sequence[Scalar], w: Vector3) -> list[Scalar]:
    """q exp(w), normalised; the one of the two quaternions of that rotation that is on the side of q (Pinocchio's choice too)."""
    return multiply(normalized(q), exponential(w))


@dataclass(frozen=True)
class Logarithm:
    """The rotation vector w (rad, of length at most pi), its length, and sine and cosine of half of that; neither length nor sine is 0."""

    w: Vector3
    angle: Scalar
    sine: Scalar
    cosine: Scalar


def logarithm(q: Sequence[Scalar]) -> Logarithm:
    """The logarithm of a unit quaternion."""
    sign = where_less(q[3], 0.0, -1.0, 1.0)
    vector, real = Vector3.of(q[:3]), sign * q[3]
    sine = _length(vector.dot(vector))
    angle = 2.0 * atan2(sine, real)
    return Logarithm(vector.scaled(sign * (angle / sine)), angle, sine, real)


def integrate_translation(w: Vector3, linear: Vector3) -> Vector3:
    """V(w) v: the translation of exp([v; w]) in SE(3); V = 1 + (1-cos t)/t^2 [w] + (t - sin t)/t^3 [w]^2, 1 - cos t = 2 sin^2(t/2)."""
    t2 = w.dot(w)
    ratio, first = _half_sine_ratio(t2), w.cross(linear)
    return linear + first.scaled(2.0 * ratio * ratio) + w.cross(first).scaled(_cubic_ratio(t2))


def differentiate_translation(turn: Logarithm, translation: Vector3) -> Vector3:
    """V(w)^-1 p: the linear part of the logarithm in SE(3); V^-1 = 1 - [w]/2 + b [w]^2, b = (1 - (t/2) cot(t/2))/t^2."""
    w, t2 = turn.w, turn.angle * turn.angle
    exact = (1.0 - 0.5 * turn.angle * turn.cosine / turn.sine) / t2
    series = _series(t2, 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
    b = where_less(t2, SMALL_SQUARED_ANGLE, series, exact)
    first = w.cross(translation)
    return translation - first.scaled(0.5) + w.cross(first).scaled(b)


def _nonzero(x: Scalar) -> Scalar:
    """x, or 1 where it is next to nothing, so that a division by it in the branch not taken is harmless."""
    return where_less(x * x, _NEGLIGIBLE, 1.0, x)


@dataclass(frozen=True)
class PlanarExponential:
    """Of a rotation in the plane by t (rad): cos t, sin t, and V of exp([v; t]) in SE(2), sin(h)/h times the rotation by h = t/2."""

    cosine: Scalar
    sine: Scalar
    cosine_part: Scalar
    sine_part: Scalar


def planar_exponential(angle: Scalar) -> PlanarExponential:
    """The exponential of a rotation in the plane."""
    half = 0.5 * angle
    c, s = cos(half), sin(half)
    ratio = where_less(half * half, _NEGLIGIBLE, 1.0, s / _nonzero(half))
    return PlanarExponential(1.0 - 2.0 * s * s, 2.0 * s * c, ratio * c, ratio * s)


def planar_logarithm(cosine: Scalar, sine: Scalar) -> tuple[Scalar, Scalar]:
    """The angle t (rad) of a rotation in the plane, and (t/2) cot(t/2); V^-1 in SE(2) is [[that, t/2], [-t/2, that]]."""
    angle = atan2(sine, cosine)
    # cot(t/2) = (1 + cos t) / sin t = sin t / (1 - cos t), of which one does not cancel
    above = where_less(cosine, 0.0, sine, 1.0 + cosine)
    below = where_less(cosine, 0.0, 1.0 - cosine, _nonzero(sine))
    at_end = where_less(cosine, 0.0, 0.0, 1.0)
    return angle, where_less(sine * sine, _NEGLIGIBLE, at_end, 0.5 * angle * (above / below))

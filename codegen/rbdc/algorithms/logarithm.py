"""The logarithm of a placement, its derivatives, and those of the exponential."""

from __future__ import annotations

from rbdc.spatial import Force, Motion, Placement, Scalar
from rbdc.spatial.quaternions import Logarithm, differentiate_translation, logarithm, quaternion_of
from rbdc.spatial.scalars import cos, polynomial, sin, sqrt, where_less

SMALL = 0.1
"""Squared angle (rad^2) below which power series replace the ratios of sines. The first omitted term is below
rounding.
"""


def logarithm_of(placement: Placement) -> Motion:
    """Return the motion that in unit time leads from the identity to a placement (m, rad). Its entries are
    the same in the coordinates of the identity and of the placement. For a rotation by half a turn, the
    result is one of two solutions.
    """
    return logarithm_and_turn(placement)[0]


def logarithm_and_turn(placement: Placement) -> tuple[Motion, Logarithm]:
    """Return `logarithm_of` a placement, and the logarithm of its rotation."""
    turn = logarithm(quaternion_of(placement.rotation.rows()))
    return Motion(differentiate_translation(turn, placement.translation), turn.w), turn


def rate_of_exponential(e: Motion, step: Motion) -> Motion:
    """Return the motion of the placement exp(e), in the placement's coordinates, if e changes by `step`:

        step - a ad(e) step + b ad(e)^2 step - c ad(e)^3 step + d ad(e)^4 step

    with a to d of `_exponential_ratios`: the right Jacobian of SE(3) (Barfoot, State Estimation for Robotics,
    section 7.1).
    """
    a, b, c, d = _exponential_ratios(e.angular.dot(e.angular))
    once = e.cross(step)
    twice = e.cross(once)
    thrice = e.cross(twice)
    odd = once.scaled(a) + thrice.scaled(c)
    return step - odd + twice.scaled(b) + e.cross(thrice).scaled(d)


def transposed_rate_of_exponential(e: Motion, force: Force) -> Force:
    """Return the transpose of `rate_of_exponential` applied to a force, using ad(e)^T = -(e x*).

    For every step, result . step = force . rate_of_exponential(e, step).
    """
    a, b, c, d = _exponential_ratios(e.angular.dot(e.angular))
    once = e.cross_force(force)
    twice = e.cross_force(once)
    thrice = e.cross_force(twice)
    odd = once.scaled(a) + thrice.scaled(c)
    return force + odd + twice.scaled(b) + e.cross_force(thrice).scaled(d)


def rate_of_logarithm(e: Motion, step: Motion) -> Motion:
    """Return the change of the logarithm e of a placement that moves by `step` in its own coordinates:

        step + ad(e) step / 2 + alpha ad(e)^2 step + beta ad(e)^4 step

    with alpha and beta of `_ratios`: the inverse of the right Jacobian of SE(3) (Barfoot, State Estimation
    for Robotics, section 7.1).
    """
    alpha, beta = _ratios(e.angular.dot(e.angular))
    once = e.cross(step)
    twice = e.cross(once)
    fourth = e.cross(e.cross(twice))
    return step + once.scaled(0.5) + twice.scaled(alpha) + fourth.scaled(beta)


def transposed_rate_of_logarithm(e: Motion, force: Force) -> Force:
    """Return the transpose of `rate_of_logarithm` applied to a force, using ad(e)^T = -(e x*).

    For every step, result . step = force . rate_of_logarithm(e, step).
    """
    alpha, beta = _ratios(e.angular.dot(e.angular))
    once = e.cross_force(force)
    twice = e.cross_force(once)
    fourth = e.cross_force(e.cross_force(twice))
    return force - once.scaled(0.5) + twice.scaled(alpha) + fourth.scaled(beta)


def _ratios(t2: Scalar) -> tuple[Scalar, Scalar]:
    """Return alpha and beta of `rate_of_logarithm` for the squared angle t2."""
    safe = where_less(t2, SMALL, 1.0, t2)
    t = sqrt(safe)
    s, versine = sin(t), cos(t) - 1.0
    alpha = 2.0 / safe + (t + 3.0 * s) / (4.0 * t * versine)
    beta = 1.0 / (safe * safe) + (t + s) / (4.0 * t * safe * versine)
    t4 = t2 * t2
    near_alpha = 1.0 / 12.0 - t4 * polynomial(t2, 1 / 30240, 1 / 604800, 1 / 15966720, 691 / 326918592000)
    near_beta = -1.0 / 720.0 - t2 * polynomial(t2, 1 / 15120, 1 / 403200, 1 / 11975040, 691 / 261534873600)
    return where_less(t2, SMALL, near_alpha, alpha), where_less(t2, SMALL, near_beta, beta)


def _exponential_ratios(t2: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """Return a, b, c and d of `rate_of_exponential` for the squared angle t2."""
    safe = where_less(t2, SMALL, 1.0, t2)
    t = sqrt(safe)
    c, s = cos(t), sin(t)
    part, t4 = 0.5 / safe, t2 * t2
    even, odd = t * s, t * c
    exact = [
        (4.0 - even - 4.0 * c) * part,
        (4.0 * t - 5.0 * s + odd) * part / t,
        (2.0 - even - 2.0 * c) * part / safe,
        (2.0 * t - 3.0 * s + odd) * part / (safe * t),
    ]
    near = [
        0.5 - t4 * polynomial(t2, 1 / 720, -1 / 20160, 1 / 1209600, -1 / 119750400),
        1.0 / 6.0 - t4 * polynomial(t2, 1 / 5040, -1 / 181440, 1 / 13305600, -1 / 1556755200),
        polynomial(t2, 1 / 24, -1 / 360, 1 / 13440, -1 / 907200, 1 / 95800320, -1 / 14529715200),
        polynomial(t2, 1 / 120, -1 / 2520, 1 / 120960, -1 / 9979200, 1 / 1245404160, -1 / 217945728000),
    ]
    first, second, third, fourth = (where_less(t2, SMALL, x, y) for x, y in zip(near, exact, strict=True))
    return first, second, third, fourth

"""Joints that follow others, linearly or along a polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rbdc.spatial import Scalar


@dataclass(frozen=True)
class Coupling:
    """A joint that follows the joint of another body, its leader: q = offset + multiplier q_leader + c2
    q_leader^2 + ... Only one-dof joints follow.

    leader: index of the leader's body.
    multiplier, offset: coefficients.
    higher: c2, c3, ...; empty for a linear law.
    """

    leader: int
    multiplier: Scalar
    offset: Scalar
    higher: tuple[Scalar, ...] = ()

    @property
    def coefficients(self) -> list[Scalar]:
        """All coefficients, the constant first."""
        return [self.offset, self.multiplier, *self.higher]

    def position(self, leader: Scalar) -> Scalar:
        """Return the joint's coordinate (m, rad) for a linear law; `CouplingAt` is for polynomials."""
        return self.multiplier * leader + self.offset


@dataclass(frozen=True)
class CouplingAt(Coupling):
    """A coupling at one configuration. `offset` and `multiplier` are those of the tangent to the curve there.

    place: the joint's coordinate.
    curvature, jerk: second and third derivatives of `place` with respect to the leader's coordinate.
    law: the coupling at all configurations.
    """

    place: Scalar = 0.0
    curvature: Scalar = 0.0
    jerk: Scalar = 0.0
    law: Coupling | None = None

    @property
    def coefficients(self) -> list[Scalar]:
        """All coefficients of the law."""
        return super().coefficients if self.law is None else self.law.coefficients

    def position(self, leader: Scalar) -> Scalar:
        """Return the joint's coordinate at the configuration."""
        del leader
        return self.place


def trimmed(coefficients: Sequence[float]) -> list[float]:
    """Return a polynomial without its highest coefficients if they are zero; at least a line is left."""
    count = max([2, *(k + 1 for k, x in enumerate(coefficients) if x != 0.0)])
    return list(coefficients[:count])


def reach(curve: Sequence[float], lower: float, upper: float) -> tuple[float, float]:
    """Return the smallest and the largest value of a polynomial between two limits of its argument."""
    at = [lower, upper]
    turning = np.roots([k * c for k, c in enumerate(curve)][:0:-1])
    at += [float(x.real) for x in turning if abs(x.imag) < 1e-9 and lower < x.real < upper]
    values = [composed(curve, [x])[0] for x in at]
    return min(values), max(values)


def composed(outer: Sequence[float], inner: Sequence[float]) -> list[float]:
    """Return the coefficients of outer(inner(x)) for two polynomials, the constant first."""
    result = [outer[-1]]
    for coefficient in reversed(outer[:-1]):
        product = [0.0] * (len(result) + len(inner) - 1)
        for i, x in enumerate(result):
            for j, y in enumerate(inner):
                product[i + j] += x * y
        product[0] += coefficient
        result = product
    return result

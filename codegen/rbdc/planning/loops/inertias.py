"""Coriolis factors and articulated inertias from their numbers, as the loops keep them in arrays."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.spatial import ArticulatedInertia, Rotation, Scalar, Symmetric3, Vector3

INERTIA, FACTOR, ARTICULATED = 10, 12, 21
"""Numbers of an inertia, of a Coriolis factor, of an articulated inertia."""


def factor_of(numbers: Sequence[Scalar]) -> CoriolisFactor:
    """The Coriolis factor whose `scalars()` these are."""
    p, x, y, z = (Vector3.of(numbers[k : k + 3]) for k in range(0, FACTOR, 3))
    return CoriolisFactor(p, (x, y, z))


def articulated_of(numbers: Sequence[Scalar]) -> ArticulatedInertia:
    """The articulated inertia with these `articulated_scalars`."""
    x, y, z = (Vector3.of(numbers[k : k + 3]) for k in range(6, 15, 3))
    return ArticulatedInertia(Symmetric3(*numbers[:6]), Rotation(x, y, z), Symmetric3(*numbers[15:]))


def articulated_scalars(inertia: ArticulatedInertia) -> list[Scalar]:
    """An articulated inertia: linear by linear, linear by angular by columns, angular by angular."""
    b = inertia.coupling
    columns = [*b.x.scalars(), *b.y.scalars(), *b.z.scalars()]
    return [*inertia.linear.scalars(), *columns, *inertia.angular.scalars()]

"""The inertia of motors and viscous damping: Featherstone, Rigid Body Dynamics Algorithms, section 9.6, as
diagonal matrices over v.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.joint_coordinates import Matrix
from rbdc.model import Model
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


def with_drives(
    model: Model, torques: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[Scalar]:
    """tau + K a + D v (nv; N, N m), with the armature K and the damping D."""
    result = list(torques)
    for diagonal, rates in ((model.armature, a), (model.damping, v)):
        for k, (factor, rate) in enumerate(zip(diagonal, rates, strict=True)):
            if not is_zero(factor):
                result[k] = result[k] + factor * rate
    return result


def plus_diagonal(matrix: Matrix, diagonal: Sequence[Scalar]) -> Matrix:
    """The matrix with a diagonal added."""
    result = [list(row) for row in matrix]
    for k, x in enumerate(diagonal):
        if not is_zero(x):
            result[k][k] = result[k][k] + x
    return result

"""Spatial algebra as matrices and tensors, made of rbdc's operations column by column: the operators of
Singh, Russell and Wensing, section III, in the order [linear; angular].

Entry [i, j, k] of a tensor is that of row i, column j and page k.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rbdc.algorithms.reference.derivatives.idsva import BodyCoriolis
from rbdc.spatial import Force, Motion, RigidInertia
from tests.support import Array

UNITS = np.eye(6)


def array_of(x: Any) -> Array:
    """A motion or a force (6)."""
    return np.array(x.scalars(), dtype=float)


def by_columns(operator: Callable[[Array], Any]) -> Array:
    """The matrix (6, 6) of a linear operator on motions or forces."""
    return np.column_stack([array_of(operator(e)) for e in UNITS])


def cross(v: Array) -> Array:
    """v x, on motions: equation (6)."""
    return by_columns(lambda e: Motion.of([*v]).cross(Motion.of([*e])))


def cross_force(v: Array) -> Array:
    """v x*, on forces: equation (7)."""
    return by_columns(lambda e: Motion.of([*v]).cross_force(Force.of([*e])))


def swapped(f: Array) -> Array:
    """f xbar*, on motions, with (f xbar*) v = v x* f."""
    return by_columns(lambda e: Motion.of([*e]).cross_force(Force.of([*f])))


def matrix_of(inertia: RigidInertia) -> Array:
    """The inertia as a matrix (6, 6)."""
    return by_columns(lambda e: inertia @ Motion.of([*e]))


def coriolis(inertia: RigidInertia, v: Array) -> Array:
    """B(I, v), of which `BodyCoriolis` is twice: equation (14)."""
    factor = BodyCoriolis.of_body(inertia, Motion.of([*v]))
    return 0.5 * by_columns(lambda e: factor.apply(Motion.of([*e])))


def pages(operator: Callable[[Array], Array], columns: Array) -> Array:
    """The tensor whose page k is the operator on column k: the tilde of section III."""
    return np.stack([operator(column) for column in columns.T], axis=2)


def after(tensor: Array, matrix: Array) -> Array:
    """Z_ijk = sum_l A_ilk B_lj: equation (18)."""
    product: Array = np.einsum("ilk,lj->ijk", tensor, matrix)
    return product


def before(matrix: Array, tensor: Array) -> Array:
    """Y_ijk = sum_l B_il A_ljk: equation (20)."""
    product: Array = np.einsum("il,ljk->ijk", matrix, tensor)
    return product


def turned(tensor: Array) -> Array:
    """The transpose of dimensions 2 and 3 (R)."""
    return tensor.transpose(0, 2, 1)


def transposed(tensor: Array) -> Array:
    """The transpose of dimensions 1 and 2 (T)."""
    return tensor.transpose(1, 0, 2)

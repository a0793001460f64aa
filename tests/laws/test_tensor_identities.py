"""Identities of tensorial spatial algebra, M1 to M27 of Singh, Russell and Wensing, table II, of rbdc's
spatial algebra: at random numbers, and for matrices of one to six columns. A wrong sign or transpose fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rbdc.algorithms.reference.derivatives.tensors import matrix_times, pages_exchanged, times_columns
from rbdc.spatial import RigidInertia
from tests.support import Array, assert_close
from tests.support_tensors import (
    after,
    before,
    coriolis,
    cross,
    cross_force,
    matrix_of,
    pages,
    swapped,
    transposed,
    turned,
)
from tests.support_trees import random_inertia


class Drawn(NamedTuple):
    """Vectors u, v, w, f (6), matrices U, V, W, F of motions and forces (6, so many), a body's inertia, a
    symmetric matrix, and a matrix and a tensor of any sizes.
    """

    u: Array
    v: Array
    w: Array
    f: Array
    U: Array
    V: Array
    W: Array
    F: Array
    body: RigidInertia
    symmetric: Array
    A: Array
    Y: Array

    @property
    def inertia(self) -> Array:
        """The body's inertia as a matrix."""
        return matrix_of(self.body)

    def b(self, v: Array) -> Array:
        """B(I, v)."""
        return coriolis(self.body, v)


def drawn(seed: int) -> Drawn:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=5)
    symmetric, (u, v, w, f) = rng.normal(size=(6, 6)), rng.normal(size=(4, 6))
    first, second, third, fourth = (rng.normal(size=(6, n)) for n in sizes[:4])
    return Drawn(
        *(u, v, w, f),
        *(first, second, third, fourth),
        random_inertia(rng),
        symmetric + symmetric.T,
        rng.normal(size=(sizes[4], 6)),
        rng.normal(size=(6, sizes[0], sizes[1])),
    )


def motions(columns: Array) -> Array:
    """U x~."""
    return pages(cross, columns)


def forces(columns: Array) -> Array:
    """U x~*."""
    return pages(cross_force, columns)


def swaps(columns: Array) -> Array:
    """F xbar~*."""
    return pages(swapped, columns)


def one(vector: Array) -> Array:
    """A vector as a matrix of one column."""
    return vector[:, None]


def flat(tensor: Array) -> Array:
    """A tensor of one page as a matrix."""
    return tensor[:, :, 0]


def bs(x: Drawn, columns: Array) -> Array:
    """B(I, V), the tensor: equation (19)."""
    return pages(x.b, columns)


IDENTITIES: dict[str, Callable[[Drawn], tuple[Array, Array]]] = {
    "M1": lambda x: (forces(x.U), -transposed(motions(x.U))),
    "M2": lambda x: (-before(x.V.T, forces(x.U)), transposed(after(motions(x.U), x.V))),
    "M3": lambda x: (
        -after(before(x.V.T, forces(x.U)), x.F),
        after(transposed(after(motions(x.U), x.V)), x.F),
    ),
    "M4": lambda x: (flat(turned(after(motions(x.U), one(x.v)))), -cross(x.v) @ x.U),
    "M5": lambda x: (after(forces(x.U), x.F), turned(after(swaps(x.F), x.U))),
    "M6": lambda x: (after(swaps(x.F), x.U), turned(after(forces(x.U), x.F))),
    "M7": lambda x: (motions(x.v[0] * x.U), x.v[0] * motions(x.U)),
    "M8": lambda x: (after(motions(x.U), x.V), -turned(after(motions(x.V), x.U))),
    "M9": lambda x: (
        motions(cross(x.v) @ x.U),
        before(cross(x.v), motions(x.U)) - after(motions(x.U), cross(x.v)),
    ),
    "M10": lambda x: (
        forces(cross(x.v) @ x.U),
        before(cross_force(x.v), forces(x.U)) - after(forces(x.U), cross_force(x.v)),
    ),
    "M11": lambda x: (
        swaps(flat(turned(after(forces(x.U), one(x.f))))),
        after(forces(x.U), swapped(x.f)) - before(swapped(x.f), motions(x.U)),
    ),
    "M12": lambda x: (transposed(after(forces(x.U), x.F)), -before(x.F.T, motions(x.U))),
    "M13": lambda x: (
        before(x.V.T, after(forces(x.U), x.F)),
        after(transposed(turned(after(motions(x.V), x.U))), x.F),
    ),
    "M13, third form": lambda x: (
        before(x.V.T, after(forces(x.U), x.F)),
        transposed(before(x.F.T, turned(after(motions(x.V), x.U)))),
    ),
    "M14": lambda x: (cross_force(x.v) @ x.F, flat(turned(after(swaps(x.F), one(x.v))))),
    "M15": lambda x: (swapped(x.f) @ x.U, flat(turned(after(forces(x.U), one(x.f))))),
    "M16": lambda x: (
        before(x.V.T, turned(after(forces(x.U), x.F))),
        turned(after(transposed(turned(after(motions(x.V), x.U))), x.F)),
    ),
    "M17": lambda x: (
        before(x.V.T, turned(after(forces(x.U), x.F))),
        -transposed(before(x.U.T, turned(after(forces(x.V), x.F)))),
    ),
    "M18": lambda x: (
        before(x.symmetric, turned(after(forces(x.U), x.F))),
        turned(before(x.symmetric, after(forces(x.U), x.F))),
    ),
    "M19": lambda x: (
        before(x.symmetric, turned(after(motions(x.U), x.V))),
        turned(before(x.symmetric, after(motions(x.U), x.V))),
    ),
    "M20": lambda x: (transposed(before(x.A, x.Y)), after(transposed(x.Y), x.A.T)),
    "M21": lambda x: (
        before(x.F.T, after(motions(x.U), x.V)),
        -transposed(before(x.V.T, turned(after(swaps(x.F), x.U)))),
    ),
    "M22": lambda x: (x.b(x.v).T @ x.w, -x.b(x.w).T @ x.v),
    "M23": lambda x: (x.b(x.v) @ x.w, x.b(x.w) @ x.v - x.inertia @ cross(x.v) @ x.w),
    "M24": lambda x: (np.atleast_1d(x.u @ x.b(x.v) @ x.w), np.atleast_1d(-x.v @ x.b(x.u) @ x.w)),
    "M25": lambda x: (after(transposed(bs(x, x.V)), x.W), -turned(after(transposed(bs(x, x.W)), x.V))),
    "M26": lambda x: (
        after(bs(x, x.V), x.W),
        turned(after(bs(x, x.W), x.V)) - after(before(x.inertia, motions(x.V)), x.W),
    ),
    "M27": lambda x: (
        before(x.U.T, turned(after(bs(x, x.V), x.W))),
        -transposed(before(x.V.T, turned(after(bs(x, x.U), x.W)))),
    ),
}
"""Both sides of each, of what is drawn. M18 and M19 hold for any symmetric matrix in place of the inertia."""


def test_no_identity_is_left_out() -> None:
    assert {name.split(",")[0] for name in IDENTITIES} == {f"M{k}" for k in range(1, 28)}


@pytest.mark.parametrize("name", IDENTITIES)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_identity(name: str, seed: int) -> None:
    left, right = IDENTITIES[name](drawn(seed))
    assert_close(left, right, 1e-12, what=name)
    assert np.abs(left).max() > 1e-6, "both sides vanish"


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_operators(seed: int) -> None:
    """Equations (6), (7) and (14): against matrices of blocks, and B of the three terms; B(I, v) v is
    v x* I v.
    """
    x = drawn(seed)
    linear, angular = (np.cross(part, np.eye(3)).T for part in (x.v[:3], x.v[3:]))
    zero = np.zeros((3, 3))
    assert_close(cross(x.v), np.block([[angular, linear], [zero, angular]]), 1e-14)
    assert_close(cross_force(x.v), np.block([[angular, zero], [linear, angular]]), 1e-14)
    terms = cross_force(x.v) @ x.inertia - x.inertia @ cross(x.v) + swapped(x.inertia @ x.v)
    assert_close(x.b(x.v), 0.5 * terms, 1e-12)
    assert_close(x.b(x.v) @ x.v, cross_force(x.v) @ x.inertia @ x.v, 1e-12)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_products(seed: int) -> None:
    """Equations (18) and (20), and the transpose, as the references of second derivatives have them."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    tensor, matrix = rng.normal(size=(size, size, size)), rng.normal(size=(size, size))
    lists = tensor.tolist(), matrix.tolist()
    assert_close(np.array(times_columns(*lists)), after(tensor, matrix), 1e-13)
    assert_close(np.array(matrix_times(lists[1], lists[0])), before(matrix, tensor), 1e-13)
    assert np.array_equal(pages_exchanged(lists[0]), turned(tensor))

"""Derivatives of forward dynamics: Carpentier and Mansard (2018), equation (24)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.forward_dynamics import accelerations, is_free
from rbdc.algorithms.dynamics.minverse import as_matrices
from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.algorithms.tools.linear import Factorisation, InverseFactor, Matrix, transposed, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import AnyRotation, Forces, Scalar, Scalars, Vector3


def aba_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
    *,
    inverse_of: Callable[[InverseFactor], Matrix] = InverseFactor.inverse,
) -> tuple[Matrix, Matrix, Matrix]:
    """ddq_dq, ddq_dv and ddq_dtau = M^-1 with W = L^-1, which has the zeros of L between branches: M^-1 = W
    D^-1 W^T, and a branch costs by the number of its ancestors, not by its own size. Test: the reference.
    """
    factors = Factorisation(crba(model, q, trace))
    inverse = InverseFactor(factors)
    _, *by = inverse_dynamics_derivatives(model, q, v, tau, fext, trace, factors)
    result = []
    for matrix in by:
        columns = [[-x for x in inverse.solve(column)] for column in transposed(matrix)]
        result.append(transposed(columns))
    _add_root_columns(model, q, v, result[0], result[1])
    made = result[0], result[1], inverse_of(inverse)
    for name, matrix in zip(("ddq_dq", "ddq_dv", "Minv"), made, strict=True):
        for j, column in enumerate(transposed(matrix)):
            trace("forward dynamics", f"column {j} of {name}", f"{name}_{j}", column)
    return made


aba_derivatives_of_branches = partial(aba_derivatives, inverse_of=InverseFactor.symmetric_inverse)
"""The derivatives with all branches of the tree treated alike, for lanes."""


def derivatives_to_solve(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]:
    """B_q, B_v, K_q, K_v, L, D^-1 with M (ddq_dq - K_q) = B_q, M = L^T D L, and ddq_dv likewise: what is left
    to do is the same for every column, so that columns can run side by side.
    """
    factors = Factorisation(crba(model, q, trace))
    _, *by = inverse_dynamics_derivatives(model, q, v, tau, fext, trace, factors)
    sides = [[[-x for x in row] for row in matrix] for matrix in by]
    return sides[0], sides[1], *known_root_columns(model, q, v), *as_matrices(factors, trace)


def inverse_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None,
    trace: Trace,
    factors: Factorisation,
) -> tuple[list[Scalar], Matrix, Matrix]:
    """The acceleration that tau gives (nv), and dtau_dq and dtau_dv at it (nv, nv), but for the columns of a
    free root that need no solve.
    """
    a = accelerations(model, q, v, tau, fext, trace, factors.solve)
    trace("forward dynamics", "qddot = M^-1 (tau - bias), M = L^T D L", "qddot", a)
    by_q, by_v, _ = rnea_derivatives(
        model, q, v, a, fext, trace, root_columns=not root_columns_are_known(model)
    )
    return a, by_q, by_v


def root_columns_are_known(model: Model) -> bool:
    """Whether the columns of free roots are M x with known x, which armature there would spoil."""
    return all(is_free(model, root) for root in model.children(WORLD) if model.bodies[root].joint.free)


def _free_roots(model: Model, q: Scalars, v: Scalars) -> Iterator[tuple[int, AnyRotation, Vector3, Vector3]]:
    """For each free body on the world where its entries of v begin, its rotation, and its linear and angular
    velocity.
    """
    for body, own in zip(model.bodies, joint_positions(model, q), strict=True):
        if body.parent == WORLD and body.joint.free:
            start = body.index_v
            yield (
                start,
                body.placement_at(own).rotation,
                Vector3.of(v[start : start + 3]),
                Vector3.of(v[start + 3 : start + 6]),
            )


def known_root_columns(model: Model, q: Scalars, v: Scalars) -> tuple[Matrix, Matrix]:
    """The parts of ddq_dq and ddq_dv (nv, nv) that need no solve."""
    known = zeros(model.nv, model.nv), zeros(model.nv, model.nv)
    _add_root_columns(model, q, v, *known)
    return known


def _add_root_columns(model: Model, q: Scalars, v: Scalars, by_q: Matrix, by_v: Matrix) -> None:
    """The part of a free root's columns that is M x with x in the root's own rows, so that M^-1 of it is
    known: -x.

    With g the world's acceleration in the root's frame: -(g x e_k) for its orientation, -(w x e_k) for its
    linear velocity, and for its angular velocity -(e_k x v) in the linear, -(w x e_k) in the angular rows.
    """
    for start, rotation, linear, w in _free_roots(model, q, v) if root_columns_are_known(model) else ():
        gravity = rotation.apply_transposed(-model.gravity)
        for k in range(3):
            unit = Vector3.of([1.0 if i == k else 0.0 for i in range(3)])
            _subtract(by_q, start, start + 3 + k, gravity.cross(unit))
            _subtract(by_v, start, start + k, w.cross(unit))
            _subtract(by_v, start, start + 3 + k, unit.cross(linear))
            _subtract(by_v, start + 3, start + 3 + k, w.cross(unit))


def _subtract(matrix: Matrix, row: int, column: int, x: Vector3) -> None:
    for k, entry in enumerate(x.scalars()):
        matrix[row + k][column] = matrix[row + k][column] - entry

"""Derivatives of forward dynamics: Carpentier and Mansard (2018), equation (24)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.forward_dynamics import accelerations, is_free
from rbdc.algorithms.dynamics.minverse import as_matrices
from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.algorithms.tools.linear import Factorisation, InverseFactor, Matrix, plus, transposed, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import Forces, Motion, Scalar, Scalars
from rbdc.spatial.vectors import AXES


def aba_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
    *,
    inverse_of: Callable[[InverseFactor], Matrix] = InverseFactor.inverse,
) -> tuple[Matrix, Matrix, Matrix]:
    """Return ddq_dq, ddq_dv and ddq_dtau = M^-1 = W D^-1 W^T (nv, nv each), with M = L^T D L. W = L^-1 has
    the zeros of L between branches. Checked against the reference.
    """
    return values_and_derivatives(model, q, v, tau, fext, trace, inverse_of=inverse_of)[1]


def values_and_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
    *,
    inverse_of: Callable[[InverseFactor], Matrix] = InverseFactor.inverse,
) -> tuple[list[Scalar], tuple[Matrix, Matrix, Matrix]]:
    """Return ddq (nv), and the results of `aba_derivatives`."""
    factors = Factorisation(crba(model, q, trace))
    inverse = InverseFactor(factors)
    a, *by = inverse_dynamics_derivatives(model, q, v, tau, fext, trace, factors)
    by_q, by_v = (
        plus(transposed([[-x for x in inverse.solve(column)] for column in transposed(matrix)]), known)
        for matrix, known in zip(by, known_root_columns(model, q, v), strict=True)
    )
    matrices = by_q, by_v, inverse_of(inverse)
    for name, matrix in zip(("ddq_dq", "ddq_dv", "Minv"), matrices, strict=True):
        for j, column in enumerate(transposed(matrix)):
            trace("forward dynamics", f"column {j} of {name}", f"{name}_{j}", column)
    return a, matrices


aba_derivatives_of_branches = partial(aba_derivatives, inverse_of=InverseFactor.symmetric_inverse)
"""`aba_derivatives` by the same operations for all branches of the tree, which can then share SIMD lanes."""


def derivatives_to_solve(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix, Matrix]:
    """Return B_q, B_v, K_q, K_v, L, D^-1 with M (ddq_dq - K_q) = B_q, M (ddq_dv - K_v) = B_v and M = L^T D L.
    The remaining solve is the same for every column, so columns can share SIMD lanes.
    """
    factors = Factorisation(crba(model, q, trace))
    _, *by = inverse_dynamics_derivatives(model, q, v, tau, fext, trace, factors)
    sides = [[[-x for x in row] for row in matrix] for matrix in by]
    return sides[0], sides[1], *known_root_columns(model, q, v), *as_matrices(factors, trace)


def inverse_dynamics_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None,
    trace: Trace,
    factors: Factorisation,
) -> tuple[list[Scalar], Matrix, Matrix]:
    """Return ddq for tau (nv), and dtau_dq and dtau_dv at these accelerations (nv, nv each), without the
    terms of `known_root_columns`.
    """
    a = accelerations(model, q, v, tau, fext, trace, factors.solve)
    trace("forward dynamics", "qddot = M^-1 (tau - bias), M = L^T D L", "qddot", a)
    by_q, by_v, _ = rnea_derivatives(
        model, q, v, a, fext, trace, root_columns=not root_columns_are_known(model)
    )
    return a, by_q, by_v


def root_columns_are_known(model: Problem) -> bool:
    """Return whether the root columns of dtau_dq and dtau_dv are M times known vectors: no free root has
    armature.
    """
    return all(is_free(model, root) for root in model.children(WORLD) if model.bodies[root].joint.free)


def known_root_columns(model: Problem, q: Scalars, v: Scalars) -> tuple[Matrix, Matrix]:
    """Return the parts K_q and K_v (nv, nv each) of ddq_dq and ddq_dv that need no solve. They are in the
    rows and columns of free roots. dtau_dq and dtau_dv have -M K_q and -M K_v in these columns.

    Let g be the world's acceleration in the root's frame, (v, w) the root's velocity and e_k a unit vector.
    In the linear rows, the parts are e_k x g (orientation), e_k x w (linear velocity) and v x e_k (angular
    velocity). In the angular rows, the part is e_k x w (angular velocity).
    """
    by_q, by_v = zeros(model.nv, model.nv), zeros(model.nv, model.nv)
    positions = joint_positions(model, q)
    for root in model.children(WORLD) if root_columns_are_known(model) else ():
        body = model.bodies[root]
        if not body.joint.free:
            continue
        velocity = Motion.of(v[model.v_slice(root)])
        gravity = body.placement_at(positions[root]).rotation.apply_transposed(-model.gravity)
        for k, unit in enumerate(AXES, body.index_v):
            turned = unit.cross(velocity.angular)
            columns = (by_q, 0, 3, unit.cross(gravity)), (by_v, 0, 0, turned), (by_v, 3, 3, turned)
            for matrix, row, column, x in (*columns, (by_v, 0, 3, velocity.linear.cross(unit))):
                for i, entry in enumerate(x.scalars(), body.index_v + row):
                    matrix[i][k + column] = entry
    return by_q, by_v

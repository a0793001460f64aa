"""Hessians of weighted sums of torques or accelerations: Nganga and Wensing (2021) take
them for differential dynamic programming.

For weights w the blocks are sum_i w_i T_ijk of the second derivatives T.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.derivatives.forward_derivatives import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives
from rbdc.algorithms.reference.derivatives.tensors import Tensor, matrix_product, matrix_sum
from rbdc.algorithms.tools.joint_coordinates import joint_velocities, reduce_matrix
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Model
from rbdc.spatial import Forces, Scalar, Scalars

Vector = list[Scalar]
Blocks = tuple[Matrix, Matrix, Matrix, Matrix]


def rnea_hessian_vector(
    model: Model, q: Scalars, v: Scalars, a: Scalars, w: Scalars, fext: Forces | None = None
) -> Blocks:
    """The blocks qq, vv, qv and qa (nv, nv each) of the Hessian of w^T tau. Test: the tensors."""
    weights = [x for own in joint_velocities(model, w) for x in own]
    tensors = second_derivatives(model, q, v, a, fext)
    qq, vv, qv, mq = (reduce_matrix(model, _contracted(tensor, weights)) for tensor in tensors)
    return qq, vv, qv, transposed(mq)


def _contracted(tensor: Tensor, w: Scalars) -> Matrix:
    """sum_i w_i T_ijk."""
    (entries,) = matrix_product([list(w)], [[x for row in slab for x in row] for slab in tensor])
    return [entries[k * len(w) : (k + 1) * len(w)] for k in range(len(w))]


def aba_hessian_vector(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, fext: Forces | None = None
) -> Blocks:
    """The blocks qq, vv, qv and qtau (nv, nv each) of the Hessian of w^T ddq: equation (46) with M^-1 w as
    weights. Test: the tensors.
    """
    a = aba(model, q, v, tau, fext)
    by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext)
    (solved,) = transposed(matrix_product(inverse, [[x] for x in w]))
    qq, vv, qv, qa = rnea_hessian_vector(model, q, v, a, [-x for x in solved], fext)
    inner_q, inner_v, inner_tau = (matrix_product(qa, matrix) for matrix in (by_q, by_v, inverse))
    return (matrix_sum(matrix_sum(qq, inner_q), transposed(inner_q)), vv, matrix_sum(qv, inner_v), inner_tau)


def _times_direction(blocks_of: Callable[..., Blocks]) -> Callable[..., tuple[Vector, Vector, Vector]]:
    """The Hessian of a weighted sum by q, v and x times the direction dq, dv, dx (nv each)."""

    def product(
        model: Model, q: Scalars, v: Scalars, x: Scalars, w: Scalars, *direction: Scalars, **named: Any
    ) -> tuple[Vector, Vector, Vector]:
        qq, vv, qv, qx = blocks_of(model, q, v, x, w, **named)
        dq, dv, dx = direction
        vq, xq = transposed(qv), transposed(qx)
        by_q = [dot(a, dq) + dot(b, dv) + dot(c, dx) for a, b, c in zip(qq, qv, qx, strict=True)]
        by_v = [dot(a, dq) + dot(b, dv) for a, b in zip(vq, vv, strict=True)]
        return by_q, by_v, [dot(a, dq) for a in xq]

    return product


rnea_hessian_product = _times_direction(rnea_hessian_vector)
"""Products with the Hessian of w^T tau by q, v and a. Test: complex-step of `rnea_vjp`."""
aba_hessian_product = _times_direction(aba_hessian_vector)
"""Products with the Hessian of w^T ddq by q, v and tau. Test: complex-step of `aba_vjp`."""

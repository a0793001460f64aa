"""Products of the first and second derivatives with weights of their rows, and with directions, from the
papers' matrices and tensors, of which the generated functions form none.

Recursions take (model, q, v, x), with accelerations or torques x, and external forces by name. Hessians are
of weighted sums of torques or accelerations, which Nganga and Wensing (2021) take for differential dynamic
programming: for weights w the blocks are sum_i w_i T_ijk of the second derivatives T.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives
from rbdc.algorithms.reference.derivatives.tensors import Tensor, matrix_product, matrix_sum
from rbdc.algorithms.tools.linear import Matrix, dot, flat, transposed
from rbdc.model import Model
from rbdc.spatial import Forces, Scalar, Scalars

Vector = list[Scalar]
Vectors = tuple[Vector, Vector, Vector]
Blocks = tuple[Matrix, Matrix, Matrix, Matrix]
Derivatives = Callable[..., tuple[Matrix, Matrix, Matrix]]
"""A recursion for the derivatives by q, v and x (nv, nv each)."""


def _weighted(derivatives: Derivatives) -> Callable[..., Vectors]:
    """Sums of the rows of the matrices, times weights w (nv each)."""

    def product(model: Model, q: Scalars, v: Scalars, x: Scalars, w: Scalars, **named: Any) -> Any:
        matrices = derivatives(model, q, v, x, **named)
        return tuple(flat(matrix_product([list(w)], matrix)) for matrix in matrices)

    return product


def _along(derivatives: Derivatives) -> Callable[..., Vector]:
    """The sum of the matrices, each times its part of a direction (nv)."""

    def product(
        model: Model, q: Scalars, v: Scalars, x: Scalars, *direction: Scalars, **named: Any
    ) -> Vector:
        rows = [flat(list(own)) for own in zip(*derivatives(model, q, v, x, **named), strict=True)]
        return flat(matrix_product(rows, [[entry] for part in direction for entry in part]))

    return product


rnea_vjp, aba_vjp = _weighted(rnea_derivatives), _weighted(aba_derivatives)
"""w^T dtau_dq, w^T dtau_dv and w^T dtau_da = M w; w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau = M^-1 w. Test:
`rnea_adjoint` and `aba_adjoint` of generated code.
"""
rnea_jvp, aba_jvp = _along(rnea_derivatives), _along(aba_derivatives)
"""dtau_dq dq + dtau_dv dv + dtau_da da, and ddq_dq dq + ddq_dv dv + ddq_dtau dtau."""


def rnea_hessian_vector(
    model: Model, q: Scalars, v: Scalars, a: Scalars, w: Scalars, fext: Forces | None = None
) -> Blocks:
    """The blocks qq, vv, qv and qa (nv, nv each) of the Hessian of w^T tau. Test: the tensors."""
    qq, vv, qv, mq = (_contracted(tensor, w) for tensor in second_derivatives(model, q, v, a, fext))
    return qq, vv, qv, transposed(mq)


def _contracted(tensor: Tensor, w: Scalars) -> Matrix:
    """sum_i w_i T_ijk."""
    (entries,) = matrix_product([list(w)], [flat(slab) for slab in tensor])
    return [entries[k * len(w) : (k + 1) * len(w)] for k in range(len(w))]


def aba_hessian_vector(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, fext: Forces | None = None
) -> Blocks:
    """The blocks qq, vv, qv and qtau (nv, nv each) of the Hessian of w^T ddq: equation (46) of Singh, Russell
    and Wensing with M^-1 w as weights. Test: the tensors.
    """
    a = aba(model, q, v, tau, fext)
    by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext)
    (solved,) = transposed(matrix_product(inverse, [[x] for x in w]))
    qq, vv, qv, qa = rnea_hessian_vector(model, q, v, a, [-x for x in solved], fext)
    inner_q, inner_v, inner_tau = (matrix_product(qa, matrix) for matrix in (by_q, by_v, inverse))
    return (matrix_sum(matrix_sum(qq, inner_q), transposed(inner_q)), vv, matrix_sum(qv, inner_v), inner_tau)


def _times_direction(blocks_of: Callable[..., Blocks]) -> Callable[..., Vectors]:
    """The Hessian of a weighted sum by q, v and x times the direction dq, dv, dx (nv each)."""

    def product(
        model: Model, q: Scalars, v: Scalars, x: Scalars, w: Scalars, *direction: Scalars, **named: Any
    ) -> Vectors:
        qq, vv, qv, qx = blocks_of(model, q, v, x, w, **named)
        dq, dv, dx = direction
        by_q = [dot(a, dq) + dot(b, dv) + dot(c, dx) for a, b, c in zip(qq, qv, qx, strict=True)]
        by_v = [dot(a, dq) + dot(b, dv) for a, b in zip(transposed(qv), vv, strict=True)]
        return by_q, by_v, [dot(a, dq) for a in transposed(qx)]

    return product


rnea_hessian_product = _times_direction(rnea_hessian_vector)
"""Products with the Hessian of w^T tau by q, v and a. Test: complex-step of `rnea_vjp`."""
aba_hessian_product = _times_direction(aba_hessian_vector)
"""Products with the Hessian of w^T ddq by q, v and tau. Test: complex-step of `aba_vjp`."""

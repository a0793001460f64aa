"""Products of the derivatives with a vector: the matrices of the papers' recursions times it. The generated
functions form no matrix.

Recursions take (model, q, v, x), with accelerations or torques x, and external forces by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.reference.derivatives.forward_derivatives import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.tensors import matrix_product
from rbdc.algorithms.tools.linear import Matrix, flat
from rbdc.model import Model
from rbdc.spatial import Scalar, Scalars

Vector = list[Scalar]
Derivatives = Callable[..., tuple[Matrix, Matrix, Matrix]]
"""A recursion for the derivatives by q, v and x (nv, nv each)."""


def _weighted(derivatives: Derivatives) -> Callable[..., tuple[Vector, Vector, Vector]]:
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

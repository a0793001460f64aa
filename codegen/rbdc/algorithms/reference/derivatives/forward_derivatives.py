"""First derivatives of forward dynamics from those of inverse dynamics: Carpentier and Mansard (2018),
equation (24).

M^-1 comes from the direct algorithm of the companion report, as the paper has it.
"""

from __future__ import annotations

from rbdc.algorithms.reference.aba import aba, minverse
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.tensors import matrix_product
from rbdc.algorithms.tools.linear import Matrix
from rbdc.model import Model
from rbdc.spatial import Forces, Scalars


def aba_derivatives(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """ddq_dq, ddq_dv and ddq_dtau = M^-1 (nv, nv each), columns in the tangent space.

    Test: M times them gives minus the derivatives of inverse dynamics; complex-step of `aba`; Pinocchio.
    """
    a = aba(model, q, v, tau, fext)
    inverse = minverse(model, q)
    dq, dv, _ = rnea_derivatives(model, q, v, a, fext)
    negative = [[-x for x in row] for row in inverse]
    return matrix_product(negative, dq), matrix_product(negative, dv), inverse

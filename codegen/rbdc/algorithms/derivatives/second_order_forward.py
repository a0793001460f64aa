"""Second derivatives of forward dynamics by explicit formulas: Singh, Russell and Wensing's equations
(44)-(49) without the terms that are zero. u and w are each q, v or tau, FD_u is dFD/du, and ^R exchanges the
last two indices:

    d2FD/du dw = -M^-1 (d2ID/du dw + dM/dw FD_u + (dM/du FD_w)^R),   dM^-1/dq = -M^-1 dM/dq M^-1

These formulas serve models of a few degrees of freedom. `rbdc.planning.paths.forward` serves larger models.
"""

from __future__ import annotations

from rbdc.algorithms.derivatives.forward_derivatives import aba_derivatives
from rbdc.algorithms.derivatives.second_order import Tensor, second_derivatives
from rbdc.algorithms.dynamics.forward_dynamics import by_cholesky
from rbdc.algorithms.tools.linear import Matrix, dot, flat, plus, product, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalars


def aba_second_derivatives(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return d2ddq_dqdq, d2ddq_dvdv, d2ddq_dqdv, d2ddq_dqdtau (nv * nv, nv each; row nv * i + j, column k).
    Checked against the reference.
    """
    a = by_cholesky(model, q, v, tau, fext, trace)
    by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext, trace)
    qq, vv, qv, mq = second_derivatives(model, q, v, a, fext, trace)
    turned = [transposed(slab) for slab in mq]

    def inner(matrix: Matrix) -> Tensor:
        """Return the tensor whose entry [i, k, j] is row i of dM/dq_k times column j of the matrix."""
        return [product(slab, matrix) for slab in turned]

    def solved(tensor: Tensor) -> Matrix:
        columns = transposed([flat(slab) for slab in tensor])
        rows = [[-dot(row, column) for column in columns] for row in inverse]
        return [row[k : k + model.nv] for row in rows for k in range(0, model.nv**2, model.nv)]

    both = [plus(x, transposed(y), y) for x, y in zip(qq, inner(by_q), strict=True)]
    crossed = [plus(x, y) for x, y in zip(qv, inner(by_v), strict=True)]
    return solved(both), solved(vv), solved(crossed), solved(inner(inverse))

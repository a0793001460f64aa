"""Second derivatives of forward dynamics written out: Singh, Russell and Wensing's equations (44)-(49),
zeros left out.

    d2FD/du dw = -M^-1 (d2ID/du dw + dM/dw FD_u + (dM/du FD_w)^R),   dM^-1/dq = -M^-1 dM/dq M^-1

For models of a few degrees of freedom, whose tensors are straight-line code;
`templates/second_forward.c.jinja` takes the same from sums over paths and subtrees, without the tensors
of inverse dynamics.
"""

from __future__ import annotations

from rbdc.algorithms.derivatives.forward_derivatives import aba_derivatives
from rbdc.algorithms.derivatives.second_order import rnea_second_derivatives
from rbdc.algorithms.dynamics.forward_dynamics import by_factors
from rbdc.algorithms.tools.linear import Matrix, dot
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Forces, Scalar, Scalars


def aba_second_derivatives(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """d2ddq_dqdq, d2ddq_dvdv, d2ddq_dqdv and d2ddq_dqdtau (nv nv, nv each; row nv i + j, column k). Test:
    the reference.
    """
    size = range(model.nv)
    a = by_factors(model, q, v, tau, fext, trace)
    by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext, trace)
    qq, vv, qv, mq = rnea_second_derivatives(model, q, v, a, fext, trace)

    def inner(matrix: Matrix) -> Matrix:
        """Row nv i + k, column j: of dM_i./dq_k times column j."""
        return [
            [dot([mq[model.nv * i + c][k] for c in size], [row[j] for row in matrix]) for j in size]
            for i in size
            for k in size
        ]

    inner_q, inner_v, inner_m = inner(by_q), inner(by_v), inner(inverse)

    def turned(matrix: Matrix, i: int, j: int, k: int) -> Scalar:
        return matrix[model.nv * i + j][k]

    both = [
        [qq[model.nv * i + j][k] + turned(inner_q, i, k, j) + turned(inner_q, i, j, k) for k in size]
        for i in size
        for j in size
    ]
    crossed = [[qv[model.nv * i + j][k] + turned(inner_v, i, j, k) for k in size] for i in size for j in size]

    def solved(matrix: Matrix) -> Matrix:
        columns = [[[matrix[model.nv * i + j][k] for i in size] for k in size] for j in size]
        return [[-dot(inverse[i], columns[j][k]) for k in size] for i in size for j in size]

    return solved(both), solved(vv), solved(crossed), solved(inner_m)

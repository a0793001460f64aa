"""Hessians of weighted sums of torques or accelerations by the tensors: Nganga and Wensing (2021) take
them for differential dynamic programming.

For weights w the blocks are sum_i w_i T_ijk of the second derivatives T.
"""

from __future__ import annotations

from rbdc.algorithms.derivatives.second_order import rnea_second_derivatives
from rbdc.algorithms.derivatives.second_order_forward import aba_second_derivatives
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Forces, Scalars
from rbdc.spatial.scalars import is_zero

Blocks = tuple[Matrix, Matrix, Matrix, Matrix]


def rnea_hessian_vector(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    w: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Blocks:
    """The blocks qq, vv, qv and qa (nv, nv each) of the Hessian of w^T tau. Test: the tensors."""
    qq, vv, qv, mq = rnea_second_derivatives(model, q, v, a, fext, trace)
    by_a = _contracted(mq, w)
    return (
        _contracted(qq, w),
        _contracted(vv, w),
        _contracted(qv, w),
        [list(row) for row in zip(*by_a, strict=True)],
    )


def aba_hessian_vector(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    w: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Blocks:
    """The blocks qq, vv, qv and qtau (nv, nv each) of the Hessian of w^T ddq. Test: the tensors."""
    qq, vv, qv, qt = (_contracted(t, w) for t in aba_second_derivatives(model, q, v, tau, fext, trace))
    return qq, vv, qv, qt


def _contracted(tensor: Matrix, w: Scalars) -> Matrix:
    """sum_i w_i T_ijk of the rows nv i + j of a tensor."""
    size = len(w)
    result: Matrix = [[0.0] * size for _ in range(size)]
    for number, row in enumerate(tensor):
        i, j = divmod(number, size)
        result[j] = [
            total if is_zero(x) else total + w[i] * x for total, x in zip(result[j], row, strict=True)
        ]
    return result

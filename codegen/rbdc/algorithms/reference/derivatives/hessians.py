"""Hessians of weighted sums of torques or accelerations by the tensors: Nganga and Wensing (2021) take
them for differential dynamic programming.

For weights w the blocks are sum_i w_i T_ijk of the second derivatives T.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.derivatives.fdsva_so import aba_second_derivatives
from rbdc.algorithms.reference.derivatives.idsva_so import rnea_second_derivatives
from rbdc.algorithms.reference.joint_coordinates import Matrix, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Force, Scalar
from rbdc.spatial.scalars import is_zero

Vector = list[Scalar]
Blocks = tuple[Matrix, Matrix, Matrix, Matrix]


def rnea_hessian_vector(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    w: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
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
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    w: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> Blocks:
    """The blocks qq, vv, qv and qtau (nv, nv each) of the Hessian of w^T ddq. Test: the tensors."""
    qq, vv, qv, qt = (_contracted(t, w) for t in aba_second_derivatives(model, q, v, tau, fext, trace))
    return qq, vv, qv, qt


def rnea_hessian_product(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    w: Sequence[Scalar],
    *direction: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """The Hessian of w^T tau by q, v and a times the direction dq, dv, da (nv each).

    Test: complex-step of `rnea_vjp`.
    """
    return _times(rnea_hessian_vector(model, q, v, a, w, fext, trace), *direction)


def aba_hessian_product(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    w: Sequence[Scalar],
    *direction: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """The Hessian of w^T ddq by q, v and tau times the direction dq, dv, dtau (nv each).

    Test: complex-step of `aba_vjp`.
    """
    return _times(aba_hessian_vector(model, q, v, tau, w, fext, trace), *direction)


def _times(
    blocks: Blocks, dq: Sequence[Scalar], dv: Sequence[Scalar], dx: Sequence[Scalar]
) -> tuple[Vector, Vector, Vector]:
    qq, vv, qv, qx = blocks
    vq, xq = transposed(qv), transposed(qx)
    by_q = [_dot(a, dq) + _dot(b, dv) + _dot(c, dx) for a, b, c in zip(qq, qv, qx, strict=True)]
    by_v = [_dot(a, dq) + _dot(b, dv) for a, b in zip(vq, vv, strict=True)]
    return by_q, by_v, [_dot(a, dq) for a in xq]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if not is_zero(x):
            total = total + x * y
    return total


def _contracted(tensor: Matrix, w: Sequence[Scalar]) -> Matrix:
    """sum_i w_i T_ijk of the rows nv i + j of a tensor."""
    size = len(w)
    result: Matrix = [[0.0] * size for _ in range(size)]
    for number, row in enumerate(tensor):
        i, j = divmod(number, size)
        result[j] = [
            total if is_zero(x) else total + w[i] * x for total, x in zip(result[j], row, strict=True)
        ]
    return result

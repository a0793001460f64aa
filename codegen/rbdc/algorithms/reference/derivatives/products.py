"""Products of the derivatives with a vector: the matrices of the papers' recursions times it. The generated
functions form no matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.derivatives.forward_derivatives import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.tensors import matrix_product
from rbdc.algorithms.tools.linear import Matrix, flat
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Forces, Scalar, Scalars

Vector = list[Scalar]


def rnea_vjp(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    w: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """w^T dtau_dq, w^T dtau_dv and w^T dtau_da = M w (nv each). Test: `rnea_adjoint` of generated code."""
    return weighted(rnea_derivatives(model, q, v, a, fext, trace), w)


def aba_vjp(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    w: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau = M^-1 w (nv each)."""
    return weighted(aba_derivatives(model, q, v, tau, fext, trace), w)


def rnea_jvp(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    *direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vector:
    """dtau_dq dq + dtau_dv dv + dtau_da da (nv)."""
    return along(rnea_derivatives(model, q, v, a, fext, trace), direction)


def aba_jvp(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vector:
    """ddq_dq dq + ddq_dv dv + ddq_dtau dtau (nv)."""
    return along(aba_derivatives(model, q, v, tau, fext, trace), direction)


def weighted(matrices: tuple[Matrix, Matrix, Matrix], w: Scalars) -> tuple[Vector, Vector, Vector]:
    """Sums of the rows of three matrices, times weights."""
    by_q, by_v, by_last = (flat(matrix_product([list(w)], matrix)) for matrix in matrices)
    return by_q, by_v, by_last


def along(matrices: tuple[Matrix, Matrix, Matrix], direction: Sequence[Scalars]) -> Vector:
    """The sum of three matrices, each times its part of a direction."""
    rows = [flat(list(own)) for own in zip(*matrices, strict=True)]
    return flat(matrix_product(rows, [[x] for part in direction for x in part]))

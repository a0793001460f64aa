"""Second derivatives of forward dynamics from those of inverse dynamics: Singh, Russell and Wensing, On
Second-Order Derivatives of Rigid-Body Dynamics, equations (44)-(49) (FDSVA-SO).

    d2FD/du dw = -M^-1 (d2ID/du dw + dM/dw FD_u + (dM/du FD_w)^R)

with dM/dv = 0, and dM^-1/dq = -M^-1 dM/dq M^-1. The products can be taken in three ways, which the paper
compares: as they stand (DTM), the outer ones by forward dynamics at rest without gravity (AZA, equation
(50)), the inner ones by first derivatives of inverse dynamics at rest without gravity (IDFOZA, equation
(52)).
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives
from rbdc.algorithms.reference.derivatives.tensors import (
    Tensor,
    matrix_times,
    pages_exchanged,
    sum_of,
    times_columns,
)
from rbdc.algorithms.tools.linear import Matrix, flat, transposed
from rbdc.model import Model
from rbdc.spatial import Forces, Scalars

Outer = Callable[[Model, Scalars, Matrix, Tensor], Tensor]
"""(model, q, -M^-1, A) -> -M^-1 A."""
Inner = Callable[[Model, Scalars, Tensor, Matrix], Tensor]
"""(model, q, dM/dq, B) -> dM/dq B, equation (18)."""


def outer_by_matrix(model: Model, q: Scalars, negative: Matrix, tensor: Tensor) -> Tensor:
    """-M^-1 A by a product of matrix and tensor (DTM)."""
    del model, q
    return matrix_times(negative, tensor)


def outer_by_dynamics(model: Model, q: Scalars, negative: Matrix, tensor: Tensor) -> Tensor:
    """-M^-1 A column by column, each by forward dynamics at rest without gravity (AZA, equation (50))."""
    del negative
    weightless, rest = model.of_inertia(), [0.0] * model.nv
    size = range(model.nv)
    columns = [[aba(weightless, q, rest, [-tensor[i][j][k] for i in size]) for k in size] for j in size]
    return [[[columns[j][k][i] for k in size] for j in size] for i in size]


def inner_by_tensor(model: Model, q: Scalars, inertia: Tensor, matrix: Matrix) -> Tensor:
    """dM/dq B by a product of tensor and matrix (DTM)."""
    del model, q
    return times_columns(inertia, matrix)


def inner_by_derivatives(model: Model, q: Scalars, inertia: Tensor, matrix: Matrix) -> Tensor:
    """dM/dq B column by column, each by first derivatives of inverse dynamics at rest without gravity
    (IDFOZA, equation (52)).
    """
    del inertia
    weightless, rest = model.of_inertia(), [0.0] * model.nv
    pages = [rnea_derivatives(weightless, q, rest, column)[0] for column in transposed(matrix)]
    size = range(model.nv)
    return [[pages[j][i] for j in size] for i in size]


def _with_products(inner: Inner, outer: Outer) -> Callable[..., tuple[Matrix, Matrix, Matrix, Matrix]]:
    """d2ddq_dqdq, d2ddq_dvdv, d2ddq_dqdv and d2ddq_dqdtau (nv nv, nv each; row nv i + j, column k), with
    one of the ways to take the inner products of equation (46), and one to take the outer ones.

    Entry i, j, k is L_k (L_j ddq_i); of the last that of dM^-1_ik by q_j. Tests: complex-step of
    `aba_derivatives`; the other ways.
    """

    def derivatives(
        model: Model, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
    ) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        a = aba(model, q, v, tau, fext)
        by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext)
        negative = [[-x for x in row] for row in inverse]
        qq, vv, qv, mq = second_derivatives(model, q, v, a, fext)

        def solved(tensor: Tensor) -> Matrix:
            return flat(outer(model, q, negative, tensor))

        inner_q, inner_v = (inner(model, q, mq, matrix) for matrix in (by_q, by_v))
        turned_v = pages_exchanged(inner_v)
        inverse_q = pages_exchanged(inner(model, q, mq, inverse))
        both = sum_of(qq, inner_q, pages_exchanged(inner_q))
        return solved(both), solved(vv), solved(sum_of(qv, turned_v)), solved(inverse_q)

    return derivatives


aba_second_derivatives = _with_products(inner_by_tensor, outer_by_matrix)
by_dynamics = _with_products(inner_by_tensor, outer_by_dynamics)
by_derivatives = _with_products(inner_by_derivatives, outer_by_matrix)
"""FDSVA-SO as it stands, with outer products by forward dynamics, with inner ones by first derivatives."""

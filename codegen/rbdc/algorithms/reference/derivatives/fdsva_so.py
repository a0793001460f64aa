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
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalars


def _with_products(
    *, outer_by_dynamics: bool = False, inner_by_derivatives: bool = False
) -> Callable[..., tuple[Matrix, Matrix, Matrix, Matrix]]:
    """Return d2ddq_dqdq, d2ddq_dvdv, d2ddq_dqdv and d2ddq_dqdtau (nv nv, nv each; row nv i + j, column k),
    with the products of equation (46) in one of the ways.

    Entry i, j, k is L_k (L_j ddq_i); of the last that of dM^-1_ik by q_j. Tests: complex-step of
    `aba_derivatives`; the other ways.
    """

    def derivatives(
        model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
    ) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        a = aba(model, q, v, tau, fext)
        by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext)
        qq, vv, qv, mq = second_derivatives(model, q, v, a, fext)
        weightless, rest, size = model.of_inertia(), [0.0] * model.nv, range(model.nv)

        def solved(tensor: Tensor) -> Matrix:
            """Return -M^-1 A."""
            if not outer_by_dynamics:
                return flat(matrix_times([[-x for x in row] for row in inverse], tensor))
            forces = [[[-tensor[i][j][k] for i in size] for k in size] for j in size]
            columns = [[aba(weightless, q, rest, force) for force in page] for page in forces]
            return [[columns[j][k][i] for k in size] for i in size for j in size]

        def inner(matrix: Matrix) -> Tensor:
            """Return dM/dq B, equation (18)."""
            if not inner_by_derivatives:
                return times_columns(mq, matrix)
            pages = [rnea_derivatives(weightless, q, rest, column)[0] for column in transposed(matrix)]
            return [[pages[j][i] for j in size] for i in size]

        inner_q = inner(by_q)
        both = sum_of(qq, inner_q, pages_exchanged(inner_q))
        crossed = sum_of(qv, pages_exchanged(inner(by_v)))
        return solved(both), solved(vv), solved(crossed), solved(pages_exchanged(inner(inverse)))

    return derivatives


aba_second_derivatives = _with_products()
by_dynamics = _with_products(outer_by_dynamics=True)
by_derivatives = _with_products(inner_by_derivatives=True)
"""FDSVA-SO as it stands, with outer products by forward dynamics, with inner ones by first derivatives."""

"""Second derivatives of forward dynamics from those of inverse dynamics: Singh, Russell and Wensing, On
Second-Order Derivatives of Rigid-Body Dynamics, equations (44)-(49) (FDSVA-SO).

    d2FD/du dw = -M^-1 (d2ID/du dw + dM/dw FD_u + (dM/du FD_w)^R)

with u and w in {q, v}, forward dynamics FD, FD_u = dFD/du, inverse dynamics ID, dM/dv = 0, and dM^-1/dq =
-M^-1 dM/dq M^-1; ^R exchanges the last two indices. The paper computes the outer product (with -M^-1) and the
inner products (dM/du FD_w) in three ways: both as tensor products (DTM), the outer one by forward dynamics at
rest without gravity (AZA, equation (50)), or the inner ones by first derivatives of inverse dynamics at rest
without gravity (IDFOZA, equation (52)).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rbdc.algorithms.reference.aba import aba, forward_dynamics, inverse_inertia, minverse
from rbdc.algorithms.reference.derivatives import idsva
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives, tensors
from rbdc.algorithms.reference.derivatives.tensors import (
    Tensor,
    matrix_times,
    pages_exchanged,
    sum_of,
    times_columns,
)
from rbdc.algorithms.tools.composed import ComposedMachine
from rbdc.algorithms.tools.linear import Matrix, flat, transposed
from rbdc.algorithms.tools.machine import Array
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalar, Scalars
from rbdc.spatial.scalars import is_zero


def _with_products(
    *, outer_by_dynamics: bool = False, inner_by_derivatives: bool = False
) -> Callable[..., tuple[Matrix, Matrix, Matrix, Matrix]]:
    """Return a reference for d2ddq_dqdq, d2ddq_dvdv, d2ddq_dqdv and d2ddq_dqdtau (nv * nv, nv each; row nv i
    + j, column k), with the products of equation (46) computed in one of the three ways.

    Entry i, j, k is L_k (L_j ddq_i), with the derivative L_j along direction j; in the last tensor, the
    derivative of M^-1_ik with respect to q_j.
    Checked against complex steps of `aba_derivatives` and against the other two ways.
    """

    def derivatives(
        model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
    ) -> tuple[Matrix, Matrix, Matrix, Matrix]:
        a = aba(model, q, v, tau, fext)
        by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext)
        qq, vv, qv, mq = second_derivatives(model, q, v, a, fext)
        weightless, rest, size = model.of_inertia(), [0.0] * model.nv, range(model.nv)

        def solved(tensor: Tensor) -> Matrix:
            """Return -M^-1 A for a tensor A."""
            if not outer_by_dynamics:
                return flat(matrix_times([[-x for x in row] for row in inverse], tensor))
            forces = [[[-tensor[i][j][k] for i in size] for k in size] for j in size]
            columns = [[aba(weightless, q, rest, force) for force in page] for page in forces]
            return [[columns[j][k][i] for k in size] for i in size for j in size]

        def inner(matrix: Matrix) -> Tensor:
            """Return dM/dq B for a matrix B, equation (18)."""
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
"""FDSVA-SO in three variants: DTM, AZA and IDFOZA."""


def aba_derivatives_by_dynamics(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return ddq_dq, ddq_dv and M^-1 (nv, nv each). Forward dynamics computes the products of equation (45)
    column by column (AZA). Checked against `carpentier_mansard.aba_derivatives`.
    """
    weightless, rest = model.of_inertia(), [0.0] * model.nv
    first = rnea_derivatives(model, q, v, aba(model, q, v, tau, fext), fext)[:2]
    columns = [[[-x for x in column] for column in transposed(matrix)] for matrix in first]
    by_q, by_v = (transposed([aba(weightless, q, rest, x) for x in matrix]) for matrix in columns)
    return by_q, by_v, minverse(model, q)


def first_order(
    m: ComposedMachine, tau: Array[Scalar], *, by_dynamics: bool = False
) -> tuple[Array[Scalar], Array[Scalar], Array[Scalar]]:
    """Return FD_q, FD_v and M^-1 by equation (45), over all degrees of freedom; tau is torques minus damping.

    Products with -M^-1 are matrix products (DMM), or with `by_dynamics` forward dynamics at rest, column by
    column (AZA, equation (50)).
    """
    ddq = forward_dynamics(m, tau)
    inverse = m.symmetric(inverse_inertia(m))
    with m.accelerated(ddq) as moving:
        by_q, by_v, _ = idsva.derivatives(moving)
    damped(m, by_v)
    matrices = m.matrix("ddq_dq"), m.matrix("ddq_dv")
    for into, matrix in zip(matrices, (by_q, by_v), strict=True):
        if not by_dynamics:
            m.add_products(into, "ij", (inverse, "ip"), (matrix, "pj"), negative=True)
            continue
        with m.at_rest() as still:
            for j in m.repeated("ABA at rest"):
                column = m.vector("column")
                m.put(column, "i", (matrix, "ij"), negative=True, j=j)
                m.put(into, "ij", (forward_dynamics(still, column), "i"), j=j)
    return *matrices, inverse


def damped(m: ComposedMachine, by_v: Array[Scalar]) -> None:
    """Add the damping of the joints to dID/dv."""
    for b in m.down():
        for k, x in zip(b.columns(), b.damping(), strict=True):
            if not is_zero(x):
                by_v.add((k, k), x)


def second_order(
    m: ComposedMachine,
    tau: Array[Scalar],
    *,
    outer_by_dynamics: bool = False,
    inner_by_derivatives: bool = False,
) -> tuple[Array[Scalar], ...]:
    """Return the tensors of FDSVA-SO over all degrees of freedom, with the products of equation (46) computed
    in one of the three ways; tau is torques minus damping.
    """
    ddq = forward_dynamics(m, tau)
    inverse = m.symmetric(inverse_inertia(m))
    with m.accelerated(ddq) as moving:
        by_q, by_v, _ = idsva.derivatives(moving)
        qq, vv, qv, mq = tensors(moving)
    damped(m, by_v)
    result = []
    first = m.matrix("ddq_dq"), m.matrix("ddq_dv")
    for into, matrix in zip(first, (by_q, by_v), strict=True):
        m.add_products(into, "ij", (inverse, "ip"), (matrix, "pj"), negative=True)
    inner = partial(inner_term, m, mq, by_derivatives=inner_by_derivatives)
    for letters in ("ijk", "ikj"):
        m.add_products(qq, letters, (inner(first[0]), "ijk"))
    m.add_products(qv, "ijk", (inner(first[1]), "ijk"))
    qtau = inner(inverse)
    for name, tensor in zip(("dqdq", "dvdv", "dqdv", "dqdtau"), (qq, vv, qv, qtau), strict=True):
        result.append(outer_term(m, inverse, tensor, f"d2ddq_{name}", by_dynamics=outer_by_dynamics))
    return tuple(result)


def inner_term(
    m: ComposedMachine, mq: Array[Scalar], matrix: Array[Scalar], *, by_derivatives: bool
) -> Array[Scalar]:
    """Return W_ijk = sum_p dM_ip/dq_j A_pk for A = `matrix`, by equation (18) or, with `by_derivatives`, by
    first derivatives of inverse dynamics at rest, where each column of A is an acceleration (52).
    """
    inner = m.tensor("inner")
    if not by_derivatives:
        m.add_products(inner, "ijk", (mq, "ipj"), (matrix, "pk"))
        return inner
    for k in m.repeated("IDSVA at rest"):
        column = m.vector("column")
        m.put(column, "i", (matrix, "ik"), k=k)
        with m.at_rest(column) as still:
            by_q, *_ = idsva.derivatives(still)
        m.put(inner, "ijk", (by_q, "ij"), k=k)
    return inner


def outer_term(
    m: ComposedMachine, inverse: Array[Scalar], tensor: Array[Scalar], name: str, *, by_dynamics: bool
) -> Array[Scalar]:
    """Return -M^-1 A for A = `tensor`, by (20) or, with `by_dynamics`, by forward dynamics at rest (50)."""
    product = m.tensor(name)
    if not by_dynamics:
        m.add_products(product, "ijk", (inverse, "ip"), (tensor, "pjk"), negative=True)
        return product
    with m.at_rest() as still:
        for j in m.repeated("ABA at rest"):
            for k in m.repeated():
                column = m.vector("column")
                m.put(column, "i", (tensor, "ijk"), negative=True, j=j, k=k)
                m.put(product, "ijk", (forward_dynamics(still, column), "i"), j=j, k=k)
    return product

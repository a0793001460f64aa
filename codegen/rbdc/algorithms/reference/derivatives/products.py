"""Products of weights with the papers' matrices and tensors, which Nganga and Wensing (2021) use for
differential dynamic programming. The generated functions compute the products without forming the matrices or
tensors.

The blocks of the Hessian of a sum of outputs with weights w are sum_i w_i T_ijk, with the outputs' second
derivatives T. Derivatives along one direction are not here: they use dual numbers through dynamics or through
`rnea_vjp` and `aba_vjp`.
"""

from __future__ import annotations

from rbdc.algorithms.reference.aba import aba, minverse
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives
from rbdc.algorithms.reference.derivatives.tensors import Tensor, matrix_product, matrix_sum
from rbdc.algorithms.reference.regressor import torque_regressor
from rbdc.algorithms.tools.linear import Matrix, Vector, dot, flat, transposed
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalars

Blocks = tuple[Matrix, Matrix, Matrix, Matrix]


def rnea_vjp(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, w: Scalars, fext: Forces | None = None
) -> tuple[Vector, Vector, Vector]:
    """Return w^T dtau_dq, w^T dtau_dv and w^T dtau_da = M w (nv each).
    Checked against the generated `rnea_vjp`.
    """
    matrices = rnea_derivatives(model, q, v, a, fext)
    by_q, by_v, by_a = ([dot(w, column) for column in transposed(matrix)] for matrix in matrices)
    return by_q, by_v, by_a


def aba_vjp(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, fext: Forces | None = None
) -> tuple[Vector, Vector, Vector]:
    """Return w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau = M^-1 w (nv each). The first two are those of
    `rnea_vjp` with -M^-1 w in place of w.

    Checked against the generated `aba_vjp`.
    """
    solved = [dot(row, w) for row in minverse(model, q)]
    a = aba(model, q, v, tau, fext)
    by_q, by_v, _ = rnea_vjp(model, q, v, a, [-x for x in solved], fext)
    return by_q, by_v, solved


def rnea_parameter_vjp(model: Problem, q: Scalars, v: Scalars, a: Scalars, w: Scalars) -> Vector:
    """Return w^T Y (np) with the regressor Y. Checked: w^T Y parameters = w . rnea(q, v, a)."""
    return [dot(w, column) for column in transposed(torque_regressor(model, q, v, a))]


def aba_parameter_derivatives(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
) -> Matrix:
    """Return -M^-1 Y (nv, np) with the regressor Y at the acceleration of forward dynamics: torques stay
    fixed when parameters change. Checked against differences of `aba` with respect to parameters.
    """
    regressor = torque_regressor(model, q, v, aba(model, q, v, tau, fext))
    return [[-x for x in row] for row in matrix_product(minverse(model, q), regressor)]


def aba_parameter_vjp(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, fext: Forces | None = None
) -> Vector:
    """Return -w^T M^-1 Y (np). Checked against differences of `aba` with respect to parameters."""
    return [dot(w, column) for column in transposed(aba_parameter_derivatives(model, q, v, tau, fext))]


def rnea_hessian_vector(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, w: Scalars, fext: Forces | None = None
) -> Blocks:
    """Return the blocks qq, vv, qv and qa (nv, nv each) of the Hessian of w^T tau.
    Checked against contracted second derivatives.
    """
    qq, vv, qv, mq = (_contracted(tensor, w) for tensor in second_derivatives(model, q, v, a, fext))
    return qq, vv, qv, transposed(mq)


def _contracted(tensor: Tensor, w: Scalars) -> Matrix:
    """Return sum_i w_i T_ijk."""
    (entries,) = matrix_product([list(w)], [flat(slab) for slab in tensor])
    return [entries[k * len(w) : (k + 1) * len(w)] for k in range(len(w))]


def aba_hessian_vector(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, fext: Forces | None = None
) -> Blocks:
    """Return the blocks qq, vv, qv and qtau (nv, nv each) of the Hessian of w^T ddq: equation (46) of Singh,
    Russell and Wensing with M^-1 w as weights. Checked against contracted second derivatives.
    """
    a = aba(model, q, v, tau, fext)
    by_q, by_v, inverse = aba_derivatives(model, q, v, tau, fext)
    solved = [dot(row, w) for row in inverse]
    qq, vv, qv, qa = rnea_hessian_vector(model, q, v, a, [-x for x in solved], fext)
    inner_q, inner_v, inner_tau = (matrix_product(qa, matrix) for matrix in (by_q, by_v, inverse))
    return (matrix_sum(matrix_sum(qq, inner_q), transposed(inner_q)), vv, matrix_sum(qv, inner_v), inner_tau)

"""Conversions between the vectors q, v, tau of a model and the coordinates of all its joints.

The full tree includes the followers (mimic joints), which have no entries in v. Its joint velocities are G v.
G (nfull, nv) depends on the configuration only if joints follow along curves
(`rbdc.algorithms.tools.couplings`). A vector x over the full tree is reduced to G^T x, a square
matrix A to G^T A G: an explicit constraint in the sense of Featherstone, Rigid Body Dynamics Algorithms,
chapter 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rbdc.algorithms.tools.linear import Matrix, flat, transposed
from rbdc.model import Model
from rbdc.model.joints.coupling import CouplingAt
from rbdc.spatial import Scalar, Scalars


def joint_positions(model: Model, q: Scalars) -> list[list[Scalar]]:
    """Return each joint's configuration; a follower's is computed from its leader's."""
    result: list[list[Scalar]] = []
    for index, body in enumerate(model.bodies):
        entries = list(q[model.q_slice(index)])
        follow = body.coupling
        result.append(entries if follow is None else [follow.position(entries[0])])
    return result


def joint_velocities(model: Model, v: Scalars) -> list[list[Scalar]]:
    """Return each joint's velocity, or another quantity that transforms like it: the rows of G v."""
    result: list[list[Scalar]] = []
    for index, body in enumerate(model.bodies):
        entries = list(v[model.v_slice(index)])
        result.append(entries if body.coupling is None else [body.coupling.multiplier * entries[0]])
    return result


def joint_accelerations(model: Model, v: Scalars, a: Scalars) -> list[list[Scalar]]:
    """Return each joint's acceleration at v and a (nv each): the rows of G a + (dG/dt) v."""
    result = joint_velocities(model, a)
    for index, body in enumerate(model.bodies):
        if isinstance(body.coupling, CouplingAt):
            rate = v[body.index_v]
            result[index] = [x + body.coupling.curvature * (rate * rate) for x in result[index]]
    return result


def dof_table(model: Model) -> list[tuple[int, float, int]]:
    """Return for each degree of freedom of the full tree, in the order of the bodies: the index of its entry
    in v, the factor of this entry, and the index of the body.
    """
    table: list[tuple[int, float, int]] = []
    for index, body in enumerate(model.bodies):
        factor = 1.0 if body.coupling is None else body.coupling.multiplier
        table += [(column, factor, index) for column in range(body.index_v, body.index_v + body.joint.nv)]
    return table


def first_dofs(model: Model) -> list[int]:
    """Return the position of each body's first degree of freedom in `dof_table`."""
    return [*accumulate((body.joint.nv for body in model.bodies), initial=0)][:-1]


def full_size(model: Model) -> int:
    """Return the number of degrees of freedom of the full tree."""
    return sum(body.joint.nv for body in model.bodies)


def reduce_vector(model: Model, full: Scalars) -> list[Scalar]:
    """Return G^T x (nv) for a vector x over the full tree."""
    if not model.coupled:
        return list(full)
    result: list[Scalar] = [0.0] * model.nv
    for (column, factor, _), value in zip(dof_table(model), full, strict=True):
        result[column] = result[column] + factor * value
    return result


def reduce_columns(model: Model, rows: Matrix) -> Matrix:
    """Return A G for a matrix A whose columns run over the full tree."""
    return [reduce_vector(model, row) for row in rows]


def bent_columns(model: Model, v: Scalars, rows: Matrix) -> Matrix:
    """Return A dG/dt at v (nv) for a matrix A whose columns run over the full tree."""
    result = [[0.0] * model.nv for _ in rows]
    for body, start in zip(model.bodies, first_dofs(model), strict=True):
        if isinstance(body.coupling, CouplingAt):
            factor = body.coupling.curvature * v[body.index_v]
            for bent, row in zip(result, rows, strict=True):
                bent[body.index_v] = bent[body.index_v] + factor * row[start]
    return result


def reduce_matrix(model: Model, full: Matrix) -> Matrix:
    """Return G^T A G (nv, nv) for a square matrix A over the full tree."""
    return transposed(reduce_columns(model, transposed(reduce_columns(model, full))))


def reduce_tensor(model: Model, full: Sequence[Matrix]) -> list[Matrix]:
    """Return a tensor over the full tree, a list of matrices, with G^T applied to each of its three
    indices.
    """
    if not model.coupled:
        return list(full)
    slabs, size = [flat(reduce_matrix(model, slab)) for slab in full], model.nv
    rows = transposed(reduce_columns(model, transposed(slabs)))
    return [[row[k : k + size] for k in range(0, size * size, size)] for row in rows]

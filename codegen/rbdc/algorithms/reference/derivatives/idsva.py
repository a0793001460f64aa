"""First derivatives of inverse dynamics: Singh, Russell and Wensing's IDSVA, equations (12)-(15), carried
from the leaves up.

With psidot_j = v_parent x s_j, psiddot_j = a_parent x s_j + v_parent x psidot_j and sdot_j = v_j x s_j for
each degree of freedom, I, B and f the composite inertia, Coriolis operator (`body_coriolis`: twice the
paper's) and force of the subtree of i, and j above i:

    dtau_i/dq_j    = s_i^T (B psidot_j + I psiddot_j)
    dtau_j/dq_i    = s_j^T (B psidot_i + I psiddot_i + s_i x* f)      (the last term for j strictly above i)
    dtau_i/dqdot_j = s_i^T (B s_j + I (psidot_j + sdot_j))
    dtau_j/dqdot_i = s_j^T (B s_i + I (psidot_i + sdot_i))

All in body frames: for each degree of freedom i the four forces c_q = B psidot_i + I psiddot_i, c_v = B s_i +
I (psidot_i + sdot_i), r_b = B^T s_i and r = I s_i climb to the root, and each ancestor takes its
entries from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.crba import composite_inertias
from rbdc.algorithms.reference.derivatives.body_coriolis import BodyCoriolis
from rbdc.algorithms.reference.derivatives.external_forces import with_turning
from rbdc.algorithms.reference.derivatives.idsva_so_operators import Rates
from rbdc.algorithms.reference.rnea import (
    body_forces,
    forward_pass,
    resistance_by_q,
    resistance_by_v,
    without_external,
)
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_matrix
from rbdc.algorithms.tools.kinematics import joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Forces, Motion, Placement, RigidInertia, Scalars, Vector3

Columns = tuple[Force, ...]
"""c_q, c_v, r_b and r of a degree of freedom."""


@dataclass(frozen=True)
class Subtrees:
    """Per body: placement in the parent, the directions of its joint, and composite inertia, Coriolis
    operator and force.
    """

    placements: list[Placement]
    directions: list[list[Rates]]
    inertias: list[RigidInertia]
    factors: list[BodyCoriolis]
    forces: list[Force]


def subtrees(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Subtrees:
    """The quantities that the derivatives of inverse dynamics are made of."""
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    forces = without_external(model, q, body_forces(model, velocities, accelerations, trace), fext)
    factors = [BodyCoriolis.of_body(b.inertia, u) for b, u in zip(model.bodies, velocities, strict=True)]
    return Subtrees(
        placements,
        _directions(model, placements, velocities, accelerations, trace),
        composite_inertias(model, placements, trace),
        subtree_sums(model, placements, factors, lambda x, factor: factor.moved(x)),
        subtree_sums(model, placements, forces, Placement.act_force),
    )


def _directions(
    model: Model,
    placements: Sequence[Placement],
    velocities: Sequence[Motion],
    accelerations: Sequence[Motion],
    trace: Trace,
) -> list[list[Rates]]:
    result = []
    at_rest, falling = Motion.zero(), Motion(-model.gravity, Vector3.zero())
    for index, body in enumerate(model.bodies):
        root = body.parent == WORLD
        v_parent = placements[index].act_inverse(at_rest if root else velocities[body.parent])
        a_parent = placements[index].act_inverse(falling if root else accelerations[body.parent])
        own = [Rates.of(s, v_parent, a_parent, velocities[index]) for s in body.joint.subspace()]
        formula = "psidot = v_parent x s, psiddot = a_parent x s + v_parent x psidot"
        values = [x for d in own for m in (d.psi_rate, d.psi_second) for x in m.scalars()]
        trace(body.name, formula, f"psi{index}", values)
        result.append(own)
    return result


def rnea_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da = M (nv, nv each), columns in the tangent space, for the perturbation q (+)
    dq.

    External forces are constant in their bodies' frames, or in the world if the model has `world_forces`.
    Tests: complex-step of the tangent recursion, Pinocchio.
    """
    tree = subtrees(model, q, v, a, fext, trace)
    starts = first_dofs(model)
    size = full_size(model)
    matrices = dq, dv, inertia = zeros(size, size), zeros(size, size), zeros(size, size)
    below: list[dict[int, Columns]] = [{} for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body, directions, x = model.bodies[index], tree.directions[index], tree.placements[index]
        own = {k: column_forces(tree, index, d) for k, d in enumerate(directions, starts[index])}
        for dof, column in (own | below[index]).items():
            _entries(matrices, starts[index], directions, dof, column)
        if body.parent != WORLD:
            for (dof, (c_q, *others)), direction in zip(own.items(), directions, strict=True):
                own[dof] = (c_q + direction.s.cross_force(tree.forces[index]), *others)
            carried = (own | below[index]).items()
            below[body.parent] |= {dof: tuple(map(x.act_force, column)) for dof, column in carried}
        below[index] = {}
    for index, body in enumerate(model.bodies):
        for dof in range(starts[index], starts[index] + body.joint.nv):
            made = ([*matrix[dof][: dof + 1], *(row[dof] for row in matrix[:dof])] for matrix in matrices)
            values = [x for entries in made for x in entries]
            trace(body.name, "rows and columns of dtau_dq, dtau_dv and M of this joint", f"d{dof}", values)
    dq = with_turning(model, q, fext, dq)
    by_q, by_v, by_a = (reduce_matrix(model, matrix) for matrix in (dq, dv, inertia))
    by_q = plus_diagonal(by_q, resistance_by_q(model))
    return by_q, plus_diagonal(by_v, resistance_by_v(model, q, v)), plus_diagonal(by_a, model.armature)


def _entries(
    matrices: tuple[Matrix, Matrix, Matrix],
    start: int,
    directions: Sequence[Rates],
    dof: int,
    column: Columns,
) -> None:
    """The entries of a column in the rows of a body that carries it or has it, and the transposed."""
    dq, dv, inertia = matrices
    c_q, c_v, r_b, r = column
    for j, above in enumerate(directions, start):
        dq[j][dof], dv[j][dof] = above.s.dot(c_q), above.s.dot(c_v)
        inertia[j][dof] = inertia[dof][j] = above.s.dot(r)
        if dof >= start + len(directions):
            dq[dof][j] = above.psi_rate.dot(r_b) + above.psi_second.dot(r)
            dv[dof][j] = above.s.dot(r_b) + above.both_rates.dot(r)


def column_forces(tree: Subtrees, index: int, direction: Rates) -> Columns:
    """c_q, c_v, r_b and r of a degree of freedom of body `index`; see the module's docstring."""
    factor, inertia = tree.factors[index], tree.inertias[index]
    c_q = factor.apply(direction.psi_rate) + inertia @ direction.psi_second
    c_v = factor.apply(direction.s) + inertia @ direction.both_rates
    return c_q, c_v, factor.apply_transposed(direction.s), inertia @ direction.s

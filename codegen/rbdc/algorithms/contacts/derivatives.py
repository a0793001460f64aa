"""First derivatives of constrained dynamics, of impacts, and of dynamics under contact forces.

By the implicit function theorem on T = ID(q, v, qddot) - J^T f = tau and r(q, v, qddot) = 0, with the forces
constant in the axes of the contacts' frames while they are differentiated (Carpentier and Budhiraja, 2018):

    f_dx = -Delta^-1 (r_dx - J M^-1 T_dx),     qddot_dx = -M^-1 (T_dx - J^T f_dx)
    f_dtau = -Delta^-1 J M^-1,                 qddot_dtau = M^-1 + M^-1 J^T f_dtau

Where there are several steps each has T_dx and r_dx at its own qddot and f.

T_dx is that of inverse dynamics under external forces that are constant in their bodies. On body 2 of a loop
the force is not: it follows body 1. A step of k turns it against body 2 by J_k where k carries body 1 and not
2, by -J_k the other way, so that T_q[j, k] has J_j . (J_k x* F) more, for j that carry body 2; where points
are held only the force's direction follows, and it acts at body 2's own point. A force F that is constant
along the world's axes does not turn with body 1: T_q has J^T (w_k x F) more.

r_dx is put together from what a step of the degree of freedom k does to the motion of its bodies at the
contact. In their coordinates (psi, chi: `rbdc.algorithms.contacts.motion`; Carpentier and Mansard)

    V changes by psi_k and A by chi_k - V x psi_k,     of qdot_k: V by J_k and A by psi_k + J_k x (V - V_k)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdc.algorithms.contacts.constraints import Constraints, Step, stacked
from rbdc.algorithms.contacts.dynamics import (
    contact_forces_on_bodies,
    forces_at_origin,
    impact,
    solution,
    turning_of_forces,
    with_contact_forces,
)
from rbdc.algorithms.contacts.motion import ContactMotion, contact_motions
from rbdc.algorithms.contacts.residual_derivatives import residual_derivatives, velocity_derivatives
from rbdc.algorithms.derivatives.forward_derivatives import (
    inverse_dynamics_derivatives,
    known_root_columns,
    root_columns_are_known,
)
from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.minverse import as_matrices
from rbdc.algorithms.kinematics import TreeMotion, tree_motion
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_matrix
from rbdc.algorithms.tools.linear import (
    Factorisation,
    InverseFactor,
    Matrix,
    plus,
    plus_diagonal,
    product,
    transposed,
    zeros,
)
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Force, Forces, Motion, Scalar, Scalars

Vector = list[Scalar]
Side = tuple[Matrix, Matrix]
"""Changes of inverse dynamics (nv, n) and of the residual of contacts (nc, n)."""


def constrained_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, ...]:
    """ddq_dq, ddq_dv, ddq_dtau (nv, nv), forces_dq, forces_dv, forces_dtau (nc, nv).

    Test: J ddq_dtau = 0, ddq_dtau is symmetric, complex step of the reference.
    """
    found = solution(model, q, v, tau, fext, options, trace, local=True)
    constraints, parts = found.constraints, []
    of_steps = [_sides(model, q, v, step, fext, options, trace) for step in found.steps]
    for known, *sides in zip(known_root_columns(model, q, v), *of_steps, strict=True):
        moved, pushed = _solved(constraints, sides)
        parts.append((plus(moved, known), pushed))
    parts.append(_by_torques(constraints, model.nv))
    names = ("q", "v", "tau")
    for name, (moved, _) in zip(names, parts, strict=True):
        for j, column in enumerate(transposed(moved)):
            trace("contacts", f"column {j} of ddq_d{name}", f"ddq_d{name}_{j}", column)
    return (*(moved for moved, _ in parts), *(pushed for _, pushed in parts))


def _sides(
    model: Model,
    q: Scalars,
    v: Scalars,
    step: Step,
    fext: Forces | None,
    options: ContactOptions,
    trace: Trace,
) -> tuple[Side, Side]:
    """By q and by v the change of inverse dynamics at accelerations and forces, and of the residual there
    under the known parts of qddot_dx; rows of contacts along the axes of their own frames.
    """
    accelerations, forces = step
    tree = tree_motion(model, q, v, accelerations, trace)
    contacts = contact_motions(tree, options, local=True)
    external = _with(fext, contact_forces_on_bodies(tree, contacts, forces))
    roots = not root_columns_are_known(model)
    by_q, by_v, _ = rnea_derivatives(model, q, v, accelerations, external, trace, root_columns=roots)
    by_q = plus(by_q, following(tree, contacts, forces))
    r_q, r_v = residual_derivatives(contacts, known_root_columns(model, q, v))
    return (by_q, r_q), (by_v, r_v)


def constrained_to_solve_with_values(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Any, ...]:
    """B_q, B_v, K_q, K_v, L, D^-1 with L^T D L ((forces_dq, ddq_dq) - K_q) = B_q, and by v likewise; then ddq
    (nv) and forces (nc).
    """
    found = solution(model, q, v, tau, fext, options, trace, local=True)
    constraints = found.constraints
    changes = _sides(model, q, v, found.steps[-1], fext, options, trace)
    sides = [constraints.right_sides(by, residual) for by, residual in changes]
    known = [[*zeros(constraints.rows, model.nv), *part] for part in known_root_columns(model, q, v)]
    return *sides, *known, *as_matrices(constraints.factors, trace), found.accelerations, found.forces


def _with(fext: Forces | None, more: Sequence[Force]) -> list[Force]:
    return list(more) if fext is None else [f + g for f, g in zip(fext, more, strict=True)]


def _solved(constraints: Constraints, steps: Sequence[Side]) -> tuple[Matrix, Matrix]:
    """Accelerations (nv, nv) and forces (nc, nv) by each column of what inverse dynamics and the residual
    change by in each step.
    """
    columns = zip(
        *(zip(transposed(by), transposed(residual), strict=True) for by, residual in steps), strict=True
    )
    pairs = [constraints.changed(*(([-x for x in by], own) for by, own in column)) for column in columns]
    return transposed([a for a, _ in pairs]), transposed([f for _, f in pairs])


def _by_torques(constraints: Constraints, size: int) -> tuple[Matrix, Matrix]:
    """Accelerations, symmetric to the last bit, and forces by unit torques."""
    nothing: Vector = [0.0] * constraints.rows
    pairs = [constraints.steps([float(i == j) for i in range(size)], nothing)[-1] for j in range(size)]
    moved = [[pairs[max(i, j)][0][min(i, j)] for j in range(size)] for i in range(size)]
    return moved, transposed([f for _, f in pairs])


def following(tree: TreeMotion, contacts: Sequence[ContactMotion], forces: Scalars) -> Matrix:
    """Terms that T_q has more, for forces of loops follow body 1 and those along the world's axes do not; see
    the module's docstring.
    """
    model = tree.model
    starts, size = first_dofs(model), full_size(model)
    full = zeros(size, size)
    for contact, (force, _) in zip(contacts, forces_at_origin(contacts, forces), strict=True):
        one, two = contact.bodies
        if two == WORLD:
            continue
        carried, other = set(model.support(one)), set(model.support(two))
        for below in other ^ carried:
            sign = 1.0 if below in carried else -1.0
            for column, s in enumerate(tree.columns[below], starts[below]):
                turned = followed_force(contact, s, force).scaled(sign)
                for index in other:
                    for row, own in enumerate(tree.columns[index], starts[index]):
                        full[row][column] = full[row][column] + own.dot(turned)
    result = reduce_matrix(model, full)
    if not model.world_aligned:
        return result
    return plus(result, product(transposed(stacked(contacts)), turning_of_forces(contacts, forces)))


def followed_force(contact: ContactMotion, s: Motion, force: Force) -> Force:
    """Change, on body 2, of a force on body 1 about the origin, where body 1 is moved by s."""
    if not contact.of_points:
        return s.cross_force(force)
    linear = s.angular.cross(force.linear)
    return Force(linear, contact.second.translation.cross(linear))


def impulse_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    restitution: Scalars,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """v_after_dq, v_after_dv (nv, nv), impulses_dq, impulses_dv (nc, nv)."""
    steps, constraints = impact(model, q, v, restitution, options, trace, local=True)
    changes = zip(*(_impact_sides(model, q, v, restitution, step, trace) for step in steps), strict=True)
    (moved, pushed), (kept, held) = (_solved(constraints, sides) for sides in changes)
    return moved, plus_diagonal(kept, [1.0] * model.nv), pushed, held


def _impact_sides(
    model: Model, q: Scalars, v: Scalars, restitution: Scalars, step: Step, trace: Trace
) -> tuple[Side, Side]:
    """By q and by v the change of inverse dynamics at v_after and impulses and of the velocity of the
    contacts after it, with what restitution takes; rows along the axes of the contacts' own frames.
    """
    after, impulses = step
    change = [x - y for x, y in zip(after, v, strict=True)]
    sliding = [x + restitution[0] * y for x, y in zip(after, v, strict=True)]
    tree = tree_motion(model, q, sliding, trace=trace)
    contacts = contact_motions(tree, local=True)
    still: Vector = [0.0] * model.nv
    external = contact_forces_on_bodies(tree, contacts, impulses)
    by_q, _, _ = rnea_derivatives(model.of_inertia(), q, still, change, external, trace)
    by_q = plus(by_q, following(tree, contacts, impulses))
    factor = 1.0 + restitution[0]
    approach = [[factor * x for x in row] for row in stacked(contacts)]
    return (by_q, velocity_derivatives(contacts)), (zeros(model.nv, model.nv), approach)


def impulse_to_solve_with_values(
    model: Model,
    q: Scalars,
    v: Scalars,
    restitution: Scalars,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Any, ...]:
    """B_q, B_v, K_q, K_v, L, D^-1 as `constrained_to_solve_with_values` has them, then v_after (nv) and
    impulses (nc).
    """
    steps, constraints = impact(model, q, v, restitution, options, trace, local=True)
    changes = _impact_sides(model, q, v, restitution, steps[-1], trace)
    sides = [constraints.right_sides(by, residual) for by, residual in changes]
    nothing = zeros(constraints.rows + model.nv, model.nv)
    kept = [*zeros(constraints.rows, model.nv), *plus_diagonal(zeros(model.nv, model.nv), [1.0] * model.nv)]
    return *sides, nothing, kept, *as_matrices(constraints.factors, trace), *steps[-1]


def contact_inverse_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    forces: Scalars,
    *,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, ...]:
    """dtau_dq, dtau_dv, dtau_da (nv, nv), dtau_dforces (nv, nc), dr_dq, dr_dv, dr_da (nc, nv)."""
    tree = tree_motion(model, q, v, a, trace)
    contacts = contact_motions(tree, options, local=True)
    by_q, by_v, by_a = rnea_derivatives(model, q, v, a, with_contact_forces(model, q, forces, fext), trace)
    by_q = plus(by_q, following(tree, contacts, forces))
    jacobian = stacked(contacts)
    by_forces = [[-x for x in row] for row in transposed(jacobian)]
    return by_q, by_v, by_a, by_forces, *residual_derivatives(contacts), jacobian


def contact_forward_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """ddq_dq, ddq_dv, ddq_dtau = M^-1 (nv, nv), ddq_dforces = M^-1 J^T (nv, nc)."""
    factors, _, *sides = _forward_sides(model, q, v, tau, forces, fext, trace)
    inverse = InverseFactor(factors)
    by_q, by_v, by_forces = (
        plus(transposed([inverse.solve(column) for column in transposed(side)]), known)
        for side, known in sides
    )
    return by_q, by_v, inverse.inverse(), by_forces


def _forward_sides(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, forces: Scalars, fext: Forces | None, trace: Trace
) -> tuple[Factorisation, Vector, tuple[Matrix, Matrix], tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
    """Factors of M, ddq, and by q, v and forces right-hand sides B and known parts K: M (ddq_dx - K) = B."""
    factors = Factorisation(crba(model, q, trace))
    external = with_contact_forces(model, q, forces, fext)
    a, by_q, by_v = inverse_dynamics_derivatives(model, q, v, tau, external, trace, factors)
    tree = tree_motion(model, q)
    contacts = contact_motions(tree, local=True)
    by_q = plus(by_q, following(tree, contacts, forces))
    side_q, side_v = ([[-x for x in row] for row in by] for by in (by_q, by_v))
    known_q, known_v = known_root_columns(model, q, v)
    pushed = transposed(stacked(contacts))
    nothing = zeros(model.nv, len(forces))
    return factors, a, (side_q, known_q), (side_v, known_v), (pushed, nothing)


def contact_forward_to_solve_with_values(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Any, ...]:
    """B_q, B_v, B_forces, K_q, K_v, K_forces, L, D^-1 with L^T D L (ddq_dx - K_x) = B_x; then ddq (nv)."""
    factors, a, *sides = _forward_sides(model, q, v, tau, forces, fext, trace)
    return *(side for side, _ in sides), *(known for _, known in sides), *as_matrices(factors, trace), a

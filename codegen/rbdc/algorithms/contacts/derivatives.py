"""First derivatives of constrained dynamics, of impacts, and of dynamics under contact forces.

The implicit function theorem is applied to T = ID(q, v, qddot) - J^T f = tau and r(q, v, qddot) = 0. While T
is differentiated, the forces f are constant along the axes of the contacts' frames (Carpentier and Budhiraja,
2018). An index dx denotes the derivative with respect to x = q or v. With Delta = J M^-1 J^T + E of
`rbdc.algorithms.contacts.dynamics`,

    f_dx = -Delta^-1 (r_dx - J M^-1 T_dx),     qddot_dx = -M^-1 (T_dx - J^T f_dx)
    f_dtau = -Delta^-1 J M^-1,                 qddot_dtau = M^-1 + M^-1 J^T f_dtau

If there are two proximal steps, T_dx and r_dx of each step are taken at the qddot and f of this step.

T_dx is the derivative of inverse dynamics under external forces that are constant in the frames of their
bodies. T_dq has two further terms. First, a loop exerts F on body 1 and -F on body 2, and -F turns with body
1 instead of body 2. For each degree of freedom j that carries body 2, T_dq[j, k] has the further term

    J_j^T (J_k x* F) if k carries only body 1,     -J_j^T (J_k x* F) if k carries only body 2

If the loop joins points, only the direction of F turns with body 1, and -F acts at the point of body 2.
Second, a force F that is constant along the world's axes does not turn with body 1: column k of T_dq has the
further term J^T (w_k x F), with the angular velocity w_k of body 1 per unit rate of k.

r_dx follows from the changes of the velocity V and the acceleration A of the bodies at the contact. With
psi_k and chi_k of `rbdc.algorithms.contacts.motion`, and the velocity V_k of the body of k's joint,

    a step of q_k changes V by psi_k and A by chi_k - V x psi_k
    a step of qdot_k changes V by J_k and A by psi_k + J_k x (V - V_k)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.algorithms.contacts.dynamics import Constraints, Step, impact, solution
from rbdc.algorithms.contacts.motion import ContactMotion, Contacts, about_origin, contacts_at
from rbdc.algorithms.contacts.residual_derivatives import row_derivatives
from rbdc.algorithms.derivatives.forward_derivatives import (
    inverse_dynamics_derivatives,
    known_root_columns,
    root_columns_are_known,
)
from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.minverse import as_matrices
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_matrix
from rbdc.algorithms.tools.linear import (
    Factorisation,
    InverseFactor,
    Matrix,
    Vector,
    identity,
    mirrored,
    plus,
    product,
    transposed,
    zeros,
)
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions, each_row
from rbdc.spatial import Force, Forces, Motion, Scalars, Vector3

Side = tuple[Matrix, Matrix]
"""Derivatives with respect to a variable of n entries: of T (nv, n) and of r (nc, n)."""


@dataclass(frozen=True)
class ImplicitSystem:
    """Linear systems whose solutions are the derivatives.

    steps: accelerations and forces of each proximal step.
    constraints: factors of the systems' matrix.
    sides: for each variable, the derivatives of T and r at each step.
    known: for each variable, the part of the derivatives of accelerations that needs no solve (nv, n).
    """

    steps: list[Step]
    constraints: Constraints
    sides: list[tuple[Side, ...]]
    known: Sequence[Matrix]

    def solved(self) -> list[tuple[Matrix, Matrix]]:
        """Return, for each variable, the derivatives of accelerations (nv, n) and of forces (nc, n)."""
        solutions = []
        for sides, known in zip(self.sides, self.known, strict=True):
            columns = zip(*(zip(*map(transposed, side), strict=True) for side in sides), strict=True)
            changes = ([([-x for x in by], r) for by, r in of_variable] for of_variable in columns)
            pairs = [self.constraints.in_turn(change)[-1] for change in changes]
            moved, pushed = (transposed([pair[k] for pair in pairs]) for k in range(2))
            solutions.append((plus(moved, known), pushed))
        return solutions

    def right_sides(self) -> list[Matrix]:
        """Return, for each variable, the right-hand side B (nc + nv, n) of the last step; contacts come
        first.
        """
        return [self.constraints.right_sides(*steps[-1]) for steps in self.sides]

    def to_solve(self, trace: Trace) -> tuple[Any, ...]:
        """Return B_x of every variable x, then K_x of every x, L, D^-1, the accelerations (nv) and, with
        contacts, the forces (nc). The derivatives solve L^T D L ((forces_dx, ddq_dx) - K_x) = B_x.
        """
        accelerations, forces = self.steps[-1]
        known = [[*zeros(len(forces), len(entries[0])), *entries] for entries in self.known]
        factors = as_matrices(self.constraints.factors, trace)
        return *self.right_sides(), *known, *factors, accelerations, *([forces] if forces else [])


def constrained_dynamics_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, ...]:
    """Return ddq_dq, ddq_dv, ddq_dtau (nv, nv), forces_dq, forces_dv, forces_dtau (nc, nv).

    Checked: J ddq_dtau = 0; ddq_dtau is symmetric. Checked against the complex step of the reference.
    """
    system = constrained_system(model, q, v, tau, fext, options, trace)
    parts = [*system.solved(), _by_torques(system.constraints, model.nv)]
    for name, (moved, _) in zip(("q", "v", "tau"), parts, strict=True):
        for j, column in enumerate(transposed(moved)):
            trace("contacts", f"column {j} of ddq_d{name}", f"ddq_d{name}_{j}", column)
    return (*(moved for moved, _ in parts), *(pushed for _, pushed in parts))


def constrained_system(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> ImplicitSystem:
    """Return the system for the derivatives of `constrained_dynamics` with respect to q and to v."""
    steps, constraints = solution(model, q, v, tau, fext, options, trace, local=True)
    known, roots, sides = known_root_columns(model, q, v), not root_columns_are_known(model), []
    for accelerations, forces in steps:
        contacts = contacts_at(model, q, v, accelerations, options, trace)
        external = contacts.on_bodies(forces, fext)
        by_q, by_v, _ = rnea_derivatives(model, q, v, accelerations, external, trace, root_columns=roots)
        r_q, r_v = row_derivatives(contacts, ContactMotion.residual, known)
        sides.append(((plus(by_q, following(contacts, forces)), r_q), (by_v, r_v)))
    return ImplicitSystem(steps, constraints, [*zip(*sides, strict=True)], known)


def _by_torques(constraints: Constraints, size: int) -> tuple[Matrix, Matrix]:
    nothing: Vector = [0.0] * len(constraints.switches)
    pairs = [constraints.steps(unit, nothing)[-1] for unit in identity(size)]
    return mirrored([a for a, _ in pairs]), transposed([f for _, f in pairs])


def following(contacts: Contacts, forces: Scalars) -> Matrix:
    """Return the further terms of T_dq (nv, nv) of the module's docstring."""
    tree, model = contacts.tree, contacts.tree.model
    starts, size = first_dofs(model), full_size(model)
    full = zeros(size, size)
    for contact in contacts.each:
        one, two = contact.bodies
        if two == WORLD:
            continue
        force, _ = contact.forces(forces)
        carried, other = set(model.support(one)), set(model.support(two))
        for below in carried ^ other:
            sign = 1.0 if below in carried else -1.0
            for column, s in enumerate(tree.columns[below], starts[below]):
                turned = _turned(contact, s, force).scaled(sign)
                for index in other:
                    for row, column_of_row in enumerate(tree.columns[index], starts[index]):
                        full[row][column] = full[row][column] + column_of_row.dot(turned)
    result = reduce_matrix(model, full)
    if not model.world_aligned:
        return result
    turning = contacts.turning(lambda contact: contact.force(forces))
    return plus(result, product(transposed(contacts.jacobian()), turning))


def _turned(contact: ContactMotion, s: Motion, force: Force) -> Force:
    """Return the change of a loop's force F about the origin if body 1 moves by s relative to body 2."""
    if not contact.of_points:
        return s.cross_force(force)
    return about_origin(contact.points[1], Force(s.angular.cross(force.linear), Vector3.zero()))


def impulse_dynamics_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    restitution: Scalars,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return v_after_dq, v_after_dv (nv, nv), impulses_dq, impulses_dv (nc, nv)."""
    (moved, pushed), (v_by_v, by_v) = impact_system(model, q, v, restitution, options, trace).solved()
    return moved, v_by_v, pushed, by_v


def impact_system(
    model: Problem,
    q: Scalars,
    v: Scalars,
    restitution: Scalars,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> ImplicitSystem:
    """Return the system for the derivatives of `impulse_dynamics` with respect to q and to v. The residual of
    contact k is J_k (v_after + e_k v) with the contact's restitution e_k.
    """
    steps, constraints = impact(model, q, v, restitution, options, trace, local=True)
    still, factors = [0.0] * model.nv, each_row(model, [1.0 + e for e in restitution])
    zero = zeros(model.nv, model.nv)
    sides: list[tuple[Side, Side]] = []
    for after, impulses in steps:
        change = [x - y for x, y in zip(after, v, strict=True)]
        sliding = ([x + e * y for x, y in zip(after, v, strict=True)] for e in restitution)
        moving = [contacts_at(model, q, rates, trace=trace) for rates in sliding]
        # Contact k is evaluated on a tree with the joint velocities v_after + e_k v.
        contacts = Contacts(moving[0].tree, [at.each[k] for k, at in enumerate(moving)])
        external = contacts.on_bodies(impulses)
        by_q, _, _ = rnea_derivatives(model.of_inertia(), q, still, change, external, trace)
        by_q = plus(by_q, following(contacts, impulses))
        r_q, jacobian = row_derivatives(contacts, ContactMotion.velocity, (zero, zero))
        approach = [[e * x for x in row] for e, row in zip(factors, jacobian, strict=True)]
        sides.append(((by_q, r_q), (zero, approach)))
    return ImplicitSystem(steps, constraints, [*zip(*sides, strict=True)], (zero, identity(model.nv)))


def contact_inverse_dynamics_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    forces: Scalars,
    *,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, ...]:
    """Return dtau_dq, dtau_dv, dtau_da (nv, nv), dtau_dforces (nv, nc), dr_dq, dr_dv, dr_da (nc, nv)."""
    contacts = contacts_at(model, q, v, a, options, trace)
    by_q, by_v, by_a = rnea_derivatives(model, q, v, a, contacts.on_bodies(forces, fext), trace)
    by_q = plus(by_q, following(contacts, forces))
    jacobian, zero = contacts.jacobian(), zeros(model.nv, model.nv)
    by_forces = [[-x for x in row] for row in transposed(jacobian)]
    r_q, r_v = row_derivatives(contacts, ContactMotion.residual, (zero, zero))
    return by_q, by_v, by_a, by_forces, r_q, r_v, jacobian


def contact_forward_dynamics_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return ddq_dq, ddq_dv, ddq_dtau = M^-1 (nv, nv), ddq_dforces = M^-1 J^T (nv, nc)."""
    system = forward_system(model, q, v, tau, forces, fext, trace)
    inverse, sides = InverseFactor(system.constraints.factors), system.right_sides()
    by_q, by_v, by_forces = (
        plus(transposed([inverse.solve(column) for column in transposed(side)]), known)
        for side, known in zip(sides, system.known, strict=True)
    )
    return by_q, by_v, inverse.inverse(), by_forces


def forward_system(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> ImplicitSystem:
    """Return the system for the derivatives of `contact_forward_dynamics` with respect to q, v and forces.
    Its matrix is M.
    """
    factors, contacts = Factorisation(crba(model, q, trace)), contacts_at(model, q)
    external = contacts.on_bodies(forces, fext)
    a, by_q, by_v = inverse_dynamics_derivatives(model, q, v, tau, external, trace, factors)
    by_q = plus(by_q, following(contacts, forces))
    by_forces = [[-x for x in row] for row in transposed(contacts.jacobian())]
    sides: list[tuple[Side, ...]] = [((by, []),) for by in (by_q, by_v, by_forces)]
    known = (*known_root_columns(model, q, v), zeros(model.nv, len(forces)))
    return ImplicitSystem([(a, [])], Constraints(factors, [], 0.0), sides, known)

"""Constrained dynamics: a linear system for the contact forces f and the accelerations qddot, with the bias
forces h and the contacts' residual gamma. Elimination runs from the leaves to the root, then over the
contacts:

    [-E  -J ] [f     ]   [gamma  ]
    [-J^T M ] [qddot ] = [tau - h],     E = mu + 1 - s on the diagonal

The factors L^T D L of the matrix keep the zeros of M between branches. A row of J has entries only for joints
that carry a body of its contact. The block that remains for the contacts is -(J M^-1 J^T + E). Active
contacts have the switch s = 1. Inactive contacts have s = 0, zero rows of J and gamma, and zero forces.

For redundant rows, a second (proximal) step has gamma - mu f on the right, with f of the first step. The
second step has an error of second order in mu. Each step satisfies the equations of motion. Derivatives are
those of the computed steps.

h and gamma are computed at reference accelerations, and the solution for qddot is the difference from them,
as in `rbdc.algorithms.dynamics.forward_dynamics`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rbdc.algorithms.contacts.motion import ContactMotion, Contacts, contacts_at
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.forward_dynamics import accelerations, from_reference
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.kinematics import homogeneous
from rbdc.algorithms.tools.elimination import Dense
from rbdc.algorithms.tools.linear import Factorisation, Matrix, Vector, transposed, zeros
from rbdc.algorithms.tools.machine import Array, Index
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions, each_row
from rbdc.spatial import Forces, Scalar, Scalars
from rbdc.spatial.scalars import is_zero

Step = tuple[Vector, Vector]
"""Accelerations (nv) and forces (nc) of one step, or their derivatives or weights."""

SOLUTION = "solution"
"""C name of a vector: forces (or impulses) of all contacts, then joint accelerations (or velocity changes).
"""

WEIGHTS = "z"
"""C name of a vector: weights of the contacts' residuals, then of the equations of motion."""


def compliance(switch: Scalar, mu: Scalar) -> Scalar:
    """Return a row's diagonal entry of E."""
    return mu + (1.0 - switch)


Column: TypeAlias = tuple[Index, Scalar, Sequence[Scalar]]
"""A column of a contact's J: its degree of freedom's row in the whole matrix, the switch, and its entries."""


def hold(
    h: Array[Scalar], rows: Sequence[Index], switch: Scalar, mu: Scalar, columns: Iterable[Column]
) -> None:
    """Write the terms -E and -J^T of a contact into the lower triangle of the matrix `h`."""
    for r in rows:
        h[r, r] = -compliance(switch, mu)
    for k, active, entries in columns:
        for r, entry in zip(rows, entries, strict=True):
            h[k, r] = -(active * entry)


@dataclass(frozen=True)
class Constraints:
    """The factors of the matrix in the module's docstring; rows of contacts come first.

    factors: L and D of L^T D L.
    switches: for each row, 1 if its contact is active, else 0.
    mu: mu of the proximal step, 0 if there is no such step.
    """

    factors: Factorisation
    switches: Vector
    mu: Scalar

    @staticmethod
    def of(
        model: Problem, q: Scalars, contacts: Contacts, options: ContactOptions, trace: Trace
    ) -> Constraints:
        """Return the factors at q."""
        inertia, jacobian = crba(model, q, trace), contacts.jacobian()
        for k, row in enumerate(jacobian):
            trace("contacts", f"row {k} of J", f"J_{k}", row)
        switches, count = options.switches(model), len(jacobian)
        mu: Scalar = 0.0 if options.mu is None else options.mu[0]
        matrix = Dense([*zeros(count, count + model.nv), *([*[0.0] * count, *row] for row in inertia)])
        for contact in contacts.each:
            rows, switch = [Index(r) for r in range(count)[contact.places]], switches[contact.places.start]
            columns = enumerate(transposed(jacobian[contact.places]), count)
            hold(matrix, rows, switch, mu, ((Index(k), switch, entries) for k, entries in columns))
        factors = Factorisation(matrix.entries)
        for k, row in enumerate(factors.lower):
            title = f"row {k} of L, then entry {k} of 1 / D: L^T D L = [-E -J; -J^T M]"
            trace("contacts", title, f"L_{k}", [*row[:k], factors.inverse_pivots[k]])
        return Constraints(factors, switches, mu if model.redundant else 0.0)

    def right_sides(self, by: Matrix, residual: Matrix) -> Matrix:
        """Return the right-hand sides (nc + nv, n) of the systems for derivatives. Rows of contacts come
        first.
        by: derivatives of inverse dynamics (nv, n). residual: derivatives of the residual (nc, n).
        """
        switched_rows = [[s * x for x in row] for s, row in zip(self.switches, residual, strict=True)]
        return [*switched_rows, *([-x for x in row] for row in by)]

    def steps(self, forces: Vector, residual: Vector) -> list[Step]:
        """Return the solution of each step for generalised forces (nv) and the residual gamma (nc)."""
        return self.in_turn([(forces, residual)] * (1 if is_zero(self.mu) else 2))

    def in_turn(self, sides: Sequence[tuple[Vector, Vector]]) -> list[Step]:
        """Return the solution of each step. sides: generalised forces (nv) and residual (nc) of each step. If
        the sides are derivatives, so are the solutions.
        """
        solutions: list[Step] = []
        for forces, residual in sides:
            rows = [s * x for s, x in zip(self.switches, residual, strict=True)]
            if solutions:
                rows = [x - self.mu * f for x, f in zip(rows, solutions[-1][1], strict=True)]
            solved = self.factors.solve([*rows, *forces])
            solutions.append((solved[len(rows) :], solved[: len(rows)]))
        return solutions

    def weights(self, accelerations: Vector, forces: Vector) -> list[Step]:
        """Return the weights z (nv, nc) of each step's right-hand sides from weights (nv, nc) of the last
        step's solution. The weighted solution is the sum of z times the right-hand sides over all steps.
        """
        (weighted,) = self.in_turn([(accelerations, forces)])
        if is_zero(self.mu):
            return [weighted]
        nothing: Vector = [0.0] * len(accelerations)
        (before,) = self.in_turn([(nothing, [-(self.mu * x) for x in weighted[1]])])
        return [before, weighted]


def solution(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None,
    options: ContactOptions,
    trace: Trace,
    *,
    local: bool = False,
) -> tuple[list[Step], Constraints]:
    """Return accelerations and forces of each step, and the factors. local: as in `contacts_at`."""
    moving, reference = from_reference(model, q, v, tau, fext, trace)
    contacts = contacts_at(model, q, v, reference, options, trace, local=local)
    constraints = Constraints.of(model, q, contacts, options, trace)
    residual = contacts.rows(ContactMotion.residual)
    trace("contacts", "gamma: residual at the reference accelerations", "gamma", residual)
    steps = constraints.steps(moving, residual)
    ddq, forces = steps[-1]
    title = "f, then qddot - reference accelerations, from L^T D L x = (gamma, tau - h)"
    trace("contacts", title, SOLUTION, forces + ddq)
    return [([x + r for x, r in zip(a, reference, strict=True)], f) for a, f in steps], constraints


def constrained_dynamics(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector]:
    """Return ddq (nv), and the forces (nc) that the world or body 2 exerts on body 1, along the axes of each
    contact's first frame (of the world if `model.world_aligned`).

    Checked: M ddq + h = tau + J^T forces, J ddq + gamma = 0. Checked against Pinocchio.
    """
    steps, _ = solution(model, q, v, tau, fext, options, trace)
    accelerations, forces = steps[-1]
    return accelerations, as_users_have_them(model, q, forces)


def as_users_have_them(model: Problem, q: Scalars, rows: Scalars) -> Vector:
    """Map forces of all contacts from the axes of the common frame to the axes that users see."""
    result: Vector = []
    for one, users in zip(contacts_at(model, q, local=False).each, contacts_at(model, q).each, strict=True):
        result += along_axes(users, one, rows)
    return result


def along_axes(users: ContactMotion, contact: ContactMotion, rows: Scalars) -> Sequence[Scalar]:
    """Map the forces of `contact` to the axes of `users`, the same contact with the axes that users see."""
    return users.rows(contact.force(rows)) if contact.contact.whole else rows[contact.places]


def impulse_dynamics(
    model: Problem,
    q: Scalars,
    v: Scalars,
    restitution: Scalars,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector]:
    """Return v_after (nv) and impulses (nc) with M (v_after - v) = J^T impulses and J_k v_after = -e_k J_k v,
    for the rows J_k and the restitution e_k of each contact k.

    Checked: kinetic energy is unchanged if all e_k are 1.
    """
    steps, _ = impact(model, q, v, restitution, options, trace)
    after, impulses = steps[-1]
    return after, as_users_have_them(model, q, impulses)


def impact(
    model: Problem,
    q: Scalars,
    v: Scalars,
    restitution: Scalars,
    options: ContactOptions,
    trace: Trace,
    *,
    local: bool = False,
) -> tuple[list[Step], Constraints]:
    """Return v_after and impulses of each step, and the factors. local: as in `contacts_at`."""
    contacts = contacts_at(model, q, v, trace=trace, local=local)
    constraints = Constraints.of(model, q, contacts, options, trace)
    approach = contacts.rows(ContactMotion.velocity)
    factors = each_row(model, [1.0 + e for e in restitution])
    still: Vector = [0.0] * model.nv
    steps = constraints.steps(still, [e * x for e, x in zip(factors, approach, strict=True)])
    change, impulses = steps[-1]
    title = "impulses, then v_after - v, from L^T D L x = ((1 + e) J v, 0)"
    trace("contacts", title, SOLUTION, impulses + change)
    return [([x + y for x, y in zip(v, a, strict=True)], f) for a, f in steps], constraints


def contact_forward_dynamics(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vector:
    """Return ddq (nv) under known forces of the contacts (nc). The contacts impose no constraint."""
    external = contacts_at(model, q).on_bodies(forces, fext)
    return accelerations(model, q, v, tau, external, trace, Factorisation(crba(model, q, trace)).solve)


def contact_inverse_dynamics(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    forces: Scalars,
    *,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector]:
    """Return tau = ID(q, v, a) - J^T forces (nv), and the residual of the contacts (nc)."""
    tau = newton_euler(model, q, v, a, contacts_at(model, q).on_bodies(forces, fext), trace)
    return tau, contacts_at(model, q, v, a, options, trace).rows(ContactMotion.residual)


def contact_jacobian(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return J (nc, nv) along the axes of the contacts' first frames (of the world if `world_aligned`)."""
    return contacts_at(model, q, trace=trace).jacobian()


def contact_velocity(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> Vector:
    """Return J v (nc)."""
    return contacts_at(model, q, v, trace=trace).rows(ContactMotion.velocity)


def contact_drift(
    model: Problem, q: Scalars, v: Scalars, options: ContactOptions = DEFAULTS, trace: Trace = silent
) -> Vector:
    """Return the residual of the contacts (nc) at zero joint accelerations, with Baumgarte's terms."""
    return contacts_at(model, q, v, None, options, trace).rows(ContactMotion.residual)


def contact_error(
    model: Problem, q: Scalars, options: ContactOptions = DEFAULTS, trace: Trace = silent
) -> Vector:
    """Return the placement errors of the contacts (nc; m, rad), along the axes of their first frames (of the
    world if `world_aligned`).
    """
    return contacts_at(model, q, options=options, trace=trace).rows(ContactMotion.error)


def contact_placements(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return the placements of the contacts' first frames in the world, one row-major 4x4 matrix a row."""
    contacts = contacts_at(model, q, trace=trace)
    return [homogeneous(contacts.tree.frame.compose(contact.first)) for contact in contacts.each]

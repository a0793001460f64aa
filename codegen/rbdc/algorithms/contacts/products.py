"""Products of the derivatives of constrained dynamics with a vector, without forming the matrices.

With T = ID(q, v, qddot) - J^T f and r(q, v, qddot) at the solution, f constant in the axes of the contacts'
frames, and K the symmetric matrix of `rbdc.algorithms.contacts.constraints`, factored once for all solutions:

    in a direction:   (f, qddot)' = K^-1 (r', tau' - T')
    weighted by w:    z = K^-1 w,     w (f, qddot)_x = z_f r_x - z_a T_x,     w (f, qddot)_tau = z_a

and of several steps the sum of these, each with T and r at its own solution.

T and r in one direction come from their recursions over dual numbers, weighted sums of their rows from the
recursions back over all their steps. Logarithms, which neither goes through, enter by their own derivative:
e' = Jlog(e) J q'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.contacts.constraints import WEIGHTS, Step
from rbdc.algorithms.contacts.dynamics import residuals, solution, with_contact_forces
from rbdc.algorithms.contacts.logarithm import rate_of_logarithm, transposed_rate_of_logarithm
from rbdc.algorithms.contacts.motion import ContactMotion, TreeMotion, contact_motions, tree_motion
from rbdc.algorithms.derivatives.jvp import values_and_rates
from rbdc.algorithms.derivatives.vjp import there_and_back
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import configuration_rate, tangent_gradient
from rbdc.algorithms.tools.linear import dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Force, Forces, Motion, Scalar, Scalars
from rbdc.spatial.adjoint import Tape
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.tangent import rate_of, tangents

Vector = list[Scalar]


Values = Callable[[Vector, Vector, Trace], Vector]
"""T (nv) and r (nc), one after the other, at q and v."""


def _torques_and_residual(model: Model, step: Step, fext: Forces | None, options: ContactOptions) -> Values:
    """T and r, but for the logarithms in it, under accelerations and forces."""
    accelerations, forces = step

    def values(q: Vector, v: Vector, trace: Trace) -> Vector:
        external = with_contact_forces(model, q, forces, fext)
        torques = newton_euler(model, q, v, accelerations, external, trace)
        contacts = contact_motions(tree_motion(model, q, v, accelerations), options, local=True)
        held = [contact if contact.of_points else replace(contact, kp=0.0) for contact in contacts]
        return [*torques, *residuals(held)]

    return values


@dataclass(frozen=True)
class _Logarithm:
    """The error of a contact of bodies with Kp: all of its components, and their places among the rows."""

    contact: ContactMotion
    rows: list[tuple[int, int]]

    @property
    def error(self) -> Motion:
        """e, along the axes of the contact's own frame."""
        return Motion.of(self.contact.rows(self.contact.error()))


def _logarithms(tree: TreeMotion, options: ContactOptions) -> list[_Logarithm]:
    found, start = [], 0
    for contact in contact_motions(tree, options, local=True):
        held = contact.contact.held
        if not contact.of_points and not is_zero(contact.kp):
            whole = replace(contact, contact=replace(contact.contact, held=tuple(range(6))))
            found.append(_Logarithm(whole, list(enumerate(held, start))))
        start += len(held)
    return found


def _sum(vectors: Sequence[Vector]) -> Vector:
    first, *others = vectors
    for other in others:
        first = [x + y for x, y in zip(first, other, strict=True)]
    return first


def constrained_dynamics_jvp(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *directions: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector]:
    """Changes of ddq (nv) and of the forces (nc) in the directions dq, dv, dtau. Test: the products of
    `constrained_dynamics_derivatives`.
    """
    dq, dv, dtau = directions
    found = solution(model, q, v, tau, fext, options, trace, local=True)
    moving = [*tangents(q, configuration_rate(model, q, dq))], [*tangents(v, dv)]
    errors: Vector = [0.0] * len(found.forces)
    for logarithm in _logarithms(tree_motion(model, q, dq), options):
        contact = logarithm.contact
        rate = rate_of_logarithm(logarithm.error, Motion.of(contact.rows(contact.velocity()))).scalars()
        for row, component in logarithm.rows:
            errors[row] = contact.kp * rate[component]
    sides = []
    for step in found.steps:
        values = _torques_and_residual(model, step, fext, options)
        rates = [rate_of(x) for x in values(*moving, values_and_rates(trace))]
        moved = [x - y for x, y in zip(dtau, rates, strict=False)]
        sides.append((moved, [x + y for x, y in zip(rates[model.nv :], errors, strict=True)]))
    return found.constraints.changed(*sides)


def constrained_dynamics_vjp(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *weights: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """Sums of the rows of the derivatives by q, v and tau (nv each), those of ddq weighted with w_ddq (nv),
    those of the forces with w_forces (nc). Test: the products of `constrained_dynamics_derivatives`.
    """
    found = solution(model, q, v, tau, fext, options, trace, local=True)
    weighted = found.constraints.weights(*map(list, weights))
    of_torques, of_rows = (_sum(parts) for parts in zip(*weighted, strict=True))
    trace("contacts", "z = K^-1 w", WEIGHTS, [*of_rows, *of_torques])
    tape = Tape()
    given_q, given_v = ([*tape.variables(x)] for x in (q, v))
    values: Vector = []
    for step in found.steps:
        of_step = _torques_and_residual(model, step, fext, options)
        values += of_step(given_q, given_v, there_and_back(tape, trace))
    bar = tape.adjoints(values, [z for own, rows in weighted for z in (*(-x for x in own), *rows)])
    by_q = tangent_gradient(model, q, [bar(x) for x in given_q])
    for logarithm in _logarithms(tree_motion(model, q), options):
        contact, entries = logarithm.contact, [0.0] * 6
        for row, component in logarithm.rows:
            entries[component] = contact.kp * of_rows[row]
        pulled = transposed_rate_of_logarithm(logarithm.error, Force.of(entries)).scalars()
        columns = transposed(contact.jacobian())
        by_q = [x + dot(column, pulled) for x, column in zip(by_q, columns, strict=True)]
    return by_q, [bar(x) for x in given_v], of_torques

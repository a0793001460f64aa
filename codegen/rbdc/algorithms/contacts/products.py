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
from dataclasses import replace
from itertools import islice

from rbdc.algorithms.contacts.constraints import WEIGHTS, Step
from rbdc.algorithms.contacts.dynamics import contact_force, residuals, solution, with_contact_forces
from rbdc.algorithms.contacts.motion import ContactMotion, contact_motions
from rbdc.algorithms.derivatives.products import there_and_back, values_and_rates
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.kinematics import tree_motion
from rbdc.algorithms.logarithm import rate_of_logarithm, transposed_rate_of_logarithm
from rbdc.algorithms.manifold import configuration_rate, tangent_gradient
from rbdc.algorithms.tools.linear import dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Force, Forces, Motion, Scalar, Scalars, Vector3
from rbdc.spatial.adjoint import Tape
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
        return [*torques, *residuals([replace(c, kp=0.0) if c.has_logarithm else c for c in contacts])]

    return values


def _rate_of_error(contact: ContactMotion) -> Vector:
    """The rate of the rows of the error of a contact of bodies that move."""
    moving = contact.own(contact.velocity())
    rate = contact.from_own(rate_of_logarithm(contact.logarithm(), moving))
    if contact.along_the_world:
        turn = contact.tree.velocity(contact.bodies[0]).angular
        rate = rate + Motion(Vector3.zero(), turn).cross(contact.error())
    return contact.rows(rate)


def _weighted_error(contact: ContactMotion, weights: Vector) -> Vector:
    """The sum of the rows of the derivatives of the error of a contact of bodies by q (nv), weighted."""
    force = contact_force(contact, weights)
    own = Force.of(contact.own(Motion(force.linear, force.angular)).scalars())
    pulled = transposed_rate_of_logarithm(contact.logarithm(), own)
    whole = replace(contact, contact=replace(contact.contact, held=tuple(range(6))))
    along_columns = whole.rows(contact.from_own(Motion(pulled.linear, pulled.angular)))
    terms = [*zip(whole.jacobian(), along_columns, strict=True)]
    terms += zip(contact.turning(contact.error()), weights, strict=True)
    return [dot(column, [x for _, x in terms]) for column in transposed([row for row, _ in terms])]


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
    errors: Vector = []
    for contact in contact_motions(tree_motion(model, q, dq), options, local=True):
        rate = _rate_of_error(contact) if contact.has_logarithm else [0.0] * contact.contact.rows
        errors += [contact.kp * x for x in rate]
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
    rows = iter(of_rows)
    for contact in contact_motions(tree_motion(model, q), options, local=True):
        own = [contact.kp * x for x in islice(rows, contact.contact.rows)]
        if contact.has_logarithm:
            by_q = [x + y for x, y in zip(by_q, _weighted_error(contact, own), strict=True)]
    return by_q, [bar(x) for x in given_v], of_torques

"""Products of the derivatives of constrained dynamics with a vector, without forming the matrices.

T = ID(q, v, qddot) - J^T f and r(q, v, qddot) are taken at the solution, with f constant along the axes of
the contacts' frames. K = [-E -J; -J^T M] of `rbdc.algorithms.contacts.dynamics` is factored once. A prime is
the derivative along the direction (q', v', tau'). An index x (q or v) or tau denotes a partial derivative.
z_f and z_a are the parts of z for r and T:

    derivative along a direction:  (f, qddot)' = K^-1 (r', tau' - T')
    sum of rows with weights w:    z = K^-1 w,   w (f, qddot)_x = z_f r_x - z_a T_x,   w (f, qddot)_tau = z_a

If there are two proximal steps, T and r of each step are taken at the solution of this step.

T' and r' come from the recursions of T and r over dual numbers. Weighted sums of rows come from reverse-mode
differentiation of these recursions. The logarithm e of a residual is an input of the recursions with the
derivative e' = Jlog(e) J q'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rbdc.algorithms.contacts.dynamics import WEIGHTS, Step, solution
from rbdc.algorithms.contacts.motion import ContactMotion, contacts_at
from rbdc.algorithms.contacts.residual_derivatives import moving_logarithm
from rbdc.algorithms.derivatives.products import there_and_back, values_and_rates
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.logarithm import transposed_rate_of_logarithm
from rbdc.algorithms.manifold import configuration_rate, tangent_gradient
from rbdc.algorithms.tools.linear import Vector, dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Force, Forces, Motion, Scalars
from rbdc.spatial.adjoint import Tape
from rbdc.spatial.tangent import rate_of, tangents

Logarithms = Sequence[Motion | None]
"""The logarithm in the residual of each contact, or None."""


def _torques_and_residual(
    model: Problem, step: Step, fext: Forces | None, options: ContactOptions, logarithms: Logarithms
) -> Callable[[Vector, Vector, Trace], Vector]:
    """Return the function (q, v, trace) -> T (nv), then r (nc), for the step's qddot and f."""
    accelerations, forces = step

    def values(q: Vector, v: Vector, trace: Trace) -> Vector:
        external = contacts_at(model, q).on_bodies(forces, fext)
        torques = newton_euler(model, q, v, accelerations, external, trace)
        contacts = contacts_at(model, q, v, accelerations, options)
        pairs = zip(contacts.each, logarithms, strict=True)
        contacts = replace(contacts, each=[replace(contact, known=logarithm) for contact, logarithm in pairs])
        return [*torques, *contacts.rows(ContactMotion.residual)]

    return values


def _pulled(contact: ContactMotion, force: Force) -> Vector:
    """Return J^T force (nv) of a contact that holds bodies. force: along the axes of its first frame."""
    whole = replace(contact.contact, held=tuple(range(6)))
    rows = replace(contact, contact=whole, axes=contact.first.rotation).jacobian()
    return [dot(column, force.scalars()) for column in transposed(rows)]


def _sum(vectors: Sequence[Vector]) -> Vector:
    return [sum(entries, 0.0) for entries in zip(*vectors, strict=True)]


def constrained_dynamics_jvp(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *directions: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector]:
    """Return the derivatives of ddq (nv) and of the forces (nc) along the direction (dq, dv, dtau).
    Checked against `constrained_dynamics_derivatives` times the direction.
    """
    dq, dv, dtau = directions
    steps, constraints = solution(model, q, v, tau, fext, options, trace, local=True)
    moving = [*tangents(q, configuration_rate(model, q, dq))], [*tangents(v, dv)]
    contacts = contacts_at(model, q, dq, None, options).each
    logarithms = [moving_logarithm(c, c.velocity()) if c.has_logarithm else None for c in contacts]
    sides = []
    for step in steps:
        values = _torques_and_residual(model, step, fext, options, logarithms)
        rates = [rate_of(x) for x in values(*moving, values_and_rates(trace))]
        sides.append(([x - y for x, y in zip(dtau, rates, strict=False)], rates[model.nv :]))
    return constraints.in_turn(sides)[-1]


def constrained_dynamics_vjp(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *weights: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """Return weighted sums of the rows of the derivatives with respect to q, v and tau (nv each). weights: of
    the rows of ddq (nv) and of the forces (nc). Checked against the weights times
    `constrained_dynamics_derivatives`.
    """
    steps, constraints = solution(model, q, v, tau, fext, options, trace, local=True)
    weighted = constraints.weights(*map(list, weights))
    of_torques, of_rows = (_sum(parts) for parts in zip(*weighted, strict=True))
    formula = "z = K^-1 w, weights w, K = [-E -J; -J^T M]"
    trace("contacts", formula, WEIGHTS, [*of_rows, *of_torques])
    tape, contacts = Tape(), contacts_at(model, q, options=options).each
    logarithms = [contact.logarithm() if contact.has_logarithm else None for contact in contacts]
    symbolic = [None if x is None else Motion.of(tape.variables(x.scalars())) for x in logarithms]
    given_q, given_v = ([*tape.variables(x)] for x in (q, v))
    values: Vector = []
    for step in steps:
        of_step = _torques_and_residual(model, step, fext, options, symbolic)
        values += of_step(given_q, given_v, there_and_back(tape, trace))
    bar = tape.adjoints(values, [z for torques, rows in weighted for z in (*(-x for x in torques), *rows)])
    parts = [tangent_gradient(model, q, [bar(x) for x in given_q])]
    for contact, logarithm, variables in zip(contacts, logarithms, symbolic, strict=True):
        if logarithm is not None and variables is not None:
            weight = Force.of([bar(x) for x in variables.scalars()])
            parts.append(_pulled(contact, transposed_rate_of_logarithm(logarithm, weight)))
    return _sum(parts), [bar(x) for x in given_v], of_torques

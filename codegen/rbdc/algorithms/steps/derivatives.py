"""Time steps and their derivatives, with and without contacts (`rbdc.algorithms.steps.rules`).

Derivatives along one direction need one solve with M per stage and no matrix of derivatives. Matrices of
derivatives use the matrices of the derivatives of accelerations, which each stage computes once for all
directions. Weighted sums of rows come from reverse-mode differentiation of derivatives along one direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.algorithms.contacts import derivatives as of_contacts
from rbdc.algorithms.contacts.dynamics import constrained_dynamics
from rbdc.algorithms.contacts.products import constrained_dynamics_jvp
from rbdc.algorithms.couplings import at_configuration
from rbdc.algorithms.derivatives.forward_derivatives import values_and_derivatives
from rbdc.algorithms.derivatives.products import rnea_tangent, there_and_back
from rbdc.algorithms.dynamics.forward_dynamics import Dynamics
from rbdc.algorithms.steps.rules import Accelerations, Along, Directions, Law, stepped
from rbdc.algorithms.tools.linear import InverseFactor, Matrix, Vector, dot, identity, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Forces, Scalars
from rbdc.spatial.adjoint import Tape

LawOf = Callable[[Problem, Scalars, Forces | None, ContactOptions, Trace], Law]
"""(model, tau, fext, options of contacts, trace) -> the dynamics of a step."""


def free(
    dynamics: Dynamics,
    model: Problem,
    tau: Scalars,
    fext: Forces | None,
    options: ContactOptions,
    trace: Trace,
) -> Law:
    """Return forward dynamics by the method `dynamics`."""
    del options  # there are no contacts

    def law(q: Vector, v: Vector) -> Accelerations:
        a, solve = dynamics(at_configuration(model, q), q, v, tau, fext, trace)

        def along(dq: Vector, dv: Vector, dtau: Vector) -> tuple[Vector, Vector]:
            rest = [0.0] * model.nv
            moved = rnea_tangent(model, q, v, a, dq, dv, rest, fext=fext, trace=trace, at=at_configuration)
            return solve([x - y for x, y in zip(dtau, moved, strict=True)]), []

        return Accelerations(a, [], along)

    return law


def held(model: Problem, tau: Scalars, fext: Forces | None, options: ContactOptions, trace: Trace) -> Law:
    """Return constrained dynamics."""

    def law(q: Vector, v: Vector) -> Accelerations:
        def along(*directions: Vector) -> tuple[Vector, Vector]:
            return constrained_dynamics_jvp(
                model, q, v, tau, *directions, fext=fext, options=options, trace=trace
            )

        there = at_configuration(model, q)
        return Accelerations(*constrained_dynamics(there, q, v, tau, fext, options, trace), along)

    return law


def free_by_matrices(
    inverse_of: Callable[[InverseFactor], Matrix],
    model: Problem,
    tau: Scalars,
    fext: Forces | None,
    options: ContactOptions,
    trace: Trace,
) -> Law:
    """Return forward dynamics, differentiated with the matrices of its derivatives."""
    del options  # there are no contacts

    def law(q: Vector, v: Vector) -> Accelerations:
        a, by = values_and_derivatives(model, q, v, tau, fext, trace, inverse_of=inverse_of)
        return Accelerations(a, [], _products(by, []))

    return law


def held_by_matrices(
    model: Problem, tau: Scalars, fext: Forces | None, options: ContactOptions, trace: Trace
) -> Law:
    """Return constrained dynamics, differentiated with the matrices of its derivatives."""

    def law(q: Vector, v: Vector) -> Accelerations:
        arguments = (model, q, v, tau, fext, options, trace)
        matrices = of_contacts.constrained_dynamics_derivatives(*arguments)
        return Accelerations(*constrained_dynamics(*arguments), _products(matrices[:3], matrices[3:]))

    return law


def _products(of_accelerations: Sequence[Matrix], of_forces: Sequence[Matrix]) -> Along:
    def product(matrices: Sequence[Matrix], directions: Sequence[Vector]) -> Vector:
        direction = [x for vector in directions for x in vector]
        return [dot([x for row in rows for x in row], direction) for rows in zip(*matrices, strict=True)]

    return lambda *directions: (product(of_accelerations, directions), product(of_forces, directions))


def step(
    law_of: LawOf,
    model: Problem,
    *inputs: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, ...]:
    """Return q' (nq) and v' (nv) from q, v, tau and dt (1; s) by the model's integrator and, with contacts,
    the contact forces at the start (nc). Checked against MuJoCo's `mj_step`, and by the order of each rule.
    """
    q, v, tau, dt = inputs
    law = law_of(model, tau, fext, options, trace)
    after, velocity, forces = stepped(model, law, (q, v, dt), trace)
    return (after, velocity, forces) if forces else (after, velocity)


def step_derivatives(
    law_of: LawOf,
    model: Problem,
    *inputs: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Matrix, ...]:
    """Return the derivatives of q' in its tangent space, of v' and, with contacts, of the contact forces,
    with respect to q, v, tau (nv columns each) and dt (one column). Checked against differences on the
    manifold and dual numbers.
    """
    q, v, tau, dt = inputs
    law, n = law_of(model, tau, fext, options, trace), model.nv
    directions = Directions(model, law, (q, v, dt), trace, turns={})
    changes = [
        directions.along(unit[:n], unit[n : 2 * n], unit[2 * n : -1], unit[-1])
        for unit in identity(3 * n + 1)
    ]
    columns = [[change[k] for change in changes] for k in range(3 if changes[0][2] else 2)]
    return tuple(transposed(part) for x in columns for part in (x[:n], x[n : 2 * n], x[2 * n : -1], x[-1:]))


def step_jvp(
    law_of: LawOf,
    model: Problem,
    *inputs: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, ...]:
    """Return the derivatives of q' in its tangent space, of v' (nv) and, with contacts, of the contact forces
    (nc) along a direction. inputs: q, v, tau, dt, then the direction dq, dv, dtau, ddt.
    Checked against `step_derivatives` times the direction.
    """
    q, v, tau, dt, *direction = inputs
    dq, dv, dtau, (ddt,) = map(list, direction)
    law = law_of(model, tau, fext, options, trace)
    change = Directions(model, law, (q, v, dt), trace).along(dq, dv, dtau, ddt)
    return change if change[2] else change[:2]


def step_vjp(
    law_of: LawOf,
    model: Problem,
    *inputs: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
    trace: Trace = silent,
) -> tuple[Vector, ...]:
    """Return weighted sums of the rows of the derivatives with respect to q, v, tau (nv each) and dt (1).
    inputs: q, v, tau, dt, then the weights of the rows of q' (nv), of v' (nv) and, with contacts, of the
    contact forces (nc). Checked against the weights times `step_derivatives`.
    """
    q, v, tau, dt, *weights = inputs
    tape = Tape()
    law = law_of(model, tau, fext, options, there_and_back(tape, trace))
    dq, dv, dtau = ([*tape.variables([0.0] * model.nv)] for _ in range(3))
    (ddt,) = tape.variables([0.0])
    changes = Directions(model, law, (q, v, dt), trace).along(dq, dv, dtau, ddt)
    results = zip((x for y in changes for x in y), (w for y in weights for w in y), strict=True)
    bar = tape.adjoints(*map(list, zip(*results, strict=True)))
    return *([bar(x) for x in y] for y in (dq, dv, dtau)), [bar(ddt)]

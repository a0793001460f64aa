"""Products of the derivatives of inverse and forward dynamics with vectors, without forming the matrices.

For a product with a direction, `newton_euler` runs over dual numbers. For a weighted sum of rows,
`newton_euler` runs over scalars that record their operations, which are then differentiated in reverse. The
Hessian of a weighted sum times a direction is the derivative of the gradient along this direction
(Pearlmutter, 1994): the recording scalars are dual numbers, and the cost is a few evaluations.

Forward dynamics has the derivatives -M^-1 dID, with those of inverse dynamics, dID (Carpentier and Mansard,
equation 24). M is factored once for all solves. With s = M^-1 w, w^T M^-1 dID is s^T dID. Along a direction,
q, v, the accelerations and s change, with ds = -M^-1 dM s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.algorithms.dynamics.external_forces import external_torque
from rbdc.algorithms.dynamics.forward_dynamics import Dynamics
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import configuration_rate, tangent_gradient
from rbdc.algorithms.tools.linear import Vector
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Scalar, Scalars, adjoint
from rbdc.spatial.adjoint import Tape
from rbdc.spatial.tangent import rate_of, tangents, value_of

Vectors = tuple[list[Scalar], list[Scalar], list[Scalar]]


def rnea_tangent(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    *directions: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
    at: Callable[[Problem, Scalars], Problem] = lambda model, _: model,
) -> Vector:
    """Return dtau_dq dq + dtau_dv dv + dtau_da da (nv). at: (model, q) -> the model at q, if joints follow
    others along curves. Checked against the same product of `rnea_derivatives`.
    """
    dq, dv, da = directions
    moving = tangents(q, configuration_rate(model, q, dq))
    both = values_and_rates(trace)
    there = at(model, moving)
    return [rate_of(x) for x in newton_euler(there, moving, tangents(v, dv), tangents(a, da), fext, both)]


def values_and_rates(trace: Trace) -> Trace:
    """Return a trace for dual numbers that passes first their values, then their rates to `trace`."""

    def record(section: str, formula: str, symbol: str, values: Scalars) -> None:
        trace(section, formula, symbol, [value_of(x) for x in values])
        trace(section, f"rate of {formula}", f"d{symbol}", [rate_of(x) for x in values])

    return record


def aba_tangent(
    dynamics: Dynamics,
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *directions: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vector:
    """Return ddq_dq dq + ddq_dv dv + ddq_dtau dtau (nv). dynamics: method of forward dynamics. Checked
    against the same product of `aba_derivatives`.
    """
    dq, dv, dtau = directions
    a, solve = dynamics(model, q, v, tau, fext, trace)
    moved = rnea_tangent(model, q, v, a, dq, dv, [0.0] * model.nv, fext=fext, trace=trace)
    return solve([x - y for x, y in zip(dtau, moved, strict=True)])


def rnea_adjoint(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    w: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """Return w^T dtau_dq, w^T dtau_dv and w^T dtau_da = M w (nv each). Checked against the same products of
    `rnea_derivatives`.
    """
    tape = Tape()
    given_q, given_v, given_a = (tape.variables(x) for x in (q, v, a))
    both = there_and_back(tape, trace)
    bar = tape.adjoints(newton_euler(model, given_q, given_v, given_a, fext, both), w)
    by_q, by_v, by_a = ([bar(x) for x in variables] for variables in (given_q, given_v, given_a))
    return tangent_gradient(model, q, by_q), by_v, by_a


def external_torque_adjoint(
    model: Problem, q: Scalars, w: Scalars, fext: Sequence[Force], trace: Trace = silent
) -> tuple[Vector, Vector]:
    """Return w^T dtau_dq (nv) and w^T dtau_dfext (6 * njoints) for tau = sum of J^T fext. The second result
    is the velocities J w of the bodies. Checked against the same products of the derivatives of
    `external_torque`.
    """
    tape = Tape()
    given_q, given_forces = tape.variables(q), [tape.variables(force.scalars()) for force in fext]
    torque = external_torque(model, given_q, [Force.of(x) for x in given_forces], there_and_back(tape, trace))
    bar = tape.adjoints(torque, w)
    by_forces = [bar(x) for force in given_forces for x in force]
    return tangent_gradient(model, q, [bar(x) for x in given_q]), by_forces


def there_and_back(tape: Tape, trace: Trace) -> Trace:
    """Return a trace for scalars on `tape`. It passes their values to `trace` at once, and their adjoints in
    the reverse pass.
    """

    def record(section: str, formula: str, symbol: str, values: Scalars) -> None:
        trace(section, formula, symbol, [adjoint.value_of(x) for x in values])
        tape.watch(
            values,
            lambda bar: trace(section, f"adjoint of {formula}", f"{symbol}_bar", [bar(x) for x in values]),
        )

    return record


def aba_adjoint(
    dynamics: Dynamics,
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *weights: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """Return w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau (nv each). dynamics: method of forward dynamics.
    Checked against the same products of `aba_derivatives`.
    """
    (w,) = weights
    a, solve = dynamics(model, q, v, tau, fext, trace)
    solved = solve(list(w))
    by_q, by_v, _ = rnea_adjoint(model, q, v, a, solved, fext, trace)
    return [-x for x in by_q], [-x for x in by_v], solved


def rnea_hessian_product(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    w: Scalars,
    *direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """Return the derivatives of w^T dtau_dq, w^T dtau_dv and w^T dtau_da (nv each) along the direction (dq,
    dv, da). If w is dual numbers, their rates are included. Checked against `rnea_hessian_vector` times the
    direction.
    """
    dq, dv, da = direction
    moving = tangents(q, configuration_rate(model, q, dq))
    both = values_and_rates(trace)
    products = rnea_adjoint(model, moving, tangents(v, dv), tangents(a, da), w, fext, both)
    by_q, by_v, by_a = ([rate_of(x) for x in product] for product in products)
    return by_q, by_v, by_a


def aba_hessian_product(
    dynamics: Dynamics,
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *weights_and_direction: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> Vectors:
    """Return the derivatives of w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau (nv each) along the direction (dq,
    dv, dtau). dynamics: method of forward dynamics. Checked against `aba_hessian_vector` times the direction.
    """
    (w, dq, dv, dtau), rest = weights_and_direction, [0.0] * model.nv
    a, solve = dynamics(model, q, v, tau, fext, trace)
    moved = rnea_tangent(model, q, v, a, dq, dv, rest, fext=fext, trace=trace)
    da = solve([x - y for x, y in zip(dtau, moved, strict=True)])
    solved = solve(list(w))
    turned = solve(rnea_tangent(model.of_inertia(), q, rest, solved, dq, rest, rest, trace=trace))
    weights = tangents(solved, [-x for x in turned])
    by_q, by_v, _ = rnea_hessian_product(model, q, v, a, weights, dq, dv, da, fext=fext, trace=trace)
    return [-x for x in by_q], [-x for x in by_v], [-x for x in turned]

"""Weighted sums of the rows of derivatives by the cheapest recursions: inverse dynamics forwards, then back
over all of its steps.

`rbdc.algorithms.reference.derivatives.products` multiplies the papers' matrices. Here `rnea_adjoint` runs
`newton_euler` over scalars that remember what they were made of, and forward dynamics follows by Carpentier
and Mansard's equation (24): the rows of -M^-1 dID weighted with w are those of -dID weighted with M^-1 w.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.algorithms.dynamics.external_forces import external_torque
from rbdc.algorithms.dynamics.forward_dynamics import Dynamics
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import tangent_gradient
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Force, Forces, Scalar, Scalars
from rbdc.spatial.adjoint import Tape, value_of

Vector = list[Scalar]


def rnea_adjoint(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    w: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """w^T dtau_dq, w^T dtau_dv and w^T dtau_da = M w (nv each). Test: the same products of
    `rnea_derivatives`.
    """
    tape = Tape()
    given_q, given_v, given_a = (tape.variables(x) for x in (q, v, a))
    constant = None if fext is None else [Force.of(tape.variables(f.scalars())) for f in fext]
    both = there_and_back(tape, trace)
    bar = tape.adjoints(newton_euler(model, given_q, given_v, given_a, constant, both), w)
    by_q, by_v, by_a = ([bar(x) for x in given] for given in (given_q, given_v, given_a))
    return tangent_gradient(model, q, by_q), by_v, by_a


def external_torque_adjoint(
    model: Model, q: Scalars, w: Scalars, fext: Sequence[Force], trace: Trace = silent
) -> tuple[Vector, Vector]:
    """w^T dtau_dq (nv) and w^T dtau_dfext (6 njoints), the bodies' velocities J w, of tau = sum of J^T fext.
    Test: the same products of the derivatives of `external_torque`.
    """
    tape = Tape()
    given_q, given_forces = tape.variables(q), [tape.variables(force.scalars()) for force in fext]
    torque = external_torque(model, given_q, [Force.of(x) for x in given_forces], there_and_back(tape, trace))
    bar = tape.adjoints(torque, w)
    by_forces = [bar(x) for force in given_forces for x in force]
    return tangent_gradient(model, q, [bar(x) for x in given_q]), by_forces


def there_and_back(tape: Tape, trace: Trace) -> Trace:
    """A trace of recorded scalars: their values at once, their adjoints on the way back."""

    def record(section: str, formula: str, symbol: str, values: Scalars) -> None:
        trace(section, formula, symbol, [value_of(x) for x in values])
        tape.watch(
            values,
            lambda bar: trace(section, f"adjoint of {formula}", f"{symbol}_bar", [bar(x) for x in values]),
        )

    return record


def aba_adjoint(dynamics: Dynamics) -> Callable[..., tuple[Vector, Vector, Vector]]:
    """The algorithm (model, q, v, tau, w) for w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau (nv each), with the
    solves of `dynamics`. Test: the products of `aba_derivatives`.
    """

    def adjoint(
        model: Model,
        q: Scalars,
        v: Scalars,
        tau: Scalars,
        w: Scalars,
        fext: Forces | None = None,
        trace: Trace = silent,
    ) -> tuple[Vector, Vector, Vector]:
        a, solve = dynamics(model, q, v, tau, fext, trace)
        solved = solve(list(w))
        by_q, by_v, _ = rnea_adjoint(model, q, v, a, solved, fext, trace)
        return [-x for x in by_q], [-x for x in by_v], solved

    return adjoint

"""Time steps from the Butcher tables of integration rules: Hairer, Norsett and Wanner, Solving Ordinary
Differential Equations I, table II.1.2.

Steps on manifolds use the commutators of Munthe-Kaas and Owren (1999). Dual numbers differentiate the
`difference` of the new configuration from its value without rates. Products with weights are derivatives of
weighted sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.contacts import constrained_dynamics
from rbdc.algorithms.reference.couplings import at_configuration
from rbdc.algorithms.reference.dual_numbers import along, differentiated
from rbdc.algorithms.reference.manifold import commutator, difference, integrate
from rbdc.algorithms.tools.linear import Vector, dot
from rbdc.model import Problem
from rbdc.spatial.tangent import OuterTangent

Step = Callable[..., tuple[Vector, ...]]
Forces = Callable[..., tuple[Vector, Vector]]


class _Rule(NamedTuple):
    """Rule of a step.

    stages: for each stage, the factors of the previous stages.
    end: the factors of the stages in the result.
    commutators: for the index of a stage (the last index is the result): the factor of the commutator that is
        added to the stage's increment, and the indices of two stages, whose velocities the commutator takes.
    implicit: whether the position of the result uses the velocity of the result.
    """

    stages: tuple[tuple[float, ...], ...]
    end: tuple[float, ...]
    commutators: Mapping[int, tuple[float, int, int]] = {}
    implicit: bool = False


_RULES: Mapping[str, _Rule] = {
    "semi-implicit": _Rule(((),), (1.0,), implicit=True),
    "explicit": _Rule(((),), (1.0,)),
    "rk4": _Rule(
        ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0),
        {2: (0.125, 0, 1), 4: (1.0 / 12.0, 0, 3)},
    ),
}


def _combined(x: Vector, rates: list[Vector], factors: tuple[float, ...], dt: Any) -> Vector:
    columns = zip(x, *rates[: len(factors)], strict=True)
    return [y + dt * dot(factors, rest) if rest else y for y, *rest in columns]


def _step(
    dynamics: Forces, model: Problem, q: Vector, v: Vector, tau: Vector, dt: Vector, **named: Any
) -> tuple[Vector, ...]:
    """Return q' and v' after the step and, with contacts, the contact forces at its start."""
    (h,), rule = dt, _RULES[model.integrator]
    velocities, accelerations, pushes = list[Vector](), list[Vector](), list[Vector]()

    def reached(number: int, factors: tuple[float, ...], rates: list[Vector]) -> Vector:
        path = _combined([0.0] * model.nv, rates, factors, h)
        if number in rule.commutators:
            factor, one, two = rule.commutators[number]
            turned = commutator(model, rates[one], rates[two])
            path = [x + factor * (h * h) * y for x, y in zip(path, turned, strict=True)]
        return integrate(model, q, path)

    for number, factors in enumerate(rule.stages):
        at, speed = reached(number, factors, velocities), _combined(v, accelerations, factors, h)
        a, forces = dynamics(model, at, speed, tau, **named)
        velocities, accelerations, pushes = [*velocities, speed], [*accelerations, a], [*pushes, forces]
    end = _combined(v, accelerations, rule.end, h)
    after = reached(len(rule.stages), rule.end, [end] if rule.implicit else velocities)
    return (after, end, pushes[0]) if pushes[0] else (after, end)


def _free(model: Problem, *inputs: Vector, **named: Any) -> tuple[Vector, Vector]:
    return aba(_at(model, inputs[0]), *inputs, **named), []


def _held(model: Problem, *inputs: Any, **named: Any) -> tuple[Vector, Vector]:
    return constrained_dynamics(_at(model, inputs[0]), *inputs, **named)


def _at(model: Problem, q: Vector) -> Problem:
    return at_configuration(model, q) if model.curves else model


def _differences(there: Vector, step: Step) -> Step:
    """Return the step with q' replaced by its difference from the configuration `there`."""

    def moved(model: Problem, *inputs: Vector, **named: Any) -> tuple[Vector, ...]:
        after, *others = step(model, *inputs, **named)
        return difference(model, there, after), *others

    return moved


CONFIGURATIONS = (True, False, False, False)
"""Whether each input is a configuration: derivatives of steps are with respect to q, v, tau and dt."""


def _derivatives(step: Step, model: Problem, *inputs: Vector, **named: Any) -> tuple[Vector, ...]:
    moved = _differences(step(model, *inputs, **named)[0], step)
    return differentiated(model, *inputs, method=moved, configurations=CONFIGURATIONS, **named)


def _along(step: Step, model: Problem, *inputs: Vector, **named: Any) -> tuple[Vector, ...]:
    moved, directions = _differences(step(model, *inputs[:4], **named)[0], step), inputs[4:]
    how: dict[str, Any] = {"method": moved, "configurations": CONFIGURATIONS, "directions": directions}
    return along(model, *inputs[:4], **how, **named)


def _weighted(step: Step, weights: tuple[Vector, ...]) -> Step:
    def total(model: Problem, *inputs: Vector, **named: Any) -> Vector:
        results = step(model, *inputs, **named)
        return [sum((dot(w, x) for w, x in zip(weights, results, strict=True)), 0.0)]

    return total  # type: ignore[return-value]


def _gradient(step: Step, model: Problem, *inputs: Vector, **named: Any) -> tuple[Vector, ...]:
    total = _weighted(_differences(step(model, *inputs[:4], **named)[0], step), inputs[4:])
    return differentiated(model, *inputs[:4], method=total, configurations=CONFIGURATIONS, **named)


def _hessian(step: Step, model: Problem, *inputs: Vector, **named: Any) -> tuple[Vector, ...]:
    """Return the Hessian's blocks qq, vv, qv, qtau, vtau and tautau, then qdt, vdt, taudt and dtdt."""
    total = _weighted(_differences(step(model, *inputs[:4], **named)[0], step), inputs[4:])
    by = CONFIGURATIONS
    gradient = partial(differentiated, method=total, configurations=by, kind=OuterTangent, **named)
    blocks = differentiated(model, *inputs[:4], method=gradient, configurations=by)
    return tuple(blocks[k] for k in (0, 5, 1, 2, 6, 10, 3, 7, 11, 15))


step, constrained_step = partial(_step, _free), partial(_step, _held)
step_derivatives, constrained_step_derivatives = (
    partial(_derivatives, own) for own in (step, constrained_step)
)
step_vjp, constrained_step_vjp = (partial(_gradient, own) for own in (step, constrained_step))
step_jvp, constrained_step_jvp = (partial(_along, own) for own in (step, constrained_step))
step_hessian_vector, constrained_step_hessian_vector = (
    partial(_hessian, own) for own in (step, constrained_step)
)

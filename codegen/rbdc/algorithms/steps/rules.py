"""Time steps under constant generalised forces, on the configuration manifold. With a = ddq(q, v):

    semi-implicit Euler    v' = v + dt a,    q' = q (+) dt v'
    explicit Euler         v' = v + dt a,    q' = q (+) dt v
    Runge-Kutta            the classical rule of order 4; for joints that turn, with the two commutators of
                           Munthe-Kaas and Owren, Computations in a free Lie algebra (1999), section 4

With K_i = dt v_i for the velocity v_i of stage i, along the body's axes, Runge-Kutta is

    q_2 = q (+) K_1/2,   q_3 = q (+) (K_2/2 + [K_1, K_2]/8),   q_4 = q (+) K_3
    q'  = q (+) (K_1 + 2 K_2 + 2 K_3 + K_4 + [K_1, K_4]/2)/6

Each rule is a function of a `Stepping`. Plain scalars yield values. For derivatives along a direction
(`Moving`), v, dt and accelerations are dual numbers, and a configuration carries a tangent vector dq. With
the right Jacobian J of SE(3) at e,

    d(q (+) e) = dq + J(e) (de - ad(e) dq)

This formula is linear in the direction. Its adjoint yields weighted sums of the rows of the derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rbdc.algorithms.logarithm import rate_of_exponential
from rbdc.algorithms.manifold import integrate
from rbdc.algorithms.tools.linear import Matrix, Vector, dot, flat, transposed
from rbdc.algorithms.trace import Trace
from rbdc.model import Problem
from rbdc.model.options import Integrator
from rbdc.spatial import Force, Motion, Scalar, Scalars
from rbdc.spatial.tangent import rate_of, tangents, value_of

Along = Callable[[Vector, Vector, Vector], tuple[Vector, Vector]]
"""(dq, dv, dtau) -> derivatives of accelerations (nv) and of contact forces (nc) along this direction."""


class Accelerations(NamedTuple):
    """Dynamics at a configuration and a velocity.

    ddq: accelerations (nv).
    forces: forces of contacts (nc).
    along: returns the derivatives of ddq and of the forces along a direction.
    """

    ddq: Vector
    forces: Vector
    along: Along


Law = Callable[[Vector, Vector], Accelerations]
"""Dynamics at q (nq) and v (nv)."""


class Configuration(NamedTuple):
    """A configuration, and its derivative along a direction.

    q: configuration (nq).
    rate: tangent vector (nv), or None without a direction.
    """

    q: Vector
    rate: Any = None


@dataclass
class Stepping:
    """A time step that a rule computes in stages.

    start: configuration before the step.
    law: the dynamics, evaluated once per stage.
    trace: receives the quantities of `integrate`.
    stages: results of the stages evaluated so far.
    asked: number of stages that the rule has used.
    """

    model: Problem
    start: Configuration
    law: Law
    trace: Trace
    stages: list[Accelerations] = field(default_factory=list)
    asked: int = 0

    def move(self, e: Sequence[Any]) -> Configuration:
        """Return start (+) e."""
        return Configuration(integrate(self.model, self.start.q, e, self.trace))

    def accelerate(self, at: Configuration, v: Sequence[Any]) -> Vector:
        """Return ddq of the next stage."""
        return self._stage(at, v).ddq

    def forces(self) -> Vector:
        """Return the forces of contacts at the start (nc)."""
        return self.stages[0].forces

    def _stage(self, at: Configuration, v: Sequence[Any]) -> Accelerations:
        if self.asked == len(self.stages):
            self.stages.append(self.law(at.q, [value_of(x) for x in v]))
        self.asked += 1
        return self.stages[self.asked - 1]

    def bracket(self, x: Vector, y: Vector) -> Vector:
        """Return the commutators [x, y] (nv) of joint motions, zero if a joint's coordinates are added."""
        return flat(
            [
                _project(body.joint, body.joint.motion(x[entries]).cross(body.joint.motion(y[entries])))
                if not body.joint.euclidean
                else [0.0] * body.joint.nv
                for body, entries in joints_of(self.model)
            ]
        )


@dataclass
class Moving(Stepping):
    """A time step with its derivatives along a direction; scalars are dual numbers.

    torques: dtau of the direction.
    pushed: derivative of the contact forces at the start (nc).
    turns: rows of J for each call of `move` and each joint, which further directions reuse. None if there is
        only one direction, which needs no matrix.
    moves: number of calls of `move` so far.
    """

    torques: Vector = field(default_factory=list)
    pushed: Vector = field(default_factory=list)
    turns: dict[tuple[int, int], Matrix] | None = None
    moves: int = 0

    def move(self, e: Sequence[Any]) -> Configuration:
        step, change = [value_of(x) for x in e], [rate_of(x) for x in e]
        rate: Vector = []
        for body, entries in joints_of(self.model):
            if body.joint.euclidean:
                rate += [x + y for x, y in zip(self.start.rate[entries], change[entries], strict=True)]
            else:
                moved, by, turned = (body.joint.motion(x[entries]) for x in (self.start.rate, change, step))
                through = self._through(body, turned, by - turned.cross(moved))
                rate += [x + y for x, y in zip(self.start.rate[entries], through, strict=True)]
        self.moves += 1
        return Configuration(super().move(step).q, rate)

    def _through(self, body: Any, e: Motion, step: Motion) -> Vector:
        if self.turns is None:
            return _project(body.joint, rate_of_exponential(e, step))
        key = self.moves, body.index_v
        if key not in self.turns:
            columns = [_project(body.joint, rate_of_exponential(e, s)) for s in body.joint.subspace()]
            self.turns[key] = transposed(columns)
        entries = _project(body.joint, step)
        return [dot(row, entries) for row in self.turns[key]]

    def accelerate(self, at: Configuration, v: Sequence[Any]) -> Vector:
        first, stage = not self.asked, self._stage(at, v)
        change, pushed = stage.along(at.rate, [rate_of(x) for x in v], self.torques)
        self.pushed = pushed if first else self.pushed
        return [*tangents(stage.ddq, change)]


def joints_of(model: Problem) -> list[tuple[Any, slice]]:
    """Return the bodies whose joints follow no others, and their slices of v."""
    return [(b, slice(b.index_v, b.index_v + b.joint.nv)) for b in model.bodies if b.coupling is None]


def _project(joint: Any, motion: Motion) -> Vector:
    """Return the entries of a motion along the joint's directions, S^T motion, because S^T S = 1."""
    entries: Vector = joint.project(Force(motion.linear, motion.angular))
    return entries


def _sum(*terms: tuple[Scalar, Sequence[Any]]) -> Vector:
    (factor, first), *others = terms
    total = [factor * x for x in first]
    for factor, vector in others:
        total = [x + factor * y for x, y in zip(total, vector, strict=True)]
    return total


Rule = Callable[[Stepping, Sequence[Any], Any], tuple[Configuration, Vector]]
"""(stepping, v, dt) -> configuration and velocity after the time step."""


def _semi_implicit(m: Stepping, v: Sequence[Any], dt: Any) -> tuple[Configuration, Vector]:
    after = _sum((1.0, v), (dt, m.accelerate(m.start, v)))
    return m.move([dt * x for x in after]), after


def _explicit(m: Stepping, v: Sequence[Any], dt: Any) -> tuple[Configuration, Vector]:
    after = _sum((1.0, v), (dt, m.accelerate(m.start, v)))
    return m.move([dt * x for x in v]), after


def _runge_kutta(m: Stepping, v: Sequence[Any], dt: Any) -> tuple[Configuration, Vector]:
    half, sixth = 0.5 * dt, dt * (1.0 / 6.0)
    a1, k1 = m.accelerate(m.start, v), [dt * x for x in v]
    v2 = _sum((1.0, v), (half, a1))
    a2, k2 = m.accelerate(m.move([0.5 * x for x in k1]), v2), [dt * x for x in v2]
    v3 = _sum((1.0, v), (half, a2))
    a3, k3 = m.accelerate(m.move(_sum((0.5, k2), (0.125, m.bracket(k1, k2)))), v3), [dt * x for x in v3]
    v4 = _sum((1.0, v), (dt, a3))
    a4, k4 = m.accelerate(m.move(k3), v4), [dt * x for x in v4]
    whole = _sum((1.0, k1), (2.0, k2), (2.0, k3), (1.0, k4), (0.5, m.bracket(k1, k4)))
    rate = _sum((1.0, a1), (2.0, a2), (2.0, a3), (1.0, a4))
    return m.move([(1.0 / 6.0) * x for x in whole]), _sum((1.0, v), (sixth, rate))


RULES: Mapping[Integrator, Rule] = {
    "semi-implicit": _semi_implicit,
    "explicit": _explicit,
    "rk4": _runge_kutta,
}


def stepped(model: Problem, law: Law, inputs: Sequence[Scalars], trace: Trace) -> tuple[Vector, ...]:
    """Return q' (nq), v' (nv) and, with contacts, the contact forces at the start (nc), from q, v and dt."""
    q, v, dt = inputs
    m = Stepping(model, Configuration([*q]), law, trace)
    after, velocity = RULES[model.integrator](m, v, dt[0])
    return after.q, velocity, m.forces()


@dataclass
class Directions:
    """Derivatives of a time step along one direction or, with `turns`, along several directions. The stages
    are evaluated once.
    """

    model: Problem
    law: Law
    given: Sequence[Scalars]
    trace: Trace
    turns: dict[tuple[int, int], Matrix] | None = None
    stages: list[Accelerations] = field(default_factory=list)

    def along(self, dq: Vector, dv: Vector, dtau: Vector, ddt: Scalar) -> tuple[Vector, Vector, Vector]:
        """Return the derivatives of q' in its tangent space, of v' (nv) and of the first stage's contact
        forces (nc).
        """
        q, v, dt = self.given
        start = Configuration([*q], dq)
        m = Moving(self.model, start, self.law, self.trace, self.stages, torques=dtau, turns=self.turns)
        (step,) = tangents(dt, [ddt])
        after, velocity = RULES[self.model.integrator](m, tangents(v, dv), step)
        return after.rate, [rate_of(x) for x in velocity], m.pushed

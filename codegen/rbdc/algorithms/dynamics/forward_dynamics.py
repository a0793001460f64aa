"""Forward dynamics: inverse dynamics at reference accelerations (`reference_pass`), then a solve with M."""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.dynamics.articulated_bodies import articulated_accelerations
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.drives import without_resistance
from rbdc.algorithms.dynamics.external_forces import joint_torques, loaded_machine
from rbdc.algorithms.dynamics.newton_euler import reference_pass
from rbdc.algorithms.tools.joint_coordinates import joint_velocities
from rbdc.algorithms.tools.linear import Factorisation, Vector
from rbdc.algorithms.tools.machine import Array
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Forces, Motion, Scalars, Vector3
from rbdc.spatial.scalars import is_zero

Solve = Callable[[Vector], Vector]
"""M^-1 times a vector (nv)."""
Dynamics = Callable[[Problem, Scalars, Scalars, Scalars, Forces | None, Trace], tuple[Vector, Solve]]
"""(model, q, v, tau, fext, trace) -> ddq (nv), and the solve with M(q)."""


def solved_by_cholesky(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None, trace: Trace
) -> tuple[Vector, Solve]:
    """Return the result of `by_cholesky`, and the solve with the factors of M."""
    solve = Factorisation(crba(model, q, trace)).solve
    return accelerations(model, q, v, tau, fext, trace, solve), solve


def solved_by_articulated_bodies(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None, trace: Trace
) -> tuple[Vector, Solve]:
    """Return the result of `by_articulated_bodies`, and the solve with the articulated inertias."""
    accelerations = by_articulated_bodies(model, q, v, tau, fext, trace)
    return accelerations, lambda x: inverse_inertia_product(model, q, x, trace)


def by_cholesky(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Vector:
    """Return ddq = M^-1 (tau - bias) with sparse M = L^T D L. This is the cheapest method for arms, and the
    only one for coupled mimic joints.
    """
    return solved_by_cholesky(model, q, v, tau, fext, trace)[0]


def by_articulated_bodies(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Vector:
    """Return ddq by the articulated-body algorithm, or by `by_cholesky` if joints are coupled. The bias
    forces are the wrenches of inverse dynamics at reference accelerations.

    The bias forces contain all effects of velocities, so there are no bias accelerations. Gravity enters as
    an acceleration of the world; in the bias it would cancel with the accelerations that it causes and lose
    digits. If all roots are free, gravity is part of their reference accelerations instead.
    """
    if model.coupled:
        return by_cholesky(model, q, v, tau, fext, trace)
    falls, still = all(is_free(model, root) for root in model.children(WORLD)), Vector3.zero()
    m = loaded_machine(model, q, v, fext=fext, trace=trace)
    wrenches, reference = reference_pass(m, model.gravity if falls else still)
    tau = without_resistance(model, tau, q, v)
    return _articulated(m, wrenches, tau, reference, still if falls else model.gravity)


def inverse_inertia_product(model: Problem, q: Scalars, x: Scalars, trace: Trace = silent) -> Vector:
    """Return M(q)^-1 x: the accelerations that the forces x alone cause, at rest without gravity."""
    if model.coupled:
        return Factorisation(crba(model, q, trace)).solve(x)
    m = Numbers(model, q, trace=trace)
    free = m.array("f", Force)
    for b in m.down():
        free[b] = Force.zero()
    return _articulated(m, free, x, [0.0] * model.nv, Vector3.zero())


def _articulated(
    m: Numbers, bias: Array[Force], tau: Scalars, reference: Scalars, gravity: Vector3
) -> Vector:
    torques, added = joint_velocities(m.model, tau), joint_velocities(m.model, reference)
    world = Motion(-gravity, Vector3.zero())
    return m.reduced_vector(
        articulated_accelerations(m, bias, lambda b: torques[b.at], lambda b: added[b.at], world)
    )


def accelerations(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None, trace: Trace, solve: Solve
) -> Vector:
    """Return ddq (nv): reference accelerations plus solve(tau - inverse dynamics at these accelerations)."""
    moving, reference = from_reference(model, q, v, tau, fext, trace)
    trace("forward dynamics", "tau - inverse dynamics at the reference accelerations", "moving", moving)
    return [x + y for x, y in zip(solve(moving), reference, strict=True)]


def from_reference(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None, trace: Trace
) -> tuple[Vector, Vector]:
    """Return tau - inverse dynamics at reference accelerations, and the reference accelerations (nv each)."""
    m = loaded_machine(model, q, v, fext=fext, trace=trace)
    wrenches, reference = reference_pass(m, model.gravity)
    torques = m.reduced_vector(joint_torques(m, wrenches))
    moving = [t - b for t, b in zip(without_resistance(model, tau, q, v), torques, strict=True)]
    return moving, reference


def is_free(model: Problem, root: int) -> bool:
    """Return whether a root has a free joint without armature."""
    return model.bodies[root].joint.free and is_zero(model.bodies[root].armature)

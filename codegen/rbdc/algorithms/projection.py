"""Projection of configurations and velocities onto those that close the loops.

A configuration is projected by a fixed number of Newton steps of least norm, q (+) -J^T (J J^T)^-1 e, with
the errors e of the loops. J is the Jacobian of the relative velocity of each loop's frames. J can replace the
Jacobian of e, because the derivative of the logarithm maps e to e. The factor 1 / sqrt(1 + |step|^2) shortens
long steps to less than one unit (m, rad) and changes short steps only to second order.
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.algorithms.contacts.motion import ContactMotion, contacts_at
from rbdc.algorithms.couplings import at_configuration
from rbdc.algorithms.manifold import integrate
from rbdc.algorithms.tools.linear import Factorisation, Matrix, Vector, dot, plus_diagonal, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import LEAST_PIVOT, PROJECTION_STEPS, loops_of
from rbdc.spatial import Scalars
from rbdc.spatial.scalars import sqrt


def project_configuration(model: Problem, q: Scalars, trace: Trace = silent) -> tuple[Vector, Vector]:
    """Return the projected configuration (nq), and the remaining errors of all loops (one entry for each row;
    m, rad).
    Checked: the error is zero if q is near a closed configuration; closed configurations are unchanged.
    """
    loops, reached = _loops(model), list(q)
    for count in range(PROJECTION_STEPS):
        error, jacobian = _error_and_jacobian(loops, reached)
        step = _least(jacobian, error)
        trace("loops", "Newton step J^T (J J^T)^-1 e for the loops' errors e", f"step{count}", step)
        factor = -1.0 / sqrt(1.0 + dot(step, step))
        reached = integrate(loops, reached, [factor * x for x in step])
        trace("loops", "configuration after the Newton step", f"q{count}", reached)
    return reached, _error_and_jacobian(loops, reached)[0]


def project_velocity(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> Vector:
    """Return the velocity (nv) nearest to v at which the errors of the loops do not change: v - J^T (J
    J^T)^-1 J v.
    Checked: J times the result is zero; projecting the result again returns it.
    """
    _, jacobian = _error_and_jacobian(_loops(model), q)
    off = _least(jacobian, [dot(row, v) for row in jacobian])
    trace("loops", "J^T (J J^T)^-1 J v: part of v that opens the loops", "off", off)
    return [x - y for x, y in zip(v, off, strict=True)]


def _loops(model: Problem) -> Problem:
    return replace(loops_of(model), world_aligned=False)


def _error_and_jacobian(loops: Problem, q: Scalars) -> tuple[Vector, Matrix]:
    contacts = contacts_at(at_configuration(loops, q), q)
    return contacts.rows(ContactMotion.error), contacts.jacobian()


def _least(jacobian: Matrix, error: Vector) -> Vector:
    """Return the step of least norm with J step = error."""
    square = [[dot(a, b) for b in jacobian] for a in jacobian]
    mean = sum((row[k] for k, row in enumerate(square)), 0.0) * (LEAST_PIVOT / len(square))
    weights = Factorisation(plus_diagonal(square, [mean] * len(square))).solve(error)
    return [dot(column, weights) for column in transposed(jacobian)]

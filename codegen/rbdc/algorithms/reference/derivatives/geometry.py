"""Derivatives of inverse dynamics with respect to the placements of joints. The recursive Newton-Euler
algorithm runs with dual numbers on a model whose placements have rates.
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.tools.linear import Matrix, Vector
from rbdc.model import Problem
from rbdc.spatial import Forces, Placement, Rotation, Scalars, Vector3


def rnea_geometry_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> Matrix:
    """Return the derivatives of tau with respect to the placements (nv, 6 * njoints; N, N m per m, rad).
    Column 6 b + k is the derivative with respect to e_k, with joint b at X exp(e) instead of X.
    Checked against finite differences of the torques of models with displaced joints.
    """

    def torques(model: Problem, steps: Vector, q: Vector, v: Vector, a: Vector) -> Vector:
        return rnea(moved(model, steps), q, v, a, fext)

    steps = [0.0] * (6 * model.njoints)
    inputs = (steps, *map(list, (q, v, a)))
    (entries,) = differentiated(model, *inputs, method=torques, configurations=(False,))
    return [entries[k : k + len(steps)] for k in range(0, len(entries), len(steps))]


def moved(model: Problem, steps: Scalars) -> Problem:
    """Return the model with each joint moved from X to X exp(e), to first order, by small steps e (6 *
    njoints; m, rad).
    """
    bodies = (
        replace(body, placement=body.placement.compose(_step(steps[6 * k : 6 * k + 6])))
        for k, body in enumerate(model.bodies)
    )
    return replace(model, bodies=tuple(bodies))


def _step(e: Scalars) -> Placement:
    x, y, z = e[3:]
    rotation = Rotation.from_rows([[1.0, -z, y], [z, 1.0, -x], [-y, x, 1.0]])
    return Placement(rotation, Vector3.of(e[:3]))

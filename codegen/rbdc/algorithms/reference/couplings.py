"""Joints that follow others along curves, computed with dual numbers (Clifford 1873).

Polynomials and Newton's steps towards closed loops are evaluated over numbers with two rates, so that no
derivative formula is needed. Errors e and Jacobians J of loops are those of
`rbdc.algorithms.reference.contacts`. Projections onto closed loops use steps of least norm. A step, or the
change of a velocity, solves one square system with unknowns f and step, where s is small (`LEAST_PIVOT`):

    [-s 1, J; J^T, 1] [f; step] = [e; 0]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from rbdc.algorithms.reference.contacts import contact_error, contact_jacobian
from rbdc.algorithms.reference.dual_numbers import depth, innermost
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.sharing import once
from rbdc.algorithms.tools.couplings import Curve, at_curves, tree_of
from rbdc.algorithms.tools.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.tools.linear import Factorisation, Matrix, Vector, dot, flat, identity, transposed
from rbdc.model import Cluster, Problem
from rbdc.model.contacts import LEAST_PIVOT, PROJECTION_STEPS, loops_of
from rbdc.model.joints.coupling import Coupling
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import sqrt
from rbdc.spatial.tangent import Tangent, rate_of, value_of


class FirstRate(Tangent):
    """A dual number with a rate along the leader's coordinate."""

    __slots__ = ()
    level = 8


class SecondRate(Tangent):
    """A dual number of `FirstRate` numbers, for second derivatives along the leader's coordinate."""

    __slots__ = ()
    level = 9


def at_configuration(model: Problem, q: Scalars) -> Problem:
    """Return the model with each coupling replaced by its tangent at q (nq)."""
    curves: dict[int, Curve] = {}
    for index, law in model.curves.items():
        curves[index] = _curve(polynomial(law, _moving(q[model.bodies[index].index_q])))
    for cluster in model.clusters:
        z = closed(model, cluster, _moving(q[model.bodies[cluster.leader].index_q]))
        curves |= {k: _curve(x) for k, x in zip(cluster.followers, z, strict=True)}
    return at_curves(model, list(q), curves)


def bound(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method (model, q, ...) that runs on the model with each coupling replaced by its tangent at q.

    The returned method ignores `trace`.
    """

    @wraps(method)
    def evaluated(model: Problem, q: Scalars, *inputs: Any, trace: Any = None, **named: Any) -> Any:
        del trace
        return method(once(at_configuration, model, q) if model.curves else model, q, *inputs, **named)

    return evaluated


def expand(model: Problem, q: Scalars, v: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """Return the configuration and the velocity of all joints, including followers. The velocity is the rate
    of this configuration along v.
    """
    return flat(joint_positions(model, q)), flat(joint_velocities(model, v))


def polynomial(coupling: Coupling, y: Scalar) -> Scalar:
    """Return the coordinate of a joint from the polynomial of its coupling."""
    value, power = coupling.coefficients[0], y
    for c in coupling.coefficients[1:]:
        value, power = value + c * power, power * y
    return value


def closed(model: Problem, cluster: Cluster, y: Scalar) -> list[Scalar]:
    """Return the coordinates of a cluster's followers at the leader's coordinate y, using Newton's steps that
    start at the followers' polynomials. After steps over plain numbers, each step over numbers with rates
    makes one more order of rates correct.
    """
    tree, order = tree_of(model, cluster), sorted([cluster.leader, *cluster.followers])
    columns, leader = [order.index(k) for k in cluster.followers], order.index(cluster.leader)
    number, laws = innermost(y), model.curves
    q: list[Scalar] = [polynomial(laws[k], number) if k in laws else number for k in order]
    rows: Matrix = []
    square: Matrix = []
    for count in range(cluster.steps + 1 + depth(y)):
        if count <= cluster.steps:
            rows = [[row[k] for k in columns] for row in contact_jacobian(tree, q)]
            square = [[dot(x, z) for z in rows] for x in rows]
        else:
            q[leader] = y
        weights = Factorisation(square).solve(contact_error(tree, q))
        for k, column in zip(columns, transposed(rows), strict=True):
            q[k] = q[k] - dot(column, weights)
    return [q[k] for k in columns]


def _moving(y: Scalar) -> SecondRate:
    return SecondRate(FirstRate(y, 1.0), FirstRate(1.0, 0.0))


def _curve(x: Scalar) -> Curve:
    inner, rate = value_of(x), rate_of(x, SecondRate)
    return Curve(value_of(inner), rate_of(inner, FirstRate), rate_of(rate, FirstRate))


def project_configuration(model: Problem, q: Scalars) -> tuple[Vector, Vector]:
    """Return q (nq) projected onto closed loops, and the errors of the loops there."""
    loops, reached = replace(loops_of(model), world_aligned=False), list(q)
    for _ in range(PROJECTION_STEPS):
        loops = at_configuration(loops, reached)
        step = _least_norm(contact_jacobian(loops, reached), contact_error(loops, reached))
        length = sqrt(1.0 + sum((x * x for x in step), 0.0))
        reached = integrate(loops, reached, [-x / length for x in step])
    return reached, contact_error(at_configuration(loops, reached), reached)


def project_velocity(model: Problem, q: Scalars, v: Scalars) -> Vector:
    """Return v (nv) minus the vector of least norm with the same loop velocity J v."""
    jacobian = contact_jacobian(loops_of(model), q)
    breaking = _least_norm(jacobian, [dot(row, v) for row in jacobian])
    return [x - y for x, y in zip(v, breaking, strict=True)]


def _least_norm(jacobian: Matrix, error: Vector) -> Vector:
    """Return the shortest step with J step = error."""
    columns, count = transposed(jacobian), len(jacobian)
    squares = sum((x * x for row in jacobian for x in row), 0.0)
    matrix = [
        [-LEAST_PIVOT * squares / count if i == k else 0.0 for i in range(count)] + row
        for k, row in enumerate(jacobian)
    ]
    matrix += [column + unit for column, unit in zip(columns, identity(len(columns)), strict=True)]
    return Factorisation(matrix).solve(list(error) + [0.0] * len(columns))[count:]

"""Joints that follow others along curves, by dual numbers: Clifford (1873).

Polynomials and Newton's steps towards closed loops are evaluated over numbers that carry two rates along, so
that derivatives come from no formula; loops are those of the dense references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.centroidal import kinetic_energy
from rbdc.algorithms.reference.contacts.dynamics import contact_error, contact_jacobian, eliminated
from rbdc.algorithms.reference.derivatives import external_forces
from rbdc.algorithms.reference.derivatives.dual_numbers import differentiated
from rbdc.algorithms.reference.derivatives.products import along, weighted
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.tools.couplings import Curve, at_curves, tree_of
from rbdc.algorithms.tools.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Cluster, Model
from rbdc.model.joints.coupling import Coupling
from rbdc.spatial import Force, Scalar, Scalars
from rbdc.spatial.tangent import Tangent, rate_of, value_of

Vector = list[Scalar]

STEPS_OF_RATES = 3
"""Newton's steps over numbers with rates, from where the loops are closed, with the Jacobian that they have
there: each makes one more order of the rates right, and there are three at most.
"""


class First(Tangent):
    """The rate by the leader's coordinate, whatever rates that has itself."""

    __slots__ = ()
    level = 3


class Second(Tangent):
    """The rate of the rate."""

    __slots__ = ()
    level = 4


def at_configuration(model: Model, q: Scalars) -> Model:
    """The model with couplings by their tangents at q (nq)."""
    curves: dict[int, Curve] = {}
    for index, law in model.curves.items():
        curves[index] = _curve(polynomial(law, _moving(q[model.bodies[index].index_q])))
    for cluster in model.clusters:
        z = closed(model, cluster, _moving(q[model.bodies[cluster.leader].index_q]))
        curves |= {k: _curve(x) for k, x in zip(cluster.followers, z, strict=True)}
    return at_curves(model, list(q), curves)


def bound(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method (model, q, ...) on the model with couplings by their tangents at q."""

    @wraps(method)
    def evaluated(model: Model, q: Scalars, *given: Any, **named: Any) -> Any:
        return method(at_configuration(model, q) if model.curved else model, q, *given, **named)

    return evaluated


def expand(model: Model, q: Scalars, v: Scalars, **named: Any) -> tuple[list[Scalar], list[Scalar]]:
    """Configuration and velocity of the whole tree: rates are those of dual numbers along v."""
    del named
    places, rates = joint_positions(model, q), joint_velocities(model, v)
    return [x for own in places for x in own], [x for own in rates for x in own]


def polynomial(coupling: Coupling, y: Scalar) -> Scalar:
    """The coordinate of a joint by the polynomial of its coupling."""
    value, power = coupling.coefficients[0], y
    for c in coupling.coefficients[1:]:
        value, power = value + c * power, power * y
    return value


def closed(model: Model, cluster: Cluster, y: Scalar) -> list[Scalar]:
    """The coordinates of a cluster's followers, by Newton's steps from their polynomials."""
    tree, order = tree_of(model, cluster), sorted([cluster.leader, *cluster.followers])
    columns, leader = [order.index(k) for k in cluster.followers], order.index(cluster.leader)
    number, laws = y, model.curves
    while isinstance(number, Tangent):
        number = number.value
    q: list[Scalar] = [polynomial(laws[k], number) if k in laws else number for k in order]
    rows: Matrix = []
    square: Matrix = []
    for count in range(cluster.steps + 1 + STEPS_OF_RATES):
        if count <= cluster.steps:
            rows = [[row[k] for k in columns] for row in contact_jacobian(tree, q)]
            square = [[sum((a * b for a, b in zip(x, z, strict=True)), 0.0) for z in rows] for x in rows]
        else:
            q[leader] = y
        (weights,) = eliminated(square, [contact_error(tree, q)])
        for k, column in zip(columns, transposed(rows), strict=True):
            q[k] = q[k] - sum((a * b for a, b in zip(column, weights, strict=True)), 0.0)
    return [q[k] for k in columns]


def _moving(y: Scalar) -> Second:
    return Second(First(y, 1.0), First(1.0, 0.0))


def _curve(x: Scalar) -> Curve:
    inner, rate = value_of(x), rate_of(x, Second)
    return Curve(value_of(inner), rate_of(inner, First), rate_of(rate, First))


BY = (True, False, False)
"""Which of q, v and a further input are configurations."""


def rnea_derivatives(model: Model, *given: Any, **named: Any) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv and dtau_da (nv, nv) at q, v and a. Test: differences."""
    return _matrices(model, differentiated(model, *given, method=bound(rnea), configurations=BY, **named))


def aba_derivatives(model: Model, *given: Any, **named: Any) -> tuple[Matrix, Matrix, Matrix]:
    """ddq_dq, ddq_dv and ddq_dtau (nv, nv) at q, v and tau."""
    return _matrices(model, differentiated(model, *given, method=bound(aba), configurations=BY, **named))


def _matrices(model: Model, found: Sequence[Vector]) -> tuple[Matrix, Matrix, Matrix]:
    n = model.nv
    by_q, by_v, by_last = ([entries[n * k : n * (k + 1)] for k in range(n)] for entries in found)
    return by_q, by_v, by_last


def kinetic_energy_derivatives(model: Model, q: Scalars, v: Scalars, **named: Any) -> tuple[Vector, ...]:
    """The derivatives by q and v (nv each)."""
    return differentiated(model, q, v, method=bound(kinetic_energy), configurations=BY[:2], **named)


def rnea_vjp(
    model: Model, q: Scalars, v: Scalars, a: Scalars, w: Scalars, **named: Any
) -> tuple[Vector, ...]:
    """w^T dtau_dq, w^T dtau_dv and w^T dtau_da (nv each)."""
    return weighted(rnea_derivatives(model, q, v, a, **named), w)


def aba_vjp(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, **named: Any
) -> tuple[Vector, ...]:
    """w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau (nv each)."""
    return weighted(aba_derivatives(model, q, v, tau, **named), w)


def external_torque_vjp(
    model: Model, q: Scalars, w: Scalars, fext: Sequence[Force], **named: Any
) -> tuple[Vector, Vector]:
    """w^T dtau_dq (nv), and w^T dtau_dfext (6 njoints), which is that of the model at q."""
    torque = bound(external_forces.external_torque)
    (by_q,) = differentiated(model, q, method=torque, configurations=[True], fext=fext, **named)
    n = model.nv
    rows = [by_q[n * k : n * (k + 1)] for k in range(n)]
    _, by_forces = bound(external_forces.external_torque_vjp)(model, q, w, fext)
    return [dot(w, column) for column in transposed(rows)], by_forces


def rnea_jvp(model: Model, q: Scalars, v: Scalars, a: Scalars, *directions: Scalars, **named: Any) -> Vector:
    """The derivative of inverse dynamics in one direction (nv)."""
    return along(rnea_derivatives(model, q, v, a, **named), directions)


def aba_jvp(model: Model, q: Scalars, v: Scalars, tau: Scalars, *directions: Scalars, **named: Any) -> Vector:
    """The derivative of forward dynamics in one direction (nv)."""
    return along(aba_derivatives(model, q, v, tau, **named), directions)

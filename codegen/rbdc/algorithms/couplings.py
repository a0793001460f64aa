"""Joints that follow others along curves: polynomials, and clusters of closed loops.

In a cluster, loops with the error e(y, z) = 0 determine the coordinates z of joints (followers) from the
coordinate y of another (the leader). A fixed number of steps z <- z - J_z^-1 e, which start from a polynomial
z_0(y), closes the loops. J = [J_y J_z] is the Jacobian of the relative velocity of each loop's two frames.
With their relative acceleration r(q, qdot) at qddot = 0, and with primes for d/dy,

    z' = -J_z^-1 J_y,     z'' = -J_z^-1 r((y, z), (1, z')),     z''' = dz''/dy + z' dz''/dz, and so on

by the implicit function theorem. If y is a power series in time and the loops are closed, each further step
doubles the number of correct terms of z. Source: Featherstone, Rigid Body Dynamics Algorithms, section 8.10.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.contacts.motion import ContactMotion, contacts_at
from rbdc.algorithms.tools.couplings import Curve, at_curves, tree_of
from rbdc.algorithms.tools.linear import Matrix, Vector, dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Cluster, Problem
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import polynomial
from rbdc.spatial.series import length_of, terms_of
from rbdc.spatial.tangent import OuterTangent, Tangent, rate_of, tangents, value_of

GIVEN = 4
"""Number of inputs for each follower along a curve: place, slope, curvature and jerk."""


def at_configuration(
    model: Problem, q: Scalars, values: Scalars | None = None, trace: Trace = silent
) -> Problem:
    """Return the model with couplings along curves replaced by their tangents at q (nq). values: place,
    slope, curvature and jerk of each follower along a curve; None: compute them.
    """
    if not model.curves:
        return model
    if values is None:
        return at_curves(model, list(q), curves_of(model, q, trace))
    curves = {k: Curve(*values[GIVEN * i : GIVEN * (i + 1)]) for i, k in enumerate(model.curves)}
    return at_curves(model, list(q), curves)


def curves_of(model: Problem, q: Scalars, trace: Trace = silent) -> dict[int, Curve]:
    """Return, for each body whose joint follows a curve, the curve at q (nq). Checked against dual numbers.
    Checked: along motions of a linkage, its energy equals that of the tree.
    """
    curves: dict[int, Curve] = {}
    for index, law in model.curves.items():
        body = model.bodies[index]
        curves[index] = _polynomial(law.coefficients, q[body.index_q])
        formula = "q, dq/dy, d2q/dy2: polynomials in the leader's coordinate y"
        trace(body.name, formula, f"curve{index}", curves[index][:3])
    for cluster in model.clusters:
        y = q[model.bodies[cluster.leader].index_q]
        start = [curves[k].place for k in cluster.followers]
        curves |= _closed(model, cluster, y, start, trace)
    return dict(sorted(curves.items()))


def _polynomial(coefficients: Scalars, y: Scalar) -> Curve:
    derivatives, powers = [], list(coefficients)
    for _ in range(5):
        derivatives.append(polynomial(y, *powers))
        powers = [k * c for k, c in enumerate(powers)][1:]
    return Curve(*derivatives)


def _closed(model: Problem, cluster: Cluster, y: Scalar, z: Vector, trace: Trace) -> dict[int, Curve]:
    linkage = Linkage(model, cluster)
    name = model.bodies[cluster.leader].name
    start, z = terms_of(y, 1)[0], [terms_of(x, 1)[0] for x in z]
    for count in range(cluster.steps):
        z = [a + b for a, b in zip(z, linkage.step(start, z), strict=True)]
        formula = "z - J_z^-1 e: Newton step of joints z that close loops with the error e"
        trace(name, formula, f"z{cluster.leader}_{count}", z)
    for _ in range((length_of(y) - 1).bit_length()):
        z = [a + b for a, b in zip(z, linkage.step(y, z), strict=True)]
    slopes, curvatures = linkage.derivatives(y, z)
    moving = OuterTangent(Tangent(y, 1.0), Tangent(1.0, 0.0))
    along = tangents(tangents(z, slopes), tangents(slopes, curvatures), OuterTangent)
    twice = linkage.derivatives(moving, along)[1]
    third = [rate_of(value_of(x, OuterTangent)) for x in twice]
    fourth = [rate_of(rate_of(x, OuterTangent)) for x in twice]
    formula = "dz/dy, d2z/dy2 of joints z that follow y in closed loops"
    trace(name, formula, f"dz{cluster.leader}", [*slopes, *curvatures])
    every = zip(cluster.followers, z, slopes, curvatures, third, fourth, strict=True)
    return {k: Curve(*entries) for k, *entries in every}


class Linkage:
    """The closure equations of a cluster as functions of y and z."""

    def __init__(self, model: Problem, cluster: Cluster) -> None:
        self.tree = tree_of(model, cluster)
        order = sorted([cluster.leader, *cluster.followers])
        self.leader = order.index(cluster.leader)
        self.followers = [order.index(k) for k in cluster.followers]

    def _joined(self, y: Scalar, z: Sequence[Scalar]) -> Vector:
        entries = dict(zip(self.followers, z, strict=True)) | {self.leader: y}
        return [entries[k] for k in range(len(entries))]

    def _split(self, jacobian: Matrix) -> tuple[Vector, Matrix]:
        """Return J_y and J_z."""
        return [row[self.leader] for row in jacobian], [[row[k] for k in self.followers] for row in jacobian]

    def step(self, y: Scalar, z: Sequence[Scalar]) -> Vector:
        """Return -J_z^-1 e."""
        loops = contacts_at(self.tree, self._joined(y, z))
        error = loops.rows(ContactMotion.error)
        return solved(self._split(loops.jacobian())[1], [-x for x in error])

    def followed(self, y: Scalar, z: Sequence[Scalar]) -> Matrix:
        """Return J_z."""
        return self._split(contacts_at(self.tree, self._joined(y, z)).jacobian())[1]

    def derivatives(self, y: Scalar, z: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """Return z' and z'' if the loops are closed at y and z."""
        q = self._joined(y, z)
        by_y, by_z = self._split(contacts_at(self.tree, q).jacobian())
        slopes = solved(by_z, [-x for x in by_y])
        residual = contacts_at(self.tree, q, self._joined(1.0, slopes)).rows(ContactMotion.residual)
        return slopes, solved(by_z, [-x for x in residual])


def solved(matrix: Matrix, side: Sequence[Scalar]) -> Vector:
    """Return x with `matrix` x = `side`. Systems of one or two unknowns are solved with cofactors, larger
    systems by Gram-Schmidt orthogonalisation of the columns without pivoting. Checked against NumPy's
    solution.
    """
    if len(side) == 1:
        return [side[0] / matrix[0][0]]
    if len(side) == 2:
        (a, b), (c, d) = matrix
        inverse = 1.0 / (a * d - b * c)
        return [inverse * (d * side[0] - b * side[1]), inverse * (a * side[1] - c * side[0])]
    columns, factors = [*transposed(matrix), list(side)], []
    for k in range(len(side)):
        column, scale = columns[k], 1.0 / dot(columns[k], columns[k])
        factors.append([scale * dot(column, other) for other in columns[k + 1 :]])
        for j, factor in enumerate(factors[k], k + 1):
            columns[j] = [x - factor * y for x, y in zip(columns[j], column, strict=True)]
    result: Vector = []
    for *row, last in reversed(factors):
        result.insert(0, last - dot(row, result))
    return result

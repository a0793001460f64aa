"""The C that turns derivatives in the tangent space of a configuration into those by its entries, and the
derivatives of these.

Where a configuration has a vector x for its direction u = x / |x| alone, u moves at a rate that is linear in
the velocities, perpendicular to u, and as long for every velocity of unit length. A row over velocities is by
the entries of u the rate at these velocities, over its squared length for one of unit length; by those of x
it is that over |x|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.manifold import configuration_rate
from rbdc.emit.c.csource import CFunction, parameters, whole_part
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.nodes import Array, Program
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


@dataclass(frozen=True)
class UnitVector:
    """Entries of a configuration that are normalised: the first of them, how many they are, and the square of
    how fast they move at a velocity of unit length.
    """

    first: int
    size: int
    square: float

    @property
    def entries(self) -> range:
        """The entries, by their numbers."""
        return range(self.first, self.first + self.size)


_OF_KINDS = {
    "floating": UnitVector(3, 4, 0.25),
    "spherical": UnitVector(0, 4, 0.25),
    "planar": UnitVector(2, 2, 1.0),
}
"""Quaternions, and cosine and sine, by the kinds of joints whose configuration is no vector space."""


def is_known(kind: str) -> bool:
    """Whether configurations of such joints, which are no vector spaces, can be differentiated."""
    return kind in _OF_KINDS


def unit_vectors(model: Model) -> list[UnitVector]:
    """The vectors of unit length among the entries of q."""
    joints = [(body.index_q, body.joint) for body in model.bodies if body.coupling is None]
    units = [(index, _OF_KINDS[joint.kind]) for index, joint in joints if not joint.euclidean]
    return [replace(unit, first=index + unit.first) for index, unit in units]


def chart_functions(robot: str, model: Model, *, twice: bool) -> list[CFunction]:
    """The C function `entries` of a row over velocities by the entries of q; `twice`: and `bend`, which adds
    the derivatives of that by q, a row for each entry that they are by. They take q normalised, and then for
    each of its vectors of unit length the inverse of the length that it had.
    """
    # CasADi is imported only where C is made of its expressions.
    from rbdc.ir.from_casadi import from_casadi, jacobian, symbols

    row, u = symbols("row", model.nv), symbols("u", model.nq + len(unit_vectors(model)))
    inputs, made = [("u", u), ("row", row)], _by_entries(model, u, row)
    title = "A row of derivatives in the tangent space as one by the entries of q."
    functions = [_function(robot, title, from_casadi("entries", inputs, [("to", made)]))]
    if twice:
        by_q = jacobian(made, u, _rates(model, u))
        by_place = {m * model.nq + k: x for k, own in enumerate(by_q) for m, x in enumerate(own)}
        bent = {place: x for place, x in sorted(by_place.items()) if not is_zero(x)}
        bend = from_casadi("bend", inputs, [("to", [*bent.values()])])
        added = Array("to", len(bent), output_indices=tuple(bent), adds=True)
        title = "Add the derivatives of that by q, a row for each entry of q that they are by."
        functions.append(_function(robot, title, replace(bend, outputs=(added,))))
    return functions


def _by_entries(model: Model, u: Sequence[Scalar], row: Sequence[Scalar]) -> list[Scalar]:
    """A row over velocities by the entries of q, of f(q / |q|)."""
    made = configuration_rate(model, u[: model.nq], row)
    for unit, inverse in zip(unit_vectors(model), u[model.nq :], strict=True):
        for k in unit.entries:
            made[k] = inverse * (1.0 / unit.square) * made[k]
    return made


def _rates(model: Model, u: Sequence[Scalar]) -> list[list[Scalar]]:
    """Along each entry of q the rates of all that `chart_functions` takes."""
    rates = [[1.0 if m == k else 0.0 for k in range(len(u))] for m in range(model.nq)]
    for unit, place in zip(unit_vectors(model), range(model.nq, len(u)), strict=True):
        for m in unit.entries:
            for k in unit.entries:
                rates[m][k] = u[place] * ((1.0 if m == k else 0.0) - u[m] * u[k])
            rates[m][place] = -u[place] * u[place] * u[m]
    return rates


def _function(robot: str, title: str, program: Program) -> CFunction:
    prototype = f"static void {program.name}({parameters(robot, program, DOUBLE)})"
    return whole_part(robot, optimise(verify(program)), prototype, title, DOUBLE)

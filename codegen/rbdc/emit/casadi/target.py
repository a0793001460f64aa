"""The target `casadi`: one C file of external functions around the library, and a shared library of it; and
the C that turns derivatives in the tangent space of a configuration into those by its entries, and the
derivatives of these.

Where a configuration has a vector x for its direction u = x / |x| alone, u moves at a rate that is linear in
the velocities, perpendicular to u, and as long for every velocity of unit length. A row over velocities is by
the entries of u the rate at these velocities, over its squared length for one of unit length; by those of x
it is that over |x|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdc.algorithms.manifold import configuration_rate
from rbdc.emit.backend import Backend, FunctionSource, Package
from rbdc.emit.c.csource import CFunction, whole_part
from rbdc.emit.casadi.externals import Externals
from rbdc.emit.casadi.parts import TWICE
from rbdc.emit.names import comment
from rbdc.emit.render import part, render
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.nodes import Array, Program
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


class CasadiTarget(Backend):
    """External functions with Jacobians, reverse derivatives and the Jacobians of these.

    Functions of a frame take its index and the reference as two further inputs, without derivatives by these;
    Python gives them as constants.
    """

    name = "casadi"
    shared = True

    def check(self, package: Package, declarations: Sequence[FunctionDeclaration]) -> None:
        """Refuse single precision, and joints whose configurations it cannot differentiate."""
        if package.scalar != DOUBLE:
            raise UnsupportedError(
                "`targets='casadi'`: CasADi computes with doubles; build with `dtype='float64'`"
            )
        for body in package.model.bodies:
            if not body.joint.euclidean and body.joint.kind not in _OF_KINDS:
                raise UnsupportedError(
                    f"`targets='casadi'`: no derivatives by the configuration of a {body.joint.kind} joint"
                )

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the C file."""
        return {f"{package.robot}_casadi.c": _source(package, [source.declaration for source in sources])}


def _source(package: Package, declarations: Sequence[FunctionDeclaration]) -> str:
    model, robot = package.model, package.robot
    catalogue = functions_of(model)
    built = {d.name: catalogue.get(d.name, Function(d, {})) for d in declarations if not d.pair}
    made = [Externals(model, robot, f, built) for f in built.values()]
    functions = [external for externals in made for external in externals.all()]
    known = (f.differential.among(built) for f in built.values() if f.differential is not None)
    twice = [d for d in known if d.first and d.second]
    patterns = {x.pattern: x for f in functions for _, arrays, _ in f["sides"] for x in arrays}
    sizes = [p.size for f in built.values() for p in f.declaration.inputs]
    tensors = any(f["prefix"] in TWICE for f in functions)
    units = _unit_vectors(model)
    helpers = dict[str, dict[str, Any]]()
    if any(f["prefix"] for f in functions):
        parts = _chart_functions(robot, model, twice=tensors) if units else []
        moved = any(externals.moves for externals in made)
        helpers["casadi_charts.c.jinja"] = {"units": units, "parts": parts, "moved": moved}
    if tensors:
        helpers["casadi_curvature.c.jinja"] = {"units": units}
    if twice:
        helpers["casadi_second_helpers.c.jinja"] = {"inverses": any(d.inverse for d in twice)}
    return render(
        "casadi.c.jinja",
        title=comment(robot),
        robot=robot,
        model=model,
        most=max([1, *sizes]),
        patterns=[patterns[name] for name in sorted(patterns)],
        helpers=[part(template, **words) for template, words in helpers.items()],
        functions=functions,
        units=units,
        unit_count=len(units),
    )


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


def _unit_vectors(model: Problem) -> list[UnitVector]:
    """Return the vectors of unit length among the entries of q."""
    joints = [(body.index_q, body.joint) for body in model.bodies if body.coupling is None]
    units = [(index, _OF_KINDS[joint.kind]) for index, joint in joints if not joint.euclidean]
    return [replace(unit, first=index + unit.first) for index, unit in units]


def _chart_functions(robot: str, model: Problem, *, twice: bool) -> list[CFunction]:
    """Return the C function `entries` of a row over velocities by the entries of q; `twice`: and `bend`,
    which adds the derivatives of that by q, a row for each entry that they are by. They take q normalised,
    and then for each of its vectors of unit length the inverse of the length that it had.
    """
    # CasADi is imported only where C is made of its expressions.
    from rbdc.ir.from_casadi import from_casadi, jacobian, symbols

    row, u = symbols("row", model.nv), symbols("u", model.nq + len(_unit_vectors(model)))
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


def _by_entries(model: Problem, u: Sequence[Scalar], row: Sequence[Scalar]) -> list[Scalar]:
    """Return a row over velocities by the entries of q, of f(q / |q|)."""
    made = configuration_rate(model, u[: model.nq], row)
    for unit, inverse in zip(_unit_vectors(model), u[model.nq :], strict=True):
        for k in unit.entries:
            made[k] = inverse * (1.0 / unit.square) * made[k]
    return made


def _rates(model: Problem, u: Sequence[Scalar]) -> list[list[Scalar]]:
    """Along each entry of q the rates of all that `_chart_functions` takes."""
    rates = [[1.0 if m == k else 0.0 for k in range(len(u))] for m in range(model.nq)]
    for unit, place in zip(_unit_vectors(model), range(model.nq, len(u)), strict=True):
        for m in unit.entries:
            for k in unit.entries:
                rates[m][k] = u[place] * ((1.0 if m == k else 0.0) - u[m] * u[k])
            rates[m][place] = -u[place] * u[place] * u[m]
    return rates


def _function(robot: str, title: str, program: Program) -> CFunction:
    return whole_part(robot, program.name, optimise(verify(program)), title, DOUBLE)

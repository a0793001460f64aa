"""The target `casadi`: one C file of external functions around the library, and a shared library of it. The
file also has the C that maps derivatives in the tangent space of a configuration to derivatives by its
entries, and the derivatives of that map.

Let a configuration use a vector x only through its direction u = x / |x|. Then u moves at a rate that is
linear in the velocities, perpendicular to u, and equally long for all velocities of unit length. To map a row
over velocities to a row over the entries of u, take the rate of u for the row in place of the velocities, and
divide it by the squared length of the rate for a unit velocity. Divide also by |x| for the entries of x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.tools.linear import dot, flat
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
from rbdc.ir.nodes import ArgumentArray, Program
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


class CasadiTarget(Backend):
    """External functions with Jacobians, reverse derivatives, and the Jacobians of these derivatives.

    Functions of a frame take the frame's index and the reference as two further inputs. Python passes
    constants for these two inputs, so functions are not differentiated with respect to them.
    """

    name = "casadi"
    shared = True

    def check(self, package: Package, declarations: Sequence[FunctionDeclaration]) -> None:
        """Refuse single precision, and joints whose configurations cannot be differentiated."""
        if package.scalar != DOUBLE:
            raise UnsupportedError(
                "`targets='casadi'`: CasADi computes with doubles; build with `dtype='float64'`"
            )
        for body in package.model.bodies:
            if not body.joint.euclidean and body.joint.kind not in _OF_KINDS:
                raise UnsupportedError(
                    f"`targets='casadi'`: no derivatives with respect to q of a {body.joint.kind} joint"
                )

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """Return the C file."""
        return {f"{package.robot}_casadi.c": _source(package, [source.declaration for source in sources])}


def _source(package: Package, declarations: Sequence[FunctionDeclaration]) -> str:
    model, robot = package.model, package.robot
    catalogue = functions_of(model)
    built = {d.name: catalogue.get(d.name, Function(d, {})) for d in declarations if not d.pair}
    many = [Externals(model, robot, f, built) for f in built.values()]
    functions = [external for externals in many for external in externals.all()]
    known = (f.differential.among(built) for f in built.values() if f.differential is not None)
    twice = [d for d in known if d.first and d.second]
    patterns = {x.pattern: x for f in functions for _, arrays, _ in f["sides"] for x in arrays}
    sizes = [p.size for f in built.values() for p in f.declaration.inputs]
    tensors = any(f["prefix"] in TWICE for f in functions)
    units = _unit_vectors(model)
    helpers = dict[str, dict[str, Any]]()
    if any(f["prefix"] for f in functions):
        moves, pulls, bows = (any(x) for x in zip(*((e.moves, e.pulls, e.bows) for e in many), strict=True))
        parts = _chart_functions(robot, model, twice=tensors, pulls=pulls, bows=bows) if units else []
        words = {"units": units, "parts": parts, "moves": moves, "bows": bows}
        helpers["casadi_charts.c.jinja"] = words
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
    """Entries of a configuration that are normalised.

    first: index of the first entry.
    size: number of entries.
    square: square of the speed of the entries at a velocity of unit length.
    """

    first: int
    size: int
    square: float

    @property
    def entries(self) -> range:
        """The indices of the entries."""
        return range(self.first, self.first + self.size)


_OF_KINDS = {
    "floating": UnitVector(3, 4, 0.25),
    "spherical": UnitVector(0, 4, 0.25),
    "planar": UnitVector(2, 2, 1.0),
}
"""Quaternions, and cosine and sine, by the kinds of joints whose configuration is not a vector space."""


def _unit_vectors(model: Problem) -> list[UnitVector]:
    joints = [(body.index_q, body.joint) for body in model.bodies if body.coupling is None]
    units = [(index, _OF_KINDS[joint.kind]) for index, joint in joints if not joint.euclidean]
    return [replace(unit, first=index + unit.first) for index, unit in units]


def _chart_functions(robot: str, model: Problem, *, twice: bool, pulls: bool, bows: bool) -> list[CFunction]:
    """Return the C function `entries`, which maps a row over velocities to one over the entries of q. With
    `twice`, also return `bend`, which adds the derivatives of that row by q, a row for each entry. Arguments
    of both functions are q with normalised unit vectors, then for each unit vector the inverse of its length
    before normalisation. With `pulls`, also return the functions of `_of_results`.
    """
    # CasADi is imported only to convert its expressions to C.
    from rbdc.ir.from_casadi import from_casadi, jacobian, symbols

    row, u = symbols("row", model.nv), symbols("u", model.nq + len(_unit_vectors(model)))
    inputs, mapped = [("u", u), ("row", row)], _by_entries(model, u, row)
    title = "Convert a row of derivatives in the tangent space to derivatives by the entries of q."
    functions = [_function(robot, title, from_casadi("entries", inputs, [("to", mapped)]))]
    if twice:
        by_q = jacobian(mapped, u, _rates(model, u))
        by_place = {m * model.nq + k: x for k, column in enumerate(by_q) for m, x in enumerate(column)}
        bent = {place: x for place, x in sorted(by_place.items()) if not is_zero(x)}
        bend = from_casadi("bend", inputs, [("to", [*bent.values()])])
        added = ArgumentArray("to", len(bent), output_indices=tuple(bent), adds=True)
        title = "Add the derivatives, by q, of the row from `entries`: one row for each entry of q."
        functions.append(_function(robot, title, replace(bend, outputs=(added,))))
    return functions + (_of_results(robot, model, bows=bows) if pulls else [])


def _of_results(robot: str, model: Problem, *, bows: bool) -> list[CFunction]:
    """Return the C function `tangent_of`, which maps a row over the entries of a unit q to one over
    velocities. With `bows`, also return `bow_of`, which adds the second derivatives of the row times q along
    two velocities.
    """
    from rbdc.ir.from_casadi import derivative_along, from_casadi, jacobian, symbols

    u, row, v = (symbols(*size) for size in (("u", model.nq), ("row", model.nq), ("v", model.nv)))
    inputs, rates = [("u", u), ("row", row)], configuration_rate(model, u, v)
    (pulled,) = jacobian([dot(row, rates)], v)
    title = "Convert a row of derivatives by the entries of a unit q to a row in the tangent space."
    functions = [_function(robot, title, from_casadi("tangent_of", inputs, [("to", pulled)]))]
    if bows:
        (slope,) = jacobian([0.5 * dot(row, derivative_along(rates, u, rates))], v)
        bent = {k: x for k, x in enumerate(flat(jacobian(slope, v))) if not is_zero(x)}
        program = from_casadi("bow_of", inputs, [("to", [*bent.values()])])
        added = ArgumentArray("to", len(bent), output_indices=tuple(bent), adds=True)
        title = "Add the second derivatives of row . q along pairs of velocities (NV, NV)."
        functions.append(_function(robot, title, replace(program, outputs=(added,))))
    return functions


def _by_entries(model: Problem, u: Sequence[Scalar], row: Sequence[Scalar]) -> list[Scalar]:
    """Map a row over velocities to one over the entries of q, for f(q / |q|)."""
    mapped = configuration_rate(model, u[: model.nq], row)
    for unit, inverse in zip(_unit_vectors(model), u[model.nq :], strict=True):
        for k in unit.entries:
            mapped[k] = inverse * (1.0 / unit.square) * mapped[k]
    return mapped


def _rates(model: Problem, u: Sequence[Scalar]) -> list[list[Scalar]]:
    """Return the derivatives of the inputs of `_chart_functions` with respect to each entry of q."""
    rates = [[1.0 if m == k else 0.0 for k in range(len(u))] for m in range(model.nq)]
    for unit, place in zip(_unit_vectors(model), range(model.nq, len(u)), strict=True):
        for m in unit.entries:
            for k in unit.entries:
                rates[m][k] = u[place] * ((1.0 if m == k else 0.0) - u[m] * u[k])
            rates[m][place] = -u[place] * u[place] * u[m]
    return rates


def _function(robot: str, title: str, program: Program) -> CFunction:
    return whole_part(robot, program.name, optimise(verify(program)), title, DOUBLE)

"""The target `casadi`: one C file of external functions around the library, and a shared library of it."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.backend import Backend, FunctionSource, Package
from rbdc.emit.casadi.charts import chart_functions, is_known, unit_vectors
from rbdc.emit.casadi.externals import Externals
from rbdc.emit.casadi.parts import TWICE
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE


class CasadiTarget(Backend):
    """External functions with Jacobians, reverse derivatives and the Jacobians of these.

    Functions of a frame take its index and the reference as two further inputs, without derivatives by these;
    Python gives them as constants.
    """

    name = "casadi"

    def check(self, package: Package, declarations: Sequence[FunctionDeclaration]) -> None:
        """Refuse single precision, and joints whose configurations it cannot differentiate."""
        if package.scalar != DOUBLE:
            raise UnsupportedError(
                "--targets casadi: CasADi computes with doubles; build with --dtype float64"
            )
        for body in package.model.bodies:
            if not body.joint.euclidean and not is_known(body.joint.kind):
                raise UnsupportedError(
                    f"--targets casadi: no derivatives by the configuration of a {body.joint.kind} joint"
                )

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """The C file."""
        return {f"{package.robot}_casadi.c": _source(package, [source.declaration for source in sources])}

    def libraries(self, package: Package) -> dict[str, str]:
        """The shared library by the C file that it adds to those of the package."""
        return {f"lib{package.robot}_casadi.so": f"{package.robot}_casadi.c"}


def _source(package: Package, declarations: Sequence[FunctionDeclaration]) -> str:
    model, robot = package.model, package.robot
    catalogue = functions_of(model)
    built = {d.name: catalogue.get(d.name, Function(d, {})) for d in declarations if not d.pair}
    made = [Externals(model, robot, f, built) for f in built.values()]
    functions = [external for externals in made for external in externals.all()]
    differentials = [f.differential for f in built.values() if f.differential is not None]
    twice = [d for d in differentials if {d.first, d.second} <= built.keys()]
    patterns = {array.pattern: array for f in functions for array in (*f.inputs, *f.outputs)}
    sizes = [p.size for f in built.values() for p in f.declaration.inputs]
    tensors = any(f.prefix in TWICE for f in functions)
    units = unit_vectors(model)
    return render(
        "casadi.c.jinja",
        title=comment(robot),
        robot=robot,
        nq=model.nq,
        nv=model.nv,
        most=max([1, *sizes]),
        patterns=[{"name": name, "numbers": patterns[name].numbers} for name in sorted(patterns)],
        jacobians=any(f.prefix for f in functions),
        seconds=bool(twice),
        tensors=tensors,
        moved=any(externals.moves for externals in made),
        inverses=any(d.inverse for d in twice),
        functions=functions,
        units=units,
        unit_count=len(units),
        parts=chart_functions(robot, model, twice=tensors) if units else [],
    )

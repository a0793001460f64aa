"""The target `casadi`: one C file of external functions around the library, and a shared library of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.emit.backend import Backend, FunctionSource, Package
from rbdc.emit.casadi.externals import Externals
from rbdc.emit.casadi.parts import TWICE
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE


@dataclass(frozen=True)
class _Chart:
    """A form of the templates that turns rows over velocities of a joint, from `v` on, into rows of so many
    results by entries of its configuration, from `q` on: a form in the vector at `x`, of so many entries,
    over a power of its length.
    """

    form: str
    size: int
    results: int
    power: int
    x: int
    v: int
    q: int

    @property
    def scale(self) -> str:
        """This power of the length n."""
        return " * ".join(["n"] * self.power)

    def of_joint(self, q: int, v: int) -> _Chart:
        """For a joint whose configuration and velocities begin at these entries."""
        return replace(self, x=q + self.x, v=v + self.v, q=q + self.q)


_CHARTS = {
    "floating": (_Chart("rotated", 4, 3, 2, 3, 0, 0), _Chart("turned", 4, 4, 2, 3, 3, 3)),
    "spherical": (_Chart("turned", 4, 4, 2, 0, 0, 0),),
    "planar": (_Chart("shifted", 2, 2, 1, 2, 0, 0), _Chart("swung", 2, 2, 2, 2, 2, 2)),
}
"""By the kinds of joints whose configuration is no vector space."""


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
            if not body.joint.euclidean and body.joint.kind not in _CHARTS:
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
    free = [body for body in model.bodies if body.coupling is None]
    curved = [body for body in free if not body.joint.euclidean]
    charts = [c.of_joint(b.index_q, b.index_v) for b in curved for c in _CHARTS[b.joint.kind]]
    scalars = [body for body in free if body.joint.euclidean]
    return render(
        "casadi.c.jinja",
        title=comment(robot),
        robot=robot,
        version=package.version,
        nq=model.nq,
        nv=model.nv,
        most=max([1, *sizes]),
        patterns=[{"name": name, "numbers": patterns[name].numbers} for name in sorted(patterns)],
        jacobians=any(f.prefix for f in functions),
        seconds=bool(twice),
        tensors=any(f.prefix in TWICE for f in functions),
        moved=any(externals.moves for externals in made),
        inverses=any(d.inverse for d in twice),
        functions=functions,
        charts=charts,
        used=list({chart.form: chart for chart in charts}.values()),
        forms={form: any(c.form == form for c in charts) for form in ("turned", "rotated", "shifted")},
        units=[c for c in charts if c.form in ("turned", "swung")],
        quaternions=[c.x for c in charts if c.form == "turned"],
        scalars=[(b.index_q + k, b.index_v + k) for b in scalars for k in range(b.joint.nv)],
    )

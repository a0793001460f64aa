"""A tiny package whose C is written by hand, so that native and runtime are tested without the compiler's
front half.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import rbdc
from rbdc.emit.backend import Package
from rbdc.emit.python import render_python
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.model import Problem
from rbdc.native.build import compile_package
from rbdc.native.install import SEAL, install, recorded, sealed
from rbdc.native.toolchain import Toolchain, find_compiler

ROBOT = "tiny"
FLAGS = ("-O1",)
AWKWARD = "a\"b'c\\d\n{{ e }}\u00e9"
"""A link's and a joint's name with all that could end a literal."""

_Q = Parameter("q", (2,), "configuration (rad)", Kind.CONFIGURATION)
_V = Parameter("v", (2,), "velocity (rad/s)", Kind.VELOCITY)
_FEXT = Parameter("fext", (2, 6), "forces (N, N m)", Kind.WRENCHES, optional=True)

DECLARATIONS = (
    FunctionDeclaration(
        "mix", "tau = 2 q + v + first column of fext.", (_Q, _V, _FEXT), (Parameter("tau", (2,), "N m"),)
    ),
    FunctionDeclaration(
        "pair", "Sum, outer product.", (_Q, _V), (Parameter("s", (2,), "-"), Parameter("p", (2, 2), "-"))
    ),
    FunctionDeclaration("energy", "The scalar product.", (_Q, _V), (Parameter("e", (), "J"),)),
    FunctionDeclaration("where", "q, frame and reference.", (_Q,), (Parameter("w", (3,), "-"),), framed=True),
)

_BODIES = {
    "mix": "for (int i = 0; i < 2; ++i) tau[i] = 2 * q[i] + v[i] + (fext ? fext[6 * i] : 0.0);",
    "pair": "for (int i = 0; i < 2; ++i) { "
    "s[i] = q[i] + v[i]; for (int j = 0; j < 2; ++j) p[2 * i + j] = q[i] * v[j]; }",
    "energy": "*e = q[0] * v[0] + q[1] * v[1];",
    "where": "w[0] = q[0]; w[1] = frame; w[2] = reference;",
}


def _arguments(d: FunctionDeclaration) -> str:
    inputs = [
        f"{p.name} ? {p.name} + {p.size} * k : 0" if p.optional else f"{p.name} + {p.size} * k"
        for p in d.inputs
    ]
    return ", ".join([*inputs, *d.place, *(f"{p.name} + {p.size} * k" for p in d.outputs)])


def c_files(declarations: Sequence[FunctionDeclaration] = DECLARATIONS, comment: str = "") -> dict[str, str]:
    """Return header and one C file per function; `comment` goes into the C file of `mix`."""
    header = "#include <stddef.h>\n"
    files = {}
    for d in declarations:
        single, batch = (d.prototype(ROBOT, form) for form in ("", "_batch"))
        header += f"{single};\n{batch};\n"
        loop = f"for (size_t k = 0; k < n; ++k) {ROBOT}_{d.name}({_arguments(d)});"
        note = f"/* {comment} */\n" if d.name == "mix" else ""
        files[f"{ROBOT}_{d.name}.c"] = (
            f'{note}#include "{ROBOT}.h"\n{single}\n{{ {_BODIES[d.name]} }}\n{batch}\n{{ {loop} }}\n'
        )
    return {f"{ROBOT}.h": header, **files}


def inertia_of_one() -> rbdc.Inertia:
    """Return one kilogram about its origin."""
    return rbdc.Inertia(1.0, rbdc.Vector3.zero(), rbdc.Symmetric3(1.0, 0.0, 1.0, 0.0, 0.0, 1.0))


def model() -> Problem:
    """Return two joints, the first with a limit and awkward names, the second without limits."""
    inertia = inertia_of_one()
    links = (rbdc.Link("base"), rbdc.Link(AWKWARD, inertia), rbdc.Link("tip", inertia))
    joints = (
        rbdc.Joint(AWKWARD, "revolute", "base", AWKWARD, limits=rbdc.Limits(-0.5, 0.25, 2.0, 3.0)),
        rbdc.Joint("second", "continuous", AWKWARD, "tip"),
    )
    return Problem.assemble(ROBOT, links, joints)


def build_tiny(
    destination: Path,
    files: dict[str, str] | None = None,
    python: dict[str, str] | None = None,
    flags: Sequence[str] = FLAGS,
    scalar: ScalarType = DOUBLE,
    extra: Sequence[str] = (),
) -> Path:
    """Compile and place the package, and the extension under these names too; the folder."""
    declarations = [replace(d, scalar=scalar) for d in DECLARATIONS]
    c = files or c_files(declarations)
    native = compile_package(c, ROBOT, declarations, Toolchain(find_compiler(), tuple(flags)), 1)
    tiny = Package(model(), ROBOT, ("mix", "absent"), scalar)
    text = {**c, **render_python(tiny, declarations), **(python or {})}
    package = destination.parent / f"{destination.name}.parts"
    package.mkdir(parents=True)
    contents = {name: content.encode() for name, content in text.items()}
    library = native.extension.read_bytes()
    contents |= dict.fromkeys((native.extension.name, *extra), library)
    fill(package, contents, native.package)
    install(package, destination)
    return destination


def fill(folder: Path, contents: Mapping[str, bytes], package: str | None = None) -> Path:
    """Write the files and a manifest that lists them, as a build does; the folder. package: the hash that the
    extension carries.
    """
    manifest = json.dumps({"generator": "rbdc", "package": package, "files": recorded(contents), SEAL: ""})
    for name, content in {**contents, "manifest.json": sealed(manifest).encode()}.items():
        (folder / name).write_bytes(content)
    return folder


def load_tiny(folder: Path, scalar: ScalarType = DOUBLE) -> ModuleType:
    """Return the tiny package, built in a folder and loaded."""
    return rbdc.load(build_tiny(folder / ROBOT, scalar=scalar))

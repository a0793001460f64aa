"""The C library around the functions: header, CMake, README, manifest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.emit import VERSION
from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.c.polynomials import elementary_header
from rbdc.emit.cpp import cpp_function
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.variants import variants_view
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Limits, Model

MANIFEST_SCHEMA = 1
REQUIREMENTS = ("numpy", "cffi>=1.16")
"""Modules that the Python of a package needs at run time."""
_REQUIREMENTS = ", ".join(f'"{requirement}"' for requirement in REQUIREMENTS)
UNKNOWN_LICENCE = "unknown: that of the description"


_FILES = {
    "{robot}.h": "header.h",
    "{robot}.hpp": "header.hpp",
    "CMakeLists.txt": "CMakeLists.txt",
    "package.xml": "package.xml",
    "pyproject.toml": "pyproject.toml",
    "README.md": "package_readme.md",
}
"""Templates of the files around the functions, by the names of these."""
_FILES_OF_VARIANTS = {f"{{robot}}_{name}": name for name in ("rename.h", "variants.h", "dispatch.c")}


def render_library(
    model: Model, robot: str, sources: Sequence[FunctionSource], *, portable: bool = False
) -> dict[str, str]:
    """Header, C files, CMakeLists.txt and README.md, by name; `portable`: and what a library in several
    variants needs.
    """
    files = elementary_header(robot, sources[0].declaration.scalar)
    for source in sources:
        files |= source.files | source.batch_files
    templates = _FILES | (_FILES_OF_VARIANTS if portable else {})
    view = _view(model, robot, [source.declaration for source in sources])
    view |= variants_view(robot, sources) if portable else {"variants": []}
    view |= {
        "files": sorted(files),
        "headers": [f"{robot}.h", f"{robot}.hpp", *([f"{robot}_variants.h"] if portable else [])],
        "costs": [(source.declaration.name, source.cost) for source in sources],
    }
    return files | {
        name.format(robot=robot): render(f"{template}.jinja", **view) for name, template in templates.items()
    }


def render_manifest(
    package: Package,
    sources: Sequence[FunctionSource],
    build: Mapping[str, Any],
    sizes: Mapping[str, Mapping[str, int]] | None = None,
) -> str:
    """manifest.json: all that a build depends on and all that it gave, but no date, host or path.

    `build`: options, the hashes of the other files and the like, put at the top level. sizes: by function the
    bytes of its code and stack; None before compiling.
    """
    functions = {
        s.declaration.name: {
            "inputs": [_parameter(p) for p in s.declaration.inputs],
            "framed": s.declaration.framed,
            "method": s.method,
            "style": s.style,
            "outputs": [_parameter(p) for p in s.declaration.outputs],
            "operations": s.cost.operations,
            "additions": s.cost.additions,
            "multiplications": s.cost.multiplications,
            "divisions": s.cost.divisions,
            "calls": s.cost.calls,
            "vectors": s.cost.vectors,
            "statements": s.statements,
            **(sizes[s.declaration.name] if sizes else {}),
        }
        for s in sources
    }
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "generator": "rbdc",
        "version": VERSION,
        "name": package.robot,
        "description_sha256": package.model.description_hash,
        **build,
        "functions": functions,
    }
    return json.dumps(manifest, indent=2, sort_keys=False) + "\n"


def _parameter(p: Parameter) -> dict[str, Any]:
    return {"name": p.name, "shape": list(p.shape), "meaning": p.meaning, "optional": p.optional}


def _view(model: Model, robot: str, declarations: Sequence[FunctionDeclaration]) -> dict[str, Any]:
    """The view of the library, whose templates take what they need."""
    restrict, first = f"{robot.upper()}_RESTRICT", declarations[0]
    return {
        **first.scalar.words,
        "robot": robot,
        "upper": robot.upper(),
        "title": comment(robot),
        "nq": model.nq,
        "nv": model.nv,
        "njoints": model.njoints,
        "frame_names": [comment(frame.name) for frame in model.frames],
        "nframes": len(model.frames),
        "framed": any(d.framed for d in declarations),
        "lanes": any(d.lanes for d in declarations),
        "limits": _limits(model, first.scalar),
        "restrict": restrict,
        "declared": [(comment(d.summary), _arrays(d), d.prototypes(robot, restrict)) for d in declarations],
        "in_cpp": [cpp_function(d) for d in declarations],
        "joints": _joints(model),
        "example": _example(robot, first),
        "licence": UNKNOWN_LICENCE,
        "requirements": _REQUIREMENTS,
    }


def _arrays(d: FunctionDeclaration) -> list[str]:
    """A line of the header for each array of a function."""
    return [
        f"{p.name}[{p.size}]: {comment(p.meaning)}{', or NULL' if p.optional else ''}"
        for p in (*d.inputs, *d.outputs)
    ]


def limits_of(model: Model) -> dict[str, list[float]]:
    """Limits of the joints, a number for each entry of q or v; a joint whose q is no vector has no position
    limits.
    """
    bodies = [body for body in model.bodies if body.coupling is None]
    of_q = [
        (body.limits if body.joint.euclidean else Limits()) for body in bodies for _ in range(body.joint.nq)
    ]
    of_v = [body.limits for body in bodies for _ in range(body.joint.nv)]
    return {
        "lower_position_limit": [limits.lower for limits in of_q],
        "upper_position_limit": [limits.upper for limits in of_q],
        "velocity_limit": [limits.velocity for limits in of_v],
        "effort_limit": [limits.effort for limits in of_v],
    }


def _limits(model: Model, scalar: ScalarType) -> list[tuple[str, str]]:
    """Macros of limits, armature and the actuation matrix (by rows)."""
    rows = {**limits_of(model), "armature": model.armature}
    if model.actuators:
        rows["actuation"] = [x for row in model.actuation for x in row]
    return [(name.upper(), ", ".join(_bound(x, scalar) for x in numbers)) for name, numbers in rows.items()]


def _bound(x: float, scalar: ScalarType) -> str:
    if math.isfinite(x):
        return scalar.literal(x)
    return "INFINITY" if x > 0.0 else "-INFINITY"


def _example(robot: str, d: FunctionDeclaration) -> str:
    """A call of a function in Python."""
    arguments = [f"{robot}.{'q_neutral' if p.configuration else 'v_zero'}" for p in d.required]
    return f"{d.name}({', '.join([*arguments, *['0'] * (len(d.place) - 1)])})"


def _joints(model: Model) -> list[tuple[str, str, str, str]]:
    """For each joint its name, its kind, and its entries of q and of v."""
    return [
        (
            comment(body.joint_name).replace("|", r"\x7c"),
            body.joint.kind if body.coupling is None else f"{body.joint.kind}, follows",
            _range(body.index_q, body.joint.nq),
            _range(body.index_v, body.joint.nv),
        )
        for body in model.bodies
    ]


def _range(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start} .. {start + size - 1}"

"""The C library around the functions: header, CMake, README, manifest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.cpp import render_cpp
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.variants import VARIANTS, cmake_variants, render_variants
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Limits, Model

MANIFEST_SCHEMA = 1
REQUIREMENTS = ("numpy", "cffi>=1.16")
"""Modules that the Python of a package needs at run time."""
_REQUIREMENTS = ", ".join(f'"{requirement}"' for requirement in REQUIREMENTS)
UNKNOWN_LICENCE = "unknown: that of the description"


def render_library(
    model: Model, robot: str, sources: Sequence[FunctionSource], version: str, *, portable: bool = False
) -> dict[str, str]:
    """Header, C files, CMakeLists.txt and README.md, by name; `portable`: and what a library in several
    variants needs.
    """
    files = {
        name: text for source in sources for name, text in {**source.files, **source.batch_files}.items()
    }
    headers = [f"{robot}.h", f"{robot}.hpp", *([f"{robot}_variants.h"] if portable else [])]
    view: dict[str, Any] = {
        "robot": robot,
        "upper": robot.upper(),
        "version": version,
        "files": sorted(files),
    }
    view |= {"headers": headers, "portable": portable}
    if portable:
        files |= render_variants(robot, sources, version)
        cmake = render("CMakeLists_portable.txt.jinja", **view, variants=cmake_variants(robot))
    else:
        cmake = render("CMakeLists.txt.jinja", **view)
    return {
        f"{robot}.h": _header(model, robot, [s.declaration for s in sources], version),
        **files,
        **render_cpp(model, robot, [s.declaration for s in sources], version),
        "CMakeLists.txt": cmake,
        "package.xml": render("package.xml.jinja", robot=robot, version=version, licence=UNKNOWN_LICENCE),
        "pyproject.toml": render("pyproject.toml.jinja", **view, requirements=_REQUIREMENTS),
        "README.md": _readme(model, robot, sources, version, list(VARIANTS) if portable else []),
    }


@dataclass(frozen=True)
class CompiledFigures:
    """Figures of compiling for the manifest: the compiler and its flags; the variants of the library, for
    which processors, with the code bytes of each; by function the code bytes of all variants together and the
    stack bytes.
    """

    compiler: Mapping[str, Any] = field(default_factory=dict)
    variants: Sequence[Mapping[str, Any]] = ()
    sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def render_manifest(
    package: Package,
    sources: Sequence[FunctionSource],
    build: Mapping[str, Any],
    compiled: CompiledFigures | None = None,
) -> str:
    """manifest.json: all that a build depends on and all that it gave, but no date, host or path.

    `build`: options, the hashes of the other files and the like, put at the top level. `compiled`: None
    before compiling.
    """
    compiled = compiled or CompiledFigures()
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
            **compiled.sizes.get(s.declaration.name, {}),
        }
        for s in sources
    }
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "generator": "rbdc",
        "version": package.version,
        "name": package.robot,
        "description_sha256": package.model.description_hash,
        **build,
        "compiler": dict(compiled.compiler),
        "variants": [dict(variant) for variant in compiled.variants],
        "functions": functions,
    }
    return json.dumps(manifest, indent=2, sort_keys=False) + "\n"


def _parameter(p: Parameter) -> dict[str, Any]:
    return {"name": p.name, "shape": list(p.shape), "meaning": p.meaning, "optional": p.optional}


@dataclass(frozen=True)
class _DeclaredFunction:
    """A function in the header: its summary, a line for each array, its prototypes."""

    summary: str
    lines: list[str]
    prototypes: list[str]


def _header(model: Model, robot: str, declarations: Sequence[FunctionDeclaration], version: str) -> str:
    restrict = f"{robot.upper()}_RESTRICT"
    functions = [
        _DeclaredFunction(
            comment(d.summary),
            [
                f"{p.name}[{p.size}]: {comment(p.meaning)}{', or NULL' if p.optional else ''}"
                for p in (*d.inputs, *d.outputs)
            ],
            d.prototypes(robot, restrict),
        )
        for d in declarations
    ]
    return render(
        "header.h.jinja",
        title=comment(robot),
        version=version,
        guard=f"RBDC_{robot.upper()}_H",
        restrict=restrict,
        upper=robot.upper(),
        nq=model.nq,
        nv=model.nv,
        njoints=model.njoints,
        nframes=len(model.frames),
        framed=any(d.framed for d in declarations),
        lanes=any(d.lanes for d in declarations),
        block=declarations[0].scalar.block,
        **declarations[0].scalar.words,
        frame_names=[comment(frame.name) for frame in model.frames],
        limits=_limits(model, declarations[0].scalar),
        functions=functions,
    )


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


def _readme(
    model: Model, robot: str, sources: Sequence[FunctionSource], version: str, variants: Sequence[str]
) -> str:
    first = sources[0].declaration
    given = first.required
    arguments = [f"{robot}.{'q_neutral' if p.configuration else 'v_zero'}" for p in given] + (
        ["0"] * (len(first.place) - 1) if first.framed else []
    )
    joints = [
        (
            comment(body.joint_name).replace("|", r"\x7c"),
            body.joint.kind if body.coupling is None else f"{body.joint.kind}, follows",
            _range(body.index_q, body.joint.nq),
            _range(body.index_v, body.joint.nv),
        )
        for body in model.bodies
    ]
    return render(
        "package_readme.md.jinja",
        robot=robot,
        version=version,
        scalar=first.scalar,
        nq=model.nq,
        nv=model.nv,
        njoints=model.njoints,
        variants=variants,
        example=f"{first.name}({', '.join(arguments)})",
        functions=[(s.declaration.name, s.cost) for s in sources],
        joints=joints,
    )


def _range(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start} .. {start + size - 1}"

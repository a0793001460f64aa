"""The C library around the functions: headers, CMake, README, manifest. For C++ the functions are in a
namespace, with overloads for Eigen. A library in several variants holds the same C under several names, one
for each set of processor extensions, and chooses at run time.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from rbdc.emit import VERSION
from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.c.polynomials import elementary_header
from rbdc.emit.names import comment, identifiers
from rbdc.emit.render import render
from rbdc.functions.declarations import OF_MANY, FunctionDeclaration, Parameter
from rbdc.functions.dynamics import equation
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Limits, Problem

MANIFEST_SCHEMA = 1
_COUNTS = ("operations", "additions", "multiplications", "divisions", "calls", "vectors")
REQUIREMENTS = ("numpy", "cffi>=1.16")
"""Python packages that a generated package needs at run time."""

BASELINE = "baseline"
"""The variant that every processor runs; the only one on other machines than x86-64."""

_AVX2 = ("avx2", "fma", "bmi", "bmi2", "popcnt")
_AVX512 = ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
VARIANTS: Mapping[str, tuple[str, ...]] = {BASELINE: (), "avx2": _AVX2, "avx512": (*_AVX2, *_AVX512)}
"""Extensions of each variant for x86-64, in rising order, by the names that -m and __builtin_cpu_supports
share.

The variants have those extensions of the levels x86-64-v3 and -v4 that generated C uses. The levels also have
F16C, LZCNT and MOVBE: generated C does not use these, and __builtin_cpu_supports of clang 14 does not know
them.
"""

_FILES = {
    "{robot}.h": "header.h",
    "{robot}.hpp": "header.hpp",
    "CMakeLists.txt": "CMakeLists.txt",
    "package.xml": "package.xml",
    "pyproject.toml": "pyproject.toml",
    "README.md": "package_readme.md",
}
"""Templates of the files around the functions, by file name."""
_FILES_OF_VARIANTS = {f"{{robot}}_{name}": name for name in ("rename.h", "variants.h", "dispatch.c")}


def render_library(
    model: Problem, robot: str, sources: Sequence[FunctionSource], *, portable: bool = False
) -> dict[str, str]:
    """Return header, C files, CMakeLists.txt and README.md by name; with `portable`, also the files for
    several variants.
    """
    files = elementary_header(robot, sources[0].declaration.scalar)
    for source in sources:
        files |= source.files | source.batch_files
    templates = _FILES | (_FILES_OF_VARIANTS if portable else {})
    declarations = [source.declaration for source in sources]
    view = _view(model, robot, declarations)
    view |= variants_view(robot, declarations, files) if portable else {"variants": []}
    view |= {
        "files": sorted(files),
        "headers": [f"{robot}.h", f"{robot}.hpp", *([f"{robot}_variants.h"] if portable else [])],
        "equation": equation(model),
        "costs": [(source.declaration.name, source.cost) for source in sources],
    }
    return files | {
        name.format(robot=robot): render(f"{template}.jinja", **view) for name, template in templates.items()
    }


def render_manifest(
    package: Package,
    sources: Sequence[FunctionSource],
    build: Mapping[str, Any],
    sizes: Mapping[str, Mapping[str, Any]] | None = None,
) -> str:
    """Return manifest.json: everything that a build depends on and its results, but no date, host or path.

    `build`: options, hashes of the other files and the like, at the top level. sizes: bytes of code and stack
        by function; None before compiling.
    """
    functions = {
        s.declaration.name: {
            "inputs": [_parameter(p) for p in s.declaration.inputs],
            "framed": s.declaration.framed,
            "method": s.method,
            "form": s.form,
            "lanes": s.lanes,
            "outputs": [_parameter(p) for p in s.declaration.outputs],
            **{count: getattr(s.cost, count) for count in _COUNTS},
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


def _view(model: Problem, robot: str, declarations: Sequence[FunctionDeclaration]) -> dict[str, Any]:
    restrict, first = f"{robot.upper()}_RESTRICT", declarations[0]
    return {
        **first.scalar.words,
        "robot": robot,
        "upper": robot.upper(),
        "model": model,
        "frames": _named([frame.name for frame in model.frames]),
        "bodies": [*zip(_named([body.joint_name for body in model.bodies]), model.bodies, strict=True)],
        "nframes": len(model.frames),
        "framed": any(d.framed for d in declarations),
        "lanes": any(d.lanes for d in declarations),
        "limits": _limits(model, first.scalar),
        "restrict": restrict,
        "declared": [(comment(d.summary), _arrays(d), d.prototypes(robot, restrict)) for d in declarations],
        "in_cpp": [cpp_function(d) for d in declarations],
        "joints": _joints(model),
        "example": _example(robot, first),
        "requirements": ", ".join(f'"{requirement}"' for requirement in REQUIREMENTS),
    }


def _named(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the identifier for each name, with the name as a comment if it differs."""
    pairs = zip(names, identifiers(names), strict=True)
    return [(identifier, "" if identifier == name else comment(name)) for name, identifier in pairs]


def _arrays(d: FunctionDeclaration) -> list[str]:
    return [
        f"{p.name}[{p.size}]: {comment(p.meaning)}{', or NULL' if p.optional else ''}"
        for p in (*d.inputs, *d.outputs)
    ]


def limits_of(model: Problem) -> dict[str, list[float]]:
    """Return limits of the joints, one for each entry of q or v. A joint whose q is not a vector space has no
    position limits.
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


def _limits(model: Problem, scalar: ScalarType) -> list[tuple[str, str]]:
    rows = {**limits_of(model), "armature": model.armature}
    if model.actuators:
        rows["actuation"] = [x for row in model.actuation for x in row]
    return [(name.upper(), ", ".join(_bound(x, scalar) for x in numbers)) for name, numbers in rows.items()]


def _bound(x: float, scalar: ScalarType) -> str:
    if math.isfinite(x):
        return scalar.literal(x)
    return "INFINITY" if x > 0.0 else "-INFINITY"


def _example(robot: str, d: FunctionDeclaration) -> str:
    arguments = [f"{robot}.{'q_neutral' if p.configuration else 'v_zero'}" for p in d.required]
    return f"{d.name}({', '.join([*arguments, *['0'] * (len(d.place) - 1)])})"


def _joints(model: Problem) -> list[tuple[str, str, str, str]]:
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


def cpp_function(d: FunctionDeclaration) -> dict[str, Any]:
    """Return the C++ view of a function: parameters and names for pointers, and overloads for matrices.
    Overloads fill matrices; a function with a single result also returns it by value.
    """
    inputs = [d.required, d.inputs] if d.optional else [d.required]
    returning = [_overload(d, d.required, p) for p in d.outputs if len(d.outputs) == 1]
    return {
        "name": d.name,
        "summary": comment(d.summary),
        "pointers": ", ".join(d.parameters(d.scalar.name, restrict="")),
        "names": ", ".join(d.arguments(lambda p: p.name)),
        "overloads": [*(_overload(d, inputs_of_call) for inputs_of_call in inputs), *returning],
    }


def _overload(
    d: FunctionDeclaration, inputs: Sequence[Parameter], result: Parameter | None = None
) -> tuple[str, str, str, str]:
    """Return the return type of an overload, its parameters, the name of the result that it returns, if any,
    and the arguments of the C function.
    """

    def place(p: Parameter) -> str:
        if p.optional and p not in inputs:
            return "nullptr"
        return f"{p.name}.data()" if p.shape else f"&{p.name}"

    parameters = [f"{_kind(p, 'In', d)} {p.name}" for p in inputs]
    parameters += [f"int {name}" for name in d.place]
    if result is not None and d.framed:
        parameters[-1] += " = LOCAL"
    parameters += [
        f"{_kind(p, 'Out', d)} {'' if p.shape else '&'}{p.name}" for p in d.outputs if p is not result
    ]
    kind, name = ("void", "") if result is None else (_kind(result, "Matrix", d), result.name)
    return kind, ", ".join(parameters), name, ", ".join(d.arguments(place))


def _kind(p: Parameter, template: str, d: FunctionDeclaration) -> str:
    """Return the matrix type of an array. A tensor becomes one matrix: the slices over its last two indices
    are stacked vertically.
    """
    if not p.shape:
        return d.scalar.name
    columns = p.shape[-1] if len(p.shape) > 1 else 1
    return f"{template}<{prod(p.shape) // columns if columns else p.shape[0]}, {columns}>"


def variant_prefix(robot: str, variant: str) -> str:
    """Return the prefix of a variant's C functions; `robot` is the prefix in the library."""
    return f"{robot}_{variant}"


def variant_flags(variant: str) -> tuple[str, ...]:
    """Return flags that enable the extensions of a variant and disable others, whatever the compiler's
    default is.
    """
    return ("-march=x86-64", *(f"-m{extension}" for extension in VARIANTS[variant]))


def renaming_flags(robot: str, variant: str) -> tuple[str, ...]:
    """Return flags that rename the C functions for a variant; the compiler must run in the folder of the
    sources.
    """
    return (f"-D{robot.upper()}_VARIANT={variant}", "-include", f"{robot}_rename.h")


def variants_view(
    robot: str, declarations: Sequence[FunctionDeclaration], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return the view of a library in several variants: the variants in rising order, the C functions, and
    the names that each variant renames because its C files share them.
    """
    named = re.compile(rf"^(?!static|typedef)#?(?:\w+ )+{robot}_(\w+)", re.MULTILINE)
    return {
        "variants": [_variant(robot, name, declarations) for name in VARIANTS],
        "functions": [function for d in declarations for function in _functions(robot, d)],
        "names": sorted({name for text in files.values() for name in named.findall(text)}),
    }


def _variant(robot: str, name: str, declarations: Sequence[FunctionDeclaration]) -> dict[str, Any]:
    """Return the view of a variant in C: its prefix, which is also its CMake target, its extensions, its
    requirement in words, its flags, and its prototypes.
    """
    prefix, extensions = variant_prefix(robot, name), VARIANTS[name]
    return {
        "name": name,
        "prefix": prefix,
        "extensions": extensions,
        "needs": ", ".join(extensions) or "x86-64",
        "flags": " ".join(variant_flags(name)),
        # C++ has no restrict
        "prototypes": [p for d in declarations for p in d.prototypes(prefix, restrict="")],
    }


def _functions(robot: str, d: FunctionDeclaration) -> list[tuple[str, str, str]]:
    one = ", ".join(d.arguments(lambda p: p.name))
    return [
        (f"{d.name}{form}", d.prototype(robot, form), f"n, {one}" if form in OF_MANY else one)
        for form in d.forms
    ]

"""A library in several variants, each for what some processors have: the same C under names of its own, and
the choice at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration

BASELINE = "baseline"
"""The variant that every processor runs; elsewhere than on x86-64 the only one."""

_AVX2 = ("avx2", "fma", "bmi", "bmi2", "popcnt")
_AVX512 = ("avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")
VARIANTS: Mapping[str, tuple[str, ...]] = {BASELINE: (), "avx2": _AVX2, "avx512": (*_AVX2, *_AVX512)}
"""For x86-64, in rising order: the extensions of each, by the names that -m and __builtin_cpu_supports share.

They are what the levels x86-64-v3 and -v4 bring for this C. The levels also have F16C, LZCNT and MOVBE, for
which it has no use and which __builtin_cpu_supports of clang 14 does not know.
"""


def variant_prefix(robot: str, variant: str) -> str:
    """How the names of a variant's C functions begin, as `robot` begins those of the library."""
    return f"{robot}_{variant}"


def variant_flags(variant: str) -> tuple[str, ...]:
    """The extensions of a variant and no others, whatever the compiler would take for its least processor."""
    return ("-march=x86-64", *(f"-m{extension}" for extension in VARIANTS[variant]))


def renaming_flags(robot: str, variant: str) -> tuple[str, ...]:
    """Flags that give the C functions the names of a variant; for a compiler that runs in the folder of the
    sources.
    """
    return (f"-D{robot.upper()}_VARIANT={variant}", "-include", f"{robot}_rename.h")


def render_variants(robot: str, sources: Sequence[FunctionSource], version: str) -> dict[str, str]:
    """The files that a library in several variants has beside its functions, by name."""
    declarations = [source.declaration for source in sources]
    functions = [function for d in declarations for function in _functions(robot, d)]
    shared = {name.removeprefix(f"{robot}_"): None for source in sources for name in source.internal}
    view = {
        "robot": robot,
        "upper": robot.upper(),
        "title": comment(robot),
        "version": version,
        "variants": [_variant(robot, name, declarations) for name in VARIANTS],
        "functions": functions,
        "names": [*(f.name for f in functions), *shared],
    }
    return {
        f"{robot}_{name}": render(f"{name}.jinja", **view)
        for name in ("rename.h", "variants.h", "dispatch.c")
    }


@dataclass(frozen=True)
class CMakeVariant:
    """A variant in CMakeLists.txt: the target that compiles it, and its flags."""

    name: str
    target: str
    flags: str


def cmake_variants(robot: str) -> list[CMakeVariant]:
    """The variants in CMakeLists.txt."""
    return [
        CMakeVariant(name, variant_prefix(robot, name), " ".join(variant_flags(name))) for name in VARIANTS
    ]


@dataclass(frozen=True)
class _Variant:
    """A variant in C: how its names begin, its constant, its extensions, in words what it needs, and its
    prototypes.
    """

    name: str
    prefix: str
    constant: str
    extensions: tuple[str, ...]
    needs: str
    prototypes: list[str]


@dataclass(frozen=True)
class _Dispatched:
    """A C function that passes its arguments on to the variant that the processor can run."""

    name: str
    prototype: str
    arguments: str


def _variant(robot: str, name: str, declarations: Sequence[FunctionDeclaration]) -> _Variant:
    prefix, extensions = variant_prefix(robot, name), VARIANTS[name]
    # C++ reads no restrict
    prototypes = [prototype for d in declarations for prototype in d.prototypes(prefix, restrict="")]
    return _Variant(name, prefix, prefix.upper(), extensions, ", ".join(extensions) or "x86-64", prototypes)


def _functions(robot: str, d: FunctionDeclaration) -> list[_Dispatched]:
    """The views of the C functions of one declaration."""
    one = d.arguments(lambda p: p.name)
    calls = {d.name: one, f"{d.name}_batch": ["n", *one]}
    if d.zeroed:
        calls[f"{d.name}_into_zeroed"] = one
    if d.lanes:
        calls[f"{d.name}_lanes"] = ["n", *one]
    return [
        _Dispatched(name, prototype, ", ".join(arguments))
        for (name, arguments), prototype in zip(calls.items(), d.prototypes(robot), strict=True)
    ]

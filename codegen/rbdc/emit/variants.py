"""A library in several variants, each for what some processors have: the same C under names of its own, and
the choice at run time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.emit.backend import FunctionSource
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


def variants_view(robot: str, sources: Sequence[FunctionSource]) -> dict[str, Any]:
    """The view of a library in several variants: these, in rising order, the C functions, and
    the names that each variant has under its own.
    """
    declarations = [source.declaration for source in sources]
    functions = [function for d in declarations for function in _functions(robot, d)]
    shared = {name.removeprefix(f"{robot}_"): None for source in sources for name in source.internal}
    return {
        "variants": [_variant(robot, name, declarations) for name in VARIANTS],
        "functions": functions,
        "names": [*(name for name, *_ in functions), *shared],
    }


def _variant(robot: str, name: str, declarations: Sequence[FunctionDeclaration]) -> dict[str, Any]:
    """A variant in C: how its names begin, which CMake's target is called too, its constant, its extensions,
    in words what it needs, its flags, and its prototypes.
    """
    prefix, extensions = variant_prefix(robot, name), VARIANTS[name]
    return {
        "name": name,
        "prefix": prefix,
        "constant": prefix.upper(),
        "extensions": extensions,
        "needs": ", ".join(extensions) or "x86-64",
        "flags": " ".join(variant_flags(name)),
        # C++ reads no restrict
        "prototypes": [p for d in declarations for p in d.prototypes(prefix, restrict="")],
    }


def _functions(robot: str, d: FunctionDeclaration) -> list[tuple[str, str, str]]:
    """The name, prototype and arguments of each C function of one declaration."""
    one = d.arguments(lambda p: p.name)
    calls = {d.name: one, f"{d.name}_batch": ["n", *one]}
    if d.zeroed:
        calls[f"{d.name}_into_zeroed"] = one
    if d.lanes:
        calls[f"{d.name}_lanes"] = ["n", *one]
    return [
        (name, prototype, ", ".join(arguments))
        for (name, arguments), prototype in zip(calls.items(), d.prototypes(robot), strict=True)
    ]

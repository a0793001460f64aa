"""The result of a build: figures of the functions, of the variants, seconds, warnings, errors found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class FunctionFigures:
    """Deterministic figures of one generated function; those of a rolled one include the files that it shares
    with others. `batch_...`: of what computes several samples at once, nothing where the batch is a loop.
    """

    name: str
    style: str
    operations: int
    additions: int
    multiplications: int
    divisions: int
    calls: int
    statements: int
    code_bytes: int
    stack_bytes: int
    batch_code_bytes: int
    batch_stack_bytes: int


@dataclass(frozen=True)
class VariantFigures:
    """The library as it was compiled for one kind of processor: the extensions that it may use, and the bytes
    of all its functions.
    """

    name: str
    extensions: tuple[str, ...]
    code_bytes: int


@dataclass(frozen=True)
class BuildResult:
    """The result of a build. `cached`: nothing had to be generated or compiled. errors: by function the
    largest error that verifying found, in parts of what it may be; None where nothing was verified, for it
    came from the cache or was not asked for.
    """

    name: str
    directory: Path
    cached: bool
    seconds: float
    generation_seconds: float
    compile_seconds: float
    verification_seconds: float
    functions: tuple[FunctionFigures, ...]
    variants: tuple[VariantFigures, ...]
    warnings: tuple[str, ...] = field(default=())
    errors: dict[str, float] | None = None


def result_of(
    manifest: Mapping[str, Any],
    directory: Path,
    seconds: float,
    warnings: tuple[str, ...],
    made: Mapping[str, Any],
) -> BuildResult:
    """The result of a build from the manifest of its package. made: the seconds and errors of making it,
    empty if it was in the cache.
    """
    return BuildResult(
        manifest["name"],
        directory,
        not made,
        seconds,
        made.get("generation", 0.0),
        made.get("compile", 0.0),
        made.get("verification", 0.0),
        tuple(_figures(name, entry) for name, entry in manifest["functions"].items()),
        tuple(
            VariantFigures(v["name"], tuple(v["extensions"]), v["code_bytes"]) for v in manifest["variants"]
        ),
        warnings,
        made.get("errors"),
    )


def _figures(name: str, entry: Mapping[str, Any]) -> FunctionFigures:
    return FunctionFigures(
        name, **{f.name: entry[f.name] for f in fields(FunctionFigures) if f.name != "name"}
    )

"""The result of a build: figures of the functions, of the variants, seconds, warnings, errors found; and what
the manifest of its package has of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rbdc.emit.backend import FunctionSource
    from rbdc.native.build import Native


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


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """The result of a build. `cached`: nothing had to be generated or compiled. errors: by function the
    largest error that verifying found, in parts of what it may be; None where nothing was verified, for it
    came from the cache or was not asked for.
    """

    name: str
    directory: Path
    cached: bool
    seconds: float
    generation_seconds: float = 0.0
    compile_seconds: float = 0.0
    verification_seconds: float = 0.0
    functions: tuple[FunctionFigures, ...]
    variants: tuple[VariantFigures, ...]
    warnings: tuple[str, ...] = ()
    errors: dict[str, float] | None = None


def result_of(
    manifest: Mapping[str, Any],
    directory: Path,
    seconds: float,
    warnings: tuple[str, ...],
    made: Mapping[str, Any],
) -> BuildResult:
    """The result of a build from the manifest of its package. made: the seconds and errors of making it by
    their names here, nothing if it was in the cache.
    """
    _, *figures = fields(FunctionFigures)
    variants = [(v["name"], tuple(v["extensions"]), v["code_bytes"]) for v in manifest["variants"]]
    return BuildResult(
        name=manifest["name"],
        directory=directory,
        cached=not made,
        seconds=seconds,
        functions=tuple(
            FunctionFigures(name, **{figure.name: entry[figure.name] for figure in figures})
            for name, entry in manifest["functions"].items()
        ),
        variants=tuple(VariantFigures(*variant) for variant in variants),
        warnings=warnings,
        **made,
    )


def sizes(source: FunctionSource, native: Native) -> dict[str, int]:
    """The bytes of code and of stack of a function, and of its batch where it has files of its own."""
    found = {}
    for prefix, files in (("", source.files), ("batch_", source.batch_files)):
        own = [name for name in files if name.endswith(".c")]
        found[f"{prefix}code_bytes"] = sum(native.code_bytes[name] for name in own)
        found[f"{prefix}stack_bytes"] = max((native.stack_bytes[name] for name in own), default=0)
    return found

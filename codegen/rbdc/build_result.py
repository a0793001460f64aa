"""The result of a build: figures of the functions, of the variants, seconds, warnings, errors found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rbdc.emit.backend import FunctionSource
    from rbdc.native.build import Native


_DECLARED = ("inputs", "framed", "method", "outputs")
"""Entries of a function in a manifest that are no figures."""


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """The result of a build. `cached`: nothing had to be generated or compiled. errors: by function the
    largest error that verifying found, in parts of what it may be; None where nothing was verified, for it
    came from the cache or was not asked for. unverified_states: by function words for the states at which
    nothing could be compared, for it is not defined there or ill-conditioned. functions: see `figures`;
    variants: of each its name, the extensions that it may use, and the bytes of all its functions.
    warnings: all of the description, the options and the folder; news: what of them a build says, nothing
    that it said before.
    """

    name: str
    directory: Path
    cached: bool
    seconds: float
    generation_seconds: float = 0.0
    compile_seconds: float = 0.0
    verification_seconds: float = 0.0
    functions: tuple[dict[str, Any], ...]
    variants: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...] = ()
    news: tuple[str, ...] = ()
    errors: dict[str, float] | None = None
    unverified_states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def figures(functions: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The name, the style and the deterministic figures of each function of a manifest: those of a rolled one
    include the files that it shares with others. `batch_...`: of what computes several samples at once,
    nothing where the batch is a loop.
    """
    return tuple(
        {"name": name, **{key: entry[key] for key in entry if key not in _DECLARED}}
        for name, entry in functions.items()
    )


def sizes(source: FunctionSource, native: Native) -> dict[str, int]:
    """The bytes of code of a function, of all variants together, and of stack, where a variant takes most;
    and of its batch where it has files of its own.
    """
    found = {}
    for prefix, files in (("", source.files), ("batch_", source.batch_files)):
        own = [compiled for (name, _), compiled in native.figures.items() if name in files]
        found[f"{prefix}code_bytes"] = sum(compiled.code_bytes for compiled in own)
        found[f"{prefix}stack_bytes"] = max((compiled.stack_bytes for compiled in own), default=0)
    return found

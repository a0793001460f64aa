"""Pinocchio's C++ as a peer (placeholder until the harness lands)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rbdc.model import Model

FUNCTIONS: tuple[str, ...] = ()
VARIANTS: dict[str, tuple[str, ...]] = {}


@dataclass(frozen=True)
class PinocchioBuild:
    """One build of the harness."""

    name: str
    compiler: str
    flags: tuple[str, ...]
    library: Path
    compile_seconds: float
    code_bytes: int


def availability() -> str | None:
    """Why it cannot take part."""
    return "this version has no harness for it"


def builds(progress: Callable[[str], None]) -> list[PinocchioBuild]:
    """None yet."""
    return []


def save_model(model: Model, path: Path) -> str | None:
    """Nothing to save yet."""
    return None

"""How much one core can read from memory and write to it at most, measured, and how much of it a function uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rbdc.native.toolchain import Compiler
from rbdc.report.measuring import measuring_library

_OWN_FLAGS = ("-O2", "-ffp-contract=fast")
"""After the flags of the comparison: what memory can do does not depend on how well a compiler was asked to optimise."""


@dataclass(frozen=True)
class Bandwidth:
    """Bytes a second that one core read and wrote, both counted, going through a buffer of so many bytes."""

    bytes_per_second: float
    buffer_bytes: int

    def percent(self, moved: int, nanoseconds: float) -> float:
        """The share of it that so many bytes in such a time are; more than all of it where they come from caches."""
        return round(100.0 * moved / (1e-9 * nanoseconds) / self.bytes_per_second, 3)


def bandwidth_library(compiler: Compiler, flags: Sequence[str]) -> Path:
    """The compiled kernel, from the cache where it is there.

    Raises ToolchainError with the command and the compiler's output.
    """
    return measuring_library("bandwidth", compiler, (*flags, *_OWN_FLAGS))

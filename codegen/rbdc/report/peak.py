"""How much one core can multiply and add at most, measured, and how much of it a function uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rbdc.native.toolchain import Compiler
from rbdc.report.measuring import measuring_library

_OWN_FLAGS = ("-O2", "-ffp-contract=fast", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")
"""After the flags of the comparison, which say how wide vectors are and whether they are multiplied and added at once: what the core
can do does not depend on how well a compiler was asked to optimise, and what is scalar must stay so.
"""


@dataclass(frozen=True)
class Peak:
    """Flop a second of one core in double precision: of vectors with so many `lanes`, and of single numbers; whether the flags allow
    for fused multiply-add, which counts as two; and the nanoseconds that a call of an empty function takes.
    """

    vector: float
    scalar: float
    lanes: int
    fused: bool
    call: float

    def percent(self, flops: int | None, nanoseconds: float) -> dict[str, float] | None:
        """The share of both peaks that so many flop in such a time are; None where they were not counted."""
        if flops is None:
            return None
        rate = flops / (1e-9 * nanoseconds)
        return {"vector": round(100.0 * rate / self.vector, 3), "scalar": round(100.0 * rate / self.scalar, 3)}


def peak_library(compiler: Compiler, flags: Sequence[str]) -> Path:
    """The compiled kernels, from the cache where they are there.

    Raises ToolchainError with the command and the compiler's output.
    """
    return measuring_library("peak", compiler, (*flags, *_OWN_FLAGS))

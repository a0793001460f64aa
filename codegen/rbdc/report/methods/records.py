"""Records of the methods that take part in a comparison, and of their measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # not needed in the timing process, which unpickles contenders
    from rbdc.functions.record import Function

BATCH_MEMORY = 2**30
"""Largest size of a batch's inputs and outputs (bytes)."""

NO_SUCH_METHOD = "not asked for, or there is no such method for this function"
"""Reason for an absent peer that gave no reason."""


@dataclass(frozen=True)
class Absent:
    """A method that was not measured, and the reason."""

    method: str
    family: str
    reason: str


COUNTS = ("operations", "additions", "multiplications", "divisions", "calls", "flops")
FIGURES = (*COUNTS, "statements", "text_bytes", "code_bytes", "stack_bytes", "compile_seconds")
"""Counts of operations, sizes and the compile time of a method, by name."""


@dataclass(frozen=True)
class Contender:
    """A compiled method, ready to be timed: for one sample or for a batch.

    call: symbol of `library` that computes.
    fetch: symbol that copies the results out afterwards, untimed (peers only).
    archive: file that the library's context is loaded from (peers only).
    code: further libraries whose code it runs.
    dtype: type of inputs and outputs.
    figures: the entries of `FIGURES` that exist for the method.
    algorithm: the recursion; in batches, how samples are computed.
    of: in batches, the method for one sample whose code it calls.
    moved: in batches, bytes that are read and written for a sample; for Pinocchio only bytes read, since
        Pinocchio keeps results in its own data.
    """

    method: str
    family: str
    algorithm: str
    library: Path
    call: str
    fetch: str | None = None
    archive: Path | None = None
    code: tuple[Path, ...] = ()
    dtype: str = "float64"
    figures: Mapping[str, Any] = field(default_factory=dict)
    of: str = ""
    moved: int = 0

    @property
    def double(self) -> bool:
        """Whether the method computes in double precision. Only then do the peak rate and the bound of
        errors apply.
        """
        return self.dtype == "float64"


@dataclass(kw_only=True)
class Measured:
    """Methods that take part in a measurement (`contenders`), and methods that do not (`absent`).

    times: times by method (ns).
    outputs: outputs of the checked samples, by method; none for loops over a peer's calls.
    errors: errors by method and metric.
    seconds: approximate duration of the timing, None for `seconds` of the options.
    """

    contenders: list[Contender] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    times: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    errors: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: float | None = None


@dataclass
class Batches(Measured):
    """One function in batches; times are lists with one entry for each size.

    samples: batch sizes.
    left_out: sizes whose data exceed `BATCH_MEMORY`.
    lanes: samples in the SIMD lanes of the generated batch function, None if the function loops over samples.
    flops: flop of one sample.
    """

    samples: list[int]
    left_out: list[int] = field(default_factory=list)
    lanes: int | None = None
    flops: int | None = None


@dataclass
class FunctionRecord(Measured):
    """One function of a comparison.

    batches: the function in batches, None if they are not measured.
    """

    function: Function
    batches: Batches | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.declaration.name

"""Records of what takes part in a comparison, and of what was measured of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # the timing process, which is handed contenders, does not need it
    from rbdc.functions.record import Function

BATCH_MEMORY = 2**30
"""Largest size of a batch's inputs and outputs, in bytes."""

NO_SUCH_METHOD = "not asked for, or there is no such method for this function"
"""Reason of a peer's absence where it gave none."""


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
    """A compiled method, ready to be timed, for one sample or, in batches, for n.

    call: symbol of `library` that computes. fetch: symbol that copies the results out afterwards, untimed
    (peers only). archive: file that the library's context is loaded from (peers only). code: further
    libraries whose code it runs. dtype: of inputs and outputs. figures: those of `FIGURES` that exist for it.

    In batches the algorithm says how samples are computed. of: method of the comparison whose code it calls.
    moved: bytes of a sample that are read and written; results of a peer stay in its own data.
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
        """Whether the peak and the bound of errors, which are of double precision, apply to it."""
        return self.dtype == "float64"


@dataclass(kw_only=True)
class Measured:
    """Methods that take part in a measurement, those that do not, and by method its times, the outputs of the
    checked samples (not of loops over a peer's calls), and their errors. seconds: of timing, about, None for
    those of the options.
    """

    contenders: list[Contender] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    times: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    errors: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: float | None = None


@dataclass
class Batches(Measured):
    """One function in batches; times are lists of those at each size.

    samples: batch sizes. left_out: sizes whose data exceed `BATCH_MEMORY`. lanes: samples side by side in the
    generated batch function, None where that is a loop. flops: of one sample.
    """

    samples: list[int]
    left_out: list[int] = field(default_factory=list)
    lanes: int | None = None
    flops: int | None = None


@dataclass
class FunctionRecord(Measured):
    """One function of a comparison; batches: the function in batches, None where they are not measured."""

    function: Function
    batches: Batches | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.declaration.name

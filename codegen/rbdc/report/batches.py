"""Many samples at once: what is known of one function in batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.report.accuracy import Errors
from rbdc.report.contenders import Contender

MEMORY = 2**30
"""Bytes of a function's inputs and outputs at most."""


@dataclass(frozen=True)
class BatchMethod:
    """One way of computing n samples.

    of: the method of the comparison whose code it calls; family: that one's. how: in words. moved: bytes of a sample that are read and
    written. call: the entry point of its library. peer: whose function the loop calls, if not ours; results stay in the peer's own data.
    dtype: of inputs and outputs.
    """

    method: str
    of: str
    family: str
    how: str
    moved: int
    call: str
    peer: Contender | None = None
    library: Path | None = None
    dtype: str = "float64"


@dataclass
class Batches:
    """One function in batches.

    samples: the sizes; left_out: those whose data would not fit. lanes: samples side by side in what is generated, None where its batch
    is a loop. flops: of a sample. absent: by method why it was not measured. By method what was measured: times at each size, the
    outputs of the checked samples, and their errors.
    """

    samples: list[int]
    left_out: list[int]
    lanes: int | None
    flops: int | None
    methods: list[BatchMethod] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    times: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    outputs: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    errors: dict[str, Errors] = field(default_factory=dict)

"""The machine of a comparison in words, and limits of one core: its peak of multiply-adds and its memory
bandwidth; C libraries that measure.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from os import cpu_count
from pathlib import Path
from typing import Any

from rbdc.emit.render import render
from rbdc.native.shared import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, Compiler

_PEAK_FLAGS = ("-O2", "-ffp-contract=fast", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")
_BANDWIDTH_FLAGS = ("-O2", "-ffp-contract=fast")
# They follow the flags of the comparison, which set the width of vectors and allow or forbid fusing. The
# limits of a core do not depend on how well a compiler optimises, and the scalar kernel must stay scalar.


Limits = Mapping[str, Any]
"""Measured limits of a core, as reports have them: its peak of flop, or the bandwidth of its memory."""


def peak_percent(peak: Limits, flops: int | None, nanoseconds: float) -> dict[str, float] | None:
    """The rate of `flops` in `nanoseconds` as a percentage of both peaks; None for unknown flop."""
    if flops is None:
        return None
    rates = {of: peak[f"{of}_flops_per_second"] for of in ("vector", "scalar")}
    return {of: round(100.0 * flops / (1e-9 * nanoseconds) / rate, 3) for of, rate in rates.items()}


def bandwidth_percent(bandwidth: Limits, moved: int, nanoseconds: float) -> float:
    """The rate of `moved` bytes in `nanoseconds` as a percentage; above 100 where caches serve them."""
    return round(100.0 * moved / (1e-9 * nanoseconds) / float(bandwidth["bytes_per_second"]), 3)


def peak_library(compiler: Compiler, flags: Sequence[str]) -> Path:
    """The compiled kernels of multiply-adds. Raises ToolchainError as `_library`."""
    return _library("peak", compiler, (*flags, *_PEAK_FLAGS))


def bandwidth_library(compiler: Compiler, flags: Sequence[str]) -> Path:
    """The compiled kernel that reads and writes a buffer. Raises ToolchainError as `_library`."""
    return _library("bandwidth", compiler, (*flags, *_BANDWIDTH_FLAGS))


def timer_library(compiler: Compiler) -> Path:
    """The compiled timing loops. Raises ToolchainError as `_library`."""
    return _library("timer", compiler, ("-O2",))


def _library(name: str, compiler: Compiler, flags: Sequence[str]) -> Path:
    """The template `<name>.c.jinja` compiled, or taken from the cache.

    Raises ToolchainError with the command and the compiler's output.
    """
    unit = Unit(f"{name}.c", render(f"{name}.c.jinja"), {}, (*STANDARD_FLAGS, *flags))
    return shared_library(f"{name}.so", [unit], compiler).path


VECTOR_FEATURES = ("sse2", "avx", "avx2", "fma", "avx512f", "neon", "asimd")


def machine() -> dict[str, object]:
    """Processor, vector instructions, number of processors, system and Python; no names of hosts or users."""
    text = _read("/proc/cpuinfo")
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.+)$", text, re.MULTILINE)
    present = set(flags.group(1).split()) if flags else set()
    return {
        "processor": model.group(1).strip() if model else platform.machine(),
        "vector_instructions": [f for f in VECTOR_FEATURES if f in present],
        "processors": cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""

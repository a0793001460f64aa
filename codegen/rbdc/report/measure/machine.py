"""Description of the machine for a report, without names of hosts or users."""

from __future__ import annotations

import platform
import re
from os import cpu_count
from pathlib import Path

VECTOR_FEATURES = ("sse2", "avx", "avx2", "fma", "avx512f", "neon", "asimd")


def machine() -> dict[str, object]:
    """Processor, vector instructions, number of processors, system and Python."""
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

"""A description of the machine without names of hosts or users."""

from __future__ import annotations

import platform
import re
from os import cpu_count
from pathlib import Path

VECTOR_FEATURES = ("sse2", "avx", "avx2", "fma", "avx512f", "neon", "asimd")


def machine() -> dict[str, object]:
    """Return processor, vector instructions, number of processors, system and Python."""
    present = set(_told("flags|Features").split())
    return {
        "processor": processor(),
        "vector_instructions": [f for f in VECTOR_FEATURES if f in present],
        "processors": cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def processor() -> str:
    """Return the name of the processor, with family and model."""
    name, family, model = _told("model name"), _told("cpu family"), _told("model")
    return f"{name} (family {family}, model {model})" if name and family else name or platform.machine()


def _told(what: str) -> str:
    file = Path("/proc/cpuinfo")
    text = file.read_text() if file.is_file() else ""
    match = re.search(rf"^(?:{what})\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""

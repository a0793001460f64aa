"""Fields in docstrings of classes, `name: meaning` one a line, as lists of reStructuredText."""

from __future__ import annotations

import re
from typing import Any

_FIELD = re.compile(r"(\w+(?:, \w+)*): (.+)")


def listed(lines: list[str]) -> list[str]:
    """The lines with fields as items: a field follows an empty line, a field or the rest of one."""
    made: list[str] = []
    within, before = False, ""
    for line in lines:
        field = _FIELD.fullmatch(line) if within or not before else None
        if field:
            made.append(f"- ``{field[1]}``: {field[2]}")
        else:
            made.append(f"  {line.strip()}" if within and line.startswith(" ") else line)
        within, before = field is not None or (within and line.startswith(" ")), line
    return made


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn the fields of a class."""
    if what == "class":
        lines[:] = listed(lines)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx, before napoleon."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True}

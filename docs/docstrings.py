"""Docstrings as reStructuredText: fields of classes are lists, functions with their frame are code."""

from __future__ import annotations

import re
from typing import Any

_FIELD = re.compile(r"(\w+(?:, \w+)*): (.+)")
_PLACE = re.compile(r"(?<![`\w@])\w+@\w+(@\w+)?(?![`\w])")
"""The name of a function with its frame, which docutils takes for an address."""


def listed(lines: list[str]) -> list[str]:
    """Return the lines with fields as items: a field follows an empty line, a field or the rest of one."""
    items: list[str] = []
    within, before = False, ""
    for line in lines:
        field = _FIELD.fullmatch(line) if within or not before else None
        if field:
            items.append(f"- ``{field[1]}``: {field[2]}")
        else:
            items.append(f"  {line.strip()}" if within and line.startswith(" ") else line)
        within, before = field is not None or (within and line.startswith(" ")), line
    return items


def process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Turn the fields of a class, and mark functions with their frame as code."""
    shown = listed(lines) if what == "class" else lines
    lines[:] = [_PLACE.sub(r"``\g<0>``", line) for line in shown]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx, before napoleon."""
    app.connect("autodoc-process-docstring", process, priority=400)
    return {"parallel_read_safe": True}

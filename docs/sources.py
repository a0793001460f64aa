"""The heads of the sources of algorithms as a page: what each computes, and by which equations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ALGORITHMS = Path(__file__).parent.parent / "codegen" / "rbdc" / "algorithms"
PARTS = {
    "Spatial algebra": "../spatial",
    "Inverse and forward dynamics": "dynamics",
    "Derivatives": "derivatives",
    "Frames, momenta and the manifold": ".",
    "Contacts and loops": "contacts",
    "References from the literature": "reference",
    "References for derivatives": "reference/derivatives",
}
"""Folders of algorithms by their titles on the page."""


def page() -> str:
    """Return the page."""
    return "\n".join([_HEAD.strip(), "", *_parts()])


_HEAD = """
# Mathematics

This page is for those who want the equations behind a function. Each section is the head of a source file.
Motions are [linear; angular], forces [force; moment], in the frame of the body unless a section says
otherwise; X is a transform of motions, X\\* one of forces.
"""


def _parts() -> Iterator[str]:
    for title, folder in PARTS.items():
        yield from [f"## {title}", ""]
        for file in sorted((ALGORITHMS / folder).resolve().glob("*.py")):
            text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            if "\n\n" in text:  # others say in a sentence what they hold
                place = (
                    file.relative_to(ALGORITHMS.parent).with_suffix("").as_posix().replace("/__init__", "")
                )
                yield from [f"### {place}", "", *_markdown(text), ""]


def _markdown(text: str) -> Iterator[str]:
    """Return paragraphs and lists as text, indented formulas as blocks."""
    for paragraph in text.replace("``", "`").split("\n\n"):
        if paragraph.startswith("    "):
            yield from ["```text", *(line.removeprefix("    ") for line in paragraph.splitlines()), "```", ""]
        else:
            yield from [*map(_escaped, paragraph.splitlines()), ""]


def _escaped(line: str) -> str:
    """Return a line in which signs of formulas make no emphasis; the mark of an item and code remain."""
    mark = re.match(r" *[*-] |", line)
    begin = mark[0] if mark else ""
    parts = line[len(begin) :].split("`")
    return begin + "`".join(p if k % 2 else re.sub(r"([\\*_<\[#|])", r"\\\1", p) for k, p in enumerate(parts))

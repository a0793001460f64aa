"""Pieces of URDF text for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rbdc.model import Model, Problem
from rbdc.model.description import Description
from rbdc.model.formats.reading import read_description

LIMIT = '<limit lower="-1" upper="1" effort="10" velocity="2"/>'
INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
)


def link(name: str, body: str = INERTIAL) -> str:
    """Return a link of 1 kg."""
    return f'<link name="{name}">{body}</link>'


def joint(name: str, parent: str, child: str, body: str = LIMIT, kind: str = "revolute") -> str:
    """Return a joint; `body` is what it holds besides parent and child."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{body}</joint>'
    )


def robot(*parts: str) -> str:
    """Return the file, every part on a line of its own, the first on line 2."""
    return '<robot name="r">\n' + "\n".join(parts) + "\n</robot>\n"


def pair(body: str = LIMIT, kind: str = "revolute") -> str:
    """Return two links and the joint between them, on line 4."""
    return robot(link("base"), link("arm"), joint("j", "base", "arm", body, kind))


def read(folder: Path, text: str) -> Description:
    """Return the description in a text."""
    path = folder / "r.urdf"
    path.write_text(text, encoding="utf-8")
    return read_description(path)


def model(folder: Path, text: str, **options: Any) -> Problem:
    """Return the model of a text."""
    path = folder / "r.urdf"
    path.write_text(text, encoding="utf-8")
    return Problem.from_urdf(path, **options)


def messages(noted: Description | Model) -> list[str]:
    """Return the texts of the notes."""
    return [note.message for note in noted.notes]

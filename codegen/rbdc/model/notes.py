"""Notes of a model as messages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rbdc.model.tree import Model


def warnings_of(model: Model) -> list[str]:
    """The notes of a model, each with its place."""
    place = place_of(model)
    return [
        f"{place}{f':{note.line}' if note.line is not None else ''}: {note.message}" for note in model.notes
    ]


def kept_warnings(model: Model) -> list[str]:
    """The notes of a model as a package keeps them: of the place the file's name alone, for a package is the
    same wherever its description lies.
    """
    return warnings_of(replace(model, file=Path(place_of(model)).name))


def place_of(model: Model) -> str:
    """The beginning of a message about a model: its file, or the name it was given in code."""
    return model.name if model.file is None else model.file

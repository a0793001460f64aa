"""Notes of a model as messages."""

from __future__ import annotations

from rbdc.model.tree import Model


def warnings_of(model: Model) -> list[str]:
    """The notes of a model, each with its place."""
    place = place_of(model)
    return [
        f"{place}{f':{note.line}' if note.line is not None else ''}: {note.message}" for note in model.notes
    ]


def place_of(model: Model) -> str:
    """The beginning of a message about a model: its file, or the name it was given in code."""
    return model.name if model.file is None else model.file

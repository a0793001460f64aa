"""Remarks of a build on a model's notes: in full those that change the numbers of its functions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FRICTION_WIDTH, PARAMETERS
from rbdc.model import DriveTerm, Effect, Model
from rbdc.model.attachments import ParameterRow
from rbdc.resources import ships
from rbdc.spatial import Placement

_INPUTS = {Effect.FORCES: FRICTION_WIDTH, Effect.DYNAMICS: PARAMETERS}
"""The input that functions have whose numbers an effect changes, where it may be given at run time."""


def remarks(model: Model, functions: Sequence[str]) -> list[str]:
    """Return what a build of these functions says of the model's notes.

    Notes on options, and those that change the numbers of these functions, come in full; the others are
    counted in one line. The description of a robot that ships with rbdc is known: notes on it are left out.
    """
    known = model.file is not None and ships(model.file)
    notes = [note for note in model.notes if note.effect is Effect.ASKED or not known]
    effects = {note.effect for note in notes}
    changing = {effect for effect in effects if set(functions) & set(_changed(model, effect))}
    told = [note for note in notes if note.effect is Effect.ASKED or note.effect in changing]
    lines = [model.located(note) for note in told]
    if others := len(notes) - len(told):
        remark = f"{others} remark{'s' * (others > 1)} on the description"
        lines.append(f"{model.place}: {remark}: rbdc info, m.warnings")
    return lines


def _changed(model: Model, effect: Effect) -> Collection[str]:
    """The functions whose numbers an effect changes."""
    if effect in (Effect.NONE, Effect.ASKED):
        return ()
    if effect is Effect.ALL:
        return functions_of(model)
    bodies = tuple(replace(body, friction=1.0) for body in model.bodies)
    row = ParameterRow("", 0, Placement.identity(), added=False)
    # Everything that can be given at run time is there, so that declarations name what takes it.
    whole = replace(model, bodies=bodies, drive_terms=(DriveTerm.FRICTION,), parameters=(row,))
    taking = functions_of(whole).items()
    return [name for name, f in taking if any(p.name == _INPUTS[effect] for p in f.declaration.inputs)]

"""The result of a build: figures of the functions, of the variants, seconds, warnings, errors found; and its
remarks on a model's notes, in full those that change the numbers of its functions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FRICTION_WIDTH, PARAMETERS
from rbdc.model import DriveTerm, Effect, Problem
from rbdc.model.bodies import ParameterRow
from rbdc.resources import ships
from rbdc.spatial import Placement

if TYPE_CHECKING:
    from rbdc.emit.backend import FunctionSource
    from rbdc.native.build import Native


_DECLARED = ("inputs", "framed", "method", "outputs")
"""Entries of a function in a manifest that are no figures."""


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """The result of a build. `cached`: nothing had to be generated or compiled. errors: by function the
    largest error that verifying found, in parts of what it may be; None where nothing was verified, for it
    came from the cache or was not asked for. unverified_states: by function words for the states at which
    nothing could be compared, for it is not defined there or ill-conditioned. functions: see `figures`;
    variants: of each its name, the extensions that it may use, and the bytes of all its functions.
    warnings: all of the description, the options and the folder; news: what of them a build says, nothing
    that it said before. tuned: of a build that measured, see `rbdc.tuning.choosing.gains`.
    """

    name: str
    directory: Path
    cached: bool
    seconds: float
    generation_seconds: float = 0.0
    compile_seconds: float = 0.0
    verification_seconds: float = 0.0
    functions: tuple[dict[str, Any], ...]
    variants: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...] = ()
    news: tuple[str, ...] = ()
    errors: dict[str, float] | None = None
    unverified_states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tuned: tuple[dict[str, Any], ...] = ()


def figures(functions: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the name, the form and the deterministic figures of each function of a manifest: those of a
    rolled one include the files that it shares with others. `batch_...`: of what computes several samples at
    once, nothing where the batch is a loop.
    """
    return tuple(
        {"name": name, **{key: entry[key] for key in entry if key not in _DECLARED}}
        for name, entry in functions.items()
    )


def sizes(source: FunctionSource, native: Native) -> dict[str, int]:
    """Return the bytes of code of a function, of all variants together, and of stack, where a variant takes
    most; and of its batch where it has files of its own.
    """
    found = {}
    for prefix, files in (("", source.files), ("batch_", source.batch_files)):
        own = [compiled for (name, _), compiled in native.figures.items() if name in files]
        found[f"{prefix}code_bytes"] = sum(compiled.code_bytes for compiled in own)
        found[f"{prefix}stack_bytes"] = max((compiled.stack_bytes for compiled in own), default=0)
    return found


_INPUTS = {Effect.FORCES: FRICTION_WIDTH, Effect.DYNAMICS: PARAMETERS}
"""The input that functions have whose numbers an effect changes, where it may be given at run time."""


def remarks(model: Problem, functions: Sequence[str]) -> list[str]:
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


def _changed(model: Problem, effect: Effect) -> Collection[str]:
    """Return the functions whose numbers an effect changes."""
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

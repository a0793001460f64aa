"""The result of a build, and the notes on the model that a build shows. A note is shown in full if its
subject changes the numbers of the built functions. A variant is the package's code for one instruction set.
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
"""Keys of a function's entry in a manifest; the entry's other keys hold figures."""


@dataclass(frozen=True, kw_only=True)
class BuildResult:
    """The result of a build.

    name: name of the module.
    directory: folder of the package.
    cached: whether nothing had to be generated or compiled.
    seconds: time of the whole build (s).
    generation_seconds, compile_seconds, verification_seconds: times of the steps (s).
    functions: name and figures of each function, from `figures`.
    variants: for each variant its name, its instruction-set extensions, and the size of its code (bytes).
    warnings: all warnings about the description, the options and the folder.
    news: the warnings that this build shows. If the installed package was already up to date, the build
        shows only warnings about the package's name and folder.
    errors: largest error of each function, divided by the allowed error; None if nothing was verified,
        because the package came from the cache or verification was off.
    unverified_states: for each function, the states at which nothing could be compared, because the function
        is undefined or ill-conditioned there.
    tuned: result of `rbdc.tuning.choosing.gains`, if the build had the option `tune`.
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
    """Return the name, the form (unrolled or rolled) and the figures (counts of operations, sizes of code and
    stack) of each function of a manifest. Figures of a rolled function include the files that it shares with
    other functions. `batch_...` are figures of kernels that compute several samples at once; they are absent
    if the batch loops over single calls.
    """
    return tuple(
        {"name": name, **{key: entry[key] for key in entry if key not in _DECLARED}}
        for name, entry in functions.items()
    )


def sizes(source: FunctionSource, native: Native) -> dict[str, int]:
    """Return the size of a function's code (bytes, the sum over all variants) and of its stack (bytes, the
    largest of all variants). Also return the two sizes of its batch: 0 if the batch has no files.
    """
    figures = {}
    for prefix, files in (("", source.files), ("batch_", source.batch_files)):
        built = [compiled for (name, _), compiled in native.figures.items() if name in files]
        figures[f"{prefix}code_bytes"] = sum(compiled.code_bytes for compiled in built)
        figures[f"{prefix}stack_bytes"] = max((compiled.stack_bytes for compiled in built), default=0)
    return figures


_INPUTS = {Effect.FORCES: FRICTION_WIDTH, Effect.DYNAMICS: PARAMETERS}
"""For each effect of a note, the run-time input of the functions that the effect changes."""


def remarks(model: Problem, functions: Sequence[str]) -> list[str]:
    """Return the lines about the model that a build of these functions shows.

    Notes on options, and notes whose subject changes these functions, are shown in full. One line counts the
    other notes. Notes on the description of a shipped robot are left out, because that description is known.
    """
    known = model.file is not None and ships(model.file)
    notes = [note for note in model.notes if note.effect is Effect.ASKED or not known]
    effects = {note.effect for note in notes}
    changing = {effect for effect in effects if set(functions) & set(_changed(model, effect))}
    told = [note for note in notes if note.effect is Effect.ASKED or note.effect in changing]
    lines = [model.located(note) for note in told]
    if others := len(notes) - len(told):
        remark = f"{others} remark{'s' * (others > 1)} on the description"
        lines.append(f"{model.place}: {remark}: see rbdc info or the module's warnings")
    return lines


def _changed(model: Problem, effect: Effect) -> Collection[str]:
    if effect in (Effect.NONE, Effect.ASKED):
        return ()
    if effect is Effect.ALL:
        return functions_of(model)
    bodies = tuple(replace(body, friction=1.0) for body in model.bodies)
    row = ParameterRow("", 0, Placement.identity(), added=False)
    # All run-time inputs are switched on, so that declarations show which functions take them.
    whole = replace(model, bodies=bodies, drive_terms=(DriveTerm.FRICTION,), parameters=(row,))
    taking = functions_of(whole).items()
    return [name for name, f in taking if any(p.name == _INPUTS[effect] for p in f.declaration.inputs)]

"""Options that the caller passes together with a model, and the options that the model holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rbdc.errors import OptionError
from rbdc.model import DriveTerm, Model, Problem
from rbdc.model.options import ModelOptions
from rbdc.option_fields import options_of

_BY_NAME = ("armature", "lock")
"""Options with a value per joint name: a passed value replaces only the model's value for the same joint."""
_OF_READING = ("xacro_arguments", "package_path")
"""Options that only apply when a file is read."""


def under(described: Model, options: ModelOptions) -> Problem:
    """Return the problem of a model under the options that the caller passed. Omitted options keep the
    model's values. Passed frames and values per joint (`_BY_NAME`) are merged with the model's.

    The result's `assembly` (description and options) is None if the model was changed after assembly.

    Raises OptionError with the name of an option that cannot be applied, and the errors of `Model.assemble`.
    """
    model, assembly = Problem.of(described), described.assembly
    if assembly is not None and Problem.of_description(*assembly) != model:
        model, assembly = replace(model, assembly=None), None
    old = held_options(model)
    asked = {name: getattr(options, name) for name in options_of(ModelOptions) if options.gives(name)}
    new = {name: value for name, value in asked.items() if value != old[name]}
    if not new:
        return model
    if assembly is None:
        raise OptionError(
            f"{_names(new)}: the model was not assembled by rbdc.Model.assemble or from_file, or was changed "
            "since: give the option to these functions, or change the model"
        )
    if late := [name for name in new if name in _OF_READING]:
        raise OptionError(f"{_names(late)}: the model has been read: give the option to rbdc.Model.from_file")
    for name in set(new) & set(_BY_NAME):
        new[name] = tuple({**dict(old[name]), **dict(new[name])}.items())
    if "frames" in new:
        new["frames"] = (*old["frames"], *(frame for frame in new["frames"] if frame not in old["frames"]))
    return Problem.of_description(assembly.description, replace(assembly.options, **new))


def held_options(model: Problem) -> dict[str, Any]:
    """Return the values of the model's options by field. If the model was not assembled, options whose value
    is unknown are None.
    """
    if model.assembly is not None:
        values = {name: getattr(model.assembly.options, name) for name in options_of(ModelOptions)}
    else:
        drives = {str(term): "include" if term in model.drive_terms else "report" for term in DriveTerm}
        values = dict.fromkeys(options_of(ModelOptions)) | drives | {"friction_width": model.friction_width}
    return values | {"gravity": tuple(model.gravity.scalars())}


def _names(fields: Iterable[str]) -> str:
    options = options_of(ModelOptions)
    return ", ".join(options[field].names[0] for field in fields)

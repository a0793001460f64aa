"""All forms that a function has, for measuring them beside the one that planning chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rbdc.emit.backend import Form, PlannedFunction
from rbdc.emit.paths.kernels import has_windows
from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.planning.candidates import left_to_solve
from rbdc.planning.generation import as_loops, loops_along_paths, planned_form, straight_line
from rbdc.planning.policy import MAXIMUM_DOF, SECOND_ORDER_IN_LANES

FORM_NAMES = {
    Form.STRAIGHT_LINE: "straight line",
    Form.COLUMNS: "columns",
    Form.WINDOWS: "kernel along paths",
    Form.PATHS: "loops along paths",
    Form.LOOPS: "rolled",
    Form.CLIMB: "climb",
}
"""Names of the forms, in the order of reports."""


def forms_of(model: Model, function: Function) -> tuple[Form, dict[Form, PlannedFunction]]:
    """The form that planning chooses for a single call in the unrolled style, and every form of the function
    that does not take minutes to make: straight-line code up to `MAXIMUM_DOF` degrees of freedom, of second
    derivatives up to `SECOND_ORDER_IN_LANES`.
    """
    chosen = planned_form(model, function)
    made = {chosen.form: chosen}
    for form, make in _makers(model, function).items():
        planned = None if form in made else make()
        if planned is not None:
            made[form] = planned
    return chosen.form, {form: made[form] for form in FORM_NAMES if form in made}


def _makers(model: Model, function: Function) -> dict[Form, Callable[[], PlannedFunction | None]]:
    """Makers of the forms that a function may have; of functions of a frame none, which have a single one."""
    if function.declaration.framed:
        return {}
    found: dict[Form, Callable[[], PlannedFunction | None]] = {
        Form.PATHS: partial(loops_along_paths, model, function),
        Form.COLUMNS: partial(_in_columns, model, function),
    }
    if model.nv <= (MAXIMUM_DOF if function.along_paths is None else SECOND_ORDER_IN_LANES):
        found[Form.STRAIGHT_LINE] = partial(straight_line, model, function)
    if has_windows(model, function):
        found[Form.WINDOWS] = partial(PlannedFunction, function, Form.WINDOWS)
    if function.policy.rolled:
        found[Form.LOOPS] = partial(as_loops, model, function)
    return found


def _in_columns(model: Model, function: Function) -> PlannedFunction | None:
    solved = left_to_solve(model, function)
    return None if solved is None else PlannedFunction(function, Form.COLUMNS, programs=tuple(solved))

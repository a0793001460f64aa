"""All forms that a function has, for measuring them beside the one that planning chooses."""

from __future__ import annotations

from rbdc.emit.backend import Form, PlannedFunction
from rbdc.emit.paths.kernels import has_windows
from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.planning.candidates import along_paths, left_to_solve
from rbdc.planning.generation import as_loops, planned_form, straight_line
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
    if not function.declaration.framed:
        for planned in _others(model, function):
            made.setdefault(planned.form, planned)
    return chosen.form, {form: made[form] for form in FORM_NAMES if form in made}


def _others(model: Model, function: Function) -> list[PlannedFunction]:
    made = []
    loops = along_paths(model, function)
    if model.nv <= (MAXIMUM_DOF if loops is None else SECOND_ORDER_IN_LANES):
        made.append(straight_line(model, function))
    solved = left_to_solve(model, function)
    if solved is not None:
        made.append(PlannedFunction(function, Form.COLUMNS, programs=tuple(solved)))
    if has_windows(model, function):
        made.append(PlannedFunction(function, Form.WINDOWS))
    if function.policy.rolled:
        made.append(as_loops(model, function))
    return made

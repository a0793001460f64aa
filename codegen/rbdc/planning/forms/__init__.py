"""All forms of functions, and the choice among them by time."""

from __future__ import annotations

from rbdc.errors import UnsupportedError
from rbdc.planning.calibration import ROLLED
from rbdc.planning.forms.climb import Climb
from rbdc.planning.forms.columns import SolveInColumns
from rbdc.planning.forms.form import Form, Plan, Subject
from rbdc.planning.forms.kernel_along_paths import KernelAlongPaths
from rbdc.planning.forms.loops_along_paths import LoopsAlongThePaths
from rbdc.planning.forms.rolled import Rolled
from rbdc.planning.forms.straight_line import StraightLine
from rbdc.planning.policy import MAXIMUM_DOF, WORTH_ROLLING

FORMS: tuple[Form, ...] = (
    StraightLine(),
    SolveInColumns(),
    KernelAlongPaths(),
    LoopsAlongThePaths(),
    Climb(),
    Rolled(),
)
"""Every form, in the order of reports; the first of equals is chosen."""


def plans_of(subject: Subject) -> dict[str, Plan]:
    """The function in each form that it has, by the form's name."""
    plans = {form.name: form.plan(subject) for form in FORMS}
    return {name: plan for name, plan in plans.items() if plan is not None}


def chosen_plan(subject: Subject, style: str = "unrolled") -> Plan:
    """The plan of least time among those that the style allows: loops over bodies for `rolled`, for `auto` in
    place of more than `WORTH_ROLLING` operations, and where there is no other.
    """
    loops = _loops(subject, style)
    if loops is not None:
        return loops
    plans = [form.plan(subject) for form in FORMS if form.name != ROLLED]
    best = min((plan for plan in plans if plan is not None), key=lambda plan: plan.nanoseconds, default=None)
    if best is None or (style == "auto" and best.cost.operations > WORTH_ROLLING):
        best = Rolled().plan(subject) or best
    if best is None:
        raise UnsupportedError(f"{subject.function.name}: no form for {subject.model.nv} degrees of freedom")
    return best


def _loops(subject: Subject, style: str) -> Plan | None:
    """Loops over bodies where nothing else is looked at."""
    large = style == "auto" and subject.model.nv > MAXIMUM_DOF
    return Rolled().plan(subject) if large or style == "rolled" else None

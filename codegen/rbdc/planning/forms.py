"""Forms (ways to write a function in C), plans (each is a function of a model in one form), and the choice
among plans by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rbdc.errors import OptionError, UnsupportedError
from rbdc.functions.catalogue import functions_of, rollable
from rbdc.functions.record import Function
from rbdc.ir.cost import cost, summed
from rbdc.ir.loops import Straight
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.model.contacts import total_rows
from rbdc.planning.calibration import CLIMB, COLUMNS, PATHS, ROLLED, STRAIGHT_LINE, WINDOWS
from rbdc.planning.candidates import (
    Candidate,
    candidates,
    climb_starts,
    finished,
    has_paths,
    least,
    left_to_solve,
    path_start,
)
from rbdc.planning.climb.loops import climb_loops, with_straight
from rbdc.planning.columns.loops import column_loops
from rbdc.planning.columns.plan import System
from rbdc.planning.limb_lanes import lane_model
from rbdc.planning.loops.rolled import MAXIMUM_BODIES
from rbdc.planning.loops.rolled import rolled as rolled_loops
from rbdc.planning.paths.loops import path_loops
from rbdc.planning.plans import UNTOLD, Climb, Columns, FormChoice, Paths, Plan, Rolled, StraightLine, Windows
from rbdc.planning.policy import (
    ALWAYS_IN_COLUMNS,
    MAXIMUM_DOF,
    MAXIMUM_ROWS,
    TRIED_SECOND_ORDER,
    WORTH_ROLLING,
)
from rbdc.planning.tracing import frame_offset_program, frame_step_programs
from rbdc.planning.windows.kernels import has_windows
from rbdc.planning.windows.nests import window_layout, window_nest
from rbdc.planning.windows.products import operations_by_inverse


@dataclass(frozen=True)
class Subject:
    """A function of a model for which forms are compared. Forms share its traced programs."""

    model: Problem
    function: Function

    @cached_property
    def candidates(self) -> list[Candidate]:
        """One candidate for each method of the function."""
        return candidates(self.model, self.function)


def straight_line(subject: Subject) -> Plan | None:
    """Return the plan of straight-line code. It has the method with the least work, and limbs in lanes if
    there are limbs. Return None for functions of a frame, and if a threshold leaves straight-line code out.
    """
    model, function = subject.model, subject.function
    if function.declaration.framed or is_left_to_others(model, function):
        return None
    best = least(subject.candidates)
    return straight_line_of(function, best.method, tuple(finished(best.kernels)))


def straight_line_of(function: Function, method: str, kernels: tuple[Program, ...]) -> Plan:
    """Return the plan of straight-line code with these programs."""
    return Plan(function, STRAIGHT_LINE, StraightLine(method, kernels), cost(kernels[0]))


def is_left_to_others(model: Problem, function: Function) -> bool:
    """Return whether the thresholds of `rbdc.planning.policy` leave straight-line code out."""
    if model.nv > MAXIMUM_DOF:
        return True
    if has_paths(model, function):
        return model.nv > TRIED_SECOND_ORDER
    if function.to_solve is None or System.of(function.declaration).size <= ALWAYS_IN_COLUMNS:
        return False
    return function.policy.dense_right_sides or lane_model(model) is None


def columns(subject: Subject) -> Plan | None:
    """Return the plan whose straight-line code computes the factors of M and right-hand sides B, and whose
    loops then solve M X = B for several columns side by side. Return None for functions without `to_solve`,
    and for models with more than `MAXIMUM_DOF` degrees of freedom.
    """
    model, function = subject.model, subject.function
    solved = None if model.nv > MAXIMUM_DOF else left_to_solve(model, function)
    if solved is None:
        return None
    plan, nests, looped = column_loops(solved, function.declaration)
    return Plan(function, COLUMNS, Columns(nests), nests[-1].cost(), looped, plan.size * plan.row)


def windows(subject: Subject) -> Plan | None:
    """Return the plan of a kernel for first derivatives or M^-1 of a tree with limbs (legs, arms, fingers).
    Limbs run side by side, and so do the columns of a window (`rbdc.planning.windows`). Return None if the
    function has no such kernel for the model.
    """
    model, function = subject.model, subject.function
    if not has_windows(model, function):
        return None
    layout = window_layout(model, function)
    nest = window_nest(layout)
    return Plan(function, WINDOWS, Windows(layout, nest), nest.cost(), operations_by_inverse(layout))


def paths(subject: Subject) -> Plan | None:
    """Return the plan of second derivatives in straight-line code, followed by loops over the degrees of
    freedom on each path of the tree (`rbdc.planning.paths`). Return None if the function cannot have this
    form for the model.
    """
    model, function = subject.model, subject.function
    start = path_start(model, function)
    if start is None:
        return None
    uses = tuple(_called(subject, name) for name in function.uses)
    loops = path_loops(model, function.declaration, solved=bool(uses))
    nest = replace(loops, statements=(Straight(tuple(start)), *loops.statements))
    total = summed([nest.cost(), *(use.cost for use in uses)])
    return Plan(function, PATHS, Paths(model, nest, uses), total)


def _called(subject: Subject, name: str) -> Plan:
    """Return the plan of a catalogue function that the subject calls; all callers share one name in C."""
    other, scalar = functions_of(subject.model)[name], subject.function.declaration.scalar
    declaration = replace(other.declaration, name=f"{name}_called", scalar=scalar)
    return chosen_plan(Subject(subject.model, replace(other, declaration=declaration)))


def climb(subject: Subject) -> Plan | None:
    """Return the plan of a function of a frame, which the caller chooses at run time: straight-line steps
    from body to body, from the frame to the root. Return None for other functions.
    """
    model, function = subject.model, subject.function
    if not function.declaration.framed:
        return None
    steps, nest = tuple(frame_step_programs(model)), climb_loops(model, function)
    for start in climb_starts(model, function):
        nest = with_straight(nest, start)
    return Plan(
        function, CLIMB, Climb(model, steps, frame_offset_program(), nest), sum(map(cost, steps), nest.cost())
    )


def rolled(subject: Subject) -> Plan | None:
    """Return the plan of loops over the bodies, whose constants are in tables, with the method of the fewest
    operations. Return None for functions without such loops, and for models with springs or dry friction.
    """
    if not subject.function.policy.rolled or not subject.model.only_damped:
        return None
    method, nest = rolled_loops(subject.model, subject.function)
    return Plan(subject.function, ROLLED, Rolled(method, nest), nest.cost())


def check_size(model: Problem, names: Sequence[str], style: str, *, fused: bool) -> None:
    """Raise UnsupportedError if building the functions would take minutes and produce an unusable library.

    Unrolled matrices grow at least with the square of nv. Rolled functions and windows are limited by the
    stack, on which they keep some hundred numbers for each body.
    """
    catalogue = functions_of(model)
    unrolled = [name for name in names if fused or not catalogue[name].policy.rolled]
    if style != "rolled":
        unrolled = [name for name in unrolled if fused or not has_windows(model, catalogue[name])]
    place = f"{model.place}: {model.nv} degrees of freedom"
    if unrolled and model.nv > MAXIMUM_DOF:
        frame = "leave out `fext_frame='world'`, " if model.world_forces else ""
        raise UnsupportedError(
            f"{place}; this version unrolls at most {MAXIMUM_DOF}: {frame}fix some joints, "
            f"or give `functions` among {', '.join(rollable())}{', without `fuse`' if fused else ''}"
        )
    for policy, name in ((catalogue[name].policy, name) for name in names):
        if 0 < policy.most_dof < model.nv:
            raise UnsupportedError(
                f"{place}; this version unrolls {name} for at most {policy.most_dof}: {policy.instead}"
            )
    if model.njoints > MAXIMUM_BODIES:
        raise UnsupportedError(
            f"{place}; this version takes at most {MAXIMUM_BODIES} moving bodies: fix some joints"
        )
    solving = [name for name in names if any(x.name == "mu" for x in catalogue[name].declaration.inputs)]
    if solving:
        _check_rows(model, solving[0])


def _check_rows(model: Problem, name: str) -> None:
    rows = total_rows(model)
    if rows > MAXIMUM_ROWS:
        raise UnsupportedError(
            f"{model.place}: {rows} rows of contacts; {name} unrolls at most {MAXIMUM_ROWS}: declare fewer, "
            "such as one surface instead of several points, or leave out functions that solve for forces"
        )


FORMS: Mapping[str, Callable[[Subject], Plan | None]] = {
    STRAIGHT_LINE: straight_line,
    COLUMNS: columns,
    WINDOWS: windows,
    PATHS: paths,
    CLIMB: climb,
    ROLLED: rolled,
}
"""All forms by name, in the order of reports; of equally fast plans the first is chosen. An entry returns the
plan of a subject, or None if the form does not apply or would take minutes for no gain.
"""


def plans_of(subject: Subject) -> dict[str, Plan]:
    """Return the plans of a function, by form, in all forms that apply."""
    plans = {name: form(subject) for name, form in FORMS.items()}
    return {name: plan for name, plan in plans.items() if plan is not None}


def least_time(plans: Iterable[Plan]) -> Plan | None:
    """Return the plan with the least time according to the table of `rbdc.planning.calibration`. Ties go to
    the first. Return None if there is no plan.
    """
    return min(plans, key=lambda plan: plan.nanoseconds, default=None)


def chosen_plan(subject: Subject, style: str = "unrolled", choice: FormChoice = UNTOLD) -> Plan:
    """Return the plan in the chosen form; without a choice, the fastest plan that the style allows.

    Style `rolled` takes loops over bodies if the function has them. Style `auto` takes them if the model has
    more than `MAXIMUM_DOF` degrees of freedom, if the fastest other plan has more than `WORTH_ROLLING`
    operations, or if there is no other plan.
    """
    if choice.form is not None:
        return _in_form(subject, choice.form, choice.place)
    if style == "rolled" or (style == "auto" and subject.model.nv > MAXIMUM_DOF):
        loops = rolled(subject)  # no other form is considered
        if loops is not None:
            return loops
    plans = [form(subject) for name, form in FORMS.items() if name != ROLLED]
    best = least_time([plan for plan in plans if plan is not None])
    if best is None or (style == "auto" and best.cost.operations > WORTH_ROLLING):
        best = rolled(subject) or best
    if best is None:
        raise UnsupportedError(
            f"{subject.function.name} cannot be written in C for {subject.model.nv} degrees of freedom"
        )
    return best


def _in_form(subject: Subject, form: str, place: str) -> Plan:
    plan = FORMS[form](subject)
    if plan is None:
        problem = f"{place}: {subject.function.name} has no form {form!r} for this model"
        raise OptionError(f"{problem}; give one of {', '.join(plans_of(subject))}, or remove the choice")
    return plan

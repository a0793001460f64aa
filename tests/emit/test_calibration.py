"""The table by which forms of a function are compared chooses as the measurements beside it do."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.planning import calibration
from rbdc.planning.calibration import COLUMNS, RATES, STRAIGHT_LINE, Rate, nanoseconds
from rbdc.planning.forms import FORMS, Subject, chosen_plan
from rbdc.planning.windows.kernels import has_windows
from rbdc.resources import resolve, robot_names
from tests.emit.support_measurements import FIXED, FROZEN, Measurement, measurements, processors
from tests.support import slow_but

TIE = 1.15
"""Forms within this factor are a tie; of a choice no worse is asked."""

MEASUREMENTS = measurements()
CASES = sorted({(m.robot, m.function) for m in MEASUREMENTS})
QUICK = {("hyq", "minverse"), ("solo12", "rnea_derivatives")}
SHIPPED = [case for case in CASES if case[0].partition(":")[0] in robot_names()]
PLANNED = [
    case
    for case in SHIPPED
    if case[0] in ("kuka_iiwa", "panda") or case in (("hyq", "rnea_derivatives"), ("solo12", "minverse"))
]
"""Those that the slow tier plans. A function of a humanoid takes ten seconds to plan, of a quadruped five."""


def measured(robot: str, function: str) -> list[Measurement]:
    return [m for m in MEASUREMENTS if (m.robot, m.function) == (robot, function)]


def typical(robot: str, function: str) -> dict[str, float]:
    """Return for each form the geometric mean over compilers and processors, if all forms of the function
    were measured on the processor.
    """
    forms = measured(robot, function)
    shared = [m for m in processors() if all(m in form.times for form in forms)]
    times = {form.form: [t for m in shared for t in form.times[m]] for form in forms}
    return {form: float(prod(each) ** (1 / len(each))) for form, each in times.items()}


@pytest.mark.parametrize(("robot", "function"), CASES)
def test_the_table_chooses_as_the_measurements_do(robot: str, function: str) -> None:
    forms, times = measured(robot, function), typical(robot, function)
    assert len(forms) > 1
    chosen = min(forms, key=lambda m: nanoseconds(m.form, m.operations, m.looped, m.moved))
    assert times[chosen.form] <= TIE * min(times.values()), times


def test_ties_are_few() -> None:
    """Else the measurements would say little about the table."""
    ratios = [max(of) / min(of) for of in (list(typical(*case).values()) for case in CASES)]
    assert sum(ratio > TIE for ratio in ratios) >= 15
    assert {m.robot for m in MEASUREMENTS} >= {
        "hyq",
        "solo12",
        "anymal_b",
        "g1_29dof",
        "tiago_pro",
        "atlas_v4",
    }


@pytest.mark.parametrize(("robot", "function"), slow_but(SHIPPED, QUICK, PLANNED))
def test_robots_are_planned_so(robot: str, function: str) -> None:
    """The plan counts the operations of today's functions; the measurements name those of their time."""
    name, _, root = robot.partition(":")
    root = root or ("fixed" if name in FIXED else "free-flyer")
    model = Problem.from_file(resolve(name), snap=BuildOptions().snap, root_joint=root)
    plan = chosen_plan(Subject(model, functions_of(model)[function]))
    forms = {m.form: m for m in measured(robot, function)}
    times = typical(robot, function)
    assert times[plan.form] <= TIE * min(times.values())
    then = forms[plan.form].operations + forms[plan.form].looped
    assert plan.cost.operations == pytest.approx(then, rel=0.1), "measure again"


def test_arms_have_no_windows() -> None:
    model = Problem.from_file(resolve("kuka_iiwa"))
    for name in ("minverse", "rnea_derivatives", "aba_derivatives"):
        function = functions_of(model)[name]
        assert not has_windows(model, function)
        assert chosen_plan(Subject(model, function)).form in (STRAIGHT_LINE, COLUMNS)


def worst_ratio(monkeypatch: pytest.MonkeyPatch, rates: Mapping[str, Rate]) -> float:
    """Return the largest time of a form that these rates choose in that of the fastest, over all functions,
    processors and compilers; of each function the processors on which the chosen form was measured.
    """
    monkeypatch.setattr(calibration, "RATES", rates)
    worst = 1.0
    for forms in (measured(*case) for case in CASES):
        chosen = min(forms, key=lambda m: nanoseconds(m.form, m.operations, m.looped, m.moved))
        for processor, times in chosen.times.items():
            there = [m.times[processor] for m in forms if processor in m.times]
            worst = max(worst, *(times[k] / min(of_form[k] for of_form in there) for k in (0, 1)))
    return worst


def may_stand(monkeypatch: pytest.MonkeyPatch, rates: Mapping[str, Rate]) -> bool:
    """Return the rule for the table: it stays as it is, or its worst ratio falls."""
    return rates == FROZEN or worst_ratio(monkeypatch, rates) < worst_ratio(monkeypatch, FROZEN)


def test_the_table_changes_only_where_its_worst_ratio_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    assert may_stand(monkeypatch, RATES), "put new rates into FROZEN only where the ratio falls"
    without_columns = {**FROZEN, COLUMNS: Rate(near=9.0, far=9.0)}
    assert not may_stand(monkeypatch, without_columns)


def test_every_form_has_a_rate() -> None:
    assert list(FORMS) == list(RATES)

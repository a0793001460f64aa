"""The table by which forms of a function are compared chooses as the measurements beside it do."""

from __future__ import annotations

from math import prod

import pytest

from rbdc.emit.backend import Form
from rbdc.emit.paths.kernels import has_windows
from rbdc.functions.catalogue import functions_of
from rbdc.model import Model
from rbdc.options import BuildOptions
from rbdc.planning.calibration import MEASUREMENTS, Measurement, nanoseconds
from rbdc.planning.generation import planned_form
from rbdc.planning.work import operations_of
from rbdc.resources import resolve, robot_names
from tests.support import slow_but

TIE = 1.15
"""Forms within this factor are a tie; of a choice no worse is asked."""

CASES = sorted({(m.robot, m.function) for m in MEASUREMENTS})
QUICK = {("hyq", "minverse"), ("solo12", "rnea_derivatives")}


def measured(robot: str, function: str) -> list[Measurement]:
    return [m for m in MEASUREMENTS if (m.robot, m.function) == (robot, function)]


def typical(one: Measurement) -> float:
    """The geometric mean of both makers and both compilers."""
    return float(prod((*one.xeon, *one.epyc)) ** 0.25)


@pytest.mark.parametrize(("robot", "function"), CASES)
def test_the_table_chooses_as_the_measurements_do(robot: str, function: str) -> None:
    forms = measured(robot, function)
    assert sorted(m.form is Form.WINDOWS for m in forms) == [False, True]
    chosen = min(forms, key=lambda m: nanoseconds(m.form, m.operations))
    assert typical(chosen) <= TIE * min(map(typical, forms)), [(m.form.name, typical(m)) for m in forms]


def test_ties_are_few() -> None:
    """Else the measurements would say little about the table."""
    ratios = [max(of) / min(of) for of in (list(map(typical, measured(*case))) for case in CASES)]
    assert sum(ratio > TIE for ratio in ratios) >= 15
    assert {m.robot for m in MEASUREMENTS} >= {
        "hyq",
        "solo12",
        "anymal_b",
        "g1_29dof",
        "tiago_pro",
        "atlas_v4",
    }


@pytest.mark.parametrize(("robot", "function"), slow_but([c for c in CASES if c[0] in robot_names()], QUICK))
def test_robots_are_planned_so(robot: str, function: str) -> None:
    """By the operations that the functions have now; those of the measurements are still about theirs."""
    root = "fixed" if robot == "tiago_pro" else "free-flyer"
    model = Model.from_file(resolve(robot), snap=BuildOptions().snap, root_joint=root)
    planned = planned_form(model, functions_of(model)[function])
    forms = {m.form: m for m in measured(robot, function)}
    chosen = forms[planned.form]
    assert typical(chosen) <= TIE * min(map(typical, forms.values()))
    assert operations_of(model, planned) == pytest.approx(chosen.operations, rel=0.1), "measure again"


def test_arms_have_no_kernel_along_paths() -> None:
    model = Model.from_file(resolve("kuka_iiwa"))
    for name in ("minverse", "rnea_derivatives", "aba_derivatives"):
        function = functions_of(model)[name]
        assert not has_windows(model, function)
        assert planned_form(model, function).form in (Form.STRAIGHT_LINE, Form.COLUMNS)

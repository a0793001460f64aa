"""rbdc benchmark --forms: every form is measured and agrees, and a wrong choice ends with status 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.functions.catalogue import functions_of, known
from rbdc.model import Problem
from rbdc.planning.forms import Subject, chosen_plan, plans_of
from rbdc.report import forms
from rbdc.report.forms import WRONG_CHOICE, entry, gains, wrong_choices
from rbdc.report.methods.records import FunctionRecord
from rbdc.resources import resolve
from tests.emit.support_measurements import measurements

ASKED = ("--functions", "minverse,frame_jacobian", "--cflags=-O1", "--seconds", "0.02", "--samples", "8")


def row(form: str, nanoseconds: float, *, chosen: bool = False, deviation: float = 0.0) -> dict[str, Any]:
    """Return a row of a report."""
    case = {"robot": "arm", "function": "rnea", "compiler": "gcc", "form": form, "operations": 100}
    return {**case, "chosen": chosen, "nanoseconds": nanoseconds, "deviation": deviation}


@pytest.mark.parametrize("wrong", [False, True])
def test_command(wrong: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ["arm: rnea by gcc: the chosen form rolled takes 2.00 times as long as columns"] if wrong else []
    monkeypatch.setattr(forms, "wrong_choices", lambda report: said)  # times are no part of a test
    done = CliRunner().invoke(
        commands, ["benchmark", "double_pendulum", "--forms", *ASKED, "--out", str(tmp_path)]
    )
    assert done.exit_code == int(wrong), done.output
    assert all(line in done.output for line in said)
    report = json.loads((tmp_path / "forms.json").read_text())
    for compiler in {row["compiler"] for row in report["rows"]}:
        rows = [row for row in report["rows"] if row["compiler"] == compiler]
        pairs = {(row["function"], row["form"]) for row in rows}
        assert pairs == {
            *(("minverse", form) for form in ("straight line", "columns", "rolled")),
            ("frame_jacobian", "climb"),
        }
        assert [entry["function"] for entry in rows if entry["chosen"]] == ["minverse", "frame_jacobian"]
    assert all(entry["deviation"] < 1e-12 and entry["nanoseconds"] > 0.0 for entry in report["rows"])
    page = (tmp_path / "forms.html").read_text()
    assert "straight line (chosen)" in page and "<svg" in page


def test_what_it_would_ignore_is_refused(tmp_path: Path) -> None:
    earlier = tmp_path / "benchmark.json"
    done = CliRunner().invoke(
        commands, ["benchmark", "double_pendulum", "--forms", *ASKED, "--baseline", str(earlier)]
    )
    assert done.exit_code == 2
    assert "leave them out" in done.output


def test_a_wrong_choice_is_named() -> None:
    right = [row("columns", 100.0), row("straight line", 100.0 * WRONG_CHOICE, chosen=True)]
    assert wrong_choices({"rows": right}) == []
    slow = [row("columns", 100.0), row("straight line", 160.0, chosen=True)]
    (sentence,) = wrong_choices({"rows": slow})
    assert sentence == "arm: rnea by gcc: the chosen form straight line takes 1.60 times as long as columns"
    (sentence,) = wrong_choices(
        {"rows": [row("columns", 1.0, deviation=1e-3), row("rolled", 1.0, chosen=True)]}
    )
    assert "results of columns differ from those of the chosen form by 1.0e-03" in sentence


def rows_of_two_compilers() -> list[dict[str, Any]]:
    """Return a function in two forms by two compilers, and one in a single form."""
    times = {("straight line", "clang"): 20.0, ("columns", "clang"): 15.0}
    times |= {("straight line", "gcc"): 16.0, ("columns", "gcc"): 10.0}
    counts = {"straight line": (100, 0, 0), "columns": (90, 30, 7)}
    rows = []
    for (form, compiler), nanoseconds in times.items():
        operations, looped, moved = counts[form]
        of_form = row(form, nanoseconds, chosen=form == "straight line")
        figures = {"operations": operations, "looped": looped, "moved": moved}
        of = {"function": "aba_derivatives", "root": "fixed", "compiler": compiler}
        rows.append({**of_form, **figures, **of})
    return [*rows, {**row("climb", 5.0, chosen=True), "root": "fixed", "looped": 0, "moved": 0}]


def test_what_a_tuning_would_gain_is_said() -> None:
    (sentence,) = gains(rows_of_two_compilers())
    assert sentence == (
        "arm: rbdc build --tune would make calls 1.41 times as fast (geometric mean); "
        "most for aba_derivatives: 2.00 times, in the form columns by gcc"
    )


def test_the_entry_of_measurements() -> None:
    lines = entry(rows_of_two_compilers())
    assert lines == ["arm:fixed  aba'  straight  100  20 16", "arm:fixed  aba'  columns  60 30 7  15 10"]
    columns, straight = measurements("", {"here": "\n".join(reversed(lines))})
    assert (columns.function, columns.form, columns.operations, columns.looped) == (
        "aba_derivatives",
        "columns",
        60,
        30,
    )
    assert columns.times == {"here": (15, 10)} and straight.times == {"here": (20, 16)}


def test_a_large_sample_hides_no_difference_at_others() -> None:
    record = FunctionRecord(known()["crba"])
    right = [np.array([[1e20, 1.0], [1.0, 2.0], [0.0, 0.0]]), np.array([[0.0], [4.0], [0.0]])]
    wrong = [right[0] + np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), right[1]]
    record.outputs |= {"columns": right, "rolled": wrong}
    assert forms._deviation(record, "rolled", "columns") == 0.25


def test_forms_of_a_quadruped() -> None:
    model = Problem.from_urdf(resolve("hyq"), root_joint="free-flyer")
    subject = Subject(model, functions_of(model)["minverse"])
    assert chosen_plan(subject).form == "straight line"
    assert list(plans_of(subject)) == ["straight line", "columns", "windows", "rolled"]


def test_second_derivatives_have_both_their_forms() -> None:
    """The arm is small enough for straight-line code, and large enough for another form."""
    model = Problem.from_urdf(resolve("ur5"))
    plans = plans_of(Subject(model, functions_of(model)["rnea_second_derivatives"]))
    assert list(plans) == ["straight line", "paths"]

"""The recipe of a form in codegen/README.md, followed with `toy_form.last_method`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rbdc.emit.printing import printed
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.planning import calibration, forms
from rbdc.planning.calibration import Rate
from rbdc.planning.forms import Subject
from rbdc.resources import resolve
from tests.emit.toy_form import LAST_METHOD, last_method
from tests.support import UNOPTIMISED, build_module


def enter(monkeypatch: pytest.MonkeyPatch, nanoseconds: float) -> None:
    """Enter the form and its rate, one line each."""
    monkeypatch.setattr(forms, "FORMS", {**forms.FORMS, LAST_METHOD: last_method})
    rates = {**calibration.RATES, LAST_METHOD: Rate(near=nanoseconds, far=nanoseconds)}
    monkeypatch.setattr(calibration, "RATES", rates)


def test_it_is_chosen_where_it_takes_least(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    subject = Subject(model, functions_of(model)["aba"])
    assert forms.chosen_plan(subject).form == "straight line"
    enter(monkeypatch, 1e-6)
    chosen = forms.chosen_plan(subject)
    assert chosen.form == "last method"
    assert printed("toy", chosen).method == list(subject.function.methods)[-1]
    assert list(forms.plans_of(subject)) == ["straight line", "rolled", "last method"]
    enter(monkeypatch, 1e6)
    assert forms.chosen_plan(subject).form == "straight line"


def test_its_packages_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build compares every function with its reference before it is installed."""
    enter(monkeypatch, 1e-6)
    module = build_module(
        "double_pendulum", functions=("aba", "crba"), cflags=UNOPTIMISED, name="by_last_method"
    )
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())["functions"]
    model = Problem.from_urdf(resolve("double_pendulum"))
    for name in ("aba", "crba"):
        assert manifest[name]["method"] == list(functions_of(model)[name].methods)[-1]

"""A function is added in a file of its own and one line of registration, and has all that the others have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import rbdc
from rbdc.build_result import BuildResult
from rbdc.cli.commands import commands
from rbdc.errors import UnsupportedError, VerificationError
from rbdc.functions import catalogue
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.record import SECOND, Function
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.report.accuracy import draw, inputs_of
from rbdc.resources import resolve
from rbdc.verification.expected import References
from rbdc.verification.states import sampled
from tests.functions.gravity_power import power
from tests.support import UNOPTIMISED, assert_close

NAME = "gravity_power"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The line of registration; a cache of these tests alone."""
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setattr(catalogue, "FAMILIES", [*catalogue.FAMILIES, power])
    yield


def built(out: Path, robot: str = "kuka_iiwa", **options: Any) -> BuildResult:
    chosen = BuildOptions(
        functions=(NAME, "gravity_torque"),
        targets=("c", "batch"),
        cflags=UNOPTIMISED,
        jobs=1,
        out=out,
        **options,
    )
    return build_package(robot, chosen)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_it_is_built_verified_and_called_like_the_others(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))  # another test may have built the same
    result = built(tmp_path, dtype=dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    assert result.errors is not None and 0.0 < result.errors[NAME] <= 1.0
    module = rbdc.load(result.directory)
    rng = np.random.default_rng(0)
    q = np.array([module.random_configuration(rng) for _ in range(37)])
    v = rng.standard_normal((37, module.nv)).astype(dtype)
    expected = np.sum(v * module.gravity_torque(q), axis=1)
    assert_close(module.gravity_power(q, v), expected, tolerance)
    assert_close(module.gravity_power(q[0], v[0]), expected[0], tolerance, float(np.max(np.abs(expected))))


def test_it_has_straight_line_code_a_kernel_for_batches_a_stub_and_a_place_in_the_manifest(
    tmp_path: Path,
) -> None:
    folder = built(tmp_path).directory
    assert {f"kuka_iiwa_{NAME}.c", f"kuka_iiwa_{NAME}_batch.c"} <= {path.name for path in folder.iterdir()}
    assert f"def {NAME}(" in (folder / "__init__.pyi").read_text()
    figures = json.loads((folder / "manifest.json").read_text())["functions"][NAME]
    assert figures["form"] == "straight line" and figures["lanes"] == 1 and figures["operations"] > 0


def test_it_runs_in_lanes_where_limbs_are_alike(tmp_path: Path) -> None:
    result = built(tmp_path, "hyq")
    assert result.errors is not None and 0.0 < result.errors[NAME] <= 1.0
    assert next(f for f in result.functions if f["name"] == NAME)["lanes"] > 1


def test_it_is_in_its_preset_and_those_that_contain_it() -> None:
    assert all((NAME in functions) == (preset != SECOND) for preset, functions in catalogue.presets().items())


def test_a_comparison_draws_its_inputs_and_judges_it(tmp_path: Path) -> None:
    arguments = ("compare", "double_pendulum", "--functions", NAME, "--samples", "10", "--out", str(tmp_path))
    result = CliRunner().invoke(commands, [*arguments, "--methods", "generated"])
    assert result.exit_code == 0, result.output
    report = json.loads(next(tmp_path.rglob("*.json")).read_text())
    assert NAME in json.dumps(report)


def test_a_wrong_algorithm_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def wrong(model: Problem) -> list[Function]:
        (function,) = power(model)
        return [replace(function, references={"wrong": "centroidal:kinetic_energy"})]

    monkeypatch.setattr(catalogue, "FAMILIES", [*catalogue.FAMILIES[:-1], wrong])
    with pytest.raises(VerificationError, match=NAME):
        built(tmp_path)


def test_a_function_without_a_reference_is_not_verified_by_silence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unchecked(model: Problem) -> list[Function]:
        (function,) = power(model)
        return [replace(function, references={})]

    monkeypatch.setattr(catalogue, "FAMILIES", [*catalogue.FAMILIES[:-1], unchecked])
    with pytest.raises(UnsupportedError, match="gravity_power: its record names no reference"):
        built(tmp_path)


def test_an_input_that_nothing_can_make_is_refused() -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    declaration = catalogue.functions_of(model)[NAME].declaration
    unknown = Parameter("temperature", (1,), "of the motors (K)")
    heated = replace(declaration, inputs=(*declaration.inputs, unknown))
    with pytest.raises(UnsupportedError, match=r"gravity_power.* 'temperature' of 1 entries \(other\)"):
        inputs_of(heated, draw(model, 1))
    with pytest.raises(UnsupportedError, match=r"gravity_power.* temperature \(other\)"):
        sampled(model, heated, 0)
    with pytest.raises(UnsupportedError, match=r"gravity_power.* temperature \(other\)"):
        References(model, 1e-10).expected(heated, [], {p.name: np.zeros((1, p.size)) for p in heated.inputs})
    assert unknown.kind is Kind.OTHER

"""Descriptions and names that are taken only if asked for, or with a warning."""

from __future__ import annotations

import importlib
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

import rbdc
from rbdc.emit.names import OWN
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of, presets, select, without_preset
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.cli.test_bad_input import GOOD, refused, run, with_tensor


def test_indefinite_inertias_can_be_allowed(tmp_path: Path) -> None:
    path, out = tmp_path / "odd.urdf", tmp_path / "out"
    path.write_text(with_tensor("0.1 0.5 0 0.1 0 0.1"))
    assert "or give --allow-invalid-inertia" in refused(run("build", str(path), "--out", str(out)), out)
    for command in (["info"], ["build", "--functions", "rnea", "--cflags", "-O0", "--out", str(out)]):
        result = run(*command, str(path), "--allow-invalid-inertia")
        assert result.exit_code == 0, result.output
        assert (
            f'warning: {path}:3: link "arm" has an inertia with the negative principal moment -0.4: '
            "used as written" in result.stderr
        )
    assert json.loads((out / "odd" / "manifest.json").read_text())["options"]["allow_invalid_inertia"] is True


def test_versions_of_xml_that_there_are_not(tmp_path: Path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(f'<?xml version="0.0"?>{GOOD}')
    result = run("info", str(path))
    assert result.exit_code == 0
    assert f'warning: {path}:1: the file is declared as XML of version "0.0": read as 1.0' in result.stderr


@pytest.mark.parametrize("name", ["math", "code", "numpy", "rbdc", "cffi"])
def test_names_of_modules_that_others_need(name: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"{name}.urdf", tmp_path / "out"
    path.write_text(GOOD)
    for arguments in ([str(path)], ["double_pendulum", "--name", name]):
        message = refused(run("build", *arguments, "--out", str(out)), out)
        assert f"a module named {name} would hide" in message and "--name" in message
    result = run(
        "build",
        str(path),
        "--name",
        f"{name}_robot",
        "--functions",
        "nle",
        "--cflags",
        "-O0",
        "--out",
        str(out),
    )
    assert result.exit_code == 0, result.output


def test_names_of_other_modules_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of meshes and a package that rbdc generated are no other modules."""
    path, out, packages = tmp_path / "widget.urdf", tmp_path / "out", tmp_path / "packages"
    path.write_text(GOOD)
    monkeypatch.syspath_prepend(str(out))
    monkeypatch.syspath_prepend(str(packages))
    command = ["build", str(path), "--functions", "nle", "--cflags", "-O0", "--out", str(out)]

    def warned() -> bool:
        importlib.invalidate_caches()
        result = run(*command)
        assert result.exit_code == 0, result.output
        return "widget: another module has this name" in result.stderr

    (packages / "widget" / "meshes").mkdir(parents=True)
    assert [warned(), warned()] == [False, False]
    (packages / "widget" / "__init__.py").write_text("raise SystemExit('imported')")
    assert warned()
    assert "widget" not in sys.modules


def test_names_of_what_rbdc_needs() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert {re.split("[<>=~]", needed)[0] for needed in project["dependencies"]} | {"rbdc"} == OWN


def test_help_lists_the_functions_of_each_preset() -> None:
    words = " ".join(run("build", "--help").output.split("Presets:")[1].split("Example:")[0].split())
    assert words.startswith("control rnea, nle, ")
    control, optimisation, full, second = presets().values()
    for more, functions, before in ((optimisation, control, "control"), (full, optimisation, "optimisation")):
        assert set(functions) < set(more)
        assert f"those of {before}, {', '.join(f for f in more if f not in functions)}" in words
    assert words.endswith(f"second {', '.join(second)} by name {', '.join(without_preset())}")
    every = functions_of(Problem.from_urdf(resolve("kuka_iiwa")))
    assert {*full, *second, *without_preset()} == set(every)


def test_second_derivatives_are_a_preset_of_their_own() -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    second = list(presets()["second"])
    assert select(model, None, "second") == second
    assert select(model, ["rnea", "second"], "control") == ["rnea", *second]


@pytest.mark.parametrize(
    "gravity", [5, "abc", b"abc", [0, 0], [0, 0, 0, 0], [0, 0, "down"], [0, None, 0], [0, 0, float("nan")]]
)
def test_gravity_is_three_numbers(gravity: object) -> None:
    with pytest.raises(
        OptionError,
        match=r"^`gravity=.*`: give three finite numbers \(m/s\^2, world axes\), such as 0 0 -9.81$",
    ):
        rbdc.build("double_pendulum", gravity=gravity)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give three finite numbers"):
        Problem.from_urdf(resolve("double_pendulum"), gravity=gravity)

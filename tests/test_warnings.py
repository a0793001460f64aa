"""Warnings of a build: raised in Python, printed by the command line, kept by the package."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rbdc
from rbdc.build_result import remarks
from rbdc.cli.commands import commands
from rbdc.model import Effect, Note, Problem
from tests.support_urdf import LIMIT, pair

DAMPED = pair(f'<axis xyz="0 0 1"/><dynamics damping="0.5"/>{LIMIT}')
ODD = DAMPED.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><colour/><colour/><weather/>')
"""Two remarks beside the damping."""
OPTIONS: dict[str, Any] = {"functions": "nle", "cflags": "-O0", "targets": "c", "verify": False}


def built(description: Any, out: Path, **options: Any) -> tuple[Any, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = rbdc.build(description, out=out, **OPTIONS | options)
    return module, [w for w in caught if w.category is rbdc.RbdcWarning]


def texts(description: Any, out: Path, **options: Any) -> list[str]:
    return [str(warning.message) for warning in built(description, out, **options)[1]]


def test_a_build_warns_and_the_package_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "damped.urdf"
    path.write_text(DAMPED)
    module, (warning,) = built(path, tmp_path / "out")
    assert str(warning.message).startswith(f"{path}:") and "`damping='include'`" in str(warning.message)
    assert warning.filename == __file__
    (text,) = module.warnings
    assert f"{tmp_path}/{text}" == str(warning.message)
    manifest = json.loads((tmp_path / "out" / "damped" / "manifest.json").read_text())
    assert manifest["warnings"] == [text]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rbdc.load(tmp_path / "out" / "damped").warnings == (text,)


def test_a_build_that_changes_nothing_does_not_warn_again(tmp_path: Path) -> None:
    path = tmp_path / "odd.urdf"
    path.write_text(ODD)
    first, again = texts(path, tmp_path / "out"), texts(path, tmp_path / "out")
    assert (len(first), again) == (2, [])
    assert texts(path, tmp_path / "other") == first, "from the cache, but into a new folder"
    assert texts(path, tmp_path / "out", force=True) == first


def test_remarks_are_counted_and_kept(tmp_path: Path) -> None:
    """Warnings about requested functions are printed in full: damping changes nle."""
    path = tmp_path / "odd.urdf"
    path.write_text(ODD)
    module, (damping, remarks) = built(path, tmp_path / "one")
    assert "1 joint has damping" in str(damping.message)
    counted = f"{path}: 2 remarks on the description: see rbdc info or the module's warnings"
    assert str(remarks.message) == counted
    assert len(module.warnings) == 3
    (line,) = texts(path, tmp_path / "two", functions="crba,com")
    assert line == f"{path}: 3 remarks on the description: see rbdc info or the module's warnings"
    (line,) = texts(path, tmp_path / "three", damping="include")
    assert line == f"{path}: 2 remarks on the description: see rbdc info or the module's warnings"
    told = texts(path, tmp_path / "four", functions="com", fuse="com,aba", verify=False)
    assert "1 joint has damping" in told[0], "of a function that a fused one is made of"


def test_shipped_robots_build_in_silence(tmp_path: Path) -> None:
    module, told = built("double_pendulum", tmp_path / "one")
    assert (told, len(module.warnings)) == ([], 3)
    model = Problem.from_file(rbdc.resources.resolve("double_pendulum"))
    assert texts(model, tmp_path / "two") == []
    (told_of_option,) = texts("double_pendulum", tmp_path / "three", lock="joint1=1", functions="nle")
    assert "beyond its limits" in told_of_option, "an option is not the description"


EFFECTS: dict[str, tuple[Effect, list[str]]] = {
    "drives": (Effect.FORCES, ["rnea", "nle", "aba", "rnea_derivatives", "aba_vjp"]),
    "dynamics": (Effect.DYNAMICS, ["rnea", "crba", "com", "gravity_torque", "kinetic_energy"]),
    "all": (Effect.ALL, ["rnea", "crba", "forward_kinematics", "frame_jacobian", "integrate"]),
}


@pytest.mark.parametrize("case", EFFECTS)
def test_effects(case: str) -> None:
    """A note is told in full with functions whose numbers it changes, and only then."""
    effect, changed = EFFECTS[case]
    model = Problem.from_file(rbdc.resources.resolve("cartpole"))
    model = replace(model, notes=(Note("odd", 7, effect),), file="mine.urdf")
    others = {"rnea", "crba", "forward_kinematics", "integrate", "frame_jacobian"} - {*changed}
    assert [name for name in changed if remarks(model, [name]) != ["mine.urdf:7: odd"]] == []
    counted = ["mine.urdf: 1 remark on the description: see rbdc info or the module's warnings"]
    assert [name for name in sorted(others) if remarks(model, [name]) != counted] == []


def test_packages_do_not_depend_on_where_the_description_lies(tmp_path: Path) -> None:
    manifests = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "damped.urdf").write_text(DAMPED)
        built(tmp_path / name / "damped.urdf", tmp_path / name)
        manifests.append((tmp_path / name / "damped" / "manifest.json").read_text())
    assert manifests[0] == manifests[1]
    assert str(tmp_path) not in manifests[0]


def test_one_that_is_an_error_leaves_the_package(tmp_path: Path) -> None:
    path = tmp_path / "damped.urdf"
    path.write_text(DAMPED)
    with pytest.raises(rbdc.RbdcWarning, match="damping"), warnings.catch_warnings():
        warnings.simplefilter("error")
        rbdc.build(path, out=tmp_path / "out", **OPTIONS)
    assert rbdc.load(tmp_path / "out" / "damped").warnings


def test_functions_that_a_preset_leaves_out_are_kept(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = rbdc.build(
            "planar_floating", root_joint="free-flyer", out=tmp_path, cflags="-O0", targets="c"
        )
    left_out = json.loads((tmp_path / "planar_floating" / "manifest.json").read_text())["left_out"]
    assert left_out and set(left_out) <= set(module.warnings)
    assert set(left_out) <= {str(w.message) for w in caught}


def test_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "clean.urdf"
    path.write_text(pair(f'<axis xyz="0 0 1"/>{LIMIT}'))
    module, caught = built(path, tmp_path / "out")
    assert (module.warnings, caught) == ((), [])


def test_the_command_line_prints_them(tmp_path: Path) -> None:
    path = tmp_path / "damped.urdf"
    path.write_text(DAMPED)
    words = ["--functions", "nle", "--cflags", "-O0", "--targets", "c", "--no-verify"]
    for command in (["build", *words, "--out", str(tmp_path / "out")], ["info"], ["explain"]):
        done = CliRunner().invoke(commands, [command[0], str(path), *command[1:]])
        assert (done.exit_code, done.stderr.count("warning: ")) == (0, 1), done.output
        assert "(--damping include does)" in done.stderr

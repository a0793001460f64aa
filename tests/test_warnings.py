"""Warnings of a build: raised in Python, printed by the command line, kept by the package."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from tests.cli.test_bad_input import LIMIT, with_joint

DAMPED = with_joint(f'<axis xyz="0 0 1"/><dynamics damping="0.5"/>{LIMIT}')
OPTIONS: dict[str, Any] = {"functions": "nle", "cflags": "-O0", "targets": "c"}


def built(path: Path, out: Path) -> tuple[Any, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        module = rbdc.build(path, out=out, **OPTIONS)
    return module, [w for w in found if w.category is rbdc.RbdcWarning]


def test_a_build_warns_and_the_package_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "damped.urdf"
    path.write_text(DAMPED)
    for _ in range(2):  # the second comes from the cache
        module, found = built(path, tmp_path / "out")
        (warning,) = found
        assert str(warning.message).startswith(f"{path}:") and "damping" in str(warning.message)
        assert warning.filename == __file__
        (kept,) = module.warnings
        assert f"{tmp_path}/{kept}" == str(warning.message)
        manifest = json.loads((tmp_path / "out" / "damped" / "manifest.json").read_text())
        assert manifest["warnings"] == [kept]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rbdc.load(tmp_path / "out" / "damped").warnings == (kept,)


def test_packages_do_not_depend_on_where_the_description_lies(tmp_path: Path) -> None:
    texts = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "damped.urdf").write_text(DAMPED)
        built(tmp_path / name / "damped.urdf", tmp_path / name)
        texts.append((tmp_path / name / "damped" / "manifest.json").read_text())
    assert texts[0] == texts[1]
    assert str(tmp_path) not in texts[0]


def test_one_that_is_an_error_leaves_the_package(tmp_path: Path) -> None:
    path = tmp_path / "damped.urdf"
    path.write_text(DAMPED)
    with pytest.raises(rbdc.RbdcWarning, match="damping"), warnings.catch_warnings():
        warnings.simplefilter("error")
        rbdc.build(path, out=tmp_path / "out", **OPTIONS)
    assert rbdc.load(tmp_path / "out" / "damped").warnings


def test_functions_that_a_preset_leaves_out_are_kept(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        module = rbdc.build(
            "planar_floating", root_joint="free-flyer", out=tmp_path, cflags="-O0", targets="c"
        )
    left_out = json.loads((tmp_path / "planar_floating" / "manifest.json").read_text())["left_out"]
    assert left_out and set(left_out) <= set(module.warnings)
    assert set(left_out) <= {str(w.message) for w in found}


def test_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "clean.urdf"
    path.write_text(with_joint(f'<axis xyz="0 0 1"/>{LIMIT}'))
    module, found = built(path, tmp_path / "out")
    assert (module.warnings, found) == ((), [])


def test_the_command_line_prints_them(tmp_path: Path) -> None:
    path = tmp_path / "damped.urdf"
    path.write_text(DAMPED)
    words = [w for k, v in OPTIONS.items() for w in (f"--{k}", v)]
    for command in (["build", *words, "--out", str(tmp_path / "out")], ["info"], ["explain"]):
        done = CliRunner().invoke(commands, [command[0], str(path), *command[1:]])
        assert (done.exit_code, done.stderr.count("warning: ")) == (0, 1), done.output
        assert "damping" in done.stderr

"""Output of the commands, and the files that they write."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from shlex import quote

import pytest

from rbdc.cli.commands import main
from rbdc.errors import OptionError
from rbdc.resources import path_of, resolve, robot_names
from tests.cli.test_bad_input import run
from tests.support_urdf import joint, link, pair, robot

QUICK = ("--functions", "nle", "--cflags", "-O0")


@pytest.mark.parametrize("command", ["build", "compare", "benchmark", "info", "list", "clean"])
def test_help_shows_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: rbdc {command}" in result.output


@pytest.mark.parametrize("arguments", [["info", "panda", "--mimic", "coupled"], ["list", "--json"]])
def test_examples_of_the_help_work(arguments: list[str]) -> None:
    assert f"Example: rbdc {' '.join(arguments)}" in run(arguments[0], "--help").output
    assert run(*arguments).exit_code == 0


def test_build_prints_a_table_and_plain_progress(tmp_path: Path) -> None:
    path = tmp_path / "my_pendulum.urdf"
    shutil.copy(resolve("double_pendulum"), path)
    result = run("build", str(path), *QUICK, "--out", str(tmp_path))
    assert result.exit_code == 0
    for text in ("my_pendulum: ", "function", "operations", "code bytes", "stack bytes", "nle"):
        assert text in result.stdout
    assert "warning:" in result.stderr
    assert "2 joints have damping; rnea does not include it" in result.stderr
    assert "\x1b" not in result.output


def test_folders_in_brackets_are_no_markup(tmp_path: Path) -> None:
    out = tmp_path / "[bold]"
    result = run("build", "double_pendulum", *QUICK, "--out", str(out))
    assert result.exit_code == 0
    assert "[bold]" in "".join(result.stdout.splitlines())


def test_build_json(tmp_path: Path) -> None:
    result = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path), "--json")
    (built,) = json.loads(result.stdout)
    assert (built["name"], built["directory"]) == ("double_pendulum", str(tmp_path / "double_pendulum"))
    (figures,) = built["functions"]
    assert figures["name"] == "nle"
    assert figures["operations"] == sum(
        figures[k] for k in ("additions", "multiplications", "divisions", "calls")
    )
    assert figures["code_bytes"] > 0
    assert (
        json.loads(run("build", "double_pendulum", *QUICK, "--out", str(tmp_path), "--json").stdout)[0][
            "cached"
        ]
        is True
    )


def test_march(tmp_path: Path) -> None:
    done = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path), "--march", "portable", "--json")
    (result,) = json.loads(done.stdout)
    variants = {variant["name"]: variant["code_bytes"] for variant in result["variants"]}
    assert "baseline" in variants
    (figures,) = result["functions"]
    assert sum(variants.values()) == figures["code_bytes"] + figures["batch_code_bytes"]
    shown = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path), "--march", "portable").stdout
    assert len(variants) == 1 or f"code bytes by variant: baseline {variants['baseline']}, " in shown
    again = json.loads(run("build", "double_pendulum", *QUICK, "--out", str(tmp_path), "--json").stdout)
    assert [variant["name"] for variant in again[0]["variants"]] == ["native"]


@pytest.mark.parametrize("value", ["haswell", "", "Native", "portable,native"])
def test_bad_march(tmp_path: Path, value: str) -> None:
    result = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path / "out"), "--march", value)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"rbdc: error: --march {quote(value)}: ")
    assert result.stderr.endswith("there are native, portable\n")
    assert not (tmp_path / "out").exists()


def test_several_builds(tmp_path: Path) -> None:
    result = run("build", "double_pendulum", "cartpole", *QUICK, "--out", str(tmp_path), "--json")
    assert result.exit_code == 0, result.output
    assert [built["name"] for built in json.loads(result.stdout)] == ["double_pendulum", "cartpole"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cartpole", "double_pendulum"]


def test_several_builds_of_which_two_fail(tmp_path: Path) -> None:
    """Both are named, the third is built, and nothing is left of the two."""
    for name, text in (("one", pair('<axis xyz="0 0 0"/>')), ("two", "<robot>")):
        (tmp_path / f"{name}.urdf").write_text(text)
    out = tmp_path / "out"
    result = run(
        "build",
        str(tmp_path / "one.urdf"),
        "double_pendulum",
        str(tmp_path / "two.urdf"),
        *QUICK,
        "--out",
        str(out),
    )
    assert result.exit_code == 2
    errors = [line for line in result.stderr.splitlines() if line.startswith("rbdc: error: ")]
    assert len(errors) == 2
    assert "one.urdf:4: " in errors[0]
    assert "two.urdf:1: " in errors[1]
    assert "Traceback" not in result.output
    assert "nle" in result.stdout
    assert [p.name for p in out.iterdir()] == ["double_pendulum"]


def test_descriptions_that_would_share_a_folder(tmp_path: Path) -> None:
    for name in ("a-b", "a_b"):
        (tmp_path / f"{name}.urdf").write_text(pair())
    result = run(
        "build", str(tmp_path / "a-b.urdf"), str(tmp_path / "a_b.urdf"), "--out", str(tmp_path / "out")
    )
    assert result.exit_code == 2
    assert "would both become a_b" in result.stderr
    assert not (tmp_path / "out").exists()


def test_one_name_for_several(tmp_path: Path) -> None:
    result = run("build", "cartpole", "double_pendulum", "--name", "x", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "--name names one module" in result.stderr


def test_name(tmp_path: Path) -> None:
    assert run("build", "double_pendulum", *QUICK, "--name", "dp", "--out", str(tmp_path)).exit_code == 0
    assert [p.name for p in tmp_path.iterdir()] == ["dp"]


def test_info_shows_tree_joints_masses_and_warnings() -> None:
    result = run("info", "cartpole")
    assert result.exit_code == 0
    assert "nq 2, nv 2, 2 moving bodies, 3 frames" in result.stdout
    for text in ("slideBar", "slider_to_cart", "prismatic", "cart_to_pole", "revolute"):
        assert text in result.stdout
    assert 'link "slideBar" has an inertia but no mass: used as written' in result.stderr


def test_info_json() -> None:
    data = json.loads(
        run("info", "panda", "--mimic", "coupled", "--root-joint", "free-flyer", "--json").stdout
    )
    assert (data["nq"], data["nv"]) == (15, 14)
    joints = {entry["name"]: entry for entry in data["joints"]}
    assert joints["root_joint"]["q"] == [0, 7]
    assert joints["panda_finger_joint2"]["follows"] == ["panda_finger_joint1", 1.0, 0.0]
    assert joints["panda_finger_joint2"]["v"] == joints["panda_finger_joint1"]["v"]
    assert joints["panda_joint1"]["upper"] == 2.8973
    assert any("damping" in warning for warning in data["warnings"])


def test_info_has_no_infinities_in_its_json(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(pair("", "continuous"))
    text = run("info", str(path), "--json").stdout
    assert json.loads(text)["joints"][0]["lower"] is None
    assert "Infinity" not in text


def test_list() -> None:
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == robot_names()
    assert "kuka_iiwa" in robot_names()
    listed = {entry["name"]: entry for entry in json.loads(run("list", "--json").stdout)}
    assert (listed["kuka_iiwa"]["nv"], listed["planar_floating"]["nq"]) == (7, 14)


@pytest.mark.parametrize("name", robot_names())
def test_names_stand_for_files(name: str) -> None:
    assert resolve(name).stem == name
    assert path_of(name) == resolve(name)
    assert resolve(str(resolve(name))) == resolve(name)


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(OptionError, match="did you mean kuka_iiwa"):
        resolve("kuka_iwa")
    with pytest.raises(OptionError, match="no robot kuka_iwa ships with rbdc; did you mean kuka_iiwa"):
        path_of("kuka_iwa")
    with pytest.raises(OptionError, match="no robot .* ships with rbdc"):
        path_of(str(resolve("kuka_iiwa")))


def test_clean_removes_only_what_rbdc_made(tmp_path: Path) -> None:
    run("build", "double_pendulum", *QUICK, "--out", str(tmp_path))
    for name, text in (("notes", "hello"), ("other", '{"generator": "someone"}')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text(text)
    (tmp_path / "file.txt").write_text("kept")
    result = run("clean", "--out", str(tmp_path), "--json")
    assert json.loads(result.stdout) == {
        "removed": [str(tmp_path / "double_pendulum")],
        "kept": {},
        "tracked": [],
        "cached_artefacts": 0,
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file.txt", "notes", "other"]


def test_clean_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    run("build", "double_pendulum", *QUICK, "--out", str(tmp_path / "out"))
    assert (
        json.loads(run("clean", "--out", str(tmp_path / "nowhere"), "--cache", "--json").stdout)[
            "cached_artefacts"
        ]
        > 0
    )
    assert (tmp_path / "out" / "double_pendulum" / "manifest.json").is_file()
    again = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path / "out"), "--json")
    assert json.loads(again.stdout)[0]["cached"] is False


def test_names_beyond_the_terminal_s_encoding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(robot(link("base"), link("caf\u00e9"), joint("j", "base", "caf\u00e9")), encoding="utf-8")
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["rbdc", "info", str(path)])
    with pytest.raises(SystemExit) as caught:
        main()
    sys.stdout.flush()
    assert caught.value.code == 0
    assert b"caf\\xe9" in raw.getvalue()


def test_info_shows_what_the_passes_save() -> None:
    result = run("info", "solo12", "--root-joint", "free-flyer", "--passes")
    assert result.exit_code == 0, result.output
    for words in ("z-axes", "regrouping", "frame search", "in 4 lanes: the limbs that begin with"):
        assert words in result.output
    data = json.loads(run("info", "kuka_iiwa", "--passes", "--json").stdout)
    counts = [stage["operations"]["rnea"] for stage in data["passes"]]
    assert counts == sorted(counts, reverse=True)
    assert data["limbs"] == []


def test_build_with_fused_functions(tmp_path: Path) -> None:
    result = run(
        "build",
        "double_pendulum",
        "--functions",
        "rnea",
        "--fuse",
        "aba,minverse",
        "--fuse",
        "nle,crba",
        "--out",
        str(tmp_path),
    )
    assert result.exit_code == 0
    names = list(json.loads((tmp_path / "double_pendulum" / "manifest.json").read_text())["functions"])
    assert names == ["rnea", "aba_and_minverse", "nle_and_crba"]
    refused = run("build", "double_pendulum", "--fuse", "rnea,jacobian", "--out", str(tmp_path / "other"))
    assert refused.exit_code == 2
    assert "no function 'jacobian'" in refused.stderr
    assert not (tmp_path / "other").exists()

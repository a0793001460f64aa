"""Builds into folders that exist: functions of an older package, files that git tracks."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest

import rbdc
from rbdc.errors import OptionError
from rbdc.native.install import remove_packages
from rbdc.native.tracked import tracked
from tests.cli.test_bad_input import run

GIT = shutil.which("git") or ""
needs_git = pytest.mark.skipif(not GIT, reason="no git")


def build(out: Path, robot: Any = "double_pendulum", **options: Any) -> tuple[Any, list[str]]:
    """Return the module of a quick build, and the warnings."""
    quick: dict[str, Any] = {"cflags": "-O0", "targets": "c", "verify": False, "jobs": 1, "out": out}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", rbdc.RbdcWarning)
        module = rbdc.build(robot, **quick | options)
    return module, [str(warning.message) for warning in caught if warning.category is rbdc.RbdcWarning]


def test_a_build_says_what_it_replaces(tmp_path: Path) -> None:
    folder = tmp_path / "double_pendulum"
    assert build(tmp_path, functions="nle,crba")[1] == []
    (warning,) = build(tmp_path, functions="com")[1]
    assert warning == f"{folder}: this build removes nle, crba; `add=True` keeps them"
    assert build(tmp_path, functions="com")[1] == []
    assert build(tmp_path, functions="com,nle")[1] == [], "nothing is lost"
    (warning,) = build(tmp_path, functions="com", gravity="0 0 -1.6")[1]
    assert "this build removes nle;" in warning
    assert warning.endswith("; another `out` or `name` keeps both packages")


def test_additions_keep_what_is_there(tmp_path: Path) -> None:
    build(tmp_path, functions="nle", targets="c,batch", fuse="nle,com")
    module, told = build(tmp_path, functions="crba", add=True)
    assert told == []
    assert set(module.functions) > {"nle", "crba"} and len(module.functions) == 3, "the fused one is there"
    manifest = json.loads((tmp_path / "double_pendulum" / "manifest.json").read_text())
    assert manifest["options"]["targets"] == ["c", "batch"]
    assert module.crba(module.q_neutral).shape == (2, 2)
    again = run("build", "double_pendulum", "--functions", "crba", "--cflags", "-O0", "--targets", "c",
                "--no-verify", "--add", "--json", "--out", str(tmp_path))  # fmt: skip
    assert json.loads(again.stdout)[0]["cached"], "the same addition once more changes nothing"


def test_an_addition_of_a_target_alone_adds_no_functions(tmp_path: Path) -> None:
    build(tmp_path, functions="nle")
    module, told = build(tmp_path, targets="c,batch", add=True)
    assert (module.functions, told) == (("nle",), [])
    assert build(tmp_path / "new", functions="nle", add=True)[0].functions == ("nle",), "nothing is there yet"


def test_the_advice_about_a_function_that_is_not_there_keeps_the_others(tmp_path: Path) -> None:
    module, _ = build(tmp_path, functions="nle,com")
    with pytest.raises(AttributeError) as caught:
        _ = module.crba
    union, addition, switch = re.findall("`(.*?)`", str(caught.value))
    assert (union, switch) == ("functions='nle,com,crba'", "add=True")
    name, _, value = addition.partition("=")
    module, told = build(tmp_path, **{name: value.strip("'")}, add=True)
    assert (set(module.functions), told) == ({"nle", "com", "crba"}, [])


def test_additions_to_another_package_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.urdf"
    shutil.copy(rbdc.resources.resolve("double_pendulum"), path)
    build(tmp_path, path, functions="nle")
    before = (tmp_path / "one" / "manifest.json").read_bytes()
    for options, name in (({"damping": "include"}, "damping"), ({"frame": "tip@link2:0 0 1"}, "frame")):
        expected = f"`add=True` keeps functions of the same .* another value of `{name}`; give the same"
        with pytest.raises(OptionError, match=expected):
            build(tmp_path, path, functions="com", add=True, **options)
    refused = run("build", str(path), "--gravity", "0", "0", "-1", "--add", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "another value of --gravity; give the same model and options, or leave out --add" in refused.stderr
    path.write_text(path.read_text().replace("0.26703", "0.3"))
    with pytest.raises(OptionError, match="built from another description, or from this one before a"):
        build(tmp_path, path, functions="com", add=True)
    assert (tmp_path / "one" / "manifest.json").read_bytes() == before


def git(folder: Path, *words: str) -> str:
    """Return the output of git, for nobody in particular."""
    who = ("-c", "user.name=n", "-c", "user.email=e")
    return subprocess.run([GIT, *who, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def committed(out: Path) -> Path:
    """Return a repository that tracks a package."""
    build(out, functions="nle")
    git(out, "init", "--quiet")
    (out / ".gitignore").write_text("*.so\n__pycache__/\n")
    git(out, "add", ".")
    git(out, "commit", "--quiet", "-m", "a package")
    return out / "double_pendulum"


@needs_git
def test_a_package_that_git_tracks_is_replaced_by_force_alone(tmp_path: Path) -> None:
    folder = committed(tmp_path)
    message = f"{folder}: git tracks CMakeLists.txt, .* and [0-9]+ more; `force=True` replaces it, another"
    with pytest.raises(OptionError, match=message):
        build(tmp_path, functions="com")
    refused = run("build", "double_pendulum", "--functions", "com", "--out", str(tmp_path))
    assert refused.exit_code == 2 and "; --force replaces it, another --out keeps it" in refused.stderr
    assert git(tmp_path, "status", "--porcelain") == ""
    build(tmp_path, functions="nle")  # the build changes no tracked file
    assert git(tmp_path, "status", "--porcelain") == ""
    assert build(tmp_path / "double_pendulum", functions="com")[0].functions == ("com",), "a folder within"
    assert build(tmp_path, functions="com", force=True)[0].functions == ("com",)
    assert "double_pendulum_nle.c" in git(tmp_path, "status", "--porcelain")


@needs_git
def test_files_that_git_does_not_track_are_replaced(tmp_path: Path) -> None:
    folder = committed(tmp_path)
    (folder / "notes").write_text("mine")
    git(tmp_path, "rm", "-r", "--cached", "--quiet", "double_pendulum")
    git(tmp_path, "add", "double_pendulum/notes")
    git(tmp_path, "commit", "--quiet", "-m", "notes of mine alone")
    build(tmp_path, functions="com")
    assert (folder / "notes").read_text() == "mine"


def test_without_git_nothing_is_tracked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    assert tracked(tmp_path / "nowhere", {"file"}) == tracked(tmp_path, {"file"}) == []
    (tmp_path / ".git").mkdir()
    assert tracked(tmp_path, {"file"}) == [], "git says that this is no repository"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert tracked(tmp_path, {"file"}) == [], "there is no git"


@needs_git
def test_cleaning_leaves_what_git_tracks(tmp_path: Path) -> None:
    folder = committed(tmp_path)
    build(tmp_path, "cartpole", functions="nle")
    done = remove_packages(tmp_path)
    assert (done.removed, done.tracked, done.kept) == ([tmp_path / "cartpole"], [folder], {})
    cleaned = run("clean", "--out", str(tmp_path))
    assert (cleaned.exit_code, f"kept {folder}, which git tracks" in cleaned.stdout) == (0, True)
    assert git(tmp_path, "status", "--porcelain") == ""


@needs_git
@pytest.mark.slow
def test_a_wheel_that_git_tracks_is_replaced_by_force_alone(tmp_path: Path) -> None:
    command = ["wheel", "double_pendulum", "--cflags", "-O0", "--no-verify", "--out", str(tmp_path)]
    assert run(*command, "--functions", "nle").exit_code == 0
    (wheel,) = tmp_path.glob("*.whl")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    refused = run(*command, "--functions", "com")
    assert refused.exit_code == 2 and f"{wheel}: git tracks {wheel.name}; " in refused.stderr
    assert run(*command, "--functions", "com", "--force").exit_code == 0

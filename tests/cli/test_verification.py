"""Builds whose compiler gives wrong code: what they say, their exit status, and that nothing of it is
installed or kept.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import rbdc
from rbdc.cli.commands import commands
from rbdc.errors import VerificationError
from rbdc.native.toolchain import find_compiler

QUICK = ("--functions", "nle,rnea", "--targets", "c", "--cflags", "-O0")
MESSAGE = (
    r"^rbdc: error: .*double_pendulum\.urdf: nle does not agree with the reference algorithm: "
    r"called with single samples \(state: [^,]+\), tau\[\d\] is \S+, not \S+, "
    r"an error of \S+ times the tolerance; nothing was installed\. "
    r"This is a fault of rbdc, or of the compiler or its flags: "
    r"please report it with the description, the options and the compiler, .+\n$"
)


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and a folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A compiler that has gravity at 9.82 in one function of one robot."""
    script = tmp_path / "wrong"
    change = 'for word; do case "$word" in double_pendulum_nle.c) sed -i s/9[.]81/9.82/ "$word";; esac; done'
    script.write_text(f'#!/bin/sh\n{change}\nexec {find_compiler("gcc").path} "$@"\n')
    script.chmod(0o755)
    return script


def build(tmp_path: Path, *options: str, robots: tuple[str, ...] = ("double_pendulum",)) -> Result:
    """Return the command, in this process."""
    return CliRunner().invoke(commands, ["build", *robots, *QUICK, "--out", str(tmp_path / "out"), *options])


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, but those that locks leave."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "locks"
    }


@contextmanager
def nothing_left_in_this_process() -> Iterator[None]:
    """No generated module stays loaded."""
    before = set(sys.modules)
    yield
    assert not [name for name in set(sys.modules) - before if name.startswith("_rbdc_generated_")]


def test_wrong_code_is_refused(tmp_path: Path, store: Path, wrong: Path) -> None:
    with nothing_left_in_this_process():
        result = build(tmp_path, "--cc", str(wrong))
    assert result.exit_code == 3
    assert result.stdout == ""
    *progress, message = result.stderr.splitlines(keepends=True)
    assert all(line.startswith("double_pendulum: ") for line in progress)
    assert re.match(MESSAGE, message), message
    assert not (tmp_path / "out").exists()
    assert files(store) == {}
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_earlier_package_is_untouched(tmp_path: Path, store: Path, wrong: Path) -> None:
    done = build(tmp_path)
    assert done.exit_code == 0, done.output
    out, cached = files(tmp_path / "out"), files(store)
    result = build(tmp_path, "--cc", str(wrong))
    assert result.exit_code == 3
    assert files(tmp_path / "out") == out
    assert files(store) == cached, "and so is what it came from"


def test_a_mended_compiler_is_asked_again(tmp_path: Path, wrong: Path) -> None:
    """Though its path, its version and the C are the same."""
    assert build(tmp_path, "--cc", str(wrong)).exit_code == 3
    wrong.write_text(wrong.read_text().replace("9.82", "9.81"))
    assert build(tmp_path, "--cc", str(wrong)).exit_code == 0


def test_without_verification_it_is_installed(tmp_path: Path, wrong: Path) -> None:
    result = build(tmp_path, "--cc", str(wrong), "--no-verify")
    assert result.exit_code == 0, result.output
    assert "not verified" in result.stdout
    folder = tmp_path / "out" / "double_pendulum"
    assert json.loads((folder / "manifest.json").read_text())["verified"] is False
    module = rbdc.load(folder)
    assert module.nle([1.0, 0.0], [0.0, 0.0])[0] != module.rnea([1.0, 0.0], [0.0, 0.0], [0.0, 0.0])[0]


def test_what_was_not_verified_does_not_count_as_verified(tmp_path: Path, wrong: Path) -> None:
    assert build(tmp_path, "--cc", str(wrong), "--no-verify").exit_code == 0
    package = files(tmp_path / "out")
    assert build(tmp_path, "--cc", str(wrong)).exit_code == 3
    assert files(tmp_path / "out") == package


def test_json_has_the_errors(tmp_path: Path) -> None:
    with nothing_left_in_this_process():
        (built,) = json.loads(build(tmp_path, "--json").stdout)
    assert set(built["errors"]) == {"nle", "rnea"}
    assert all(0.0 < error < 1.0 for error in built["errors"].values())
    assert built["verification_seconds"] > 0.0
    assert (
        json.loads((tmp_path / "out" / "double_pendulum" / "manifest.json").read_text())["verified"] is True
    )
    (unverified,) = json.loads(build(tmp_path, "--json", "--no-verify").stdout)
    assert unverified["errors"] is None


def test_what_comes_from_the_cache_is_not_verified_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = build(tmp_path)
    assert done.exit_code == 0, done.output

    def refuse(*_: object) -> dict[str, float]:
        raise VerificationError("asked again")

    monkeypatch.setattr("rbdc.verification.package.verify_package", refuse)
    result = build(tmp_path, "--json")
    assert result.exit_code == 0
    (built,) = json.loads(result.stdout)
    assert (built["cached"], built["errors"], built["verification_seconds"]) == (True, None, 0.0)
    assert build(tmp_path, "--force").exit_code == 3


def test_of_several_the_others_are_built(tmp_path: Path, store: Path, wrong: Path) -> None:
    result = build(
        tmp_path, "--cc", str(wrong), robots=("cartpole", "double_pendulum", "double_pendulum_continuous")
    )
    assert result.exit_code == 3
    errors = [line for line in result.stderr.splitlines() if line.startswith("rbdc: error: ")]
    assert len(errors) == 1 and "double_pendulum.urdf: nle does not agree" in errors[0]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "cartpole",
        "double_pendulum_continuous",
    ]
    manifests = [json.loads(path.read_text())["name"] for path in store.rglob("manifest.json")]
    assert sorted(manifests) == ["cartpole", "double_pendulum_continuous"]
    assert list((store / "scratch").iterdir()) == []


def test_what_is_cached_knows_nothing_of_where_it_was_verified(tmp_path: Path, store: Path) -> None:
    """The folder that it was made in is gone: no file names it, bytecode least of all."""
    done = build(tmp_path)
    assert done.exit_code == 0, done.output
    assert [
        name for name, content in files(store).items() if str(store / "scratch").encode() in content
    ] == []
    assert not list(store.rglob("__pycache__"))

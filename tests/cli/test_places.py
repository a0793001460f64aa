"""Folders, caches and output that are not as they should be: files of the user's, files that are lost, places
that cannot be written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

import rbdc
from tests.cli.test_bad_input import run

QUICK = ("--functions", "nle", "--cflags", "-O0")


def build(out: Path, *options: str) -> Result:
    """Return a small robot, built."""
    result = run("build", "double_pendulum", *QUICK, "--out", str(out), *options)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "store"))
    return tmp_path / "store"


def test_a_rebuild_and_clean_spare_what_the_user_has_there(tmp_path: Path) -> None:
    build(tmp_path)
    folder = tmp_path / "double_pendulum"
    (folder / "notes.txt").write_text("years of work")
    (folder / "double_pendulum_nle.c").write_text("edited")
    (folder / "__pycache__").mkdir(exist_ok=True)
    again = build(tmp_path, "--targets", "c")
    assert (
        f"warning: {folder / 'double_pendulum_nle.c'} was edited, or not written by rbdc: "
        "kept as double_pendulum_nle.c.orig" in again.stderr
    )
    assert f"warning: {folder}: rbdc leaves files that it did not write: notes.txt" in again.stderr
    assert rbdc.load(folder).nle([0.1, 0.2], [0.0, 0.0]).shape == (2,)
    cleaned = run("clean", "--out", str(tmp_path))
    assert cleaned.exit_code == 0
    assert (
        f"removed {folder}\nkept in {folder}, added or edited by you: double_pendulum_nle.c.orig, notes.txt\n"
        in cleaned.stdout
    )
    assert sorted(p.name for p in folder.iterdir()) == ["double_pendulum_nle.c.orig", "notes.txt"]
    assert (folder / "notes.txt").read_text() == "years of work"


def test_the_manifest_lists_every_other_file(tmp_path: Path) -> None:
    build(tmp_path)
    folder = tmp_path / "double_pendulum"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {*manifest["files"], "manifest.json"} == {p.name for p in folder.iterdir()}


def test_a_foreign_folder_is_refused_before_anything_is_made(tmp_path: Path, store: Path) -> None:
    (tmp_path / "double_pendulum").mkdir()
    (tmp_path / "double_pendulum" / "thesis.tex").write_text("years of work")
    result = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert not store.exists()


def test_clean_tells_of_packages_that_it_cannot_be_sure_of(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "manifest.json").write_text('{"generator": "rbdc"}')
    result = run("clean", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "0 packages, 0 cached artefacts removed" in result.stdout
    assert len(result.stderr.splitlines()) == 1
    assert "has no manifest.json by which rbdc tells its files from yours" in result.stderr


def test_clean_where_nothing_can_be_removed(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    build(out)

    def read_only(path: Path, **_: object) -> None:
        raise OSError(30, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "unlink", read_only)
    monkeypatch.setattr("shutil.rmtree", read_only)
    result = run("clean", "--out", str(out), "--cache", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout) == {"removed": [], "kept": {}, "tracked": [], "cached_artefacts": 0}
    (message,) = result.stderr.splitlines()
    assert message.startswith(f"rbdc: error: cannot remove {out / 'double_pendulum'}: Read-only file system")
    assert f"cannot empty the cache: {store}" in message


def test_a_cache_that_cannot_be_written_cannot_be_forced(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path / "out")

    def read_only(*_: object, **__: object) -> str:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("tempfile.mkdtemp", read_only)
    build(tmp_path / "out")
    result = run("build", "double_pendulum", *QUICK, "--out", str(tmp_path / "out"), "--force")
    assert result.exit_code == 2
    assert "cannot write the cache" in result.stderr


@pytest.mark.parametrize(
    ("command", "unbuffered"),
    [(["list"], ""), (["list", "--json"], "1"), (["info", "cartpole"], ""), (["--help"], "")],
)
def test_a_full_device_behind_standard_output(
    command: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rbdc", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    *warnings, message = done.stderr.splitlines()
    assert message == "rbdc: error: cannot write the output: No space left on device"
    assert all(line.startswith("warning: ") for line in warnings)


def test_a_full_device_behind_standard_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rbdc", "info", "nothing"],
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_closed_pipe_is_no_fault() -> None:
    """A command before `head` prints no error, and does not end with the exit status of a comparison."""
    with subprocess.Popen(
        [sys.executable, "-m", "rbdc", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141

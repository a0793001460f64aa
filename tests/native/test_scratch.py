"""Folders for work in progress, and what killed processes leave of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from rbdc.errors import OptionError
from rbdc.native.scratch import scratch, sweep, sweep_temporary, temporary

CODE = """
import sys
from pathlib import Path
from rbdc.native.scratch import scratch
with scratch(Path(sys.argv[1]), ".robot.", ".new") as folder:
    (folder / "half").write_text("x")
    print("ready", flush=True)
    sys.stdin.read()
"""


def owner(parent: Path) -> subprocess.Popen[str]:
    """Return a process that works in a scratch folder until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_only_what_nobody_owns_is_swept(tmp_path: Path) -> None:
    with owner(tmp_path) as process:
        assert len(list(tmp_path.iterdir())) == 1
        sweep(tmp_path, ".*.", ".new")
        assert len(list(tmp_path.glob(".robot.*/work/half"))) == 1, "its owner is at work"
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert len(list(tmp_path.glob(".robot.*/work/half"))) == 1
        sweep(tmp_path, ".other.", ".new")
        assert len(list(tmp_path.iterdir())) == 1
        sweep(tmp_path, ".*.", ".new")
    assert list(tmp_path.iterdir()) == []


def test_the_next_user_of_the_place_sweeps(tmp_path: Path) -> None:
    with owner(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
    with scratch(tmp_path, ".robot.", ".new"):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_leftover_is_gone_before_its_lock_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An owner may have opened the lock of its new folder, and wait for it: it must not get what goes."""
    with owner(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
    listings = []

    class Watched(FileLock):
        def _release(self) -> None:
            listings.append(list(tmp_path.iterdir()))
            super()._release()

    monkeypatch.setattr("rbdc.native.scratch.FileLock", Watched)
    sweep(tmp_path, ".*.", ".new")
    assert listings == [[]]


@pytest.mark.parametrize("kind", ["no_lock", "pipe", "link", "file"])
def test_what_has_no_lock_is_nobody_s_leftover(kind: str, tmp_path: Path) -> None:
    target = tmp_path / ".robot.abcdefgh.new"
    if kind == "file":
        target.write_text("mine")
    elif kind == "link":
        (tmp_path / "real").mkdir()
        (tmp_path / "real" / "rbdc.lock").write_text("")
        target.symlink_to(tmp_path / "real")
    else:
        target.mkdir()
        (target / "mine").write_text("mine")
        if kind == "pipe":
            os.mkfifo(target / "rbdc.lock")
    sweep(tmp_path, ".*.", ".new")
    assert target.exists()


def test_what_is_moved_out_stays(tmp_path: Path) -> None:
    with scratch(tmp_path / "store") as folder:
        (folder / "file").write_text("x")
        folder.rename(tmp_path / "kept")
    assert (tmp_path / "kept" / "file").read_text() == "x"
    assert list((tmp_path / "store").iterdir()) == []


def test_temporary_files_are_swept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = CODE.replace("import scratch", "import temporary").replace(
        'scratch(Path(sys.argv[1]), ".robot.", ".new")', "temporary()"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        sweep_temporary()
        assert len(list(tmp_path.iterdir())) == 1
        process.kill()
        process.wait()
        sweep_temporary()
    assert list(tmp_path.iterdir()) == []


def test_no_place_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(OptionError, match="cannot make a temporary folder: .*; set TMPDIR"), temporary():
        pass

"""Builds that are stopped: what they print, their exit status, and that nothing is left, neither processes
nor folders.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

TALKING = "import rbdc.progress; rbdc.progress.LATE = 0.0; from rbdc.__main__ import main; main()"
"""The command line that tells of progress at once where there is no terminal."""
SINGLE, SEVERAL = ("g1_29dof",), ("g1_29dof", "atlas", "hyq")


@contextmanager
def building(folder: Path, robots: tuple[str, ...], *options: str) -> Iterator[subprocess.Popen[str]]:
    """A build that takes long, in a session of its own; begun when this begins."""
    environment = {**os.environ, "RBDC_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "temporary")}
    (folder / "temporary").mkdir(exist_ok=True)
    command = [
        sys.executable,
        "-c",
        TALKING,
        "build",
        *robots,
        "--preset",
        "full",
        "--jobs",
        "2",
        "--out",
        str(folder / "out"),
        *options,
    ]
    # A shell that runs the tests in the background has children ignore SIGINT, which they would inherit.
    command = ["env", "--default-signal=INT", *command]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as process:
        assert process.stderr is not None
        try:
            assert process.stderr.readline(), "it has begun"
            yield process
        finally:
            for left in alive(process.pid):
                os.kill(left, signal.SIGKILL)


def alive(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, member = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue  # it has just ended
            if int(member) == session and state != "Z":
                processes.append(int(entry.name))
    return processes


def wait_until(condition: object, seconds: float = 30.0) -> None:
    """Wait for what must come about; a busy machine may take its time."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def leftovers(folder: Path) -> list[str]:
    """Return names of all that is left beside the artefacts of the cache."""
    places = [folder / "cache" / "scratch", folder / "temporary", folder / "out"]
    return sorted(
        str(entry.relative_to(folder)) for place in places if place.is_dir() for entry in place.iterdir()
    )


@pytest.mark.parametrize(
    ("number", "robots", "everyone"),
    [
        (signal.SIGINT, SINGLE, True),
        (signal.SIGINT, SEVERAL, True),
        (signal.SIGINT, SEVERAL, False),
        (signal.SIGTERM, SINGLE, False),
        (signal.SIGTERM, SEVERAL, False),
    ],
)
def test_stopping_is_clean(
    number: signal.Signals, robots: tuple[str, ...], everyone: bool, tmp_path: Path
) -> None:
    """`everyone`: as a terminal does, which signals the whole group; else as `kill` does."""
    status, word = (130, "interrupted") if number == signal.SIGINT else (143, "terminated")
    with building(tmp_path, robots) as process:
        wait_until(lambda: len(alive(process.pid)) > 1)  # helpers have begun
        time.sleep(0.5)
        (os.killpg if everyone else os.kill)(process.pid, number)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == status
        *progress, last = errors.splitlines()
        assert last == word
        assert all(line.startswith(("g1_29dof: ", "3 robots: ")) for line in progress), errors
        wait_until(lambda: not alive(process.pid), 5.0)
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "out").exists()


def test_compilers_are_ended_too(tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *-c*) touch {tmp_path}/compiling; sleep 600;; *) exec cc "$@";; esac\n'
    )
    compiler.chmod(0o755)
    with building(tmp_path, ("double_pendulum",), "--cc", str(compiler)) as process:
        wait_until((tmp_path / "compiling").exists)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors.splitlines()[-1]) == (130, "interrupted")
        wait_until(lambda: not alive(process.pid), 5.0)
    assert leftovers(tmp_path) == []


def test_code_that_does_not_return_is_ended_too(tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    change = "for w; do case $w in double_pendulum_nle.c) sed -i 's/^}/for (;;) {}}/' $w;; esac; done"
    compiler.write_text(f'#!/bin/sh\n{change}\nexec cc "$@"\n')
    compiler.chmod(0o755)
    options = ("--functions", "nle", "--cflags", "-O0", "--cc", str(compiler))
    with building(tmp_path, ("double_pendulum",), *options) as process:
        assert process.stderr is not None
        while "verifying" not in process.stderr.readline():
            assert process.poll() is None
        wait_until(lambda: len(alive(process.pid)) > 1)  # the one that calls
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors.splitlines()[-1]) == (130, "interrupted")
        wait_until(lambda: not alive(process.pid), 5.0)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(("robots", "after"), [(SEVERAL, "build"), (SINGLE, "clean")])
def test_the_next_command_sweeps_what_a_killed_build_left(
    robots: tuple[str, ...], after: str, tmp_path: Path
) -> None:
    def is_caught() -> bool:
        """Return whether the build, which stands still then, has something that it would sweep itself."""
        os.killpg(process.pid, signal.SIGSTOP)
        if leftovers(tmp_path):
            return True
        os.killpg(process.pid, signal.SIGCONT)
        return False

    with building(tmp_path, robots) as process:
        wait_until(is_caught)
        process.kill()
        os.killpg(process.pid, signal.SIGCONT)  # helpers of the build
        process.communicate()
        wait_until(lambda: not alive(process.pid))  # helpers end with the process that they help
    assert leftovers(tmp_path)
    environment = {**os.environ, "RBDC_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "temporary")}
    small = ["build", "double_pendulum", "--functions", "nle", "--cflags", "-O0"]
    command = [
        sys.executable,
        "-m",
        "rbdc",
        *{"build": small, "clean": ["clean"]}[after],
        "--out",
        str(tmp_path / "out"),
    ]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert leftovers(tmp_path) == (["out/double_pendulum"] if after == "build" else [])

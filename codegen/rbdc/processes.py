"""Processes that rbdc starts, each ended together with all that it has started in turn.

A process gets a group of its own, so that a Ctrl-C at the terminal reaches only the process that the user
started, which then ends the others. Helpers ignore interrupts; what they start stays in their group, and one
signal reaches all of it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_RUNNING: set[subprocess.Popen[bytes]] = set()
"""Processes that `run` waits for, in any thread."""


def start(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a process; `how`: streams and the like, as for Popen. Raises OSError where that fails."""
    inside = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return subprocess.Popen(command, process_group=None if inside else 0, **how)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group, unless it has ended by itself."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # it has no group of its own
            process.kill()


def run(
    command: Sequence[str], folder: Path | None = None, seconds: float | None = None
) -> tuple[int, str, str]:
    """Run a command in `folder`, which also takes its temporary files; exit status, output, error output.

    An interrupt ends it, and so does the time limit, if there is one. Raises OSError where it cannot be
    started, subprocess.TimeoutExpired at the limit.
    """
    environment: Mapping[str, str] = (
        os.environ if folder is None else {**os.environ, "TMPDIR": str(folder.absolute())}
    )
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(command, cwd=folder, env=environment, **streams) as process:
        _RUNNING.add(process)
        try:
            output, errors = process.communicate(timeout=seconds)
        finally:
            _RUNNING.discard(process)
            end(process)
    return process.returncode, output.decode(errors="replace"), errors.decode(errors="replace")


def end_all() -> None:
    """End all processes that `run` waits for, in any thread."""
    for process in list(_RUNNING):
        end(process)

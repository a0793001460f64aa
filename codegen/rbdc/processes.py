"""Processes that rbdc starts, and a pool of worker processes (helpers). When rbdc ends a process, it also
ends everything that the process has started. In the pool each process takes the next task when it has
finished one.

A process gets its own process group. So a Ctrl-C at the terminal reaches only the process that the user
started, which then ends the others. Helpers ignore interrupts. The children of a helper stay in its group, so
one signal ends them all.

The pool is rbdc's own, because no library provides everything that a build needs. The helpers of
`concurrent.futures` and `multiprocessing` run the caller's script again if the script has no guard
(`if __name__ == "__main__"`). The helpers of loky do not. But if one helper of loky is killed, all tasks of
the pool fail: if one of several robots ran out of memory, the build would lose all of them. In all three
libraries the calling process only waits for helpers, which start in half a second: longer than all the work
on a small robot.

A helper is a new Python process that imports rbdc. It reads pickles from its standard input: the function,
then one task after the other. Its answers are None once it is ready, then the pair (result, error) for each
task.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, Generic, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_RUNNING: set[subprocess.Popen[bytes]] = set()
"""Processes that `run` waits for, in all threads."""

MOST = 8
"""Largest number of processes at once. A helper takes 150 MB and half a second before its first task."""

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from rbdc.processes import serve; serve()"
)
_CANNOT_BE_SENT = (pickle.PickleError, AttributeError, TypeError)
"""Errors of pickle for an object that it cannot send; the type depends on the object."""


def start(command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a process. how: streams and other arguments of Popen. Raises OSError if the start fails."""
    inside = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return subprocess.Popen(command, process_group=None if inside else 0, **how)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group unless it has ended."""
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # it does not have its own group
            process.kill()


def run(
    command: Sequence[str], folder: Path | None = None, seconds: float | None = None
) -> tuple[int, str, str]:
    """Run a command in `folder`, which also holds its temporary files. Return its exit status, output and
    error output.

    An interrupt or the time limit ends the command. Raises OSError if the command cannot be started, and
    subprocess.TimeoutExpired at the limit.
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
    """End all processes that `run` waits for, in all threads."""
    for process in list(_RUNNING):
        end(process)


def spread(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    processes: int,
    done: Callable[[Task], None] = lambda _: None,
    lost: Callable[[Task], Result] | None = None,
) -> list[Result]:
    """Return [work(task) for task in tasks], computed by this process and helpers, `processes` in all.

    Tasks are started in order, so the longest should come first. `done` is called with each task that has a
    result, from several threads. This process does the tasks that failed on a helper because the helper was
    killed or pickle could not send them. Raises the error of the first task that failed; no task is started
    after a failure.

    With `lost`, helpers work alone and this process only waits, so that it reacts to an interrupt at once: it
    ends the helpers and all their children. A task that a helper could not do is not tried again,
    because it might end this process too; its result is lost(task).
    """
    helpers = min(processes, MOST, len(tasks)) - (lost is None)
    return _Pool(work, tasks, done, lost).results(helpers)


class HelperEnded(Exception):
    """A helper ended by itself or could not be started. status: its exit status; a negative number is the
    signal that ended it.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class NotSent(TypeError):
    """Pickle cannot send a task or its result; the helper goes on."""


class Helper(Generic[Task, Result]):
    """A process that does the same work on one task after the other, as a context manager. Call the object
    with a task. If a task ends the process, the call raises HelperEnded.

    The constructor starts the process without waiting for it, and raises HelperEnded if that fails. If `work`
    is an object, the helper keeps its state from task to task. how: streams and other arguments of Popen.
    """

    def __init__(self, work: Callable[[Task], Result], **how: Any) -> None:
        command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)]
        try:
            self.process = start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        except OSError as error:
            raise HelperEnded(error.errno or 1) from error
        self._work, self.ready = work, False

    def __enter__(self) -> Self:
        return self

    def prepare(self) -> None:
        """Wait until the helper is ready for tasks. Raises the errors of `_ask`."""
        if not self.ready:
            self._ask(self._work)
            self.ready = True

    def __call__(self, task: Task) -> Result:
        """Return the result of a task. Raises the task's error, HelperEnded or NotSent."""
        self.prepare()
        result, error = self._ask(task)
        if error is not None:
            raise error
        answer: Result = result
        return answer

    def _ask(self, message: object) -> Any:
        """Send a message and return the answer. Raises HelperEnded or NotSent."""
        tasks: Any = self.process.stdin
        answers: Any = self.process.stdout
        try:
            tasks.write(pickle.dumps(message))
            tasks.flush()
            return pickle.load(answers)
        except (OSError, EOFError, pickle.UnpicklingError) as lost:
            raise HelperEnded(self.process.wait()) from lost
        except _CANNOT_BE_SENT as refusal:
            raise NotSent(str(refusal)) from refusal

    def __exit__(self, *_: object) -> None:
        """End the helper, even during a task."""
        end(self.process)
        with suppress(BrokenPipeError), self.process:  # the helper may not have read the last message
            pass


class _Pool(Generic[Task, Result]):
    """One use of the pool: the waiting tasks, the results, and the helpers."""

    def __init__(
        self,
        work: Callable[[Task], Result],
        tasks: Sequence[Task],
        done: Callable[[Task], None],
        lost: Callable[[Task], Result] | None,
    ) -> None:
        self._work, self._tasks, self._tell, self._lost = work, tasks, done, lost
        self._waiting = deque(range(len(tasks)))
        self._done: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}
        self._helpers: list[Helper[Task, Result]] = []

    def results(self, helpers: int) -> list[Result]:
        """Return the results in the order of the tasks, computed by helpers and, without `lost`, by this
        process.
        """
        threads = [Thread(target=self._by_a_helper, daemon=True) for _ in range(helpers)]
        try:
            for thread in threads:
                thread.start()
            if self._lost is None:
                self._work_on_tasks(self._work)
                for helper in self._helpers:
                    if not helper.ready:  # no task is left for it
                        end(helper.process)
            for thread in threads:
                thread.join()
            self._work_on_tasks(self._lost or self._work)  # tasks that helpers could not finish
        finally:
            self._waiting.clear()
            for helper in self._helpers:
                end(helper.process)
                helper.process.wait()
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._done[index] for index in range(len(self._tasks))]

    def _by_a_helper(self) -> None:
        with suppress(HelperEnded, NotSent), Helper(self._work) as helper:
            self._helpers.append(helper)
            helper.prepare()
            self._work_on_tasks(helper)

    def _work_on_tasks(self, work: Callable[[Task], Result]) -> None:
        """Work on tasks until none waits or one has failed. If a helper raises HelperEnded or NotSent, the
        result of its task is lost(task); without `lost`, the task waits again.
        """
        while True:
            try:
                index = self._waiting.popleft()
            except IndexError:
                return
            task = self._tasks[index]
            try:
                self._done[index] = work(task)
                self._tell(task)
            except (HelperEnded, NotSent):
                if self._lost is None:
                    self._waiting.appendleft(index)
                else:
                    self._done[index] = self._lost(task)
                raise
            except (Exception, SystemExit) as error:  # ValueError: `_tell` wrote to a closed stream
                self._errors[index] = error
                self._waiting.clear()


def serve() -> None:
    """Work as a helper until standard input ends. Output of the work goes to standard error, so that it does
    not mix with answers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent, which gets the signal, stops this process
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _answer(sys.stdin.buffer, answers)
    except (EOFError, BrokenPipeError):  # nobody waits for the answer
        os._exit(0)


def _end_with(parent: int) -> None:
    """End this process, and its group if it leads one, when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(0.2)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _answer(tasks: BinaryIO, answers: BinaryIO) -> None:
    work = pickle.load(tasks)
    answer: object = None
    while True:
        answers.write(_pickled(answer))
        answers.flush()
        task = pickle.load(tasks)
        try:
            answer = work(task), None
        except Exception as error:
            answer = None, error


def _pickled(answer: object) -> bytes:
    try:
        return pickle.dumps(answer)
    except _CANNOT_BE_SENT as error:
        return pickle.dumps((None, TypeError(f"the result of a helper cannot be sent: {error}")))


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the collector of cyclic garbage off. Work on millions of small objects without cycles would
    spend between a seventh and most of its time in the collector.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

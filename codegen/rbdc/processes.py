"""Processes that rbdc starts, each ended together with all that it has started in turn; and a pool of
processes that do the same work on many tasks, each taking the next when it has done its last.

A process gets a group of its own, so that a Ctrl-C at the terminal reaches only the process that the user
started, which then ends the others. Helpers ignore interrupts; what they start stays in their group, and one
signal reaches all of it.

The pool is rbdc's own, for no library gives all of what a build needs. The helpers of `concurrent.futures`
and `multiprocessing` run the caller's script again where it has no guard. Those of loky do not, but where one
is killed all tasks of the pool fail (a build of several robots would lose them all for one that ran out of
memory), and ending helpers that have helpers of their own prints a warning about leaked semaphores. In none
of them does the calling process work too, while helpers take half a second to start: longer than all the work
on a small robot.

A helper is a new Python process that imports rbdc. It reads pickles from its standard input: the function,
then one task after the other. It answers each: None once it is ready, then for each task the pair (result,
error).
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
"""Processes that `run` waits for, in any thread."""

MOST = 8
"""Processes at once: a helper takes 150 MB and half a second before its first task."""

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from rbdc.processes import serve; serve()"
)
_CANNOT_BE_SENT = (pickle.PickleError, AttributeError, TypeError)
"""Raised by pickle, which of them depends on the object."""


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


def spread(
    work: Callable[[Task], Result],
    tasks: Sequence[Task],
    processes: int,
    done: Callable[[Task], None] = lambda _: None,
    lost: Callable[[Task], Result] | None = None,
) -> list[Result]:
    """Return [work(task) for task in tasks], computed by this process and helpers, `processes` in all.

    Tasks are begun in the order given (the longest should come first). Several threads call `done`, with each
    task that has a result. What a helper cannot do, because it is killed or because pickle cannot send it the
    task, this process does. Raises the error of the first task that failed; no other task is begun after it.

    With `lost` helpers work alone, and this process only waits, so that it heeds an interrupt at once; it
    then ends the helpers with all that they have started. What a helper cannot do is not tried again, for it
    may end this process too: its result is lost(task).
    """
    helpers = min(processes, MOST, len(tasks)) - (lost is None)
    return _Pool(work, tasks, done, lost).results(helpers)


class HelperEnded(Exception):
    """A helper that ended by itself, or could not be started. status: its exit status, the negative number
    of the signal that ended it.
    """

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class NotSent(TypeError):
    """A task, or its result, that pickle cannot send; the helper goes on."""


class Helper(Generic[Task, Result]):
    """A process that does the same work on one task after the other, which may end it: within the context
    that is this object, a call has it work on a task.

    It starts at once, and this process goes on meanwhile. An object `work` remembers from task to task. how:
    streams and the like, as for Popen. Raises HelperEnded where it cannot be started.
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
        """Wait until it is ready for tasks. Raises what `_ask` raises."""
        if not self.ready:
            self._ask(self._work)
            self.ready = True

    def __call__(self, task: Task) -> Result:
        """Return the result of a task. Raises the error of the task, HelperEnded and NotSent."""
        self.prepare()
        result, error = self._ask(task)
        if error is not None:
            raise error
        found: Result = result
        return found

    def _ask(self, message: object) -> Any:
        """Send a message and return the answer. Raises HelperEnded and NotSent."""
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
        """End it, whatever it is doing."""
        end(self.process)
        with suppress(BrokenPipeError), self.process:  # what it was asked last it may not have read
            pass


class _Pool(Generic[Task, Result]):
    """One use of the pool: the tasks that wait, those that are done, and the helpers."""

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
        """Return the results in the order of the tasks, by so many helpers; without `lost` by this process
        too.
        """
        threads = [Thread(target=self._by_a_helper, daemon=True) for _ in range(helpers)]
        try:
            for thread in threads:
                thread.start()
            if self._lost is None:
                self._work_on_tasks(self._work)
                for helper in self._helpers:
                    if not helper.ready:  # and nothing is left for it
                        end(helper.process)
            for thread in threads:
                thread.join()
            self._work_on_tasks(self._lost or self._work)  # what helpers could not finish
        finally:
            self._waiting.clear()
            for helper in self._helpers:
                end(helper.process)
                helper.process.wait()
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._done[index] for index in range(len(self._tasks))]

    def _by_a_helper(self) -> None:
        """Start a helper and let it work on tasks until none waits."""
        with suppress(HelperEnded, NotSent), Helper(self._work) as helper:
            self._helpers.append(helper)
            helper.prepare()
            self._work_on_tasks(helper)

    def _work_on_tasks(self, work: Callable[[Task], Result]) -> None:
        """Work on tasks until none waits, and begin no other once one has failed. Of a helper that raises
        HelperEnded or NotSent the task has the result of `lost`, or waits again.
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
            except (Exception, SystemExit) as error:  # the latter of output that cannot be written
                self._errors[index] = error
                self._waiting.clear()


def serve() -> None:
    """Be a helper until standard input ends. What the work prints goes to standard error, not to answers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that was asked to stop ends this one
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _answer(sys.stdin.buffer, answers)
    except (EOFError, BrokenPipeError):  # nobody waits any more
        os._exit(0)


def _end_with(parent: int) -> None:
    """End this process, and its group if it leads one, once its parent has ended."""
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
    """Return an answer as bytes; in place of one that pickle cannot send, an error that says so."""
    try:
        return pickle.dumps(answer)
    except _CANNOT_BE_SENT as error:
        return pickle.dumps((None, TypeError(f"the result of a helper cannot be sent: {error}")))


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cyclic garbage: for work on millions of small objects without cycles, where
    looking through them again and again takes from a seventh of the time to most of it.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

"""The same work on many tasks by several processes: each takes the next task as soon as it is done with its last.

Helpers are processes of their own that import rbdc anew: unlike forks they do not mind threads, and unlike multiprocessing's they never
run the caller's script. The first word of a pipe to a helper is the work, every further one a task; what comes back is a word when the
helper is ready, then for each task its result or its error.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Any, BinaryIO, Generic, TypeVar

from rbdc.processes import end, start

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST = 8
"""Processes at once: a helper takes 150 MB and half a second before its first task."""

_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from rbdc.workers import serve; serve()"


def spread(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int, begin: Callable[[Task], None] = lambda _: None
) -> list[Result]:
    """[work(task) for task in tasks], begun in this order by this process and helpers, `processes` together; `begin` hears of each task.

    With helpers work, tasks and results must be picklable. Raises the error of the first task that failed; no other is begun then.
    """
    return _Spread(work, tasks, begin).results(min(processes, MOST, len(tasks)) - 1)


def spread_apart(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int, lost: Callable[[Task], Result], begin: Callable[[Task], None]
) -> list[Result]:
    """The same by helpers alone, so that this process heeds an interrupt at once: it ends them with all that they have started.

    A task whose helper is killed, or cannot be started, is not tried again: `lost` gives its result.
    """
    spreading = _Spread(work, tasks, begin)
    return spreading.results(min(processes, MOST, len(tasks)), lost)


class _Spread(Generic[Task, Result]):
    def __init__(self, work: Callable[[Task], Result], tasks: Sequence[Task], begin: Callable[[Task], None]) -> None:
        self._work, self._tasks, self._begin = work, tasks, begin
        self._waiting = deque(range(len(tasks)))
        self._done: dict[int, Result] = {}
        self._errors: dict[int, Exception] = {}
        self._helpers: list[subprocess.Popen[bytes]] = []
        self._ready: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def results(self, helpers: int, lost: Callable[[Task], Result] | None = None) -> list[Result]:
        threads = [Thread(target=self._by_a_helper, args=(lost,), daemon=True) for _ in range(helpers)]
        try:
            for thread in threads:
                thread.start()
            if lost is None:
                self._here(self._work)
                for helper in self._helpers:
                    if helper not in self._ready:  # and nothing is left for it
                        end(helper)
            for thread in threads:
                thread.join()
            self._here(lost or self._work)  # what a helper could not finish
        finally:
            self._over = True
            self._waiting.clear()
            for helper in self._helpers:
                end(helper)
                helper.wait()
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._done[k] for k in range(len(self._tasks))]

    def _next(self) -> int | None:
        """The next task, if there is one."""
        try:
            index = self._waiting.popleft()
        except IndexError:
            return None
        self._begin(self._tasks[index])
        return index

    def _failed(self, index: int, error: Exception) -> None:
        self._errors[index] = error
        self._waiting.clear()

    def _here(self, work: Callable[[Task], Result]) -> None:
        while (index := self._next()) is not None:
            try:
                self._done[index] = work(self._tasks[index])
            except Exception as error:
                self._failed(index, error)

    def _by_a_helper(self, lost: Callable[[Task], Result] | None) -> None:
        """Tasks in another process; should it not start, or end, the task that it had waits again, or is lost."""
        index = None
        try:
            command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)]
            with start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as helper:
                self._helpers.append(helper)
                if self._over:
                    end(helper)
                _ask(helper, self._work)
                self._ready.add(helper)
                while (index := self._next()) is not None:
                    result, error = _ask(helper, self._tasks[index])
                    if error is not None:
                        self._failed(index, error)
                    self._done[index] = result
        except (OSError, EOFError, pickle.PickleError):
            if index is not None and lost is not None:
                self._done[index] = lost(self._tasks[index])
            elif index is not None:
                self._waiting.appendleft(index)


def _ask(helper: subprocess.Popen[bytes], word: object) -> Any:
    """What a helper answers; EOFError where it has ended."""
    if helper.stdin is None or helper.stdout is None:
        raise EOFError
    pickle.dump(word, helper.stdin)
    helper.stdin.flush()
    return pickle.load(helper.stdout)


def _end_with(parent: int) -> None:
    """End this process, and its group where it leads one, once nobody waits for it."""
    while os.getppid() == parent:
        time.sleep(0.2)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def serve() -> None:
    """Be a helper: answer on what standard output was, until standard input ends. What the work prints goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that was asked to stop ends this one
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        _answer(sys.stdin.buffer, answers)
    except (EOFError, BrokenPipeError):  # nobody waits any more
        os._exit(0)


def _answer(tasks: BinaryIO, answers: BinaryIO) -> None:
    work = pickle.load(tasks)
    answer: object = None
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        task = pickle.load(tasks)
        try:
            answer = work(task), None
        except Exception as error:
            answer = None, error

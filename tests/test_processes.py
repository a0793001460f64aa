"""Tasks spread over processes: every result in its place, errors, helpers that end, and the same text by any
number of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rbdc.emit.generation import GenerationOptions, generate
from rbdc.errors import DescriptionError, OptionError
from rbdc.processes import Helper, HelperEnded, spread
from tests.support_trees import random_tree


def square(x: float) -> float:
    """Return slow enough that helpers get their share."""
    time.sleep(0.05)
    return x * x


def whose(folder: Path) -> int:
    """Return the process that works, after another has come to work beside it."""
    (folder / str(os.getpid())).touch()
    late = time.monotonic() + 60.0
    while len(list(folder.iterdir())) < 2 and time.monotonic() < late:
        time.sleep(0.01)
    return os.getpid()


def here(_: int) -> int:
    """Return the process that works."""
    return os.getpid()


def refusing(x: int) -> int:
    """Return an error with fields of its own for one task."""
    if x == 3:
        raise DescriptionError("no such link", "name another", "robot.urdf", 7)
    return x


def dying(x: int) -> int:
    """Return ends every process but that of the tests."""
    if os.getpid() != int(os.environ["RBDC_TEST_PARENT"]):
        os._exit(3)
    time.sleep(0.3)
    return x


def printing(x: int) -> int:
    """Return prints, which must not get among the answers."""
    print("text on standard output")
    time.sleep(0.1)
    return x


@pytest.mark.parametrize("processes", [1, 2, 3, 50])
def test_results_are_in_the_order_of_the_tasks(processes: int) -> None:
    done: list[float] = []
    numbers = [float(k) for k in range(30)]
    assert spread(square, numbers, processes, done.append) == [x * x for x in numbers]
    assert sorted(done) == numbers, "each is done once"
    assert spread(square, [], processes) == []


def test_helpers_take_part(tmp_path: Path) -> None:
    assert len(set(spread(whose, [tmp_path] * 2, 2))) == 2
    assert set(spread(whose, [tmp_path] * 3, 1)) == {os.getpid()}


@pytest.mark.parametrize("processes", [1, 3])
def test_an_error_is_raised_whole(processes: int) -> None:
    done: list[int] = []
    with pytest.raises(DescriptionError, match="no such link") as caught:
        spread(refusing, list(range(6)), processes, done.append)
    assert 3 not in done, "a task that failed is not done"
    assert (caught.value.file, caught.value.line) == ("robot.urdf", 7)


def test_what_helpers_leave_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_TEST_PARENT", str(os.getpid()))
    assert spread(dying, list(range(8)), 3) == list(range(8))


def test_without_helpers_everything_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert spread(square, [1.0, 2.0, 3.0], 3) == [1.0, 4.0, 9.0]


def test_what_is_printed_is_no_answer() -> None:
    assert spread(printing, list(range(20)), 2) == list(range(20))


def test_the_text_is_the_same_by_any_number_of_processes() -> None:
    tree, names = (
        random_tree(1, size=3),
        ("rnea", "crba", "aba", "aba_vjp", "frame_jacobian", "frame_velocity", "integrate"),
    )
    options = [
        GenerationOptions(fuse=[("rnea", "crba")], targets=("c", "batch"), processes=n) for n in (1, 3)
    ]
    packages = [generate(tree, "robot", names, lambda _: None, one) for one in options]
    assert packages[0].files == packages[1].files
    assert packages[0].sources == packages[1].sources


def test_a_wrong_group_is_refused_by_helpers_too() -> None:
    with pytest.raises(OptionError, match="each once"):
        twice = GenerationOptions(fuse=[("rnea", "rnea")], processes=2)
        generate(random_tree(1), "robot", ["rnea", "crba"], lambda _: None, twice)


def test_a_script_without_a_guard_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "print('begun')\nimport rbdc\n"
        "functions = ['rnea', 'crba', 'aba', 'nle']\n"
        f"rbdc.build('cartpole', functions=functions, out={str(tmp_path)!r}, jobs=2, force=True)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "begun\n"


def test_apart_nothing_is_done_here() -> None:
    done: list[int] = []
    assert os.getpid() not in spread(here, range(4), 2, done.append, here)
    assert sorted(done) == [0, 1, 2, 3]


def test_apart_a_task_whose_helper_dies_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RBDC_TEST_PARENT", str(os.getpid()))
    assert spread(dying, list(range(4)), 2, lost=lambda x: -x) == [0, -1, -2, -3]


class Unsendable:
    """An object that pickle refuses."""

    def __reduce__(self) -> str:
        raise TypeError("not to be sent")


def name_of_type(x: object) -> str:
    """Return the name of an object's type."""
    return type(x).__name__


def unsendable(_: int) -> Unsendable:
    """Return a result that cannot travel."""
    time.sleep(0.2)
    return Unsendable()


def test_tasks_that_cannot_be_sent_are_done_here() -> None:
    tasks: list[object] = [0.5, *[Unsendable() for _ in range(4)]]
    assert spread(name_of_type, tasks, 3) == ["float", *["Unsendable"] * 4]
    assert spread(name_of_type, tasks, 2, lost=lambda _: "lost")[1] == "lost"


def test_a_result_that_cannot_be_sent_is_an_error() -> None:
    with pytest.raises(TypeError, match="the result of a helper cannot be sent: not to be sent"):
        spread(unsendable, [1, 2], 2, lost=unsendable)


def test_an_error_of_what_hears_of_tasks_is_raised() -> None:
    def broken(_: float) -> None:
        raise BrokenPipeError("nobody reads")

    for with_prepared in (False, True):
        with pytest.raises(BrokenPipeError, match="nobody reads"):
            spread(square, [1.0, 2.0, 3.0], 2, broken, square if with_prepared else None)


class Counting:
    """Work that remembers how often it was asked."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, x: int) -> int:
        self.count += 1
        print("not among the answers")
        return refusing(x) + 10 * self.count


def test_a_helper_remembers_and_refuses() -> None:
    with Helper(Counting()) as ask:
        assert [ask(1), ask(1)] == [11, 21]
        with pytest.raises(DescriptionError, match="no such link"):
            ask(3)
        assert ask(2) == 42, "an error is no end"


def killed(number: int) -> None:
    """Ended by a signal."""
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_helper_that_ends_says_how(number: int) -> None:
    with Helper(killed) as ask:
        with pytest.raises(HelperEnded) as ended:
            ask(number)
        assert ended.value.status == -number
        with pytest.raises(HelperEnded):
            ask(number)

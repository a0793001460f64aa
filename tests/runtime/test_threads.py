"""num_threads: the same numbers from any number of threads, in order through errors, Ctrl-C and fork."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.scalar_types import DOUBLE, SCALARS, ScalarType
from rbdc.runtime import _arrays, _runtime
from tests.support import Array
from tests.support_handmade import build_tiny, load_tiny

BLOCK = DOUBLE.lanes
PATIENCE = 60.0
"""Seconds after which something that should have happened counts as never happening."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_tiny(tmp_path_factory.mktemp("threads"))


@pytest.fixture
def watched(tiny: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], list[int]]:
    """Put something before every call of `mix` for a batch; gives the list of the samples in each call that
    came to its end.

    Pieces are of 16 samples, so that few samples make many.
    """
    entry, counts = tiny._mix, list[int]()
    monkeypatch.setattr(entry, "_piece", 16)
    native = entry._refuses

    def watch(before: Callable[[], None]) -> list[int]:
        def batch(count: int, *arguments: Any) -> int:
            before()
            refused = native(count, *arguments)
            counts.append(count)
            return int(refused)

        monkeypatch.setattr(entry, "_refuses", batch)
        return counts

    return watch


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """Python's own handler of Ctrl-C, also where the tests run in the background of a shell, which has them
    ignore it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def inputs(*batch: int) -> Array:
    return np.random.default_rng(prod(batch)).standard_normal((*batch, 2))


def until(condition: Callable[[], bool]) -> None:
    """Wait for it, in steps in which Ctrl-C can come."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "never happened"
        time.sleep(0.001)


def interrupt() -> None:
    """Ctrl-C, to the thread that it wakes where it waits for a lock."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


def in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@pytest.mark.parametrize("num_threads", [1, 2, 3, 100, np.int64(2)])
@pytest.mark.parametrize(
    "batch",
    [(), (0,), (1,), (9,), (16,), (100,), (20000,), (3, 0), (5, 7), (9000, 2), (2, 9000), (3, 50, 60)],
)
def test_any_number_of_threads(tiny: ModuleType, num_threads: int, batch: tuple[int, ...]) -> None:
    q, v, fext = inputs(*batch), inputs(*batch[-1:]), np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(tiny.mix(q, v, num_threads=num_threads), 2 * q + v)
    np.testing.assert_array_equal(tiny.mix(q, v, fext, num_threads=num_threads), 2 * q + v + fext[:, 0])
    total, products = tiny.pair(q, v, num_threads=num_threads)
    np.testing.assert_array_equal(total, q + v)
    np.testing.assert_array_equal(products, q[..., :, None] * v[..., None, :])
    np.testing.assert_array_equal(
        tiny.energy(q, v, num_threads=num_threads), q[..., 0] * v[..., 0] + q[..., 1] * v[..., 1]
    )
    np.testing.assert_array_equal(
        tiny.where(q, "tip", "WORLD", num_threads=num_threads)[..., 1:], np.full((*batch, 2), (2.0, 1.0))
    )


def test_out_with_threads(tiny: ModuleType) -> None:
    q, v = inputs(1000), inputs(1000)
    out = np.empty((1000, 2))
    assert tiny.mix(q, v, out=out, num_threads=2) is out
    np.testing.assert_array_equal(out, 2 * q + v)
    overlapping = np.concatenate([q, v])
    tiny.mix(overlapping[:1000], v, out=overlapping[500:1500], num_threads=2)
    np.testing.assert_array_equal(overlapping[500:1500], 2 * q + v)


@pytest.mark.parametrize("batch", [(45,), (9, 5), (3, 15), (2, 3, 7), (5, 1, 9), (1, 45)])
def test_samples_are_those_of_the_array_in_one_row(batch: tuple[int, ...]) -> None:
    broadcast = np.broadcast_to(inputs(*batch[-1:]), (*batch, 2))
    for x in (inputs(*batch), broadcast, np.asfortranarray(inputs(*batch)), inputs(*batch)[..., 0]):
        expected = np.ascontiguousarray(x).reshape(prod(batch), *x.shape[len(batch) :])
        for start, stop in product(range(0, prod(batch), 3), range(1, prod(batch) + 1, 4)):
            if start < stop:
                np.testing.assert_array_equal(_arrays.samples(x, batch, start, stop), expected[start:stop])


@pytest.mark.parametrize("scalar", SCALARS.values())
def test_blocks_are_those_of_the_generated_code(scalar: ScalarType) -> None:
    assert _arrays.block(np.dtype(scalar.dtype)) == scalar.lanes


@pytest.mark.parametrize("piece", [8, 15, 8192])
@pytest.mark.parametrize("num_threads", [1, 2, 7, 10**9])
@pytest.mark.parametrize("count", [9, 16, 17, 8191, 8192, 8193, 100_000, 10**6 + 1])
def test_pieces_are_whole_blocks(count: int, num_threads: int, piece: int) -> None:
    pieces = _arrays.pieces(count, num_threads, piece, BLOCK)
    assert [p.start for p in pieces] == [0, *(p.stop for p in pieces[:-1])] and pieces[-1].stop == count
    assert all(p.start % BLOCK == 0 and 0 < p.stop - p.start <= piece for p in pieces)
    assert len(pieces) >= min(num_threads, count // (2 * BLOCK))


def test_a_piece_has_about_as_many_bytes_for_every_function(tiny: ModuleType) -> None:
    assert tiny._mix._piece == _runtime.PIECE // (8 * (2 + 2 + 12 + 2))
    assert tiny._energy._piece == _runtime.PIECE // (8 * (2 + 2 + 1))


def test_threads_are_at_work_at_the_same_time(tiny: ModuleType, watched: Callable[..., list[int]]) -> None:
    together = threading.Barrier(3, timeout=PATIENCE)
    q = inputs(48)
    counts = watched(lambda: together.wait() and None)
    np.testing.assert_array_equal(tiny.mix(q, q, num_threads=3), 3 * q)
    assert counts == [16, 16, 16]


def test_no_more_threads_than_blocks_and_none_left(
    tiny: ModuleType, watched: Callable[..., list[int]]
) -> None:
    threads = set[threading.Thread]()
    counts = watched(lambda: threads.add(threading.current_thread()))
    before = threading.active_count()
    tiny.mix(inputs(17), inputs(17), num_threads=1000)
    assert sorted(counts) == [1, 8, 8] and 1 <= len(threads) <= 3
    assert threading.active_count() == before
    threads.clear()
    tiny.mix(inputs(1000), inputs(1000))
    assert threads == {threading.current_thread()}


@pytest.mark.parametrize(
    ("num_threads", "kind", "shown"),
    [
        (0, ValueError, "0"),
        (-2, ValueError, "-2"),
        (1.0, TypeError, "1.0"),
        ("2", TypeError, "'2'"),
        (None, TypeError, "None"),
        (np.array([1, 2]), TypeError, r"array\(\[1, 2\]\)"),
    ],
)
@pytest.mark.parametrize("batch", [(), (100,)])
def test_no_number_of_threads(
    tiny: ModuleType, batch: tuple[int, ...], num_threads: Any, kind: type[Exception], shown: str
) -> None:
    with pytest.raises(kind, match=f"^mix: argument num_threads is {shown}; give a positive integer$"):
        tiny.mix(inputs(*batch), inputs(*batch), num_threads=num_threads)
    with pytest.raises(kind, match=f"^where: argument num_threads is {shown}; give a positive integer$"):
        tiny.where(inputs(*batch), 0, num_threads=num_threads)


@pytest.mark.parametrize("where", ["caller", "helper"])
def test_an_error_in_any_thread_ends_all(
    tiny: ModuleType, watched: Callable[..., list[int]], where: str
) -> None:
    failed = threading.Event()

    def before() -> None:
        if in_main_thread() == (where == "caller"):
            failed.set()
            raise MemoryError("no room")
        assert failed.wait(PATIENCE)
        time.sleep(0.001)  # lets the other thread get from its error to giving up the rest

    counts, active = watched(before), threading.active_count()
    with pytest.raises(MemoryError, match="no room"):
        tiny.mix(inputs(160_000), inputs(160_000), num_threads=2)
    assert sum(counts) < 80_000
    assert threading.active_count() == active
    done = len(counts)
    np.testing.assert_array_equal(
        tiny.energy(inputs(100), inputs(100), num_threads=2), (inputs(100) ** 2) @ np.ones(2)
    )
    assert len(counts) == done


def test_a_thread_that_cannot_start(
    tiny: ModuleType, watched: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, start = threading.Event(), threading.Thread.start

    def start_one(thread: threading.Thread) -> None:
        if threading.active_count() > active:
            refused.set()
            raise RuntimeError("can't start new thread")
        start(thread)

    counts, active = watched(lambda: until(refused.is_set)), threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", start_one)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        tiny.mix(inputs(160_000), inputs(160_000), num_threads=3)
    assert threading.active_count() == active and sum(counts) < 160_000


def test_interrupted_at_work(tiny: ModuleType, watched: Callable[..., list[int]]) -> None:
    begun = threading.Event()

    def before() -> None:
        if in_main_thread():
            begun.set()
            until(lambda: False)
        elif not counts:
            until(begun.is_set)
            interrupt()

    counts, active = watched(before), threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        tiny.mix(inputs(1_600_000), inputs(1_600_000), num_threads=2)
    assert threading.active_count() == active and sum(counts) < 1_600_000


def test_interrupted_while_it_waits_for_others(tiny: ModuleType, watched: Callable[..., list[int]]) -> None:
    """The work that another thread has in hand is done before the call ends, so that nothing writes into
    `out` afterwards.
    """
    begun = threading.Event()

    def before() -> None:
        if in_main_thread():
            until(begun.is_set)
            return
        begun.set()
        until(lambda: counts == [16])
        time.sleep(0.05)  # the main thread has no piece left and waits
        interrupt()
        time.sleep(0.2)

    counts = watched(before)
    with pytest.raises(KeyboardInterrupt):
        tiny.mix(inputs(32), inputs(32), num_threads=2)
    assert counts == [16, 16]


FORKS = """
import multiprocessing, os, signal, sys, threading
import numpy as np
import rbdc

m = rbdc.load(sys.argv[1])
q = np.random.default_rng(0).standard_normal((1000, 2))

def right(*_):
    signal.alarm(60)  # a child that hangs is killed, which is no exit status of 0
    return np.array_equal(m.mix(q, q, num_threads=3), 3 * q)

def check_child():
    child = os.fork()
    if child == 0:
        os._exit(0 if right() else 1)
    assert os.waitpid(child, 0)[1] == 0

def after_calls():
    assert right()
    check_child()
    assert right()

def grandchildren():
    assert right()
    child = os.fork()
    if child == 0:
        assert right()
        check_child()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

def during_calls():
    done, wrong = threading.Event(), []
    def work():
        while not done.is_set():
            wrong.extend([] if np.array_equal(m.mix(q, q, num_threads=2), 3 * q) else [1])
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    for _ in range(20):
        check_child()
    done.set()
    worker.join()
    assert not wrong

def multiprocessing_pool():
    assert right()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(right, range(8)) == [True] * 8
    assert right()

globals()[sys.argv[2]]()
"""


@pytest.mark.parametrize("how", ["after_calls", "grandchildren", "during_calls", "multiprocessing_pool"])
def test_fork(how: str, tmp_path: Path) -> None:
    """The test forks in a process of its own, which has no other threads."""
    folder = build_tiny(tmp_path / "tiny")
    subprocess.run([sys.executable, "-c", FORKS, str(folder), how], check=True, timeout=4 * PATIENCE)

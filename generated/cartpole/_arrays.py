"""Arrays in calls of a module: conversion, checks, new arrays, batches in pieces on one or several threads,
and random configurations. This file is copied into each generated package beside `_runtime.py` and needs
NumPy only.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from math import ceil, pi, prod
from threading import Lock, Thread
from typing import Any, NamedTuple, NoReturn

import numpy as np

# NumPy imports it lazily. During a call the import would be locked in a child that another thread forks.
from numpy.ma import MaskedArray
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

CACHED = 16 << 20
"""Largest number of bytes of results that a call of the C code writes through the caches. More results are
written past the caches: most would not stay in the caches, and a cached write reads each line first.
"""


def whole(x: Any) -> int:
    """Return a whole number as an int. Raise TypeError for anything else, including True and False."""
    if isinstance(x, bool):
        raise TypeError
    return operator.index(x)


def overlaps(x: Array, others: Sequence[Array]) -> bool:
    """Return whether an array may share memory with any of the others."""
    return any(np.may_share_memory(x, other) for other in others)


def together(shapes: Sequence[tuple[int, ...]], dtype: np.dtype[Any]) -> list[Array]:
    """Return new arrays. Several arrays share one block of memory and begin on cache lines. The allocator
    keeps a freed block for the next call. Several freed arrays would go back to the system, to be mapped and
    cleared page by page each time.
    """
    if len(shapes) == 1:
        return [np.empty(shapes[0], dtype)]
    line = 64 // dtype.itemsize
    starts = [0]
    for shape in shapes:
        starts.append(starts[-1] + -(-prod(shape) // line) * line)
    memory = np.empty(starts[-1] + line, dtype)
    first = -memory.ctypes.data % 64 // dtype.itemsize
    return [
        memory[first + start :][: prod(shape)].reshape(shape)
        for start, shape in zip(starts, shapes, strict=False)
    ]


def block(dtype: np.dtype[Any]) -> int:
    """Return the number of samples that the C code computes side by side, as many as fit into 64 bytes; a
    block of layout "lanes" has the same number. The rest of a batch is computed one by one and may round
    differently.
    """
    return 64 // dtype.itemsize


UNIT = 1e-6
"""Largest deviation of a quaternion's length from 1: the rounding of single precision. The compiled
extension has corresponding bounds of the squared length.
"""

_TASKS = {"linear": [1, 1, 1, 0, 0, 0], "angular": [0, 0, 0, 1, 1, 1]}
"""Rows of a task that a word selects."""

_RANGES: dict[str, tuple[Callable[[Array], Any], str, str]] = {
    "switches": (
        lambda x: (x == 0.0) | (x == 1.0),
        "has entries other than 0 and 1",
        "give 1 for active contacts and 0 for others",
    ),
    "task": (
        lambda x: (x == 0.0) | (x == 1.0),
        "has entries other than 0 and 1",
        "give 1 for rows of the task, else 0",
    ),
    "not negative": (
        lambda x: x >= 0.0,
        "has negative entries or entries that are not numbers",
        "give numbers of at least 0",
    ),
    "positive": (lambda x: x > 0.0, "has entries that are not positive numbers", "give numbers above 0"),
    "placements": (
        lambda x: np.abs(np.linalg.norm(x[..., 3:], axis=-1) - 1.0) <= UNIT,
        "has quaternions that are not of unit length",
        "give x y z qx qy qz qw, divided by their length",
    ),
    "part": (
        lambda x: (x >= 0.0) & (x <= 1.0),
        "has entries that are not between 0 and 1",
        "give numbers from 0 to 1",
    ),
}
"""By kind of input: a test of the entries, the complaint if it fails, and the remedy."""


class Input(NamedTuple):
    """An array that a function takes.

    name: name of the argument.
    shape: shape without batch dimensions.
    optional: whether None is allowed.
    configuration: whether it is a configuration.
    kind: key of `_RANGES`, or "" if any finite numbers are allowed.
    units: first index and number of the entries that form each unit vector.
    function: name of the function.
    dtype: type of its entries.
    """

    name: str
    shape: tuple[int, ...]
    optional: bool
    configuration: bool
    kind: str
    units: tuple[tuple[int, int], ...]
    function: str
    dtype: np.dtype[Any]

    @property
    def spec(self) -> list[int]:
        """The numbers that checks of the extension take: size, number of unit vectors, and `units`."""
        return [prod(self.shape), len(self.units), *(x for unit in self.units for x in unit)]

    @property
    def fills(self) -> bool:
        """Whether one number stands for all entries."""
        return self.kind == "part"

    @property
    def expected(self) -> str:
        """The shape in words."""
        shape = f"(..., {', '.join(str(n) for n in self.shape)})" if self.shape else "(...)"
        return f"{shape}, or one number for all" if self.fills else shape

    def converted(self, x: Any) -> Array | None:
        """Convert the argument to an array of the right dtype and trailing shape, not yet broadcast."""
        if x is None:
            if self.optional:
                return None
            self.refuse(TypeError, "is None", f"give an array of shape {self.expected}")
        if isinstance(x, str) and self.kind == "task":
            if x not in _TASKS:
                self.refuse(ValueError, f"is {x!r}", "give 'linear', 'angular', or six numbers, each 0 or 1")
            x = _TASKS[x]
        if isinstance(x, MaskedArray):
            self.refuse(TypeError, "is a masked array", "give a plain array; masks are not honoured")
        try:
            array = np.asarray(x)
        except ValueError as error:
            self.refuse(ValueError, f"is no array: {error}", f"expected {self.expected}")
        self._refuse_loss(array, isinstance(x, (list, tuple)))
        if self.fills and not array.ndim:
            array = np.full(self.shape, array)
        if array.ndim < len(self.shape) or array.shape[array.ndim - len(self.shape) :] != self.shape:
            self.refuse(ValueError, f"has shape {array.shape}", f"expected {self.expected}")
        return array.astype(self.dtype, copy=False)

    def _refuse_loss(self, array: NDArray[Any], listed: bool) -> None:
        """Refuse an array whose values would change in a conversion to `dtype`. Python numbers (`listed`) may
        be rounded.
        """
        kind, size, own, limits = array.dtype.kind, array.dtype.itemsize, self.dtype, np.finfo(self.dtype)
        if kind not in "biuf" or size > (own.itemsize if kind == "f" and not listed else 8):
            remedy = f"give real numbers that convert to {own} without loss"
            self.refuse(TypeError, f"has dtype {array.dtype}", remedy)
        wide = kind in "iu" and size >= own.itemsize and array.size > 0
        if wide and max(abs(int(array.max())), abs(int(array.min()))) > 2 ** (limits.nmant + 1):
            self.refuse(TypeError, f"has integers beyond 2^{limits.nmant + 1}", f"give {own}")
        if kind == "f" and size > own.itemsize and (np.isfinite(array) & (np.abs(array) > limits.max)).any():
            self.refuse(ValueError, f"has numbers beyond {limits.max:.3g}", f"{own} cannot hold them")

    def check_range(self, x: Any) -> None:
        """Refuse an argument with entries out of range."""
        holds, problem, remedy = _RANGES[self.kind]
        array = self.converted(x)
        if array is not None and not np.all(holds(array)):
            self.refuse(ValueError, problem, remedy)

    def check_entries(self, x: Array) -> None:
        """Refuse an array with entries that are not finite or vectors that are not of unit length. The
        message names the first such entry or vector.
        """
        if not np.isfinite(x).all():
            place = tuple(np.argwhere(~np.isfinite(x))[0])
            what = f"has entries that are not finite: {self.name}{_index(place)} is {x[place]}"
            self.refuse(ValueError, what, "give finite numbers")
        for first, count in self.units:
            lengths = np.linalg.norm(x[..., first : first + count].astype(float), axis=-1)
            for place in np.argwhere(np.abs(lengths - 1.0) > UNIT)[:1]:
                shown = f"{self.name}{_index(place, f'{first}:{first + count}')}"
                kind = "quaternion" if count == 4 else "cosine and sine"
                what = f"has no unit {kind}: the length of {shown} is {lengths[tuple(place)]:.9g}"
                self.refuse(ValueError, what, f"give {self.name} as normalised({self.name}) returns it")

    def blocks(self, x: Any, block: int, known: int | None) -> int:
        """Return the number of blocks of an array of layout "lanes". It must equal `known` if that is not
        None.
        """
        last = (*self.shape, block)
        expected = f"({'blocks' if known is None else known}, {', '.join(str(n) for n in last)})"
        plain = type(x) is np.ndarray and x.dtype == self.dtype and x.flags.c_contiguous and x.flags.aligned
        if not plain:
            remedy = f"with layout='lanes' give one of shape {expected}"
            self.refuse(TypeError, f"is not a C-contiguous {self.dtype} array", remedy)
        if x.shape[1:] != last or x.ndim != len(last) + 1 or known not in (None, x.shape[0]):
            self.refuse(ValueError, f"has shape {x.shape}", f"with layout='lanes' it must be {expected}")
        return int(x.shape[0])

    def refuse(self, kind: type[Exception], what: str, remedy: str) -> NoReturn:
        """Raise an exception that says what is wrong with the argument and what to do."""
        raise kind(f"{self.function}: argument {self.name} {what}; {remedy}") from None


def _index(place: Iterable[int], last: str = "") -> str:
    shown = [*(str(int(k)) for k in place), *([last] if last else [])]
    return f"[{', '.join(shown)}]" if shown else ""


def normalised(q: Input, x: Any) -> Array:
    """Return a configuration whose quaternions, and cosines and sines of planar joints, are divided by their
    lengths. `x` may have leading batch dimensions. Raise ValueError for vectors of length zero.
    """
    made = np.array(q.converted(x))
    for first, count in q.units:
        part = made[..., first : first + count]
        lengths = np.linalg.norm(part, axis=-1, keepdims=True)
        if not np.all((lengths > 0.0) & np.isfinite(lengths)):
            what = f"has no direction in entries {first} to {first + count - 1}"
            q.refuse(ValueError, what, "give finite quaternions, cosines and sines that are not all zero")
        part /= lengths
    return made


class Crew:
    """Pieces of work, done by the calling thread and by helpers. The helpers end before the call returns or
    raises.

    Python's threads are used and not OpenMP's. The C code runs without the GIL in both. But a process that
    has used GNU's OpenMP hangs as soon as a child of it, created by fork, uses OpenMP too, and clang's OpenMP
    is a library to install. The threads are not kept for the next call: a forked child would copy the
    parent's records of the threads, but not the threads.
    """

    def __init__(self, work: Callable[[slice], None], pieces: Sequence[slice], num_threads: int) -> None:
        self._work, self._waiting = work, deque(pieces)
        # A helper holds its lock while it works on a piece.
        self._busy = [Lock() for _ in range(num_threads - 1)]
        self._failures: list[BaseException] = []

    def run(self) -> None:
        """Do all pieces. After an exception, drop the remaining pieces and raise it."""
        helpers = [Thread(target=self._help, args=(busy,)) for busy in self._busy]
        try:
            for helper in helpers:
                helper.start()
            while self._do_one():
                pass
            self._wait()
        finally:
            self._waiting.clear()
            self._wait()
            for helper in helpers:
                # A thread that could not start is not alive; one that starts late finds no piece.
                if helper.is_alive():
                    helper.join()
        if self._failures:
            raise self._failures[0]

    def _help(self, busy: Lock) -> None:
        more = True
        while more:
            with busy:
                more = self._do_one()

    def _do_one(self) -> bool:
        """Do the next piece; return False if there is none."""
        try:
            piece = self._waiting.popleft()
        except IndexError:
            return False
        try:
            self._work(piece)
        except BaseException as error:
            self._failures.append(error)
            self._waiting.clear()
        return True

    def _wait(self) -> None:
        """Wait until no helper works on a piece. `join` is not reliable here: after Ctrl-C has interrupted
        `join`, it considers the thread ended.
        """
        for busy in self._busy:
            with busy:
                pass


def pieces(count: int, num_threads: int, piece: int, block: int) -> list[slice]:
    """Return slices of at most `piece` samples, the same number for each thread. Slices consist of whole
    blocks, so that the number of threads does not change rounding.
    """
    number = num_threads * ceil(count / (num_threads * (piece - piece % block)))
    step = block * ceil(count / (block * number))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def samples(x: Array, batch: tuple[int, ...], start: int, stop: int) -> Array:
    """Return samples `start` to `stop`, along one dimension, of an array that is broadcast to `batch`. Little
    more than these samples is copied.
    """
    if len(batch) == 1:
        return x[start:stop]
    size = prod(batch[1:])
    first, last = start // size, (stop - 1) // size
    if first == last:
        return samples(x[first], batch[1:], start - first * size, stop - first * size)
    if size > stop - start:
        return np.concatenate([samples(x, batch, start, last * size), samples(x, batch, last * size, stop)])
    around = np.ascontiguousarray(x[first : last + 1])
    row = around.reshape((last + 1 - first) * size, *x.shape[len(batch) :])
    return row[start - first * size : stop - first * size]


def random_configuration(
    rng: np.random.Generator, joints: Sequence[tuple[str, int]], lower: Array, upper: Array
) -> Array:
    """Return a random configuration (nq,), uniform within the limits. Without limits angles are in [-pi, pi]
    and positions in [-1, 1]. Orientations are uniform.

    joints: kind of each joint and index of its first entry in q.
    """
    q = np.empty(len(lower), lower.dtype)
    for kind, start in joints:
        if kind in ("revolute", "prismatic"):
            reach = pi if kind == "revolute" else 1.0
            low = lower[start] if np.isfinite(lower[start]) else min(-reach, upper[start] - reach)
            high = upper[start] if np.isfinite(upper[start]) else max(reach, low + reach)
            q[start] = rng.uniform(low, high)
        elif kind == "planar":
            angle = rng.uniform(-pi, pi)
            q[start : start + 4] = (*rng.uniform(-1.0, 1.0, 2), np.cos(angle), np.sin(angle))
        else:
            if kind == "floating":
                q[start : start + 3] = rng.uniform(-1.0, 1.0, 3)
                start += 3
            quaternion = rng.standard_normal(4)
            q[start : start + 4] = quaternion / np.linalg.norm(quaternion)
    return q

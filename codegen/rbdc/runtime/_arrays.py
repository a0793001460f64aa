"""Arrays of a module's calls: what is converted, what is refused and what is new, batches in pieces, on one
thread or several, and random configurations. It is copied into each generated package beside `_runtime.py`
and needs NumPy only.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from math import ceil, pi, prod
from threading import Lock, Thread
from typing import Any, NamedTuple, NoReturn

import numpy as np

# NumPy imports it late: in a call, it would be locked in what another thread forks meanwhile.
from numpy.ma import MaskedArray
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

CACHED = 16 << 20
"""Bytes of results of one call of the C code from which on they are written past the caches, where most of
them would not stay: a line that is written there is read first.
"""


def whole(x: Any) -> int:
    """A whole number as an int. Raises TypeError for anything else, True and False among it."""
    if isinstance(x, bool):
        raise TypeError
    return operator.index(x)


def overlaps(x: Array, others: Sequence[Array]) -> bool:
    """Whether an array may share memory with any of the others."""
    return any(np.may_share_memory(x, other) for other in others)


def together(shapes: Sequence[tuple[int, ...]], dtype: np.dtype[Any]) -> list[Array]:
    """New arrays, each from a cache line's beginning; several are parts of one. Memory that is given back as
    one block is ready for the next call, where the blocks of several arrays go back to the system, to be
    fetched and cleared page by page each time.
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
    """Samples that the C code computes side by side, and in a block of layout "lanes": what fills 64 bytes.
    What is left of a batch goes one by one, which rounds otherwise.
    """
    return 64 // dtype.itemsize


UNIT = 1e-6
"""How far the length of a quaternion may be from 1: what single precision leaves of it. The extension has it
squared.
"""

_RANGES: dict[str, tuple[Callable[[Array], Any], str, str]] = {
    "switches": (lambda x: (x == 0.0) | (x == 1.0), "has entries other than 0 and 1", "1 for what holds"),
    "not negative": (lambda x: x >= 0.0, "has entries that are not numbers from 0 on", "give none below 0"),
    "positive": (lambda x: x > 0.0, "has entries that are not positive numbers", "give some above 0"),
    "placements": (
        lambda x: np.abs(np.linalg.norm(x[..., 3:], axis=-1) - 1.0) <= UNIT,
        "has quaternions that are not of unit length",
        "give x y z qx qy qz qw, divided by their length",
    ),
    "part": (
        lambda x: (x >= 0.0) & (x <= 1.0),
        "has entries that are not between 0 and 1",
        "give some from 0 to 1",
    ),
}
"""Whether entries are as they have to be, the complaint where they are not, and what to do."""


class Input(NamedTuple):
    """An array that a function takes: its name, its shape without batch dimensions, whether None is allowed,
    whether it is a configuration, a key of `_RANGES`, or "" where it may be any finite numbers, and the first
    and the number of entries that form unit vectors.
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
        """The numbers that checks of the extension take: size, number of unit vectors, and these."""
        return [prod(self.shape), len(self.units), *(x for unit in self.units for x in unit)]

    @property
    def fills(self) -> bool:
        """Whether one number stands for all entries."""
        return self.kind == "part"

    @property
    def expected(self) -> str:
        """Its shape in words."""
        shape = f"(..., {', '.join(str(n) for n in self.shape)})" if self.shape else "(...)"
        return f"{shape}, or one number for all" if self.fills else shape

    def converted(self, x: Any) -> Array | None:
        """The argument as an array of the right dtype and trailing shape, not yet broadcast."""
        if x is None:
            if self.optional:
                return None
            self.refuse(TypeError, "is None", f"give an array of shape {self.expected}")
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
        """Refuse an array that would lose something as `dtype`. Python's own numbers, `listed`, may be
        rounded; what an array holds must stay as it is.
        """
        kind, size, own, limits = array.dtype.kind, array.dtype.itemsize, self.dtype, np.finfo(self.dtype)
        if kind not in "biuf" or size > (own.itemsize if kind == "f" and not listed else 8):
            remedy = f"give real numbers that convert to {own} without loss"
            self.refuse(TypeError, f"has dtype {array.dtype}", remedy)
        wide = kind in "iu" and size >= own.itemsize and array.size > 0
        if wide and max(abs(int(array.max())), abs(int(array.min()))) > 2 ** (limits.nmant + 1):
            self.refuse(TypeError, f"has integers beyond 2^{limits.nmant + 1}", f"give {own}")
        if kind == "f" and size > own.itemsize and (np.isfinite(array) & (np.abs(array) > limits.max)).any():
            self.refuse(ValueError, f"has numbers beyond {limits.max:.3g}", f"{own} holds none")

    def check_range(self, x: Any) -> None:
        """Refuse an argument with entries that are not as they have to be."""
        holds, problem, remedy = _RANGES[self.kind]
        array = self.converted(x)
        if array is not None and not np.all(holds(array)):
            self.refuse(ValueError, problem, remedy)

    def check_entries(self, x: Array) -> None:
        """Refuse an array with entries that are not finite, or with vectors that are off the unit length, by
        the first of them.
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
        """How many blocks an array of layout "lanes" has: as many as are `known`, as the C code takes it."""
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
        """Raise an exception that says what is wrong with the argument, and what to do."""
        raise kind(f"{self.function}: argument {self.name} {what}; {remedy}") from None


def _index(place: Iterable[int], last: str = "") -> str:
    """The index of an entry in words of Python."""
    shown = [*(str(int(k)) for k in place), *([last] if last else [])]
    return f"[{', '.join(shown)}]" if shown else ""


def normalised(q: Input, x: Any) -> Array:
    """A configuration with its unit vectors, quaternions, and cosines and sines of planar joints, divided by
    their lengths; leading batch dimensions. Raises ValueError for vectors without a direction.
    """
    made = np.array(q.converted(x))
    for first, count in q.units:
        part = made[..., first : first + count]
        lengths = np.linalg.norm(part, axis=-1, keepdims=True)
        if not np.all((lengths > 0.0) & np.isfinite(lengths)):
            what = f"has no direction in entries {first} to {first + count - 1}"
            q.refuse(
                ValueError, what, "give quaternions, and cosines and sines, that are finite and not zero"
            )
        part /= lengths
    return made


class Crew:
    """Pieces of work, done by the calling thread and helpers that end before the call does, however it ends.

    Python's threads and not OpenMP's: the C code runs without the GIL in either, but a process that has used
    GNU's OpenMP hangs as soon as a child of it, made by fork, uses it too, and clang's is a library of its
    own to install. Nor are the threads kept for the next call: a child has a copy of what its parent
    remembers of them, but not the threads.
    """

    def __init__(self, work: Callable[[slice], None], pieces: Sequence[slice], num_threads: int) -> None:
        self._work, self._waiting = work, deque(pieces)
        # Each is held by a helper while it has a piece in hand.
        self._busy = [Lock() for _ in range(num_threads - 1)]
        self._failures: list[BaseException] = []

    def run(self) -> None:
        """Do all pieces, or raise the first exception, with which the pieces that wait are given up."""
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
                # One that could not start is not alive, one that starts late will find no piece.
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
        """Do the next piece; False where there is none."""
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
        """Until no helper has a piece in hand. Not by `join`, which takes a thread for ended once Ctrl-C has
        interrupted it.
        """
        for busy in self._busy:
            with busy:
                pass


def pieces(count: int, num_threads: int, piece: int, block: int) -> list[slice]:
    """Slices of at most `piece` samples and whole blocks, so that threads do not change how any sample is
    rounded; equally many for each thread.
    """
    number = num_threads * ceil(count / (num_threads * (piece - piece % block)))
    step = block * ceil(count / (block * number))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def samples(x: Array, batch: tuple[int, ...], start: int, stop: int) -> Array:
    """Samples `start` to `stop` of an array that is broadcast to `batch`, in one row, without a copy of much
    more than these.
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
    """A configuration (nq,), uniform within the limits; without limits angles in [-pi, pi] and positions in
    [-1, 1].

    Orientations are uniform.

    joints: for each joint its kind and where its entries begin in q.
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

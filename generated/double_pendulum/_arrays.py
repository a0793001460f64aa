"""Arrays of a module's calls, and random configurations. It is copied into each generated package beside
`robot.py` and needs NumPy only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from math import pi, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


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


def one_by_one(single: Callable[..., None], sizes: Sequence[int], null: Any) -> Callable[..., None]:
    """A C function of one sample, with arrays of these sizes, over many: f(count, *pointers)."""

    def many(count: int, *pointers: Any) -> None:
        for k in range(count):
            places = zip(pointers, sizes, strict=True)
            single(*(start if start == null else start + k * size for start, size in places))

    return many


def lossy(array: NDArray[Any], listed: bool, dtype: np.dtype[Any]) -> tuple[type[Exception], str, str] | None:
    """Complaint about an array that would lose something as `dtype`, and what to do. Python's own numbers,
    `listed`, may be rounded; what an array holds must stay as it is.
    """
    kind, size, limits = array.dtype.kind, array.dtype.itemsize, np.finfo(dtype)
    if kind not in "biuf" or size > (dtype.itemsize if kind == "f" and not listed else 8):
        return (
            TypeError,
            f"has dtype {array.dtype}",
            f"give real numbers that convert to {dtype} without loss",
        )
    wide = kind in "iu" and size >= dtype.itemsize and array.size > 0
    if wide and max(abs(int(array.max())), abs(int(array.min()))) > 2 ** (limits.nmant + 1):
        return TypeError, f"has integers beyond 2^{limits.nmant + 1}", f"give {dtype}"
    if kind == "f" and size > dtype.itemsize and (np.isfinite(array) & (np.abs(array) > limits.max)).any():
        return ValueError, f"has numbers beyond {limits.max:.3g}", f"{dtype} holds none"
    return None


def block(dtype: np.dtype[Any]) -> int:
    """Samples that the C code computes side by side, and in a block of layout "lanes": what fills 64 bytes.
    What is left of a batch goes one by one, which rounds otherwise.
    """
    return 64 // dtype.itemsize


UNIT = 1e-6
"""How far the length of a quaternion may be from 1: what single precision leaves of it."""

_RANGES: dict[str, tuple[Callable[[Array], Any], str, str]] = {
    "switches": (lambda x: (x == 0.0) | (x == 1.0), "has entries other than 0 and 1", "1 for what holds"),
    "not negative": (lambda x: x >= 0.0, "has entries that are not numbers from 0 on", "give none below 0"),
    "positive": (lambda x: x > 0.0, "has entries that are not positive numbers", "give some above 0"),
    "placements": (
        lambda x: np.abs(np.linalg.norm(x[..., 3:], axis=-1) - 1.0) <= UNIT,
        "has quaternions that are not of unit length",
        "give x y z qx qy qz qw, divided by their length",
    ),
}


def out_of_range(array: Array, kind: str) -> tuple[str, str] | None:
    """Complaint about an array that is not of a kind, and what to do."""
    holds, problem, remedy = _RANGES[kind]
    return None if np.all(holds(array)) else (problem, remedy)


def batched(shape: tuple[int, ...]) -> str:
    """A shape in words, with any batch dimensions before it."""
    return f"(..., {', '.join(str(n) for n in shape)})" if shape else "(...)"


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

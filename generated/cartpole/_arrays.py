"""Arrays of a module's calls, and random configurations. It is copied into each generated package beside
`_runtime.py` and needs NumPy only.
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


def block(dtype: np.dtype[Any]) -> int:
    """Samples that the C code computes side by side, and in a block of layout "lanes": what fills 64 bytes.
    What is left of a batch goes one by one, which rounds otherwise.
    """
    return 64 // dtype.itemsize


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

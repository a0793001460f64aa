"""Batches whose results no cache would hold, which go another way to memory: against the same samples few at
a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.declarations import FunctionDeclaration

Array = NDArray[np.floating[Any]]

_UNTOUCHED = 7.0
"""In results before the call."""


@dataclass(frozen=True)
class Difference:
    """A number of a large batch that is not what the sample has in a small one."""

    samples: int
    sample: int
    entry: int
    got: float
    wanted: float


def differences(
    ffi: Any,
    batch: Any,
    declaration: FunctionDeclaration,
    arrays: Sequence[Array | None],
    extra: tuple[int, ...],
    cached: int,
) -> list[Difference | None]:
    """For each output the first entry that differs, or None. `batch`: the function of the C library. cached:
    bytes of results up to which it has none of them go another way.

    The batch is just large enough. It begins and ends with the samples of `arrays` and has zeros between,
    pages of which take no memory.
    """
    dtype, lanes = np.dtype(declaration.scalar.dtype), declaration.scalar.lanes
    few = len(next(x for x in arrays if x is not None))
    first, sizes = few // lanes * lanes, [p.size for p in declaration.outputs]
    least = max(cached // (max(sum(sizes), 1) * dtype.itemsize) + 1, first + lanes)
    many = few - few % lanes + -(-least // lanes) * lanes + few % lanes
    large = [None if x is None else _spread(x.reshape(few, -1), first, many) for x in arrays]

    def results(inputs: Sequence[Array | None], count: int) -> list[Array]:
        made = [np.full((count, size), _UNTOUCHED, dtype) for size in sizes]
        pointers = [ffi.NULL if x is None else _pointer(ffi, x) for x in inputs]
        batch(count, *pointers, *extra, *(_pointer(ffi, x) for x in made))
        return made

    expected = results(arrays, few)
    zeros = results([None if x is None else np.zeros((lanes, x[0].size), dtype) for x in arrays], lanes)
    found = results(large, many)
    return [_first(f, e, z, first) for f, e, z in zip(found, expected, zeros, strict=True)]


def _pointer(ffi: Any, x: Array) -> Any:
    kind = {"float64": "double[]", "float32": "float[]"}[x.dtype.name]
    return ffi.from_buffer(kind, x)


def _spread(x: Array, first: int, many: int) -> Array:
    """The first samples, zeros, and all samples."""
    large = np.zeros((many, x.shape[1]), x.dtype)
    large[:first], large[many - len(x) :] = x[:first], x
    return large


def _first(found: Array, expected: Array, zeros: Array, first: int) -> Difference | None:
    """The first difference from the samples at the beginning, zeros, and the samples at the end."""
    end = len(found) - len(expected)
    for start, stop, wanted in ((0, first, expected[:first]), (first, end, zeros[:1]), (end, None, expected)):
        part = found[start:stop]
        wrong = _bits(part) != _bits(wanted)
        if wrong.any():
            sample, entry = (int(k) for k in np.unravel_index(np.argmax(wrong), wrong.shape))
            right = wanted[sample if len(wanted) > 1 else 0, entry]
            return Difference(len(found), start + sample, entry, float(part[sample, entry]), float(right))
    return None


def _bits(x: Array) -> NDArray[np.integer[Any]]:
    return x.view(np.dtype(f"i{x.dtype.itemsize}"))

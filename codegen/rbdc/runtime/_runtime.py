"""The NumPy interface of a generated module, copied into each generated package. It needs only NumPy.

A call checks its arguments, passes pointers to the arrays to the C function, and returns new arrays (or fills
`out`). Arrays of the module's dtype that are C-contiguous and of the right shape are never copied. Other
arrays are converted if no value changes. Leading dimensions broadcast as in NumPy. The C code keeps no state
and cffi releases the GIL around it: calls from many threads are safe, and one call can use several threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy import empty, ndarray

from ._arrays import CACHED, Array, Crew, Input, block, overlaps, pieces, samples, together, whole
from ._named import Named
from ._suggestions import suggestion

Output = tuple[str, tuple[int, ...]]

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
_C_TYPES = {"float64": "double", "float32": "float"}
CHECKED = 128 << 10
"""Bytes of inputs that the C code uses and then checks at a time. They fit into the second-level cache;
inputs that fit into the first-level cache would be too few for a call of the C code.
"""
PIECE = 64 << 20
"""Bytes of inputs and results of one call of the C code. They are enough to hide the cost of the call and to
write results past the caches (`emit.batch`), and few enough to keep copies small and to notice Ctrl-C.
"""
_ONE = 1


class _Refused(Exception):
    """An input has entries that are not finite, or vectors that are not of unit length."""


# These two functions replace the checking functions of the extension.
def _passed(*_: Any) -> int:
    return 0


def _unchecked(_spec: Any, single: Any, batch: Any, count: int, _piece: int, *arrays: Any) -> int:
    single(*arrays) if count == 1 else batch(count, *arrays)
    return 0


class Entry(Named):
    """One function of the module, called with the tuple of its array arguments. prefix: begins its C name."""

    def __init__(
        self,
        native: Any,
        prefix: str,
        dtype: np.dtype[Any],
        name: str,
        inputs: Sequence[tuple[str, tuple[int, ...], bool, bool, str, tuple[tuple[int, int], ...]]],
        outputs: Sequence[Output],
        frames: Sequence[str] = (),
    ) -> None:
        super().__init__(name)
        self.inputs = tuple(Input(*given, name, dtype) for given in inputs)
        self.outputs, self._dtype = tuple(outputs), dtype
        self._ranges = [(k, x) for k, x in enumerate(self.inputs) if x.kind]
        specs = [x.spec for x in self.inputs]
        sizes = [prod(shape) for _, shape in self.outputs]
        self._spec = native.ffi.new("size_t[]", [*(k for spec in specs for k in spec), *sizes])
        starts = accumulate(map(len, specs), initial=0)
        self._specs = [self._spec + start for start, _ in zip(starts, specs, strict=False)]
        self._refused_lanes = native.lib.rbdc_refused_lanes
        self._from_buffer, self._null = native.ffi.from_buffer, native.ffi.NULL
        self._pointer, self._block = native.ffi.typeof(f"{_C_TYPES[dtype.name]}[]"), block(dtype)
        functions = [f"{prefix}_{name}{form}" for form in ("", "_batch", "_into_zeroed")]
        self._single, self._batch, self._into = (
            native.ffi.addressof(native.lib, function) if hasattr(native.lib, function) else None
            for function in functions
        )
        self._lanes = getattr(native.lib, f"{prefix}_{name}_lanes", None)
        self._frames = {frame: index for index, frame in enumerate(frames)}
        self._places = len(native.ffi.typeof(self._single).args) - len(self.inputs) - len(self.outputs)
        self._call = getattr(native.lib, f"rbdc_call_{len(self.inputs)}_{self._places}_{len(self.outputs)}")
        self.plain = 0 if frames else sum(not x.optional for x in self.inputs)
        # Common calls are short: everything that they need of an input is in one tuple.
        self._checks = tuple((x.shape, x.optional) for x in self.inputs)
        self._shapes = tuple(shape for _, shape in self.outputs)
        self._only_shape = self._shapes[0] if len(self._shapes) == 1 else None
        taken, given = sum(spec[0] for spec in specs), sum(sizes)
        needed = sum(prod(x.shape) for x in self.inputs if not x.optional)
        self._piece = max(PIECE // ((taken + given) * dtype.itemsize), self._block)
        self._checked = self._block * max(CHECKED // (max(needed, 1) * 64), 1)
        self._past = CACHED // (max(given, 1) * dtype.itemsize)

    @property
    def framed(self) -> bool:
        """Whether the function takes a frame and a reference."""
        return bool(self._frames)

    def arrays(self) -> tuple[str, str]:
        """Return the arguments and the results, as names with shapes without batch dimensions."""
        required, optional = ([x for x in self.inputs if x.optional is kind] for kind in (False, True))
        place = [*("frame", "other")[: self._places - 1], "reference"] if self._frames else []
        takes = [f"{x.name} {x.shape}" for x in required] + place
        takes += [f"{x.name} {x.shape} or None" for x in optional]
        return ", ".join(takes), ", ".join(f"{name} {shape}" for name, shape in self.outputs)

    def refuse_pair(self, where: str) -> None:
        """Raise AttributeError for a function of two frames: frameworks have no such functions."""
        if self._places > 2:
            remedy = "call the function of the module, or subtract the frame_jacobian of both in WORLD"
            raise AttributeError(f"{where} has no {self._name!r}, which takes two frames: {remedy}")

    def call(
        self, arguments: tuple[Any, ...], out: Any = None, num_threads: Any = 1, extra: tuple[int, ...] = ()
    ) -> Any:
        """Call the function. extra: result of `place`."""
        if self._ranges:
            for k, taken in self._ranges:
                if arguments[k] is not None:
                    taken.check_range(arguments[k])
        # Identity is the cheapest test; the check below finds the remaining cases.
        if num_threads is not _ONE:
            num_threads = self._thread_count(num_threads)
        pointers, batch = self._plain(arguments)
        if batch or not pointers or (out is not None and not self._is_plain(out)):
            return self._general(arguments, out, num_threads, extra, pointers, batch)
        # Compute into new arrays, because `out` may overlap an input.
        from_buffer, pointer, shape = self._from_buffer, self._pointer, self._only_shape
        if shape is None:
            results = tuple(empty(shape, self._dtype) for shape in self._shapes)
            targets = [from_buffer(pointer, result) for result in results]
            if self._call(self._spec, self._single, self._batch, 1, 0, *pointers, *extra, *targets):
                self._refuse_entries(arguments)
            return results
        result = empty(shape, self._dtype)
        target = from_buffer(pointer, result)
        if self._call(self._spec, self._single, self._batch, 1, 0, *pointers, *extra, target):
            self._refuse_entries(arguments)
        if out is not None:
            out[...] = result
            return out
        return result if shape else result[()]

    def _plain(self, arguments: tuple[Any, ...]) -> tuple[list[Any], tuple[int, ...]]:
        """Return pointers to the arguments and their common batch dimensions; no pointers if an argument must
        be converted or broadcast.
        """
        from_buffer, pointer, dtype, pointers = self._from_buffer, self._pointer, self._dtype, []
        batch: tuple[int, ...] = ()
        try:
            for x, (shape, optional) in zip(arguments, self._checks):  # noqa: B905 - as long by construction
                if x is None and optional:
                    pointers.append(self._null)
                    continue
                if type(x) is not ndarray or x.dtype is not dtype or not x.flags.aligned:
                    return [], ()
                if x.shape != batch + shape:
                    batch = () if pointers else x.shape[: x.ndim - len(shape)]
                    if not batch or x.shape != batch + shape:
                        return [], ()
                pointers.append(from_buffer(pointer, x))
        except ValueError:  # from_buffer, of an array that is not C-contiguous
            return [], ()
        return pointers, batch

    def call_into(self, arguments: tuple[Any, ...], out: Any, num_threads: Any, zeroed: Any) -> Any:
        """Call the function. zeroed: `out` holds zeros, or results of the same function."""
        if zeroed is False:
            return self.call(arguments, out, num_threads)
        if zeroed is not True:
            raise TypeError(f"{self._name}: zeroed: give True or False, not {type(zeroed).__name__}")
        if out is None:
            raise ValueError(f"{self._name}: zeroed: needs arrays; pass them as out=")
        into = object.__new__(type(self))
        vars(into).update(vars(self))
        into._single, into._batch = self._into, self._null
        return into.call(arguments, out, num_threads)

    def place(self, frame: Any, reference: Any, *others: Any) -> tuple[int, ...]:
        """Return the extra arguments of a framed function: indices of its frames and of the reference."""
        indices = [self._frame_index(frame), *(self._frame_index(other, "other") for other in others)]
        return (*indices, self._reference_index(reference))

    def lanes(
        self, arguments: tuple[Any, ...], layout: Any, out: Any, num_threads: Any, extra: tuple[int, ...] = ()
    ) -> Any:
        """Call on blocks of samples: arrays (blocks, ..., lanes), never copied. extra: result of `place`.

        If `layout` is not "lanes", call it on samples, or refuse an unknown layout.
        """
        if not isinstance(layout, str):
            raise TypeError(f"{self._name}: layout: give 'samples' or 'lanes', not {type(layout).__name__}")
        if layout == "samples":
            return self.call(arguments, out, num_threads, extra)
        if self._thread_count(num_threads) != 1:
            remedy = "blocks run in one thread; call it with parts of the blocks in several threads"
            raise ValueError(f"{self._name}: num_threads: {num_threads!r} with layout={layout!r}: {remedy}")
        if layout != "lanes":
            raise ValueError(f"{self._name}: layout: {layout!r} is neither 'samples' nor 'lanes'")
        if self._lanes is None:
            remedy = "this module was built without lanes for this function; pass samples (..., n)"
            raise ValueError(f"{self._name}: layout: {remedy}")
        blocks = None
        for k, (x, taken) in enumerate(zip(arguments, self.inputs, strict=True)):
            if x is not None or not taken.optional:
                blocks = taken.blocks(x, self._block, blocks)
                data = self._from_buffer(self._pointer, x)
                if self._refused_lanes(self._specs[k], blocks, self._block, data):
                    taken.check_entries(np.moveaxis(x, -1, 1))
        results = self._results(out, (blocks or 0,), (self._block,))
        if out is not None and any(overlaps(x, results) for x in arguments if x is not None):
            self._refuse(ValueError, "out", "overlaps an input", "give separate arrays")
        self._lanes(blocks or 0, *self._pointers(arguments), *extra, *self._pointers(results))
        return results[0] if len(results) == 1 else tuple(results)

    def _is_plain(self, out: Any) -> bool:
        return (
            type(out) is ndarray
            and out.dtype is self._dtype
            and out.shape == self._only_shape
            and out.flags.carray
        )

    def _general(
        self,
        arguments: tuple[Any, ...],
        out: Any,
        num_threads: int,
        extra: tuple[int, ...],
        pointers: list[Any],
        batch: tuple[int, ...],
    ) -> Any:
        """Call the function for any dtype, layout, batch and outputs; raise every error of a call."""
        arrays: Sequence[Array | None] = arguments
        if not pointers:
            arrays = [taken.converted(x) for x, taken in zip(arguments, self.inputs, strict=True)]
            batch = self._batch_shape(arrays)
        results, count = self._results(out, batch), prod(batch)
        overlapping = out is not None and any(x is not None and overlaps(x, results) for x in arrays)
        # The caller's arrays stay unchanged if a call of the C code is refused.
        checked = self._checked if out is None else 0
        if pointers and batch and not overlapping and num_threads == 1 and count <= self._piece:
            if self._refuses(count, checked, [*pointers, *extra, *self._pointers(results)]):
                self._refuse_entries(arrays)
            return results[0] if len(results) == 1 else tuple(results)
        if overlapping:
            arrays = [x.copy() if x is not None and overlaps(x, results) else x for x in arrays]
        views = [
            x if x is None or x.shape == batch + taken.shape else np.broadcast_to(x, batch + taken.shape)
            for x, taken in zip(arrays, self.inputs, strict=True)
        ]
        try:
            self._run(views, results, batch, num_threads, extra, checked)
        except _Refused:
            self._refuse_entries(arrays)
        given = [r if r.ndim or out is not None else r[()] for r in results]
        return given[0] if len(given) == 1 else tuple(given)

    def _run(
        self,
        views: Sequence[Array | None],
        results: Sequence[Array],
        batch: tuple[int, ...],
        num_threads: int,
        extra: tuple[int, ...],
        checked: int,
    ) -> None:
        """Fill the results. Many samples are computed piece by piece, so that copies stay small and Ctrl-C is
        noticed between pieces. checked: see `_refuses`.
        """
        count = prod(batch)
        if count <= (self._block if num_threads > 1 else self._piece):
            self.call_c(views, results, batch, extra, checked)
            return
        rows = [result.reshape(count, *shape) for result, shape in zip(results, self._shapes, strict=True)]

        def work(part: slice) -> None:
            inputs = [None if x is None else samples(x, batch, part.start, part.stop) for x in views]
            self.call_c(inputs, [row[part] for row in rows], (part.stop - part.start,), extra, checked)

        parts = pieces(count, num_threads, self._piece, self._block)
        Crew(work, parts, min(num_threads, len(parts))).run()

    def call_c(
        self,
        arrays: Sequence[Array | None],
        results: Sequence[Array],
        batch: tuple[int, ...],
        extra: tuple[int, ...],
        checked: int = 0,
    ) -> None:
        """Call the C function with arrays that all have the same batch dimensions. checked: see `_refuses`.

        Raises _Refused for entries that are not finite, or vectors that are not of unit length.
        """
        inputs = [x if x is None else self._contiguous(x) for x in arrays]
        if self._refuses(prod(batch), checked, [*self._pointers(inputs), *extra, *self._pointers(results)]):
            raise _Refused

    def _refuses(self, count: int, checked: int, given: Sequence[Any]) -> int:
        """Compute samples and return whether inputs were refused; then the results are undefined.

        checked: number of samples to compute and then check at a time; 0 checks all samples first.
        """
        if count > self._past:
            checked = 0  # one call of the C code, which then knows that the results exceed the caches
        return int(self._call(self._spec, self._single, self._batch, count, checked, *given))

    def _pointers(self, arrays: Sequence[Array | None]) -> list[Any]:
        return [self._null if x is None else self._from_buffer(self._pointer, x) for x in arrays]

    def _thread_count(self, num_threads: Any) -> int:
        try:
            count = whole(num_threads)
        except TypeError:
            self._refuse(TypeError, "num_threads", f"is {num_threads!r}", "give a positive integer")
        if count < 1:
            self._refuse(ValueError, "num_threads", f"is {num_threads!r}", "give a positive integer")
        return count

    def _refuse_entries(self, arrays: Sequence[Array | None]) -> NoReturn:
        for x, taken in zip(arrays, self.inputs, strict=True):
            if x is not None:
                taken.check_entries(x)
        raise _Refused

    def unchecked(self) -> Entry:
        """Return the function without the check for finite numbers, for frameworks."""
        lenient = object.__new__(type(self))
        vars(lenient).update(vars(self))
        lenient._call, lenient._refused_lanes = _unchecked, _passed
        return lenient

    def _contiguous(self, x: Array) -> Array:
        return x if x.flags.carray else np.require(x, self._dtype, ["C", "A"])

    def _batch_shape(self, arrays: Sequence[Array | None]) -> tuple[int, ...]:
        given = [(taken, x) for taken, x in zip(self.inputs, arrays, strict=True) if x is not None]
        leading = {taken.name: x.shape[: x.ndim - len(taken.shape)] for taken, x in given}
        try:
            return np.broadcast_shapes(*leading.values())
        except ValueError:
            shown = ", ".join(f"{name} {shape}" for name, shape in leading.items())
            raise ValueError(f"{self._name}: batch dimensions do not broadcast: {shown}") from None

    def _results(self, out: Any, batch: tuple[int, ...], last: tuple[int, ...] = ()) -> list[Array]:
        """Return new arrays, or the arrays of `out` after checking them."""
        if out is None:
            return together([batch + shape + last for _, shape in self.outputs], self._dtype)
        given = (out,) if len(self.outputs) == 1 and not isinstance(out, tuple) else out
        if not isinstance(given, tuple) or len(given) != len(self.outputs):
            raise TypeError(f"{self._name}: out: pass a tuple of {len(self.outputs)} arrays")
        for index, (result, (name, shape)) in enumerate(zip(given, self.outputs, strict=True)):
            if not isinstance(result, np.ndarray) or result.dtype != self._dtype:
                self._refuse(TypeError, f"out ({name})", f"is not a {self._dtype} array", "give one")
            expected = batch + shape + last
            if result.shape != expected:
                self._refuse(ValueError, f"out ({name})", f"has shape {result.shape}", f"expected {expected}")
            if not result.flags.carray:
                what = "is read-only, unaligned or not C-contiguous"
                self._refuse(ValueError, f"out ({name})", what, "give a plain array")
            if overlaps(result, given[:index]):
                self._refuse(ValueError, f"out ({name})", "overlaps another output", "give separate arrays")
        return list(given)

    def _frame_index(self, frame: Any, argument: str = "frame") -> int:
        if isinstance(frame, str):
            if frame not in self._frames:
                there = suggestion(frame, (ascii(name)[1:-1] for name in self._frames))
                raise ValueError(f"{self._name}: {argument}: no frame {frame!r}; {there}")
            return self._frames[frame]
        try:
            index = whole(frame)
        except TypeError:
            raise TypeError(
                f"{self._name}: {argument}: give a frame's name or index, not {type(frame).__name__}"
            ) from None
        if not 0 <= index < len(self._frames):
            raise ValueError(
                f"{self._name}: {argument}: index {index} is not in 0 .. {len(self._frames) - 1}"
            )
        return index

    def _reference_index(self, reference: Any) -> int:
        if not isinstance(reference, str):
            raise TypeError(
                f"{self._name}: reference: give one of {', '.join(REFERENCES)}, "
                f"not {type(reference).__name__}"
            )
        if reference not in REFERENCES:
            raise ValueError(f"{self._name}: reference: {reference!r}; {suggestion(reference, REFERENCES)}")
        return REFERENCES.index(reference)

    def _refuse(self, kind: type[Exception], name: str, what: str, remedy: str) -> NoReturn:
        raise kind(f"{self._name}: argument {name} {what}; {remedy}") from None

"""Calls of a compiled package, by every kind of call, in the process that `package` starts. One kind is a
batch whose results exceed all caches, because other instructions write such results to memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import VerificationError
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Parameter
from rbdc.runtime._processor import variants
from rbdc.runtime._runtime import Entry
from rbdc.runtime.load import load

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class CallKind:
    """A kind of call.

    words: description for messages.
    kind: name of a method of `Callee`.
    prefix: prefix of the library's variant, "" for the module's own.
    """

    words: str
    kind: str
    prefix: str = ""


@dataclass(frozen=True)
class FunctionCall:
    """A call of a function.

    declaration: declaration of the function.
    way: kind of call.
    arrays: the inputs in order, (states, *shape) each, or None.
    extra: indices of the frames and of the reference frame in `REFERENCES`, if the function takes a frame.
    """

    declaration: FunctionDeclaration
    way: CallKind
    arrays: Sequence[Array | None]
    extra: tuple[int, ...] = ()


@dataclass
class Callee:
    """The package in a folder, as a callable for messages: for a declaration it returns the kinds of calls,
    for a call its outputs, (states, ...) each.

    cached: largest size of a batch's results (bytes) that is written through the caches.
    """

    folder: Path
    cached: int = 0

    def __call__(self, message: FunctionDeclaration | FunctionCall) -> Any:
        if isinstance(message, FunctionCall):
            return getattr(self, f"_{message.way.kind}")(message)
        return self._ways(message)

    @cached_property
    def _module(self) -> ModuleType:
        return load(self.folder)

    def _ways(self, declaration: FunctionDeclaration) -> list[CallKind]:
        kinds = {"single": "single samples", "batch": "a batch"}
        kinds |= {"past": "a batch whose results go past the caches"}
        kinds |= {"lanes": "a batch in blocks of lanes"} if declaration.lanes else {}
        kinds |= {"zeroed": "single samples into zeros"} if declaration.zeroed else {}
        loaded, known = self._module.variant, variants(self._module._native).items()
        others = [(name, prefix) for name, (prefix, lacking) in known if name != loaded and not lacking]
        ways = [
            CallKind(f"{words}{', variant ' * bool(name)}{name}", kind, prefix)
            for name, prefix in [("", ""), *others]
            for kind, words in kinds.items()
        ]
        for kind, words in {"jax": "a batch through JAX", "casadi": "single samples through CasADi"}.items():
            if not declaration.pair and self._path(kind).is_file():
                ways.append(CallKind(words, kind))
        return ways

    def _path(self, framework: str) -> Path:
        return self.folder / f"lib{self._module.name}_{framework}.so"

    def _entry(self, call: FunctionCall) -> Entry:
        module, name = self._module, call.declaration.name
        entry: Entry = vars(module)[f"_{name}"]
        if not call.way.prefix:
            return entry
        inputs, frames = [x[:6] for x in entry.inputs], module.frame_names if entry.framed else ()
        return Entry(module._native, call.way.prefix, module.dtype, name, inputs, entry.outputs, frames)

    def _called(self, call: FunctionCall, arrays: Sequence[Array | None], **how: Any) -> list[Array]:
        place = (*call.extra[:-1], REFERENCES[call.extra[-1]]) if call.extra else ()
        function = getattr(self._module, call.declaration.name).__func__
        pairs = list(zip(call.declaration.inputs, arrays, strict=True))
        required = [x for p, x in pairs if not p.optional]
        optional = {p.name: x for p, x in pairs if p.optional}
        outputs = function(self._entry(call), *required, *place, **optional, **how)
        return [outputs] if len(call.declaration.outputs) == 1 else list(outputs)

    def _single(self, call: FunctionCall) -> list[Array]:
        return _stacked([self._called(call, sample) for sample in _samples(call.arrays)])

    def _batch(self, call: FunctionCall) -> list[Array]:
        return self._called(call, call.arrays)

    def _zeroed(self, call: FunctionCall) -> list[Array]:
        """Return the outputs of calls that write into the same arrays: first zeros, then earlier results."""
        d = call.declaration
        out = tuple(np.zeros(p.shape, d.scalar.dtype) for p in d.outputs)
        copies = []
        for sample in _samples(call.arrays):
            self._called(call, sample, out=out if len(out) > 1 else out[0], zeroed=True)
            copies.append([x.copy() for x in out])
        return _stacked(copies)

    def _lanes(self, call: FunctionCall) -> list[Array]:
        """Return the outputs of whole blocks; remaining states are left out."""
        block = call.declaration.scalar.lanes
        blocks = [None if x is None else _in_blocks(x, block) for x in call.arrays]
        blocks_of_outputs = self._called(call, blocks, layout="lanes")
        return [np.moveaxis(x, -1, 1).reshape(-1, *x.shape[1:-1]) for x in blocks_of_outputs]

    def _jax(self, call: FunctionCall) -> list[Array]:
        from rbdc.verification import jax_calls  # a tenth of the start-up time; few packages need it

        return self._through(jax_calls.answer, call)

    def _casadi(self, call: FunctionCall) -> list[Array]:
        from rbdc.verification import casadi_calls

        return self._through(casadi_calls.answer, call)

    def _through(self, answer: Callable[..., list[Array]], call: FunctionCall) -> list[Array]:
        framework, declaration = call.way.kind, call.declaration
        symbol = f"{self._module.name}_{framework}_{declaration.name}"
        return answer(self._path(framework), symbol, declaration, call.arrays, call.extra)

    def _past(self, call: FunctionCall) -> list[Array]:
        """Return the outputs of the last samples of a batch whose results just exceed `cached`. The batch
        holds the samples that fill whole blocks, then zeros, then all samples.

        Raises VerificationError if equal samples have different outputs.
        """
        declaration, dtype = call.declaration, np.dtype(call.declaration.scalar.dtype)
        lanes, sizes = declaration.scalar.lanes, [p.size for p in declaration.outputs]
        few = len(next(x for x in call.arrays if x is not None))
        left_over = few % lanes
        least = max(self.cached // (max(sum(sizes), 1) * dtype.itemsize) + 1, few - left_over + lanes)
        many = few - left_over + -(-least // lanes) * lanes + left_over
        large = [None if x is None else _spread(x, few - left_over, many) for x in call.arrays]
        outputs = [np.full((many, size), np.nan, dtype) for size in sizes]
        self._entry(call).unchecked().call_c(large, outputs, (many,), call.extra)  # zeros are not quaternions
        for output, x in zip(declaration.outputs, outputs, strict=True):
            _check_alike(call, output, x, few - left_over, few)
        return [x[many - few :] for x in outputs]


def _samples(arrays: Sequence[Array | None]) -> list[list[Array | None]]:
    states = len(next(x for x in arrays if x is not None))
    return [[None if x is None else x[k] for x in arrays] for k in range(states)]


def _stacked(samples: Sequence[Sequence[Array]]) -> list[Array]:
    return [np.array(output) for output in zip(*samples, strict=True)]


def _in_blocks(x: Array, block: int) -> Array:
    """Return (samples, ...) as (blocks, ..., block), without the remainder."""
    whole = x[: len(x) // block * block]
    return np.ascontiguousarray(np.moveaxis(whole.reshape(-1, block, *x.shape[1:]), 1, -1))


def _spread(x: Array, first: int, many: int) -> Array:
    """Return the first samples, zeros (whose pages take no memory), and all samples."""
    large = np.zeros((many, *x.shape[1:]), x.dtype)
    large[:first], large[many - len(x) :] = x[:first], x
    return large


def _check_alike(call: FunctionCall, output: Parameter, batch: Array, first: int, few: int) -> None:
    """Raise VerificationError if the results of the first samples differ from those of the same samples at
    the end, or if the results for the zeros in between differ from each other.
    """
    last, count = batch[len(batch) - few :], len(batch) - few - first
    right = np.concatenate([last[:first], np.broadcast_to(batch[first], (count, *batch.shape[1:])), last])
    bits = np.dtype(f"i{batch.dtype.itemsize}")
    wrong = batch.view(bits) != right.view(bits)
    if wrong.any():
        sample, entry = (int(k) for k in np.unravel_index(np.argmax(wrong), wrong.shape))
        raise VerificationError(
            f"{call.declaration.name}, called with {call.way.words}: {entry_of(output, entry)} of sample "
            f"{sample} of {len(batch)} is {batch[sample, entry]:.17g}, but {right[sample, entry]:.17g} for "
            "an equal sample of the batch"
        )


def entry_of(output: Parameter, entry: int) -> str:
    """Return an output's name, with the indices of one of its entries."""
    index = np.unravel_index(entry, output.shape) if output.shape else ()
    return f"{output.name}{[int(i) for i in index]}" if index else output.name

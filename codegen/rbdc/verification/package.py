"""The verification of a compiled package: every function, every way of calling it, every variant that this
processor can run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import VerificationError
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration
from rbdc.functions.evaluation import Part
from rbdc.model import Model
from rbdc.model.xml import shown
from rbdc.runtime.load import loaded
from rbdc.runtime.robot import Entry
from rbdc.verification.expected import Expected, References
from rbdc.verification.states import name_of_state, sampled
from rbdc.workers import uncollected

Array = NDArray[np.floating[Any]]
Call = Callable[..., Any]
"""call(*inputs, *extra, **how) of one function: a generated module's own, or one of another variant."""

TOLERANCES = {"float64": 1e-10, "float32": 1e-4}
"""Of the size of every number of description and inputs; see `rbdc.verification`. Single precision has 6e-8,
and some hundred roundings.
"""
FRAMES = 3
"""The first, the one in the middle, and the one that most joints carry; each in every reference."""
SEED = 0
"""Of the states."""


@dataclass(frozen=True)
class Checked:
    """A function of a package, and which functions of the catalogue it consists of."""

    declaration: FunctionDeclaration
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Question:
    """A function at some states: the inputs by name, (states, size) each, and if it takes them the frame, or
    two of them, and the reference's index.
    """

    checked: Checked
    inputs: Mapping[str, NDArray[np.float64]]
    extra: tuple[int, ...]

    def arrays(self) -> list[Array | None]:
        """The inputs in their order, (states, *shape) each; None for an optional one that is not given."""
        declaration = self.checked.declaration
        given = self.inputs
        return [
            given[p.name].astype(declaration.scalar.dtype).reshape(-1, *p.shape) if p.name in given else None
            for p in declaration.inputs
        ]


def verify_package(folder: Path, model: Model, functions: Sequence[Checked]) -> dict[str, float]:
    """The largest error of each function of the package in `folder`, in parts of its tolerance, against the
    references on `model`.

    Raises VerificationError where one is beyond its tolerance: with the function, the way it was called, the
    state and the error.
    """
    references = References(model, TOLERANCES[functions[0].declaration.scalar.dtype])
    with loaded(folder) as module:
        return {checked.declaration.name: _verified(module, references, checked) for checked in functions}


def _verified(module: ModuleType, references: References, checked: Checked) -> float:
    model, worst = references.model, 0.0
    for question in questions(model, checked):
        with uncollected():
            outputs = references.expected(checked.declaration, _parts(question), question.inputs)
        for way, results in answers(module, question):
            for output, result in enumerate(results):
                error = outputs[output].error(result) if np.all(result.shape) else np.zeros((1, 1))
                if error.max() > 1.0:
                    raise VerificationError(_message(model, question, way, output, outputs[output], result))
                worst = max(worst, float(error.max()))
    return worst


def questions(model: Model, checked: Checked, seed: int = SEED) -> Iterator[Question]:
    """With all inputs and without the optional one; functions of frames at several frames."""
    declaration = checked.declaration
    inputs = sampled(model, declaration, seed)
    if not declaration.framed:
        yield Question(checked, inputs, ())
    frames = _frames(model) if declaration.framed else []
    for k, frame in enumerate(frames):
        others = (frames[k - 1],) if declaration.pair else ()
        for reference in range(len(REFERENCES)):
            yield Question(checked, inputs, (frame, *others, reference))
    if declaration.optional is not None:
        yield Question(
            checked, {name: x for name, x in inputs.items() if name != declaration.optional.name}, ()
        )


def _frames(model: Model) -> list[int]:
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return sorted({0, len(depth) // 2, depth.index(max(depth))})[:FRAMES]


def _parts(question: Question) -> tuple[Part, ...]:
    if not question.extra:
        return question.checked.parts
    frame, *others, reference = question.extra
    other = others[0] if others else None
    return tuple(
        replace(part, frame=frame, reference=REFERENCES[reference], other=other)
        for part in question.checked.parts
    )


def answers(module: ModuleType, question: Question) -> Iterator[tuple[str, list[Array]]]:
    """The answers of the package: words for the way of calling it, and each output, (samples, ...)."""
    declaration, arrays = question.checked.declaration, question.arrays()
    for variant, call in _variants(module, declaration):
        samples = [
            call([None if x is None else x[k] for x in arrays], question.extra)
            for k in range(len(_given(arrays)))
        ]
        outputs = [samples] if len(declaration.outputs) == 1 else list(zip(*samples, strict=True))
        yield f"single samples{variant}", [np.array(output) for output in outputs]
        batch = call(arrays, question.extra)
        yield f"a batch{variant}", [batch] if len(declaration.outputs) == 1 else list(batch)
        if declaration.lanes:
            block = declaration.scalar.lanes
            blocks = [None if x is None else _in_blocks(x, block) for x in arrays]
            found = call(blocks, question.extra, layout="lanes")
            yield (
                f"lanes{variant}",
                [_from_blocks(x) for x in ([found] if len(declaration.outputs) == 1 else found)],
            )


def _given(arrays: Sequence[Array | None]) -> Array:
    return next(x for x in arrays if x is not None)


def _in_blocks(x: Array, block: int) -> Array:
    """(samples, ...) as (blocks, ..., block), without what is left over."""
    whole = x[: len(x) // block * block]
    return np.ascontiguousarray(np.moveaxis(whole.reshape(-1, block, *x.shape[1:]), 1, -1))


def _from_blocks(x: Array) -> Array:
    return np.moveaxis(x, -1, 1).reshape(-1, *x.shape[1:-1])


def _variants(module: ModuleType, declaration: FunctionDeclaration) -> Iterator[tuple[str, Call]]:
    """The function as the module has it, and as the library's other variants have it that this processor can
    run.
    """

    def own(arrays: Sequence[Array | None], extra: tuple[int, ...], **how: Any) -> Any:
        place = (*extra[:-1], REFERENCES[extra[-1]]) if extra else ()
        return getattr(module, declaration.name)(*arrays, *place, **how)

    yield "", own
    native = module._native
    for line in native.ffi.string(native.lib.rbdc_variants()).decode().splitlines():
        name, prefix, *extensions = line.split()
        if name == module.variant or not all(native.lib.rbdc_has(e.encode()) for e in extensions):
            continue
        inputs = [(p.name, p.shape, p.optional, p.configuration) for p in declaration.inputs]
        outputs = [(p.name, p.shape) for p in declaration.outputs]
        entry = Entry(native, prefix, module.dtype, declaration.name, inputs, outputs)

        def other(
            arrays: Sequence[Any], extra: tuple[int, ...], *, layout: str = "samples", entry: Entry = entry
        ) -> Any:
            if layout == "lanes":
                return entry.lanes(tuple(arrays), layout, None, 1, extra)
            return entry.call(tuple(arrays), None, 1, extra)

        yield f", variant {name}", other


def _message(model: Model, question: Question, way: str, output: int, right: Expected, found: Array) -> str:
    declaration = question.checked.declaration
    error = right.error(found)
    state, entry = np.unravel_index(np.argmax(error), error.shape)
    parameter = declaration.outputs[output]
    index = np.unravel_index(int(entry), parameter.shape) if parameter.shape else ()
    place = f"{parameter.name}{[int(i) for i in index]}" if index else parameter.name
    got, wanted = found.reshape(right.values[: len(found)].shape)[state, entry], right.values[state, entry]
    at = (
        f" of frame {shown(model.frames[question.extra[0]].name)}, {REFERENCES[question.extra[-1]]}"
        if question.extra
        else ""
    )
    optional = declaration.optional
    given = (
        ""
        if optional is None
        else f", {'with' if optional.name in question.inputs else 'without'} {optional.name}"
    )
    return (
        f"{declaration.name}{at} does not agree with the description: called with {way}{given}, "
        f"at a state {name_of_state(declaration, int(state))}, "
        f"{place} is {got:.17g}, not {wanted:.17g}, which is {error[state, entry]:.3g} times what may be off"
    )

"""The questions that a package is asked: each function at states, and at places if it takes a frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.declarations import REFERENCES, FunctionDeclaration
from rbdc.functions.evaluation import Part
from rbdc.model import Model
from rbdc.verification.states import sampled

Array = NDArray[np.floating[Any]]

SEED = 0
"""Seed of the states."""


@dataclass(frozen=True)
class Checked:
    """A function of a package, and which functions of the catalogue it consists of. batched: it has code of
    its own for batches. every_frame: it is asked at every frame, on behalf of all functions that share the
    tables of frames.
    """

    declaration: FunctionDeclaration
    parts: tuple[Part, ...]
    batched: bool = False
    every_frame: bool = False


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

    def parts(self) -> tuple[Part, ...]:
        """The functions of the catalogue that answer it, at its place."""
        if not self.extra:
            return self.checked.parts
        frame, *others, reference = self.extra
        other = others[0] if others else None
        return tuple(
            replace(part, frame=frame, reference=REFERENCES[reference], other=other)
            for part in self.checked.parts
        )


def asked(functions: Sequence[Checked]) -> list[Checked]:
    """The functions, the first of those of a frame at every frame."""
    framed = next((c for c in functions if c.declaration.framed and not c.declaration.pair), None)
    return [replace(c, every_frame=True) if c is framed else c for c in functions]


def questions(model: Model, checked: Checked, seed: int = SEED) -> Iterator[Question]:
    """With all inputs and without the optional ones; functions of frames at what `places` gives."""
    declaration = checked.declaration
    inputs = sampled(model, declaration, seed)
    if not declaration.framed:
        yield Question(checked, inputs, ())
    else:
        yield from (Question(checked, inputs, place) for place in places(model, checked))
    if declaration.optional:
        yield Question(checked, {p.name: inputs[p.name] for p in declaration.required}, ())


def places(model: Model, checked: Checked) -> Iterator[tuple[int, ...]]:
    """Frames and references that a function of a frame is asked at: frames on whose paths all bodies are, in
    every reference, and where it stands for all functions the others too, LOCAL, which shows both where a
    frame is in its body and how it is turned.
    """
    frames = covering(model)
    for k, frame in enumerate(frames):
        others = (frames[k - 1],) if checked.declaration.pair else ()
        for reference in range(len(REFERENCES)):
            yield (frame, *others, reference)
    if checked.every_frame:
        rest = [frame for frame in range(len(model.frames)) if frame not in frames]
        yield from ((frame, REFERENCES.index("LOCAL")) for frame in rest)


def covering(model: Model) -> list[int]:
    """The first frame, the one in the middle, and such as all bodies that carry a frame carry one of: the
    deepest, and on from there.
    """
    paths = [model.support(frame.body) for frame in model.frames]
    chosen, covered = {0, len(paths) // 2}, set[int]()
    for frame in sorted(range(len(paths)), key=lambda k: -len(paths[k])):
        if not covered.issuperset(paths[frame]):
            chosen.add(frame)
            covered.update(paths[frame])
    return sorted(chosen)

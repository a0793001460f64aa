"""States at which a module is verified: neutral, at right angles, at large angles and larger ones, at random
within the joints' limits; and the questions that a package is asked: each function at states, and at places
if it takes a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.emit.c import trigonometry
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import Part
from rbdc.model import Body, Problem
from rbdc.reduction.parameters import nominal
from rbdc.runtime._arrays import random_configuration
from rbdc.spatial import Inertia, Scalar, Symmetric3, Vector3

Array = NDArray[np.float64]

FIRST = 16
"""States of the usual kinds: whole blocks of samples side by side, in single precision one."""
LEFT_OVER = 4
"""States that are no whole block, at the end."""
BEYOND = 3
"""The place, in the last whole block, of the state at angles that go to libm, which takes its block along."""
FEW = (1, 3, 7, 11, 15)
"""Numbers of the first states at which matrices and tensors of more than `MANY` entries are compared, where
they have no kernel for samples side by side: of every kind one; and one at larger angles and one beyond.
"""
MANY = 8000
FEWEST = (15,)
"""Numbers of states for tensors of more than `MOST` entries: at random; and one at larger angles. What goes
wrong in one kind of state shows in some of so many entries in another.
"""
MOST = 1_000_000
LARGE = 1000.0
"""Radians: as far as single precision resolves angles to 1e-4."""
FAR = 10.0
"""Times the angles from which on libm is asked, so far."""


def sampled(model: Problem, declaration: FunctionDeclaration, seed: int) -> dict[str, Array]:
    """Return values for each input of a function, (states, size), that its scalar type holds; seeded."""
    rng, dtype = np.random.default_rng(seed), declaration.scalar.dtype
    chosen = _chosen(declaration)
    return {
        p.name: _values(model, declaration, p, rng)[chosen].astype(dtype).astype(np.float64)
        for p in declaration.inputs
    }


def name_of_state(declaration: FunctionDeclaration, state: int) -> str:
    """Return words for the kind of one of the states at which a function is verified."""
    return _kinds(declaration)[_chosen(declaration)[state]].words


def _chosen(declaration: FunctionDeclaration) -> list[int]:
    """Return the numbers of the states of a function."""
    entries = sum(p.size for p in declaration.outputs if not p.in_space)
    lanes = declaration.scalar.lanes
    if declaration.lanes or entries <= MANY:
        return list(range(len(_kinds(declaration))))
    return [*FEW, FIRST, FIRST + lanes + BEYOND] if entries <= MOST else [*FEWEST, FIRST]


@dataclass(frozen=True)
class _Kind:
    """A kind of state: words for it, and how the coordinates of one joint are drawn. far: at angles
    so large that those of joints that follow say little.
    """

    words: str
    draw: Callable[[np.random.Generator, Body], Sequence[Scalar]]
    far: bool = False


def _kinds(declaration: FunctionDeclaration) -> list[_Kind]:
    """Return all states. The `FIRST`: two neutral, at rest and not, four at right angles, four at large ones,
    six at random. Then a block at larger angles; one at random, with a state beyond them; and `LEFT_OVER`.
    """
    lanes, limit = declaration.scalar.lanes, trigonometry.limit(declaration.scalar)
    neutral, right = _Kind("neutral", lambda _, body: body.joint.neutral()), _Kind("at right angles", _right)
    large, within = _Kind("at large angles", _large), _Kind("at random within limits", _within_limits)
    last = [within] * (lanes + LEFT_OVER)
    last[BEYOND] = _far(limit, FAR * limit)
    usual = [*[neutral] * 2, *[right] * 4, *[large] * 4, *[within] * 6]
    return [*usual, *[_far(LARGE, limit)] * lanes, *last]


def _values(
    model: Problem, declaration: FunctionDeclaration, parameter: Parameter, rng: np.random.Generator
) -> Array:
    kinds = _kinds(declaration)
    size = (len(kinds), parameter.size)
    match parameter.kind:
        case Kind.CONFIGURATION:
            return np.array([_configuration(model, kind, rng) for kind in kinds])
        case Kind.PARAMETERS:
            return np.array([_parameters(model, state, rng) for state in range(len(kinds))])
        case Kind.PART:
            return rng.random(size)
        case Kind.POSITIVE:
            return np.exp(rng.normal(size=size))
        case Kind.SWITCHES:
            return np.where(rng.random(size) < 0.5, 1.0, 0.0)
        case Kind.PLACEMENTS:
            turned = rng.normal(size=size).reshape(-1, 7)
            turned[:, 3:] /= np.linalg.norm(turned[:, 3:], axis=1, keepdims=True)
            return turned.reshape(size)
        case Kind.OTHER | Kind.JOINT_ROWS | Kind.INVERSE | Kind.SPACE_ROWS:
            given = f"{parameter.name} ({parameter.kind.value})"
            raise UnsupportedError(f"{declaration.name}: verification cannot draw the input {given}")
    values: Array = rng.normal(size=size) * rng.choice([0.3, 1.0, 3.0], (len(kinds), 1))
    values[0] = 0.0
    return np.abs(values) if parameter.kind is Kind.NOT_NEGATIVE else values


def _parameters(model: Problem, state: int, rng: np.random.Generator) -> list[float]:
    """Return inertial parameters of bodies: those of the description, first as they are, then many times
    lighter or heavier and with a point mass beside.
    """
    found: list[float] = []
    for row in nominal(model):
        x, y, z = (float(r) for r in rng.uniform(-0.3, 0.3, 3))
        mass = float(rng.uniform(0.0, 1.0)) if state > 1 else 0.0
        point = Inertia.about_com(mass, Vector3(x, y, z), Symmetric3.zero()).scalars()
        scale = float(rng.uniform(0.3, 3.0)) if state > 1 else 1.0
        found += [scale * float(own) + float(more) for own, more in zip(row, point, strict=True)]
    return found


def _configuration(model: Problem, kind: _Kind, rng: np.random.Generator) -> list[float]:
    q, leaders = model.neutral(), {body.coupling.leader for body in model.bodies if body.coupling}
    motors = {cluster.leader for cluster in model.clusters}  # beyond whose limits loops need not close
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            # what follows is known as well as the multiplier, which at large angles says little
            limited = index in motors or (kind.far and index in leaders)
            draw = _within_limits if limited else kind.draw
            q[model.q_slice(index)] = [float(x) for x in draw(rng, body)]
    return q


def _right(rng: np.random.Generator, body: Body) -> Sequence[Scalar]:
    """Turned by a multiple of a right angle, in one of the joint's directions where there are several."""
    step = [0.0] * body.joint.nv
    step[-1 - int(rng.integers(min(3, body.joint.nv)))] = float(rng.integers(-2, 3)) * math.pi / 2.0
    return body.joint.integrate(body.joint.neutral(), step)


def _large(rng: np.random.Generator, body: Body) -> Sequence[Scalar]:
    """Far from neutral: an angle of some hundred revolutions, a position of some metres, any orientation."""
    if body.joint.rotation == "angle":
        return [rng.uniform(-LARGE, LARGE)]
    step = (5.0 * rng.normal(size=body.joint.nv)).tolist()
    return body.joint.integrate(body.joint.neutral(), step)


def _far(least: float, most: float) -> _Kind:
    """At angles between two sizes, any of which is as likely to be found between x and 2 x."""

    def draw(rng: np.random.Generator, body: Body) -> Sequence[Scalar]:
        if body.joint.rotation != "angle":
            return _within_limits(rng, body)
        size = math.exp(rng.uniform(math.log(least), math.log(most)))
        return [rng.choice([-1.0, 1.0]) * size]

    return _Kind(f"at angles of {least:g} to {most:g} rad", draw, far=True)


def _within_limits(rng: np.random.Generator, body: Body) -> Sequence[Scalar]:
    limits = np.full((2, body.joint.nq), [[body.limits.lower], [body.limits.upper]])
    return [float(x) for x in random_configuration(rng, body.joint.draws(), *limits)]


SEED = 0
"""Seed of the states."""
DRAWS = 8
"""Draws of states, each from a seed of its own, among which well-conditioned ones are looked for."""
LARGER = 128.0
"""Times that regularisations are larger from draw to draw: a power of two, which rounds nothing."""


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

    def arrays(self) -> list[NDArray[np.floating[Any]] | None]:
        """Return the inputs in their order, (states, *shape) each; None for an optional one that is not
        given.
        """
        declaration = self.checked.declaration
        given = self.inputs
        return [
            given[p.name].astype(declaration.scalar.dtype).reshape(-1, *p.shape) if p.name in given else None
            for p in declaration.inputs
        ]

    def drawn(self, model: Problem, seed: int) -> Question:
        """Return the question at the states of another seed. Required inputs that are not negative, which
        regularise matrices, are larger from draw to draw.
        """
        others = sampled(model, self.checked.declaration, seed)
        for p in self.checked.declaration.required:
            if p.kind is Kind.NOT_NEGATIVE:
                others[p.name] *= LARGER ** (seed - SEED)
        return replace(self, inputs={name: others[name] for name in self.inputs})

    def parts(self) -> tuple[Part, ...]:
        """Return the functions of the catalogue that answer it, at its place."""
        if not self.extra:
            return self.checked.parts
        frame, *others, reference = self.extra
        other = others[0] if others else None
        return tuple(
            replace(part, frame=frame, reference=REFERENCES[reference], other=other)
            for part in self.checked.parts
        )


def asked(functions: Sequence[Checked]) -> list[Checked]:
    """Return the functions, the first of those of a frame at every frame."""
    framed = next((c for c in functions if c.declaration.framed and not c.declaration.pair), None)
    return [replace(c, every_frame=True) if c is framed else c for c in functions]


def questions(model: Problem, checked: Checked, seed: int = SEED) -> Iterator[Question]:
    """With all inputs and without the optional ones; functions of frames at what `places` gives, where they
    have optional inputs with these at the deepest frame alone, in every reference.
    """
    declaration = checked.declaration
    inputs = sampled(model, declaration, seed)
    every = [*places(model, checked)] if declaration.framed else [()]
    if not declaration.optional:
        yield from (Question(checked, inputs, place) for place in every)
        return
    required = {p.name: inputs[p.name] for p in declaration.required}
    deepest = max(covering(model), key=lambda frame: len(model.support(model.frames[frame].body)))
    yield from (Question(checked, inputs, at) for at in every if not at or at[0] == deepest)
    yield from (Question(checked, required, place) for place in every)


def places(model: Problem, checked: Checked) -> Iterator[tuple[int, ...]]:
    """Yield frames and references that a function of a frame is asked at: frames on whose paths all bodies
    are, in every reference, and where it stands for all functions the others too, LOCAL, which shows both
    where a frame is in its body and how it is turned.
    """
    frames = covering(model)
    for k, frame in enumerate(frames):
        others = (frames[k - 1],) if checked.declaration.pair else ()
        for reference in range(len(REFERENCES)):
            yield (frame, *others, reference)
    if checked.every_frame:
        rest = [frame for frame in range(len(model.frames)) if frame not in frames]
        yield from ((frame, REFERENCES.index("LOCAL")) for frame in rest)


def covering(model: Problem) -> list[int]:
    """Return the first frame, the one in the middle, and such as all bodies that carry a frame carry one of:
    the deepest, and on from there.
    """
    paths = [model.support(frame.body) for frame in model.frames]
    chosen, covered = {0, len(paths) // 2}, set[int]()
    for frame in sorted(range(len(paths)), key=lambda k: -len(paths[k])):
        if not covered.issuperset(paths[frame]):
            chosen.add(frame)
            covered.update(paths[frame])
    return sorted(chosen)

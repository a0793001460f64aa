"""States at which a module is verified: neutral, at right angles, at large and at larger angles, and random
within the joints' limits. Also the questions to a package. A question is a function with inputs at several
states and, if the function takes a frame, one place: the frame and the reference frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.couplings import bound
from rbdc.algorithms.reference.frames import frame_jacobian
from rbdc.emit.c import trigonometry
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import REFERENCES, ROWS, FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import EntryPart
from rbdc.model import Body, Problem
from rbdc.planning.availability import random_configurations, random_placements
from rbdc.reduction.parameters import nominal
from rbdc.runtime._arrays import random_configuration
from rbdc.spatial import Inertia, Scalar, Symmetric3, Vector3

Array = NDArray[np.float64]

FIRST = 16
"""Number of states of the usual kinds: whole blocks of samples, in single precision one block."""
LEFT_OVER = 4
"""Number of states at the end that do not fill a block."""
BEYOND = 3
"""Index, in the last whole block, of the state with angles so large that libm computes their sines, and then
all sines of the block.
"""
FEW = (1, 3, 7, 11, 15)
"""Indices of the first states at which matrices and tensors of more than `MANY` entries are compared if they
have no kernel for samples side by side: one of each kind. Two later states are compared too: one at larger
angles, and one with angles that go to libm.
"""
MANY = 8000
FEWEST = (15,)
"""Index of the random state at which tensors of more than `MOST` entries are compared. A later state at
larger angles is compared too. With so many entries, an error at one kind of state shows in some entry at
another state.
"""
MOST = 1_000_000
LARGE = 1000.0
"""Largest angle (rad) that single precision resolves to 1e-4."""
LONGEST = 0.1
"""Longest step of time (s)."""
FAR = 10.0
"""Ratio of the largest angles to the smallest angle that goes to libm."""


def sampled(model: Problem, declaration: FunctionDeclaration, seed: int) -> dict[str, Array]:
    """Return seeded values for each input of a function, (states, size), that its scalar type can hold."""
    rng, dtype = np.random.default_rng(seed), declaration.scalar.dtype
    chosen = _chosen(declaration)
    return {
        p.name: _values(model, declaration, p, rng)[chosen].astype(dtype).astype(np.float64)
        for p in declaration.inputs
    }


def name_of_state(declaration: FunctionDeclaration, state: int) -> str:
    """Return words for the kind of a state."""
    return _kinds(declaration)[_chosen(declaration)[state]].words


def _chosen(declaration: FunctionDeclaration) -> list[int]:
    entries = sum(p.size for p in declaration.outputs if not p.in_space)
    lanes = declaration.scalar.lanes
    if declaration.lanes or entries <= MANY:
        return list(range(len(_kinds(declaration))))
    return [*FEW, FIRST, FIRST + lanes + BEYOND] if entries <= MOST else [*FEWEST, FIRST]


@dataclass(frozen=True)
class _Kind:
    """A kind of state.

    words: description for messages.
    draw: draws the coordinates of one joint.
    far: whether angles are so large that the angles of joints that follow others are meaningless.
    """

    words: str
    draw: Callable[[np.random.Generator, Body], Sequence[Scalar]]
    far: bool = False


def _kinds(declaration: FunctionDeclaration) -> list[_Kind]:
    """Return the kinds of all states. The `FIRST` states are two neutral ones, at rest and moving, four at
    right angles, four at large angles and six random ones. The next block holds states at larger angles. A
    random block follows; the angles of one of its states are larger still. `LEFT_OVER` random states come
    last.
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
        case Kind.DURATION:
            return LONGEST * rng.random(size)
        case Kind.POSITIVE:
            return np.exp(rng.normal(size=size))
        case Kind.SWITCHES | Kind.TASK:
            return np.where(rng.random(size) < 0.5, 1.0, 0.0)
        case Kind.PLACEMENTS:
            return random_placements(rng, *size)
        case Kind.OTHER | Kind.JOINT_ROWS | Kind.INVERSE | Kind.SPACE_ROWS:
            words = f"{parameter.name} ({parameter.kind.value})"
            raise UnsupportedError(f"{declaration.name}: verification cannot draw the input {words}")
    values: Array = rng.normal(size=size) * rng.choice([0.3, 1.0, 3.0], (len(kinds), 1))
    values[0] = 0.0
    return np.abs(values) if parameter.kind is Kind.NOT_NEGATIVE else values


def _parameters(model: Problem, state: int, rng: np.random.Generator) -> list[float]:
    """Return inertial parameters of bodies: first those of the description, then much lighter or heavier ones
    with a further point mass.
    """
    parameters: list[float] = []
    for row in nominal(model):
        x, y, z = (float(r) for r in rng.uniform(-0.3, 0.3, 3))
        mass = float(rng.uniform(0.0, 1.0)) if state > 1 else 0.0
        point = Inertia.about_com(mass, Vector3(x, y, z), Symmetric3.zero()).scalars()
        scale = float(rng.uniform(0.3, 3.0)) if state > 1 else 1.0
        parameters += [scale * float(number) + float(more) for number, more in zip(row, point, strict=True)]
    return parameters


def _configuration(model: Problem, kind: _Kind, rng: np.random.Generator) -> list[float]:
    q, leaders = model.neutral(), {body.coupling.leader for body in model.bodies if body.coupling}
    # beyond the limits of their motors, loops need not close
    motors = {cluster.leader for cluster in model.clusters}
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            # at large angles, rounding of the multiplier makes a follower's angle meaningless
            limited = index in motors or (kind.far and index in leaders)
            draw = _within_limits if limited else kind.draw
            q[model.q_slice(index)] = [float(x) for x in draw(rng, body)]
    return q


def _right(rng: np.random.Generator, body: Body) -> Sequence[Scalar]:
    """Return coordinates turned by a multiple of a right angle, along one of the joint's directions."""
    step = [0.0] * body.joint.nv
    step[-1 - int(rng.integers(min(3, body.joint.nv)))] = float(rng.integers(-2, 3)) * math.pi / 2.0
    return body.joint.integrate(body.joint.neutral(), step)


def _large(rng: np.random.Generator, body: Body) -> Sequence[Scalar]:
    """Return coordinates far from neutral: an angle of some hundred revolutions, a position of some metres,
    any orientation.
    """
    if body.joint.rotation == "angle":
        return [rng.uniform(-LARGE, LARGE)]
    step = (5.0 * rng.normal(size=body.joint.nv)).tolist()
    return body.joint.integrate(body.joint.neutral(), step)


def _far(least: float, most: float) -> _Kind:
    """Return a kind of angles between two sizes, uniform in their logarithm."""

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
ROWS_OF_TASK = 6
RANK = 1e-6
"""Smallest singular value that is not taken as zero, relative to the largest one."""
DRAWS = 8
"""Number of draws of states, each with its own seed, among which well-conditioned ones are sought."""
LARGER = 128.0
"""Factor by which regularisations grow from draw to draw: a power of two, which rounds nothing."""


@dataclass(frozen=True)
class Checked:
    """A function of a package.

    declaration: its declaration.
    parts: functions of the catalogue that it consists of.
    batched: whether it has code for batches.
    every_frame: whether it is tested at every frame, on behalf of all functions that share the tables of
        frames.
    """

    declaration: FunctionDeclaration
    parts: tuple[EntryPart, ...]
    batched: bool = False
    every_frame: bool = False


@dataclass(frozen=True)
class CheckedStates:
    """A question to the package: a function at some states.

    checked: the function.
    inputs: inputs by name, (states, size) each.
    extra: indices of the frames and of the reference frame; empty if the function takes no frame.
    """

    checked: Checked
    inputs: Mapping[str, NDArray[np.float64]]
    extra: tuple[int, ...]

    def arrays(self) -> list[NDArray[np.floating[Any]] | None]:
        """Return the inputs in order, (states, *shape) each; None for an omitted one."""
        declaration = self.checked.declaration
        known = self.inputs
        return [
            known[p.name].astype(declaration.scalar.dtype).reshape(-1, *p.shape) if p.name in known else None
            for p in declaration.inputs
        ]

    def drawn(self, model: Problem, seed: int) -> CheckedStates:
        """Return the question at the states of another seed. Required inputs that are not negative, which
        regularise matrices, grow from draw to draw.
        """
        others = sampled(model, self.checked.declaration, seed)
        for p in self.checked.declaration.required:
            if p.kind is Kind.NOT_NEGATIVE:
                others[p.name] *= LARGER ** (seed - SEED)
        return replace(self, inputs={name: others[name] for name in self.inputs})

    def parts(self) -> tuple[EntryPart, ...]:
        """Return the functions of the catalogue that answer the question, at its place."""
        if not self.extra:
            return self.checked.parts
        frame, *others, reference = self.extra
        other = others[0] if others else None
        return tuple(
            replace(part, frame=frame, reference=REFERENCES[reference], other=other)
            for part in self.checked.parts
        )


def asked(functions: Sequence[Checked]) -> list[Checked]:
    """Return the functions to verify; the first function that takes one frame is tested at every frame."""
    framed = next((c for c in functions if c.declaration.framed and not c.declaration.pair), None)
    return [replace(c, every_frame=True) if c is framed else c for c in functions]


def questions(model: Problem, checked: Checked, seed: int = SEED) -> Iterator[CheckedStates]:
    """Yield questions with all inputs, then with the required inputs only. Functions of frames are asked at
    all `places`; with optional inputs, at the deepest frame only, in every reference frame.
    """
    declaration = checked.declaration
    inputs = sampled(model, declaration, seed)
    every = [*places(model, checked)] if declaration.framed else [()]
    if not declaration.optional:
        yield from (CheckedStates(checked, inputs, place) for place in every)
        return
    required = {p.name: inputs[p.name] for p in declaration.required}
    deepest = max(covering(model), key=lambda frame: len(model.support(model.frames[frame].body)))
    yield from (CheckedStates(checked, inputs, at) for at in every if not at or at[0] == deepest)
    if any(p.name == ROWS for p in declaration.inputs):
        every = [place for place in every if _has_independent_rows(model, place[0])]
    yield from (CheckedStates(checked, required, place) for place in every)


def _has_independent_rows(model: Problem, frame: int) -> bool:
    """Return whether the Jacobian of a frame has six independent rows in some of a few configurations."""
    drawn = random_configurations(model, np.random.default_rng(SEED), FEW[2])
    jacobians = (np.array(bound(frame_jacobian)(model, q.tolist(), frame), float) for q in drawn)
    singular = (np.linalg.svd(J, compute_uv=False) for J in jacobians)
    return any(len(values) == ROWS_OF_TASK and values[-1] > RANK * values[0] for values in singular)


def places(model: Problem, checked: Checked) -> Iterator[tuple[int, ...]]:
    """Yield the places of a function of a frame: the frames of `covering`, in every reference frame. If the
    function stands for all functions of frames, also yield the other frames in LOCAL, which shows where a
    frame is in its body and how it is oriented.
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
    """Return frames to verify: the first, the middle one, and others, from the deepest on, until the paths
    from the root to these frames contain every body with frames.
    """
    paths = [model.support(frame.body) for frame in model.frames]
    chosen, covered = {0, len(paths) // 2}, set[int]()
    for frame in sorted(range(len(paths)), key=lambda k: -len(paths[k])):
        if not covered.issuperset(paths[frame]):
            chosen.add(frame)
            covered.update(paths[frame])
    return sorted(chosen)

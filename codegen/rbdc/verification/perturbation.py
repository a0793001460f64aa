"""A model and inputs whose numbers are rounded scalars: in the first row as they are, in the others changed
by a part of their size.

Numbers that belong together (a vector, a row of a rotation, moments of inertia) change by the same part of
the largest of them: a zero beside others is as uncertain as they are. Axes of joints stay as they are, for
the placements that carry them change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.model import Limits, Model
from rbdc.model.joints import JointType
from rbdc.spatial import Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.verification.rounded import REPLICAS, Rounding

Array = NDArray[np.float64]


class Perturbation:
    """Changes of at most `step` of the size of numbers, seeded; see the module's docstring."""

    def __init__(self, step: float, seed: int) -> None:
        self.step, self.rng, self.rounding = step, np.random.default_rng(seed), Rounding(step, seed)

    def model(self, model: Model, length: float = 0.0) -> Model:
        """The model with scalars of (1 + REPLICAS, 1) in place of its numbers. Offsets count as so long at
        least (m): where results are vectors in the world, rounding is of the size of the whole robot.
        """
        uncertain = ("bodies", "frames", "contacts", "clusters", "base_inertia", "gravity")
        return replace(model, **{name: self._changed(getattr(model, name), length) for name in uncertain})

    def _changed(self, thing: Any, length: float) -> Any:
        """A part of a description; joints, which have their axes, and limits stay as they are."""
        match thing:
            case tuple():
                return tuple(self._changed(x, length) for x in thing)
            case Placement():
                rows = [self._numbers(row) for row in thing.rotation.rows()]
                offset = self._numbers(thing.translation.scalars(), length)
                return Placement(Rotation.from_rows(rows), Vector3.of(offset))
            case Vector3() | Symmetric3():
                return type(thing)(*self._numbers(thing.scalars()))
            case float():
                return self._numbers([thing])[0]
        if not is_dataclass(thing) or isinstance(thing, (JointType, Limits, type)):
            return thing
        parts = {own.name: self._changed(getattr(thing, own.name), length) for own in fields(thing)}
        return replace(thing, **parts)

    def input(
        self, model: Model, declaration: FunctionDeclaration, parameter: Parameter, values: Array
    ) -> list[Scalar]:
        """An input of a function, (states, size), as scalars of (1 + REPLICAS, states), one for each entry.

        Quaternions change by `step` at least, and angles by no more, but for a unit in their last place: a
        large angle is a number as exact as any, and so are its sine and cosine. Switches stay as they are.
        Raises UnsupportedError for a kind of input that it does not know.
        """
        kind, last_place = parameter.kind, float(np.finfo(declaration.scalar.dtype).eps)
        if kind is Kind.SWITCHES:
            return list(values.T)
        sizes = np.maximum(np.abs(values), 1.0 if kind is Kind.CONFIGURATION else 0.0)
        for part in _together(model, declaration, parameter):
            sizes[:, part] = np.max(np.abs(values[:, part]), axis=1, keepdims=True, initial=0.0)
        if kind is Kind.CONFIGURATION:
            for body in (body for body in model.bodies if body.joint.rotation == "angle"):
                angle = np.abs(values[:, body.index_q])
                sizes[:, body.index_q] = np.maximum(1.0, angle * last_place / self.step)
        return [self.rounding.of(x + size * self._noise()) for x, size in zip(values.T, sizes.T, strict=True)]

    def _noise(self) -> Array:
        signs = self.rng.choice([-1.0, 1.0], REPLICAS)
        return self.step * np.concatenate([[0.0], signs * self.rng.uniform(0.5, 1.0, REPLICAS)])[:, None]

    def _numbers(self, values: Sequence[Scalar], least: float = 0.0) -> list[Scalar]:
        largest = max(least, *(abs(x) for x in values))
        return (
            list(values)
            if largest == 0.0
            else [self.rounding.of(x + largest * self._noise()) for x in values]
        )


def _together(model: Model, declaration: FunctionDeclaration, parameter: Parameter) -> list[slice]:
    """The entries of an input that change by parts of the largest of them: of a joint; forces and moments of
    a body; mass, first moment and moments of inertia; all contact forces. Others change alone.
    """
    size = parameter.size
    match parameter.kind:
        case Kind.CONFIGURATION:
            return [slice(body.index_q, body.index_q + body.joint.lengths) for body in model.bodies]
        case Kind.VELOCITY | Kind.ACCELERATION | Kind.TANGENT | Kind.FORCE | Kind.WEIGHTS:
            return [model.v_slice(index) for index in range(model.njoints)]
        case Kind.WRENCHES:
            return [slice(start, start + 3) for start in range(0, size, 3)]
        case Kind.PARAMETERS:
            parts = ((0, 1), (1, 4), (4, 10))
            return [slice(row + start, row + end) for row in range(0, size, 10) for start, end in parts]
        case Kind.CONTACT_FORCES:
            return [slice(0, size)]
        case Kind.NOT_NEGATIVE | Kind.POSITIVE | Kind.PLACEMENTS | Kind.PART:
            return []
        case _:
            given = f"{parameter.name} ({parameter.kind.value})"
            raise UnsupportedError(f"{declaration.name}: verification cannot perturb the input {given}")


def longest_offset(model: Model) -> float:
    """The longest offset of joints and frames from the bodies that carry them (m)."""
    placements = [*(body.placement for body in model.bodies), *(frame.placement for frame in model.frames)]
    return max(
        (abs(float(x)) for placement in placements for x in placement.translation.scalars()), default=0.0
    )

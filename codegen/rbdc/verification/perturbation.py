"""A model and inputs whose numbers are rounded scalars: in the first row as they are, in the others changed
by a part of their size.

Numbers that belong together (a vector, a row of a rotation, moments of inertia) change by the same part of
the largest of them: a zero beside others is as uncertain as they are. Axes of joints stay as they are, for
the placements that carry them change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.model import Body, Contact, Coupling, Model
from rbdc.model.description import DRIVE_NUMBERS
from rbdc.spatial import Inertia, Placement, RigidInertia, Rotation, Scalar, Symmetric3, Vector3
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
        return replace(
            model,
            bodies=tuple(self._body(body, length) for body in model.bodies),
            frames=tuple(
                replace(frame, placement=self._placement(frame.placement, length)) for frame in model.frames
            ),
            contacts=tuple(self._contact(contact, length) for contact in model.contacts),
            clusters=tuple(
                replace(cluster, loops=tuple(self._contact(loop, length) for loop in cluster.loops))
                for cluster in model.clusters
            ),
            base_inertia=self._inertia(model.base_inertia),
            gravity=self._vector(model.gravity),
        )

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

    def _vector(self, vector: Vector3) -> Vector3:
        return Vector3.of(self._numbers(vector.scalars()))

    def _placement(self, placement: Placement, length: float) -> Placement:
        rows = [self._numbers(row) for row in placement.rotation.rows()]
        return Placement(
            Rotation.from_rows(rows), Vector3.of(self._numbers(placement.translation.scalars(), length))
        )

    def _contact(self, contact: Contact, length: float) -> Contact:
        first, second = contact.first, contact.second
        first = replace(first, placement=self._placement(first.placement, length))
        if second is not None:
            second = replace(second, placement=self._placement(second.placement, length))
        return replace(contact, first=first, second=second)

    def _inertia(self, inertia: RigidInertia) -> Inertia:
        (mass,) = self._numbers([inertia.mass])
        return Inertia(
            mass,
            self._vector(inertia.first_moment),
            Symmetric3(*self._numbers(inertia.about_origin.scalars())),
        )

    def _body(self, body: Body, length: float) -> Body:
        coupling = body.coupling
        if coupling is not None:
            offset, multiplier, *higher = (self._numbers([c])[0] for c in coupling.coefficients)
            coupling = Coupling(coupling.leader, multiplier, offset, tuple(higher))
        placement, inertia = self._placement(body.placement, length), self._inertia(body.inertia)
        drive = {name: self._numbers([getattr(body, name)])[0] for name in DRIVE_NUMBERS}
        return replace(body, placement=placement, inertia=inertia, coupling=coupling, **drive)


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

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

from rbdc.model import Body, Contact, Coupling, Model
from rbdc.model.description import DRIVE_NUMBERS
from rbdc.spatial import Inertia, Placement, RigidInertia, Rotation, Scalar, Symmetric3, Vector3
from rbdc.verification.rounded import REPLICAS, Rounded, Rounding

Array = NDArray[np.float64]

DOUBLE_PLACE = float(np.finfo(np.float64).eps)


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

    def configuration(self, model: Model, q: Array, last_place: float = DOUBLE_PLACE) -> list[Scalar]:
        """q (states, nq) as scalars of (1 + REPLICAS, states), one for each entry; quaternions change by
        `step` at least, and angles by no more, but for a unit in their last place (`last_place` of an angle
        of 1): a large angle is a number as exact as any, and so are its sine and cosine.
        """
        sizes = np.maximum(np.abs(q), 1.0)
        for body in model.bodies:
            if body.joint.rotation == "angle":
                angle = np.abs(q[:, body.index_q])
                sizes[:, body.index_q] = np.maximum(1.0, angle * last_place / self.step)
            if body.joint.lengths:
                position = slice(body.index_q, body.index_q + body.joint.lengths)
                sizes[:, position] = np.max(np.abs(q[:, position]), axis=1, keepdims=True)
        return [self._changed(q[:, k], sizes[:, k]) for k in range(q.shape[1])]

    def tangent(self, model: Model, x: Array) -> list[Scalar]:
        """x (states, nv) likewise; the entries of a joint change together."""
        sizes = np.abs(x)
        for index in range(model.njoints):
            own = model.v_slice(index)
            sizes[:, own] = np.max(np.abs(x[:, own]), axis=1, keepdims=True)
        return [self._changed(x[:, k], sizes[:, k]) for k in range(x.shape[1])]

    def wrenches(self, x: Array) -> list[Scalar]:
        """x (states, 6 njoints) likewise; forces and moments of a body change apart."""
        states, size = x.shape
        parts = np.abs(x.reshape(states, size // 3, 3))
        sizes = np.broadcast_to(np.max(parts, axis=2, keepdims=True), parts.shape).reshape(states, size)
        return [self._changed(x[:, k], sizes[:, k]) for k in range(size)]

    def together(self, x: Array) -> list[Scalar]:
        """x (states, size) likewise; all entries change by parts of the largest."""
        sizes = np.max(np.abs(x), axis=1, initial=0.0)
        return [self._changed(x[:, k], sizes) for k in range(x.shape[1])]

    def apart(self, x: Array) -> list[Scalar]:
        """x (states, size) likewise; each entry changes by itself."""
        return [self._changed(x[:, k], np.abs(x[:, k])) for k in range(x.shape[1])]

    def parameters(self, x: Array) -> list[Scalar]:
        """x (states, 10 rows) likewise: mass, first moment and moments of inertia of a row change apart."""
        sizes = np.abs(x)
        for start in range(0, x.shape[1], 10):
            for part in (slice(start, start + 1), slice(start + 1, start + 4), slice(start + 4, start + 10)):
                sizes[:, part] = np.max(np.abs(x[:, part]), axis=1, keepdims=True)
        return [self._changed(x[:, k], sizes[:, k]) for k in range(x.shape[1])]

    def _changed(self, values: Array, sizes: Array) -> Rounded:
        return self.rounding.of(values + sizes * self._noise())

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


def longest_offset(model: Model) -> float:
    """The longest offset of joints and frames from the bodies that carry them (m)."""
    placements = [*(body.placement for body in model.bodies), *(frame.placement for frame in model.frames)]
    return max(
        (abs(float(x)) for placement in placements for x in placement.translation.scalars()), default=0.0
    )

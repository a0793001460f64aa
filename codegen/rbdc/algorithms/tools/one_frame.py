"""Recursions with any scalars, all quantities in one frame."""

from __future__ import annotations

from functools import cached_property

from rbdc.algorithms.tools.machine import Quantity
from rbdc.algorithms.tools.numbers import NumberBody, NumberColumn, Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Forces, Placement, RigidInertia, Scalars


class OneFrame(Numbers):
    """Placements and quantities in the world's frame. at_root: in that of the root body where the tree hangs
    on one free body, whose distance from the world's origin costs no digits. Without q the placements are
    those that it is then given.
    """

    def __init__(
        self,
        model: Problem,
        q: Scalars | None,
        v: Scalars | None = None,
        a: Scalars | None = None,
        fext: Forces = (),
        trace: Trace = silent,
        *,
        at_root: bool = False,
    ) -> None:
        super().__init__(model, q, v, a, fext, trace)
        self.bodies = [OneFrameBody(self, index) for index in range(model.njoints)]
        if q is not None:
            self._place(at_root=at_root)

    def _place(self, *, at_root: bool) -> None:
        model = self.model
        roots = model.children(WORLD)
        if at_root and len(roots) == 1 and model.bodies[roots[0]].joint.free:
            self.gravity = self.placements[roots[0]].rotation.apply_transposed(self.gravity)
            self.placements[roots[0]] = Placement.identity()
        for body in self.bodies:
            if not body.rooted:
                above = self.placements[body.own.parent]
                self.placements[body.at] = above.compose(self.placements[body.at])


class OneFrameBody(NumberBody):
    """A body in the frame of all."""

    def inertia(self) -> RigidInertia:
        return self._inertia

    @cached_property
    def _inertia(self) -> RigidInertia:
        return self.own.inertia.moved(self.placement())

    @cached_property
    def _columns(self) -> list[NumberColumn]:
        place, start = self.placement(), self.m.starts[self.at]
        return [NumberColumn(self, k, place.act(s)) for k, s in enumerate(self.joint.subspace(), start)]

    def external_force(self) -> Force:
        return self.placement().act_force(super().external_force())

    def to_parent(self, x: Quantity) -> Quantity:
        return x

    def from_parent(self, x: Quantity) -> Quantity:
        return x

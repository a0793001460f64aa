"""A machine that runs recursions over any scalars and expresses all quantities in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import cast

from rbdc.algorithms.tools.machine import Quantity
from rbdc.algorithms.tools.numbers import NumberBody, NumberColumn, Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Placement, RigidInertia


class OneFrame(Numbers):
    """A machine with placements and quantities in the world's frame.

    frame: placement of the common frame in the world.
    """

    frame = Placement.identity()
    at_root = False

    def _body(self, index: int) -> NumberBody:
        return OneFrameBody(self, index)

    def _placed(self, placements: list[Placement]) -> list[Placement]:
        root = free_root(self.model) if self.at_root else None
        if root is not None:
            self.frame = placements[root]
            self.gravity = self.frame.rotation.apply_transposed(self.gravity)
        return in_one_frame(self.model, placements, self.trace, at_root=self.at_root)


class RootFrame(OneFrame):
    """A machine with placements and quantities in the frame of the root body, if the tree hangs on one free
    body, otherwise in the world's frame. In the root's frame, a large distance from the world's origin costs
    no digits.
    """

    at_root = True


class OneFrameBody(NumberBody):
    """A body in the common frame."""

    def inertia(self) -> RigidInertia:
        return self._inertia

    @cached_property
    def _inertia(self) -> RigidInertia:
        return self.own.inertia.moved(self.placement())

    @cached_property
    def _columns(self) -> list[NumberColumn]:
        place, start = self.placement(), self.m.starts[self.at]
        return [NumberColumn(self, k, place.act(s)) for k, s in enumerate(self.joint.subspace(), start)]

    def seat(self) -> Placement:
        m = cast(OneFrame, self.m)
        above = m.frame.inverse() if self.rooted else m.placements[self.own.parent]
        return above.compose(self.own.placement)

    def external_force(self) -> Force:
        return self.placement().act_force(super().external_force())

    def to_parent(self, x: Quantity) -> Quantity:
        return x

    def from_parent(self, x: Quantity) -> Quantity:
        return x


def in_one_frame(
    model: Problem, placements: Sequence[Placement], trace: Trace = silent, *, at_root: bool = True
) -> list[Placement]:
    """Return the placements of the bodies in a common frame, from each body's placement in its parent's
    frame.

    The common frame is the root's if `at_root` and the tree hangs on one free body; otherwise the world's.
    """
    free = at_root and free_root(model) is not None
    world: list[Placement] = []
    for index, body in enumerate(model.bodies):
        if body.parent == WORLD:
            world.append(Placement.identity() if free else placements[index])
        else:
            above, local = world[body.parent], placements[index]
            rotation = local.rotation.along_path(above.rotation)
            world.append(Placement(rotation, above.act_point(local.translation)))
            trace(body.name, "placement in the common frame", f"W{index}", world[index].scalars())
    return world


def free_root(model: Problem) -> int | None:
    """Return the free body on which the whole tree hangs; None if there is no such body."""
    roots = model.children(WORLD)
    return roots[0] if len(roots) == 1 and model.bodies[roots[0]].joint.free else None

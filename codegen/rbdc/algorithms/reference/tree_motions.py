"""Placements, velocities, accelerations and Jacobian columns of all bodies in the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rbdc.algorithms.reference.rnea import forward_pass
from rbdc.algorithms.tools.one_frame import OneFrame
from rbdc.model import WORLD, Frame, Problem
from rbdc.spatial import Motion, Placement, Scalars


@dataclass(frozen=True)
class TreeMotions:
    """The bodies in the world, which is WORLD itself; joint and column of each degree of freedom."""

    placements: dict[int, Placement]
    velocities: dict[int, Motion]
    accelerations: dict[int, Motion]
    columns: list[tuple[int, Motion]]

    def placement(self, frame: Frame) -> Placement:
        """Return where a frame is."""
        return self.placements[frame.body].compose(frame.placement)

    def jacobian(self, model: Problem, body: int, seen: Callable[[Motion], Motion]) -> list[Motion]:
        """For each degree of freedom of the tree the column J_k of a body, as it is seen; zero where the
        joint does not carry the body.
        """
        carriers = set(model.support(body))
        return [seen(s) if joint in carriers else Motion.zero() for joint, s in self.columns]


def tree_motions(model: Problem, q: Scalars, v: Scalars | None, a: Scalars | None) -> TreeMotions:
    """Return the motion of the tree, at rest where v or a is None."""
    m, still = OneFrame(model, q, v, a), Motion.zero()
    velocities, accelerations = map(m.in_order, forward_pass(m, still))
    return TreeMotions(
        {WORLD: Placement.identity(), **dict(enumerate(m.placements))},
        {WORLD: still, **dict(enumerate(velocities))},
        {WORLD: still, **dict(enumerate(accelerations))},
        [(k.body.at, k.s) for k in m.columns()],
    )

"""Placements and velocities of the bodies from the root to the leaves, sums over subtrees from the leaves to
the root: Featherstone, Rigid Body Dynamics Algorithms, section 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeVar

from rbdc.algorithms.tools.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Motion, Placement, Scalars


class Sum(Protocol):
    """A quantity that adds up over bodies: a force, an inertia."""

    def __add__(self, other: Any, /) -> Self:
        """The quantity of both."""


Quantity = TypeVar("Quantity", bound=Sum)


def joint_placements(model: Model, q: Scalars, trace: Trace = silent) -> list[Placement]:
    """lambda(i)_M_i = X_T(i) X_J(q_i): each body's frame in its parent's."""
    placements = []
    for index, (body, own) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        placement = body.placement_at(own)
        trace(body.name, "X = X_T X_J(q): joint placement", f"X{index}", placement.scalars())
        placements.append(placement)
    return placements


def world_placements(model: Model, q: Scalars, trace: Trace = silent) -> list[Placement]:
    """0_M_i: each body's frame in the world."""
    world: list[Placement] = []
    for index, (body, placement) in enumerate(zip(model.bodies, joint_placements(model, q), strict=True)):
        world.append(placement if body.parent == WORLD else world[body.parent].compose(placement))
        trace(body.name, "0_X_i = 0_X_parent X: placement in the world", f"W{index}", world[-1].scalars())
    return world


def body_velocities(
    model: Model, v: Scalars, placements: Sequence[Placement], trace: Trace = silent
) -> list[Motion]:
    """v_i = X v_parent + S qdot, in each body's own frame (m/s, rad/s), from the joints' placements."""
    velocities: list[Motion] = []
    for index, (body, rate) in enumerate(zip(model.bodies, joint_velocities(model, v), strict=True)):
        velocity = body.joint.motion(rate)
        if body.parent != WORLD:
            velocity = placements[index].act_inverse(velocities[body.parent]) + velocity
        trace(body.name, "v = X v_parent + S qdot", f"v{index}", velocity.scalars())
        velocities.append(velocity)
    return velocities


def subtree_sums(
    model: Model,
    placements: Sequence[Placement],
    own: Sequence[Quantity],
    moved: Callable[[Placement, Quantity], Quantity],
) -> list[Quantity]:
    """For each body the sum of a quantity over its subtree, in the frame of the body.

    Args:
        model: the tree.
        placements: of the joints, see `joint_placements`.
        own: the quantity of each body alone, in the frame of the body.
        moved: takes the quantity of a child to the frame of its parent, by the placement of its joint.
    """
    totals = list(own)
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent != WORLD:
            totals[parent] = totals[parent] + moved(placements[index], totals[index])
    return totals

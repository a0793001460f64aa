"""Placements of the bodies: Featherstone, Rigid Body Dynamics Algorithms, section 4.4."""

from __future__ import annotations

from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Placement, Scalars


def joint_placements(model: Model, q: Scalars, trace: Trace = silent) -> list[Placement]:
    """Return lambda(i)_M_i = X_T(i) X_J(q_i): each body's frame in the frame of its parent lambda(i)."""
    placements = []
    for index, (body, position) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        placement = body.placement_at(position)
        trace(body.name, "X = X_T X_J(q): joint placement", f"X{index}", placement.scalars())
        placements.append(placement)
    return placements


def world_placements(model: Model, q: Scalars, trace: Trace = silent) -> list[Placement]:
    """Return 0_M_i: each body's frame in the world."""
    world: list[Placement] = []
    for index, (body, placement) in enumerate(zip(model.bodies, joint_placements(model, q), strict=True)):
        world.append(placement if body.parent == WORLD else world[body.parent].compose(placement))
        trace(body.name, "0_X_i = 0_X_parent X: placement in the world", f"W{index}", world[-1].scalars())
    return world

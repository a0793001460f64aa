"""Friction cones as linear inequalities lb <= A f <= ub on contact forces, for solvers.

Rows, their order and signs are those of Crocoddyl's FrictionCone and WrenchCone. The rows of `wrench_cone`
that bound moments follow Caron, Pham and Nakamura (2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbdc.errors import OptionError
from rbdc.spatial import Rotation, Vector3

Array = NDArray[np.float64]
Inequalities = tuple[Array, Array, Array]
"""A, lb and ub of lb <= A f <= ub."""

UP = (0.0, 0.0, 1.0)


def friction_cone(
    mu: float,
    sides: int = 4,
    *,
    inner: bool = True,
    normal: Sequence[float] = UP,
    least: float = 0.0,
    most: float = math.inf,
) -> Inequalities:
    """Return the friction pyramid of a contact force (3,) at a point, with A (sides + 1, 3).

    The row of each side is followed by that of the opposite side; the row of the normal force is last.

    Args:
        mu: coefficient of friction.
        sides: number of sides, even and at least 4.
        inner: inscribe the pyramid in the cone; otherwise circumscribe it.
        normal: normal of the surface in the axes of the force, of any length.
        least, most: bounds of the normal force (N).

    Raises:
        OptionError: an argument is out of range.
    """
    _check(mu, sides, least, most)
    length = float(np.linalg.norm(normal))
    if len(normal) != 3 or not 0.0 < length < math.inf:
        raise OptionError(f"normal: give three finite numbers, not all zero, not {list(normal)}")
    turn = Rotation.from_z_to(Vector3.of([float(x) / length for x in normal]))
    rows = _sides(_within(mu, sides, inner=inner), sides)
    return _bounded(np.vstack([rows, UP]) @ np.array(turn.rows(), dtype=float).T, sides, least, most)


def wrench_cone(
    mu: float,
    box: Sequence[float],
    sides: int = 4,
    *,
    inner: bool = True,
    rotation: ArrayLike | None = None,
    least: float = 0.0,
    most: float = math.inf,
) -> Inequalities:
    """Return the cone of wrenches (6,) of a rectangular contact, about its centre, with A (sides + 13, 6).

    Friction and the normal force have the rows of `friction_cone`. Four rows keep the centre of pressure in
    the rectangle, and eight rows bound the moment about the normal.

    Args:
        mu, sides, inner, least, most: as in `friction_cone`.
        box: lengths of the rectangle along x and y (m).
        rotation: axes of the rectangle in the axes of the force, as columns, the normal last (3, 3).

    Raises:
        OptionError: an argument is out of range.
    """
    _check(mu, sides, least, most)
    if len(box) != 2 or not all(0.0 <= x < math.inf for x in box):
        raise OptionError(f"box: give two lengths (m), not {list(box)}")
    axes = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
    if axes.shape != (3, 3) or not np.allclose(axes.T @ axes, np.eye(3), atol=1e-6):
        raise OptionError("rotation: give the (3, 3) matrix of a rotation")
    mu = _within(mu, sides, inner=inner)
    x, y = (0.5 * length for length in box)
    friction = np.vstack([_sides(mu, sides), UP])
    pressure = [[0, 0, -y, 1, 0, 0], [0, 0, -y, -1, 0, 0], [0, 0, -x, 0, 1, 0], [0, 0, -x, 0, -1, 0]]
    corners = [(a, b) for a in (1, -1) for b in (1, -1)]
    yaw = [
        [a * y, b * x, -mu * (x + y), *(turn * k for k in (-a * mu, -b * mu, -1))]
        for turn in (1, -1)
        for a, b in corners
    ]
    rows = np.vstack([np.hstack([friction, np.zeros((sides + 1, 3))]), pressure, yaw])
    turned = np.hstack([rows[:, :3] @ axes.T, rows[:, 3:] @ axes.T])
    return _bounded(turned, sides, least, most)


def _check(mu: float, sides: int, least: float, most: float) -> None:
    if not 0.0 <= mu < math.inf:
        raise OptionError(f"mu: give a coefficient of friction, not {mu}")
    if sides < 4 or sides % 2:
        raise OptionError(f"sides: give an even number, 4 at least, not {sides}")
    if not 0.0 <= least <= most:
        raise OptionError(f"least and most: give bounds with 0 <= least <= most, not {least}, {most}")


def _within(mu: float, sides: int, *, inner: bool) -> float:
    """Return the friction coefficient along the middle of a side."""
    return mu * math.cos(math.pi / sides) if inner else mu


def _sides(mu: float, sides: int) -> Array:
    """Return the row of t . f - mu n . f for each side: tangent t, normal n; opposite sides in pairs."""
    angles = 2.0 * math.pi / sides * np.arange(sides // 2)
    return np.array([[s * math.cos(a), s * math.sin(a), -mu] for a in angles for s in (1.0, -1.0)])


def _bounded(rows: Array, sides: int, least: float, most: float) -> Inequalities:
    """Return the rows with their bounds: `least` and `most` for the normal force, at most 0 for the rest."""
    lower, upper = np.full(len(rows), -math.inf), np.zeros(len(rows))
    lower[sides], upper[sides] = least, most
    return rows, lower, upper

"""A robot as data for a moving figure, and the forward kinematics that the script of the figure repeats.

A figure has one coordinate for each direction of v. Joint k with motion subspace columns S_1, S_2, ... and
coordinates x_1, x_2, ... moves its body by exp(S_1 x_1) exp(S_2 x_2) ... from the neutral configuration: a
product of exponentials (Lynch and Park, Modern Robotics, section 4.1). One formula serves all joint types.
The coordinate of a joint with one degree of freedom is its entry of q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rbdc.algorithms.couplings import at_configuration, curves_of
from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.model import WORLD, Body, Problem
from rbdc.model.joints.coupling import Coupling
from rbdc.model.xml import shown
from rbdc.spatial import Inertia, Motion, Placement, RigidInertia
from rbdc.spatial.vectors import AXES

KNOTS = 129
"""Number of leader positions at which the position of a joint that follows in a closed loop is tabulated."""
_SHORTEST = 1e-6
"""Length (m) below which a segment is omitted."""


def scene(model: Problem) -> dict[str, Any]:
    """Return the robot as plain data, lengths in m.

    bodies: for each body its parent (-1: the world), placement in the parent, columns of S, index of its
        first coordinate, law by which it follows its leader, mass (kg), centre of mass, and `ellipsoid`.
    base: mass and centre of mass of the links that are fixed to the world.
    segments: lines of the figure, from the origin of a body, in its frame.
    frames: for each its body and its placement in the body.
    coordinates: for each direction of v its range and its initial value in the figure.

    A placement lists the rows of its rotation, then its translation. An ellipsoid is the matrix E (xx, xy,
    yy, xz, yz, zz) of the uniform solid r^T E^-1 r <= 1 about the centre of mass that has the mass and the
    inertia of the body.
    """
    return {
        "bodies": [_body(model, index) for index in range(model.njoints)],
        "base": {"mass": model.base_inertia.mass, "centre": _centre(model.base_inertia)},
        "segments": _segments(model),
        "frames": [
            {"name": shown(f.name), "body": f.body, "placement": f.placement.scalars()} for f in model.frames
        ],
        "coordinates": [c for body in model.bodies if body.coupling is None for c in _coordinates(body)],
    }


def _body(model: Problem, index: int) -> dict[str, Any]:
    body = model.bodies[index]
    follows = None if body.coupling is None else _law(model, index, body.coupling)
    return {
        "name": shown(body.name),
        "joint": shown(body.joint_name),
        "kind": body.joint.kind,
        "parent": body.parent,
        "placement": body.placement.scalars(),
        "subspace": [column.scalars() for column in body.joint.subspace()],
        "first": body.index_v,
        "follows": follows,
        "mass": body.inertia.mass,
        "centre": _centre(body.inertia),
        "ellipsoid": _ellipsoid(body.inertia),
    }


def _law(model: Problem, index: int, coupling: Coupling) -> dict[str, Any]:
    """Return the law by which a joint follows its leader: the coefficients of a polynomial, the constant
    first. For a closed loop, return positions and slopes at knots, between which the figure interpolates by
    cubic Hermite polynomials.
    """
    leader = shown(model.bodies[coupling.leader].joint_name)
    cluster = next((c for c in model.clusters if index in c.followers), None)
    if cluster is None:
        return {"leader": leader, "curve": coupling.coefficients}
    (of_leader,) = _coordinates(model.bodies[cluster.leader])
    knots, q = np.linspace(of_leader["lower"], of_leader["upper"], KNOTS), model.neutral()
    places, slopes = [], []
    for y in knots.tolist():
        q[model.bodies[index].index_q] = y
        curve = curves_of(model, q)[index]
        places.append(float(curve.place))
        slopes.append(float(curve.slope))
    return {"leader": leader, "knots": knots.tolist(), "places": places, "slopes": slopes}


def _centre(inertia: RigidInertia) -> list[float]:
    return inertia.first_moment.scaled(1.0 / inertia.mass).scalars() if inertia.mass else [0.0] * 3


def _ellipsoid(inertia: RigidInertia) -> list[float] | None:
    """Return E = 5 K / m with K the second moments about the centre of mass; None without mass.

    Negative principal moments, which no real body has, count as zero.
    """
    if not inertia.mass > 0.0:
        return None
    alone = Inertia(inertia.mass, inertia.first_moment.scaled(0.0), inertia.about_centre())
    values, axes = np.linalg.eigh(np.array(alone.second_moments().rows(), dtype=float))
    matrix = (axes * np.maximum(5.0 / inertia.mass * values, 0.0)) @ axes.T
    rows = matrix.round(12).tolist()  # smaller eigenvalues are rounding errors
    return [rows[i][j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]


def _segments(model: Problem) -> list[dict[str, Any]]:
    """Return lines from the origin of each body, and of the world, to the joints that it carries.

    A body that carries no joint has a line to the farthest of its frames, or to its centre of mass.
    """
    segments = []
    for index in range(WORLD, model.njoints):
        ends = [model.bodies[child].placement.translation.scalars() for child in model.children(index)]
        if not ends:
            frames = [f.placement.translation.scalars() for f in model.frames if f.body == index]
            farthest = max(frames, key=_length, default=[0.0] * 3)
            ends = [farthest if _length(farthest) > _SHORTEST else _centre(model.bodies[index].inertia)]
        segments += [{"body": index, "to": end} for end in ends if _length(end) > _SHORTEST]
    return segments


def _length(vector: Sequence[float]) -> float:
    return math.hypot(*vector)


def _coordinates(body: Body) -> list[dict[str, Any]]:
    columns, limits = body.joint.subspace(), (body.limits.lower, body.limits.upper)
    return [
        {
            "joint": shown(body.joint_name),
            "direction": "" if len(columns) == 1 else _direction(column, k),
            **reach(_turns(column), *(limits if len(columns) == 1 else ())),
        }
        for k, column in enumerate(columns)
    ]


def reach(turns: bool, lower: float = -math.inf, upper: float = math.inf) -> dict[str, Any]:
    """Return the range of a coordinate with these limits, which ends of the range are limits, and the value
    in the range that is nearest to 0.

    The coordinate is an angle if `turns`, otherwise a length.
    """
    usual = math.pi if turns else 1.0
    low = float(lower) if math.isfinite(lower) else min(-usual, float(upper) - usual)
    high = float(upper) if math.isfinite(upper) else max(usual, low + usual)
    limited, start = [math.isfinite(lower), math.isfinite(upper)], min(max(0.0, low), high)
    return {"unit": "rad" if turns else "m", "lower": low, "upper": high, "limited": limited, "start": start}


def _direction(column: Motion, number: int) -> str:
    vector = column.angular if _turns(column) else column.linear
    axis = "xyz"[AXES.index(vector)] if vector in AXES else f"axis {number + 1}"
    return f"{'about' if _turns(column) else 'along'} {axis}"


def _turns(column: Motion) -> bool:
    return any(column.angular.scalars())


def configuration(model: Problem, coordinates: Sequence[float]) -> list[float]:
    """Return the configuration q (nq) at the coordinates of a figure (nv)."""
    q = model.neutral()
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            entries = list(body.joint.neutral())
            for k, x in enumerate(coordinates[model.v_slice(index)]):
                entries = body.joint.integrate(entries, [x if k == j else 0.0 for j in range(body.joint.nv)])
            q[model.q_slice(index)] = map(float, entries)
    return q


def body_placements(model: Problem, q: Sequence[float]) -> list[Placement]:
    """Return the placement of each body in the world at q (nq)."""
    at_q, world = at_configuration(model, q), dict[int, Placement]()
    world[WORLD] = Placement.identity()
    for index, (body, position) in enumerate(zip(at_q.bodies, joint_positions(at_q, q), strict=True)):
        world[index] = world[body.parent].compose(body.placement_at(position))
    return [world[index] for index in range(model.njoints)]

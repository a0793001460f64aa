"""Jacobian, velocity and acceleration of a frame, climbing from the frame to the root.

With X_i the frame's placement in body i, column i of the LOCAL Jacobian is X_i^-1 S_i; one step up the tree
is X_parent = lambda(i)_M_i X_i. Only the joints that carry the frame are visited, and at the root X is the
frame's placement in the world, which turns LOCAL into WORLD (X acts on the columns) or LOCAL_WORLD_ALIGNED
(only its rotation does).
"""

from __future__ import annotations

from collections.abc import Iterable

from rbdc.algorithms.tools.joint_coordinates import (
    joint_accelerations,
    joint_positions,
    joint_velocities,
    reduce_columns,
)
from rbdc.algorithms.tools.linear import Matrix, transposed, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.errors import OptionError
from rbdc.model import WORLD, Model
from rbdc.model.joints.coupling import CouplingAt
from rbdc.spatial import Motion, Placement, Scalars, Vector3
from rbdc.spatial.vectors import motion_sum


def frame_step(
    model: Model, index: int, q: Scalars, x: Placement, trace: Trace = silent
) -> tuple[list[Motion], Placement]:
    """One step up: the columns X^-1 S of joint `index`, and the frame's placement in the parent of that
    joint.
    """
    body = model.bodies[index]
    columns = [x.act_inverse(s) for s in body.joint.subspace()]
    placement = body.placement.compose(body.joint.placement(joint_positions(model, q)[index]))
    trace(body.name, "columns of J: X^-1 S", "J", [entry for column in columns for entry in column.scalars()])
    return columns, placement.compose(x)


def frame_columns(model: Model, q: Scalars, frame: int) -> tuple[dict[int, list[Motion]], Placement]:
    """LOCAL Jacobian columns of each body that carries the frame, nearest first, and the frame's placement in
    the world.
    """
    index, x = model.frames[frame].body, model.frames[frame].placement
    columns: dict[int, list[Motion]] = {}
    while index != WORLD:
        columns[index], x = frame_step(model, index, q, x)
        index = model.bodies[index].parent
    return columns, x


def express(motion: Motion, world: Placement, reference: str) -> Motion:
    """A LOCAL motion of a frame at `world`, in the axes and at the point that `reference` names."""
    if reference == "LOCAL":
        return motion
    if reference == "WORLD":
        return world.act(motion)
    if reference == "LOCAL_WORLD_ALIGNED":
        return Motion(world.rotation.apply(motion.linear), world.rotation.apply(motion.angular))
    raise OptionError(f"reference {reference!r} is none of LOCAL, WORLD, LOCAL_WORLD_ALIGNED")


def frame_jacobian(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """J (6, nv), linear rows first, with J v the frame's spatial velocity (m/s, rad/s)."""
    columns, world = frame_columns(model, q, frame)
    return frame_matrix(
        model, {index: [express(s, world, reference) for s in own] for index, own in columns.items()}
    )


def frame_matrix(model: Model, columns: dict[int, list[Motion]]) -> Matrix:
    """(6, nv) from the columns of the bodies that carry a frame; zero for the others, summed over coupled
    joints.
    """
    return reduce_columns(model, _over_tree(model, columns))


def with_bends(model: Model, v: Scalars, matrix: Matrix, columns: dict[int, list[Motion]]) -> Matrix:
    """The matrix plus J dG/dt at v, J by its columns, where joints follow others along curves."""
    bends = [(model.bodies[index].index_v, bend) for index, (bend, _) in bends_of(model, columns).items()]
    return plus_columns(matrix, ((k, bend.scaled(v[k])) for k, bend in bends))


def plus_columns(matrix: Matrix, added: Iterable[tuple[int, Motion]]) -> Matrix:
    """A matrix (6, nv) with motions added to its columns, in place."""
    for k, motion in added:
        for row, x in zip(matrix, motion.scalars(), strict=True):
            row[k] = row[k] + x
    return matrix


def bends_of(model: Model, columns: dict[int, list[Motion]]) -> dict[int, tuple[Motion, Motion]]:
    """Columns of joints that follow others along curves, times curvature and times jerk, by their bodies."""
    found = {}
    for index, own in columns.items():
        curve = model.bodies[index].coupling
        if isinstance(curve, CouplingAt):
            found[index] = own[0].scaled(curve.curvature), own[0].scaled(curve.jerk)
    return found


def _over_tree(model: Model, columns: dict[int, list[Motion]]) -> Matrix:
    """(6, degrees of freedom of the full tree)."""
    rows: Matrix = zeros(6, 0)
    for index, body in enumerate(model.bodies):
        own = columns.get(index, [Motion.zero()] * body.joint.nv)
        entries = transposed([column.scalars() for column in own])
        rows = [row + more for row, more in zip(rows, entries, strict=True)]
    return rows


def frame_velocity(model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL") -> Motion:
    """The frame's spatial velocity: the sum of X^-1 S qdot over the joints that carry it."""
    columns, world = frame_columns(model, q, frame)
    rates = joint_velocities(model, v)
    steps = (motion_sum(own, rates[index]) for index, own in columns.items())
    return express(sum(steps, Motion.zero()), world, reference)


def frame_jacobian_time_derivative(
    model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> Matrix:
    """dJ/dt (6, nv): with V_i the velocity of the body that a joint carries, its columns s change by V_i x s
    as the world sees them, and less by U x s in coordinates that move by U: the frame's velocity for LOCAL,
    its linear part for LOCAL_WORLD_ALIGNED. Test: Pinocchio, differences.
    """
    columns, world = frame_columns(model, q, frame)
    rates = joint_velocities(model, v)
    steps = {index: motion_sum(own, rates[index]) for index, own in columns.items()}
    relative, below, carrying = {}, Motion.zero(), Motion.zero()
    for index, step in steps.items():
        relative[index], below = below, below + step
    made: dict[int, list[Motion]] = {}
    for index in reversed(columns):
        carrying = carrying + steps[index]
        seen = _as_seen(carrying, relative[index], reference)
        made[index] = [express(seen.cross(s), world, reference) for s in columns[index]]
    whole = {index: [express(s, world, reference) for s in own] for index, own in columns.items()}
    return with_bends(model, v, frame_matrix(model, made), whole)


def _as_seen(velocity: Motion, relative: Motion, reference: str) -> Motion:
    """A body's velocity in coordinates that move with what they are named after, LOCAL; `relative` is the
    frame's velocity relative to the body.
    """
    if reference == "WORLD":
        return velocity
    return -relative if reference == "LOCAL" else Motion(-relative.linear, velocity.angular)


def frame_drift(model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL") -> Motion:
    """(dJ/dt) v: the rate of the frame's velocity, in the coordinates of the reference, without joint
    accelerations. Test: the product.
    """
    columns, world = frame_columns(model, q, frame)
    drift, velocity = _acceleration_and_velocity(model, columns, v, [0.0] * model.nv)
    if reference == "LOCAL_WORLD_ALIGNED":
        drift = drift - Motion(velocity.linear, Vector3.zero()).cross(velocity)
    return express(drift, world, reference)


def frame_acceleration(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> Motion:
    """The frame's spatial acceleration, without gravity: with s_i = X^-1 S qdot of joint i and d_i the sum of
    s over the joints between i and the frame, a = sum of X^-1 S qddot + s_i x d_i.
    """
    columns, world = frame_columns(model, q, frame)
    acceleration, _ = _acceleration_and_velocity(model, columns, v, a)
    return express(acceleration, world, reference)


def _acceleration_and_velocity(
    model: Model, columns: dict[int, list[Motion]], v: Scalars, a: Scalars
) -> tuple[Motion, Motion]:
    """The LOCAL acceleration and velocity of a frame, by its columns."""
    rates, rate_derivatives = joint_velocities(model, v), joint_accelerations(model, v, a)
    acceleration, below = Motion.zero(), Motion.zero()
    for index, own in columns.items():
        step = motion_sum(own, rates[index])
        acceleration = acceleration + motion_sum(own, rate_derivatives[index]) + step.cross(below)
        below = below + step
    return acceleration, below

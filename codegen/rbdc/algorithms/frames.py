"""Jacobian, velocity and acceleration of a frame, computed along the path from the frame to the root.

With the frame's placement X_i in body i and the placement M_i of body i in its parent, the LOCAL columns of
joint i are X_i^-1 S_i, and X_parent = M_i X_i. The last X is the frame's placement in the world. It maps
LOCAL columns to WORLD; its rotation maps them to LOCAL_WORLD_ALIGNED.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

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

Columns: TypeAlias = Mapping[int, Sequence[Motion]]
"""For each body, motions of a frame: one for each degree of freedom of the body's joint."""

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
"""Values of the `reference` argument. C functions take the index in this tuple instead."""


def frame_step(
    model: Model, index: int, q: Scalars, x: Placement, trace: Trace = silent
) -> tuple[list[Motion], Placement]:
    """Return the columns X^-1 S of joint `index`, and the frame's placement in the parent of this joint. x:
    the frame's placement in the joint's body.
    """
    body = model.bodies[index]
    columns = [x.act_inverse(s) for s in body.joint.subspace()]
    placement = body.placement.compose(body.joint.placement(joint_positions(model, q)[index]))
    trace(body.name, "columns of J: X^-1 S", "J", [entry for column in columns for entry in column.scalars()])
    return columns, placement.compose(x)


def expressed(motion: Motion, world: Placement, reference: str) -> Motion:
    """Map a LOCAL motion of a frame to the axes and the point of a reference. world: frame's placement."""
    if reference == "LOCAL":
        return motion
    if reference == "WORLD":
        return world.act(motion)
    return motion.turned(world.rotation.apply)


@dataclass(frozen=True)
class MovingFrame:
    """The motion of a frame, in LOCAL coordinates.

    steps: for each body that carries the frame, the velocity that the body's joint adds.
    relative: for each of these bodies, the frame's velocity relative to the body.
    velocity: the frame's velocity.
    """

    steps: dict[int, Motion]
    relative: dict[int, Motion]
    velocity: Motion


@dataclass(frozen=True)
class PathToRoot:
    """The path from a frame to the root.

    model: the model.
    columns: LOCAL Jacobian columns of each body that carries the frame, nearest first.
    world: placement of the frame in the world.
    reference: reference of the results.
    """

    model: Model
    columns: dict[int, list[Motion]]
    world: Placement
    reference: str

    @staticmethod
    def of(model: Model, q: Scalars, frame: int, reference: str) -> PathToRoot:
        """Return the path at q (nq). Raises OptionError for an unknown reference."""
        if reference not in REFERENCES:
            raise OptionError(f"reference {reference!r} is none of {', '.join(REFERENCES)}")
        index, x = model.frames[frame].body, model.frames[frame].placement
        columns: dict[int, list[Motion]] = {}
        while index != WORLD:
            columns[index], x = frame_step(model, index, q, x)
            index = model.bodies[index].parent
        return PathToRoot(model, columns, x, reference)

    def expressed(self, motion: Motion) -> Motion:
        """Map a LOCAL motion to the axes and the point of the reference."""
        return expressed(motion, self.world, self.reference)

    def matrix(self, columns: Columns, bends: Iterable[tuple[int, Motion]] = ()) -> Matrix:
        """Return the matrix (6, nv) of the LOCAL `columns`, expressed in the reference. Columns of other
        bodies are zero; columns of coupled joints are summed. bends: index of a column, and a motion to add
        to it, which is already expressed in the reference.
        """
        seen = {index: [self.expressed(s) for s in of_body] for index, of_body in columns.items()}
        bodies = enumerate(self.model.bodies)
        full = [s.scalars() for k, b in bodies for s in seen.get(k, [Motion.zero()] * b.joint.nv)]
        matrix = reduce_columns(self.model, transposed(full) if full else zeros(6, 0))
        for k, motion in bends:
            for row, x in zip(matrix, motion.scalars(), strict=True):
                row[k] = row[k] + x
        return matrix

    def curves(self) -> dict[int, CouplingAt]:
        """Return the couplings of joints that carry the frame and follow others along curves, by body."""
        couplings = {index: self.model.bodies[index].coupling for index in self.columns}
        return {index: coupling for index, coupling in couplings.items() if isinstance(coupling, CouplingAt)}

    def bends(self, rates: Scalars | None = None) -> Iterable[tuple[int, Motion]]:
        """Yield an index in v and a column of J dG/dq, in the reference, for each joint that follows another
        along a curve. G: Jacobian of all joints' coordinates. With `rates` (v), yield J dG/dt instead.
        """
        for index, curve in self.curves().items():
            k, bend = self.model.bodies[index].index_v, self.columns[index][0].scaled(curve.curvature)
            yield k, self.expressed(bend if rates is None else bend.scaled(rates[k]))

    def sums(self, rates: Sequence[Scalars]) -> dict[int, Motion]:
        """Return X^-1 S r for each body that carries the frame. rates: r of each body's joint."""
        return {index: motion_sum(columns, rates[index]) for index, columns in self.columns.items()}

    def moving(self, v: Scalars) -> MovingFrame:
        """Return the frame's motion at v (nv)."""
        steps = self.sums(joint_velocities(self.model, v))
        relative, below = dict[int, Motion](), Motion.zero()
        for index, step in steps.items():
            relative[index], below = below, below + step
        return MovingFrame(steps, relative, below)

    def acceleration(self, moving: MovingFrame, pushes: Mapping[int, Motion]) -> Motion:
        """Return the frame's LOCAL acceleration; pushes: X^-1 S qddot."""
        acceleration = Motion.zero()
        for index, push in pushes.items():
            acceleration = acceleration + push + moving.steps[index].cross(moving.relative[index])
        return acceleration


def frame_jacobian(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return J (6, nv), linear rows first, with J v the frame's spatial velocity (m/s, rad/s)."""
    climb = PathToRoot.of(model, q, frame, reference)
    return climb.matrix(climb.columns)


def frame_velocity(model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL") -> Motion:
    """Return the frame's spatial velocity: the sum of X^-1 S qdot over the joints that carry the frame."""
    climb = PathToRoot.of(model, q, frame, reference)
    return climb.expressed(climb.moving(v).velocity)


def frame_jacobian_time_derivative(
    model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> Matrix:
    """Return dJ/dt (6, nv). A column s of joint i changes by (V_i - U) x s, with the velocity V_i of the
    joint's body and the velocity U of the coordinates. U is zero (WORLD), the frame's velocity (LOCAL) or the
    linear part of the frame's velocity (LOCAL_WORLD_ALIGNED). Checked against Pinocchio and differences.
    """
    climb = PathToRoot.of(model, q, frame, reference)
    moving, carrying, rates = climb.moving(v), Motion.zero(), dict[int, list[Motion]]()
    for index in reversed(climb.columns):
        carrying = carrying + moving.steps[index]
        seen = as_seen(carrying, moving.relative[index], reference)
        rates[index] = [seen.cross(s) for s in climb.columns[index]]
    return climb.matrix(rates, climb.bends(v))


def as_seen(velocity: Motion, relative: Motion, reference: str) -> Motion:
    """Return V_i - U of `frame_jacobian_time_derivative`, in LOCAL coordinates. velocity: V_i. relative: the
    frame's velocity relative to the body.
    """
    if reference == "WORLD":
        return velocity
    return -relative if reference == "LOCAL" else Motion(-relative.linear, velocity.angular)


def frame_classical_acceleration(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> Motion:
    """Return the classical acceleration of the body's point at the frame's origin (WORLD: at the world's
    origin), and the angular acceleration, without gravity. The linear part is that of the spatial
    acceleration plus w x v.
    Checked against Pinocchio.
    """
    velocity = frame_velocity(model, q, v, frame, reference)
    return classical(frame_acceleration(model, q, v, a, frame, reference), velocity)


def classical(acceleration: Motion, velocity: Motion) -> Motion:
    """Return the classical acceleration of the point at the origin of the motions' coordinates."""
    return Motion(acceleration.linear + velocity.angular.cross(velocity.linear), acceleration.angular)


def frame_drift(model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL") -> Motion:
    """Return (dJ/dt) v: the rate of the frame's velocity, in the coordinates of the reference, without joint
    accelerations. Checked against the product of the matrix and v.
    """
    climb = PathToRoot.of(model, q, frame, reference)
    moving, rest = climb.moving(v), joint_accelerations(model, v, [0.0] * model.nv)
    drift = climb.acceleration(moving, climb.sums(rest))
    if reference == "LOCAL_WORLD_ALIGNED":
        drift = drift - Motion(moving.velocity.linear, Vector3.zero()).cross(moving.velocity)
    return climb.expressed(drift)


def frame_acceleration(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> Motion:
    """Return the frame's spatial acceleration, without gravity: the sum of X_i^-1 S_i qddot_i + s_i x d_i
    over the joints i that carry the frame, where s_i = X_i^-1 S_i qdot_i, and d_i is the sum of s over the
    joints between i and the frame.
    """
    climb = PathToRoot.of(model, q, frame, reference)
    pushes = climb.sums(joint_accelerations(model, v, a))
    return climb.expressed(climb.acceleration(climb.moving(v), pushes))

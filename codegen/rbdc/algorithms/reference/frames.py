"""Jacobian, velocity and acceleration of a frame from world coordinates: Featherstone, Rigid Body Dynamics
Algorithms, section 2.8.

Everything is found in the world's coordinates, J_k = 0_X_i S_k for each degree of freedom k of a body i that
carries the frame, and then seen from where `reference` has it: WORLD from the world's origin, LOCAL from the
frame, LOCAL_WORLD_ALIGNED from the frame's origin along the world's axes. Spatial vectors are [linear;
angular] (m/s, rad/s).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.homogeneous import Matrix4, of_placement, product
from rbdc.algorithms.reference.sharing import once
from rbdc.algorithms.tools.joint_coordinates import joint_accelerations, joint_velocities, reduce_columns
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, flat, transposed
from rbdc.errors import OptionError
from rbdc.model import WORLD, Model
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class Carriers:
    """The bodies that carry a frame, the root first, in the world's coordinates: for each its number, the
    columns J_k of its joint, its velocity and its acceleration (without gravity); and the placement of the
    frame.
    """

    bodies: list[int]
    columns: list[list[Motion]]
    velocities: list[Motion]
    accelerations: list[Motion]
    frame: Placement

    def velocity(self) -> Motion:
        """Velocity of the frame's body."""
        return self.velocities[-1] if self.bodies else Motion.zero()

    def acceleration(self) -> Motion:
        """Acceleration of the frame's body."""
        return self.accelerations[-1] if self.bodies else Motion.zero()


@dataclass(frozen=True)
class TreeMotions:
    """Motion of all bodies in one frame, often the world: placements, columns, velocities, accelerations."""

    world: list[Placement]
    columns: list[list[Motion]]
    velocities: list[Motion]
    accelerations: list[Motion]


def tree_motions(model: Model, q: Scalars, v: Scalars | None, a: Scalars | None) -> TreeMotions:
    """In the world, at rest where v or a is None."""
    zero = [0.0] * model.nv
    v, a = (zero if x is None else x for x in (v, a))
    return motions_in(model, world_placements(model, q), v, a, Motion.zero())


def motions_in(
    model: Model, placements: list[Placement], v: Scalars, a: Scalars, beyond: Motion
) -> TreeMotions:
    """V_i = V_parent + J qdot, A_i = A_parent + J qddot + V_i x J qdot over all bodies, from their placements
    in one frame and the acceleration of the world beyond.
    """
    rates, seconds = joint_velocities(model, v), joint_accelerations(model, v, a)
    columns: list[list[Motion]] = []
    velocities: list[Motion] = []
    accelerations: list[Motion] = []
    for index, (body, here) in enumerate(zip(model.bodies, placements, strict=True)):
        joint, above = body.joint, body.parent
        columns.append([here.act(s) for s in joint.subspace()])
        step = here.act(joint.motion(rates[index]))
        velocity = (Motion.zero() if above == WORLD else velocities[above]) + step
        acceleration = beyond if above == WORLD else accelerations[above]
        velocities.append(velocity)
        accelerations.append(acceleration + here.act(joint.motion(seconds[index])) + velocity.cross(step))
    return TreeMotions(placements, columns, velocities, accelerations)


def carriers(model: Model, q: Scalars, v: Scalars | None, a: Scalars | None, frame: int) -> Carriers:
    """The bodies that carry a frame; at rest where v or a is None."""
    found, last = once(tree_motions, model, q, v, a), model.frames[frame]
    bodies = model.support(last.body)
    own = last.placement if last.body == WORLD else found.world[last.body].compose(last.placement)
    return Carriers(
        bodies,
        [found.columns[k] for k in bodies],
        [found.velocities[k] for k in bodies],
        [found.accelerations[k] for k in bodies],
        own,
    )


def viewpoint(frame: Placement, reference: str) -> Placement:
    """Where in the world a frame's motions are seen from. Raises OptionError for a reference that there is
    not.
    """
    if reference == "WORLD":
        return Placement.identity()
    if reference == "LOCAL":
        return frame
    if reference == "LOCAL_WORLD_ALIGNED":
        return Placement(Rotation.identity(), frame.translation)
    raise OptionError(f"reference {reference!a} is none of LOCAL, WORLD, LOCAL_WORLD_ALIGNED")


def frame_jacobian(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """J (6, nv), linear rows first, with J v the frame's spatial velocity. Test: that identity."""
    carried = carriers(model, q, None, None, frame)
    seen = viewpoint(carried.frame, reference)
    columns = [[seen.act_inverse(column) for column in own] for own in carried.columns]
    return matrix_of(model, carried.bodies, columns)


def frame_position(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """The frame's origin in the world (3), from whatever it is seen. Test: `forward_kinematics`."""
    return _seen(model, q, frame, reference).translation.scalars()


def frame_placement(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """The matrix [R p; 0 1] of the frame in the world (16), row by row. Test: `forward_kinematics`."""
    return flat(of_placement(_seen(model, q, frame, reference)))


def frame_position_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """dp/dq (3, nv): the velocities of the world's columns at the frame's origin. Test: differences."""
    _seen(model, q, frame, reference)
    return frame_jacobian(model, q, frame, "LOCAL_WORLD_ALIGNED")[:3]


def frame_placement_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """d[R p; 0 1]/dq (16, nv): the matrix [w x, v; 0 0] of each column in the world's coordinates, times the
    placement. Test: differences.
    """
    placed = of_placement(_seen(model, q, frame, reference))
    columns = transposed(frame_jacobian(model, q, frame, "WORLD"))
    made = [flat(product(_twist(column), placed)) for column in columns]
    return transposed(made) if made else [[] for _ in range(16)]


def _twist(column: Scalars) -> Matrix4:
    vx, vy, vz, x, y, z = column
    return [[0.0, -z, y, vx], [z, 0.0, -x, vy], [-y, x, 0.0, vz], [0.0] * 4]


def _seen(model: Model, q: Scalars, frame: int, reference: str) -> Placement:
    """The frame in the world. Raises OptionError for a reference that there is not."""
    placed = carriers(model, q, None, None, frame).frame
    viewpoint(placed, reference)
    return placed


def frame_velocity(
    model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> list[Scalar]:
    """The frame's spatial velocity (6). Test: central differences of `forward_kinematics`."""
    carried = carriers(model, q, v, None, frame)
    return viewpoint(carried.frame, reference).act_inverse(carried.velocity()).scalars()


def frame_drift(model: Model, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """(dJ/dt) v (6): the acceleration where joints have none, less what the moving axes of the reference see
    of it. Test: the product.
    """
    carried = carriers(model, q, v, None, frame)
    drift, velocity = carried.acceleration(), carried.velocity()
    if reference == "LOCAL_WORLD_ALIGNED":
        point = velocity.linear + velocity.angular.cross(carried.frame.translation)
        drift = drift - Motion(point, Vector3.zero()).cross(velocity)
    return viewpoint(carried.frame, reference).act_inverse(drift).scalars()


def frame_acceleration(
    model: Model, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> list[Scalar]:
    """The frame's spatial acceleration (6), without gravity: the rate of the spatial velocity as the world
    sees it, in the coordinates of `reference`.
    """
    carried = carriers(model, q, v, a, frame)
    return viewpoint(carried.frame, reference).act_inverse(carried.acceleration()).scalars()


def matrix_of(model: Model, bodies: Sequence[int], columns: Sequence[Sequence[Motion]]) -> Matrix:
    """(6, nv) from the columns of bodies that carry a frame; zero for others, summed over coupled joints."""
    found = dict(zip(bodies, columns, strict=True))
    full: list[list[Scalar]] = []
    for index, body in enumerate(model.bodies):
        full += [column.scalars() for column in found.get(index, [Motion.zero()] * body.joint.nv)]
    return reduce_columns(model, transposed(full) if full else [[] for _ in range(6)])

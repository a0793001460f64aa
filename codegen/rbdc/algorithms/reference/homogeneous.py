"""Homogeneous 4x4 matrices over abstract scalars, constant zeros left out of products, and forward kinematics
as a product of them: Craig, Introduction to Robotics, section 3.6.
"""

from __future__ import annotations

from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.algorithms.tools.linear import Matrix, dot, flat, identity, product, transposed, zeros
from rbdc.errors import UnsupportedError
from rbdc.model import WORLD, Body, Model
from rbdc.spatial import Placement, RigidInertia, Scalar, Scalars

IDENTITY: Matrix = identity(4)
ZERO: Matrix = zeros(4, 4)


def scaled(a: Matrix, factor: Scalar) -> Matrix:
    """Return a times a scalar."""
    return [[x * factor for x in row] for row in a]


def trace_of_product(a: Matrix, b: Matrix) -> Scalar:
    """Return tr[A B]."""
    return sum((dot(row, column) for row, column in zip(a, transposed(b), strict=True)), 0.0)


def of_placement(placement: Placement) -> Matrix:
    """Return [R p; 0 1]."""
    rows, p = placement.rotation.rows(), placement.translation.scalars()
    return [[*row, offset] for row, offset in zip(rows, p, strict=True)] + [[0.0, 0.0, 0.0, 1.0]]


def twist_of(body: Body) -> Matrix:
    """Return W with dJ/dq = J W: the joint's motion at unit rate, [w x, v; 0 0], in the body's frame.

    Raises UnsupportedError for a joint of more than one degree of freedom.
    """
    columns = body.joint.subspace()
    if len(columns) != 1 or body.joint.nq != 1:
        raise UnsupportedError(
            f"joint {body.joint_name!a} has {len(columns)} degrees of freedom: the recursion with "
            "homogeneous matrices is for joints with one"
        )
    w, v = columns[0].angular, columns[0].linear
    return [[0.0, -w.z, w.y, v.x], [w.z, 0.0, -w.x, v.y], [-w.y, w.x, 0.0, v.z], [0.0] * 4]


def inertia_matrix(inertia: RigidInertia) -> Matrix:
    """Return J of equation (7): second moments, first moment and mass."""
    xx, xy, yy, xz, yz, zz = inertia.second_moments().scalars()
    x, y, z = inertia.first_moment.scalars()
    return [[xx, xy, xz, x], [xy, yy, yz, y], [xz, yz, zz, z], [x, y, z, inertia.mass]]


def forward_kinematics(model: Model, q: Scalars) -> Matrix:
    """Return world placements of all frames (frames, 16), each the 4x4 matrix [R p; 0 1] row by row (m)."""
    world: dict[int, Matrix] = {WORLD: IDENTITY}
    for index, (body, own) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        fixed, moving = of_placement(body.placement), of_placement(body.joint.placement(own))
        world[index] = product(world[body.parent], product(fixed, moving))
    return [flat(product(world[frame.body], of_placement(frame.placement))) for frame in model.frames]

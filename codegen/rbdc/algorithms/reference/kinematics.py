"""Forward kinematics as a product of 4x4 matrices: Craig, Introduction to Robotics, section 3.6."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.homogeneous import IDENTITY, Matrix4, of_placement, product
from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.algorithms.tools.linear import Matrix, flat
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Scalar


def forward_kinematics(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """World placements of all frames (frames, 16), each the 4x4 matrix [R p; 0 1] row by row (m)."""
    world: dict[int, Matrix4] = {WORLD: IDENTITY}
    for index, (body, own) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        fixed, moving = of_placement(body.placement), of_placement(body.joint.placement(own))
        world[index] = product(world[body.parent], product(fixed, moving))
        trace(body.name, "T = T_parent T_fixed T_joint(q)", f"T{index}", flat(world[index]))
    return [flat(product(world[frame.body], of_placement(frame.placement))) for frame in model.frames]

"""Regrouping of inertial parameters: Khalil and Gautier, on the matrix [[K, h], [h^T, m]] of zeroth to second
moments of mass.

What a link has in common with its parent whatever the joint does is carried by the parent instead; torques do
not change. The parameters that are left are not those of a physical body.
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.model.joint_space import JointSpaceModel, tidy
from rbdc.model.tree import WORLD


def regrouped(model: JointSpaceModel) -> JointSpaceModel:
    """Before: a joint-space model with physical inertias. After: the same torques from fewer parameters, leaf
    to root.

    About a revolute axis z: m = h_z = K_zz = 0. Along a prismatic one: K = 0. A spherical joint gives m up, a
    planar one K_nn of its normal n where that is z. What would be carried into the world is the model's
    `resting`; nothing leaves a free-flyer.
    """
    inertias = {WORLD: model.resting, **{index: body.inertia for index, body in enumerate(model.bodies)}}
    for index in reversed(range(model.njoints)):
        body = model.bodies[index]
        inertia = tidy(inertias[index])
        shared = body.joint.shared_with_parent(inertia)
        inertias[index] = inertia - shared
        inertias[body.parent] = inertias[body.parent] + shared.moved(body.placement_at(body.joint.neutral()))
    bodies = tuple(replace(body, inertia=inertias[index]) for index, body in enumerate(model.bodies))
    return replace(model, bodies=bodies, resting=inertias[WORLD])

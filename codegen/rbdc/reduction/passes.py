"""The model passes, one after the other: from a model to the joint-space model that torques, M and
accelerations are generated from.

Regrouping is Khalil and Gautier's, on the matrix [[K, h], [h^T, m]] of zeroth to second moments of mass: what
a link has in common with its parent whatever the joint does is carried by the parent instead; torques do not
change. The parameters that are left are not those of a physical body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from rbdc.model import WORLD, Problem
from rbdc.model.joint_space import JointSpaceModel
from rbdc.reduction.frame_search import searched
from rbdc.reduction.z_axes import tidy, with_z_axes


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


@dataclass(frozen=True)
class ModelPass:
    """A pure function to a joint-space model of the same functions, and its effect in words.

    The first one takes the model as described, each other one what the one before it gives.
    """

    name: str
    meaning: str
    apply: Callable[[Any], JointSpaceModel]


PASSES = (
    ModelPass(
        "z-axes",
        "every one-dof joint about or along z of its link's frame; rotations as planar turns",
        with_z_axes,
    ),
    ModelPass(
        "regrouping", "inertial parameters that move with the parent as well are given to it", regrouped
    ),
    ModelPass("frame search", "frames turned about and slid along z where that saves work", searched),
)

Space = Literal["regrouped", "origins kept"]
"""The name of a joint-space model: that of `PASSES`, or one with frames turned but not slid, for results that
are taken back to the links' own frames.
"""


@lru_cache(maxsize=8)
def reduced(model: Problem, space: Space = "regrouped") -> JointSpaceModel:
    """Return the joint-space model.

    Test: every joint-space function of random trees with every joint type is unchanged to 1e-12.
    """
    small: Any = model
    for step in PASSES[:-1]:
        small = step.apply(small)
    return searched(small, slide=space == "regrouped")

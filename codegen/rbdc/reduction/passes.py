"""The model passes in order: from a model to the joint-space model from which torques, M and accelerations
are generated.

Regrouping follows Khalil and Gautier, on the matrix [[K, h], [h^T, m]] of the second (K), first (h) and
zeroth (m) moments of mass. The part of a link's inertia that acts as if fixed to the parent, for all joint
coordinates, is added to the parent. Torques do not change. The remaining parameters are not those of a
physical body.
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
    """Before: a joint-space model with physical inertias. After: the same torques from fewer parameters.

    Parameters move from child to parent, from the leaves to the root, and become zero in the child. They are
    m, h_z, K_zz for a revolute joint about z; K for a prismatic joint; m for a spherical joint; K_nn for a
    planar joint with normal n = z; none for a free-flyer. Roots move theirs to the model's `resting`.
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
    """A pass to a joint-space model that changes no value of a joint-space function.

    name: name of the pass.
    meaning: its effect in words.
    apply: a pure function. The first pass takes the described model, each later one the previous result.
    """

    name: str
    meaning: str
    apply: Callable[[Any], JointSpaceModel]


PASSES = (
    ModelPass(
        "z-axes",
        "joints with one dof move about or along z; fixed rotations become products about z and x",
        with_z_axes,
    ),
    ModelPass("regrouping", "inertia that acts as if fixed to the parent is added to it", regrouped),
    ModelPass("frame search", "frames are turned about z and slid along z where that saves work", searched),
)

Space = Literal["regrouped", "origins kept"]
"""The name of a joint-space model. "regrouped" is the result of all `PASSES`. In "origins kept" the frame
search rotates frames but keeps their origins, for results that are mapped back to the links' own frames.
"""


@lru_cache(maxsize=8)
def reduced(model: Problem, space: Space = "regrouped") -> JointSpaceModel:
    """Return the joint-space model of a model.

    Checked: every joint-space function of random trees with every joint type is unchanged to 1e-12.
    """
    small: Any = model
    for step in PASSES[:-1]:
        small = step.apply(small)
    return searched(small, slide=space == "regrouped")

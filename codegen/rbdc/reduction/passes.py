"""The model passes, one after the other: from a model to the joint-space model that torques, M and
accelerations are generated from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Literal

from rbdc.model import Model
from rbdc.model.joint_space import JointSpaceModel, with_z_axes
from rbdc.reduction.frame_search import searched
from rbdc.reduction.regrouping import regrouped


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

_TURNED = ModelPass("frame search", "frames turned about z", partial(searched, slide=False))

_PASSES_OF: Mapping[Space, Sequence[ModelPass]] = {
    "regrouped": PASSES,
    "origins kept": (*PASSES[:-1], _TURNED),
}


@lru_cache(maxsize=8)
def reduced(model: Model, space: Space = "regrouped") -> JointSpaceModel:
    """The joint-space model.

    Test: every joint-space function of random trees with every joint type is unchanged to 1e-12.
    """
    first, *others = _PASSES_OF[space]
    small = first.apply(model)
    for step in others:
        small = step.apply(small)
    return small

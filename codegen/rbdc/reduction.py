"""The model passes, one after the other: from a model to the joint-space model that torques, M and accelerations are generated from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from rbdc.algorithms.work import work_of
from rbdc.model import Model
from rbdc.model.frame_search import searched
from rbdc.model.joint_space import with_z_axes
from rbdc.model.regrouping import far_out, regrouped, with_masses_kept
from rbdc.model.rounding import rounded_once


@dataclass(frozen=True)
class ModelPass:
    """A pure function from model to model that leaves every joint-space function as it is, and what it does in words."""

    name: str
    meaning: str
    apply: Callable[[Model], Model]


PASSES = (
    ModelPass("z-axes", "every one-dof joint about or along z of its link's frame; rotations as planar turns", with_z_axes),
    ModelPass("regrouping", "inertial parameters that move with the parent as well are given to it", regrouped),
    ModelPass("frame search", "frames turned about and slid along z where that saves work", lambda model: searched(model, work_of)),
)


KEPT = ModelPass("masses kept", "links whose mass is far from their joint's axis are not regrouped", with_masses_kept)
"""What goes before regrouping where digits are worth more than operations."""


@lru_cache(maxsize=8)
def reduced(model: Model, *, accurate: bool = False) -> Model:
    """The joint-space model, its constants rounded once; `accurate`: with the masses of links that are far out left where they are.

    Test: every joint-space function of random trees with every joint type is unchanged to 1e-12.
    """
    small = model
    for step in (PASSES[0], KEPT, *PASSES[1:]) if accurate else PASSES:
        small = step.apply(small)
    return rounded_once(model, small)


def has_links_far_out(model: Model) -> bool:
    """Whether the accurate model is another."""
    return any(far_out(body) for body in model.bodies)

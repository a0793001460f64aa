"""The model passes, one after the other: from a model to the joint-space model that torques, M and accelerations are generated from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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


Space = Literal["regrouped", "masses kept", "origins kept"]
"""Which joint-space model: that of `PASSES`; with the masses of links that are far out left where they are, for forward dynamics; with
frames turned but not slid, for what is taken back to the links' own frames.
"""

_KEPT = ModelPass("masses kept", "links whose mass is far from their joint's axis are not regrouped", with_masses_kept)
_TURNED = ModelPass("frame search", "frames turned about z", lambda model: searched(model, work_of, slide=False))

_PASSES_OF: Mapping[Space, Sequence[ModelPass]] = {
    "regrouped": PASSES,
    "masses kept": (PASSES[0], _KEPT, *PASSES[1:]),
    "origins kept": (*PASSES[:-1], _TURNED),
}


@lru_cache(maxsize=8)
def reduced(model: Model, space: Space = "regrouped") -> Model:
    """The joint-space model, its constants rounded once.

    Test: every joint-space function of random trees with every joint type is unchanged to 1e-12.
    """
    small = model
    for step in _PASSES_OF[space]:
        small = step.apply(small)
    return rounded_once(model, small)


def links_far_out(model: Model) -> list[str]:
    """The links by which the model with masses kept is another."""
    return [body.name for body in model.bodies if far_out(body)]

"""Derivatives of inverse dynamics by the placements of joints: differences of the torques of robots whose
joints are moved, compiled and in Pinocchio.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc import Placement, Rotation
from rbdc.errors import SingularModelError
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from tests.laws.test_motion import rate
from tests.laws.test_parallel_robots import written
from tests.laws.test_reduced_loops import FOUR_BAR
from tests.peers.test_pinocchio_trees import pinocchio_tree
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_pinocchio import pin
from tests.support_trees import mimic_tree, random_tree, vector

NAME = "rnea_geometry_derivatives"
H = 2.0**-12


def moved(model: Problem, steps: Array) -> Problem:
    """Return the model with the placement X of each joint times a displacement that is exp(e) to first order;
    steps (njoints, 6).
    """
    bodies = (
        replace(
            body,
            placement=body.placement.compose(
                Placement(Rotation.from_rpy(*(float(x) for x in e[3:])), vector(e[:3]))
            ),
        )
        for body, e in zip(model.bodies, steps, strict=True)
    )
    return replace(model, bodies=tuple(bodies))


@cache
def module_of(seed: int, style: str) -> ModuleType:
    return build_module(
        random_tree(seed),
        functions=(NAME,),
        name=f"placed_{style}",
        style=style,
        cflags=UNOPTIMISED,
        verify=False,
    )


def state(module: ModuleType) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(3)
    return module.random_configuration(rng), *rng.standard_normal((2, module.nv))


@pytest.mark.parametrize("style", ["unrolled", pytest.param("rolled", marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", slow_but((0, 2, 6), (2,)))
def test_pinocchio_with_moved_joints(seed: int, style: str) -> None:
    model, module = random_tree(seed), module_of(seed, style)
    q, v, a = state(module)

    def torques(steps: Array) -> Array:
        peer, _ = pinocchio_tree(moved(model, steps))
        return np.array(pin.rnea(peer.model, peer.data, peer.q(q), v, a))

    units = np.eye(6 * model.njoints).reshape(-1, model.njoints, 6)
    expected = np.stack([rate(lambda t, unit=unit: torques(t * unit)) for unit in units], axis=1)  # type: ignore[misc]
    assert_close(getattr(module, NAME)(q, v, a), expected, 1e-8)


@pytest.mark.parametrize("frame", slow_but(("local", "world"), ("world",)))
def test_packages_of_moved_joints(frame: str) -> None:
    """Joints that follow others, with forces that turn with their bodies or not, in one direction of all
    placements.
    """
    model = mimic_tree("coupled")
    step = np.random.default_rng(1).standard_normal((model.njoints, 6))

    def built(t: float, name: str) -> ModuleType:
        how = {"cflags": UNOPTIMISED, "verify": False, "name": f"{name}_{frame}", "fext_frame": frame}
        return build_module(moved(model, t * step), functions=(name,), **how)

    module = built(0.0, NAME)
    q, v, a = state(module)
    fext = np.random.default_rng(2).standard_normal((model.njoints, 6))
    ahead, behind = (np.asarray(built(t, "rnea").rnea(q, v, a, fext)) for t in (H, -H))
    change = getattr(module, NAME)(q, v, a, fext) @ step.ravel()
    assert_close(change, (ahead - behind) / (2.0 * H), 1e-6)


BUILDS: list[tuple[dict[str, Any], str]] = [
    ({}, "rolled"),
    ({}, "unrolled"),
    ({"fext_frame": "world"}, "unrolled"),
    ({"payload": ("link3",)}, "unrolled"),
]


@pytest.mark.parametrize(("options", "style"), slow_but(BUILDS, (), BUILDS[:1]))
def test_builds_are_verified(options: dict[str, Any], style: str) -> None:
    build_module(random_tree(1), functions=(NAME,), style=style, cflags=UNOPTIMISED, **options)


def test_reduced_loops_are_refused(tmp_path: Path) -> None:
    options = BuildOptions(out=tmp_path, contacts=FOUR_BAR, loops="reduce:j_crank", functions=(NAME,))
    with pytest.raises(SingularModelError, match=f"{NAME} cannot be built; leave out `loops`"):
        build_package(written("four_bar"), options)

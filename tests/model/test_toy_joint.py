"""A joint type of the tests' own, a screw, in one file: every function of it is right, straight-line and
rolled.

Building verifies each function against the references. Beside that the screw is compared with what it is made
of, a revolute joint and a prismatic one that follows it without mass between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pytest

from rbdc import Joint, Link, Mimic, Vector3
from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.centroidal import kinetic_energy, potential_energy
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.homogeneous import forward_kinematics
from rbdc.algorithms.reference.rnea import nonlinear_effects, rnea
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import presets, rollable
from rbdc.model import Problem
from rbdc.model.joints import JOINT_TYPES, JointType, Revolute
from rbdc.reduction.limbs import groups
from rbdc.reduction.passes import reduced
from rbdc.runtime._arrays import random_configuration
from tests.model.screw_joint import Screw
from tests.support import PRODUCTS, UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_trees import random_inertia, random_placement, vector

KINDS = ("screw", "revolute", "spherical", "screw", "screw")
PARENTS = (None, 0, 0, 2, 3)
"""Screws at the root, inside and at a leaf, above and below other joints; the last two are one after the
other.
"""
PITCHES = (0.1, 0.0, 0.0, 0.7, -0.4)
ROOTS = ("fixed", "free-flyer")


def screw_model(root: str = "fixed") -> Problem:
    """Return the tree with `Screw`."""
    tree = made_of(root, split=False)
    screws = {f"joint{k}": pitch for k, pitch in enumerate(PITCHES) if pitch}
    return replace(
        tree,
        bodies=tuple(
            replace(body, joint=Screw(body.joint.axis, screws[body.joint_name]))
            if isinstance(body.joint, Revolute) and body.joint_name in screws
            else body
            for body in tree.bodies
        ),
    )


def made_of(root: str, *, split: bool = True) -> Problem:
    """Return the same with revolute joints and, `split`, prismatic ones that follow them by the pitch: equal
    in everything but screws.
    """
    rng = np.random.default_rng(5)
    links, joints = [Link("base", random_inertia(rng))], []
    for k, (kind, parent) in enumerate(zip(KINDS, PARENTS, strict=True)):
        above = "base" if parent is None else f"link{parent}"
        axis = Vector3(0.0, 0.0, -1.0) if k == 4 else vector(rng.standard_normal(3))
        placement, name = random_placement(rng), f"joint{k}"
        screw = kind == "screw"
        if screw and split:
            links.append(Link(f"between{k}"))
            joints.append(Joint(name, "revolute", above, f"between{k}", placement, axis))
            joints.append(
                Joint(
                    f"slide{k}",
                    "prismatic",
                    f"between{k}",
                    f"link{k}",
                    axis=axis,
                    mimic=Mimic(name, PITCHES[k]),
                )
            )
        else:
            joints.append(Joint(name, "revolute" if screw else kind, above, f"link{k}", placement, axis))
        links.append(Link(f"link{k}", random_inertia(rng)))
    mode = "coupled" if split else "independent"
    return Problem.assemble(f"screws_{root.replace('-', '_')}", links, joints, root_joint=root, mimic=mode)


@cache
def straight(root: str) -> ModuleType:
    """Return the functions that are no products of derivatives, straight-line, verified; with a free root
    those that the tests call, which compare all of them.
    """
    names = (*REFERENCES, "integrate", "forward_kinematics")
    if root == "fixed":
        names = tuple(name for name in presets()["full"] if not name.endswith(PRODUCTS))
    verify = root == "fixed"
    return build_module(
        screw_model(root), functions=names, cflags=UNOPTIMISED, root_joint="fixed", verify=verify
    )


@pytest.mark.slow
def test_products_and_second_derivatives_are_verified() -> None:
    products = [name for name in presets()["full"] if name.endswith(PRODUCTS)]
    names = (*products, "rnea_second_derivatives")
    module = build_module(screw_model(), functions=names, cflags=UNOPTIMISED, root_joint="fixed")
    assert set(names) <= set(module.functions)


@cache
def rolled(root: str) -> ModuleType:
    """Return all functions that have a rolled form, verified."""
    return build_module(
        screw_model(root),
        functions=rollable(),
        style="rolled",
        name="rolled",
        cflags=UNOPTIMISED,
        root_joint="fixed",
    )


@pytest.fixture(params=slow_but(ROOTS, (), ["fixed"]))
def root(request: pytest.FixtureRequest) -> str:
    """The root of the tree."""
    return str(request.param)


def state(module: ModuleType, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return any (q, v, a)."""
    rng = np.random.default_rng(seed)
    return module.random_configuration(rng), rng.standard_normal(module.nv), rng.standard_normal(module.nv)


REFERENCES: Mapping[str, tuple[Callable[..., Any], int]] = {
    "rnea": (rnea, 3),
    "nle": (nonlinear_effects, 2),
    "crba": (crba, 1),
    "aba": (aba, 3),
    "rnea_derivatives": (rnea_derivatives, 3),
    "aba_derivatives": (aba_derivatives, 3),
    "kinetic_energy": (kinetic_energy, 2),
    "potential_energy": (potential_energy, 1),
}
"""Functions of which each entry means the same for both models, by the reference and the number of inputs."""


@pytest.mark.parametrize("style", [straight, rolled])
def test_a_screw_is_a_rotation_with_a_slide_that_follows(
    style: Callable[[str], ModuleType], root: str
) -> None:
    module, split = style(root), made_of(root)
    inputs = state(module)
    for name in (name for name in REFERENCES if name in module.functions):
        reference, count = REFERENCES[name]
        expected = reference(split, *(list(x) for x in inputs[:count]))
        results = getattr(module, name)(*inputs[:count])
        pairs = zip(results, expected, strict=True) if isinstance(results, tuple) else [(results, expected)]
        for one, other in pairs:
            assert_close(np.asarray(one), np.squeeze(np.array(other, dtype=float)), 1e-10)


def test_frames_are_where_those_of_a_rotation_with_a_slide_are(root: str) -> None:
    module, split = straight(root), made_of(root)
    q = state(module)[0]
    frames = dict(
        zip((frame.name for frame in split.frames), forward_kinematics(split, list(q)), strict=True)
    )
    placements = module.forward_kinematics(q)
    for name, matrix in zip(module.frame_names, placements, strict=True):
        assert_close(matrix.ravel(), np.array(frames[name], dtype=float), 1e-12)


@pytest.mark.slow
def test_reductions_leave_a_type_of_which_they_know_nothing_as_it_is() -> None:
    model = screw_model()
    small = reduced(model)
    for before, after in zip(model.bodies, small.bodies, strict=True):
        if isinstance(before.joint, Screw):
            assert after.joint == before.joint
            assert float(after.inertia.mass) > 0.0
    limbs = [Link("base"), *(Link(f"l{k}", random_inertia(np.random.default_rng(k))) for k in range(4))]
    pairs = [("base", "l0"), ("l0", "l1"), ("base", "l2"), ("l2", "l3")]
    arms = Problem.assemble(
        "arms", limbs, [Joint(f"j{k}", "revolute", *pair) for k, pair in enumerate(pairs)]
    )
    assert groups(reduced(arms))
    bodies = tuple(replace(body, joint=Screw(Vector3(1.0, 0.0, 0.0), 0.1)) for body in arms.bodies)
    assert not groups(reduced(replace(arms, bodies=bodies)))


@pytest.mark.slow
def test_what_a_type_does_not_have_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"Odd.sampling has 'oddly', none of revolute"):

        class Odd(Screw):
            sampling: ClassVar[str] = "oddly"

    with pytest.raises(UnsupportedError, match="no description makes a joint of type screw"):
        Screw.described(Vector3(0.0, 0.0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("kind", JOINT_TYPES, ids=lambda kind: kind.kind)
def test_a_joint_is_drawn_as_its_class_says(kind: type[JointType]) -> None:
    lower, upper = np.full(kind.nq, -np.inf), np.full(kind.nq, np.inf)
    q = random_configuration(np.random.default_rng(0), kind.draws(), lower, upper)
    joint = kind.described(Vector3(0.0, 0.0, 1.0))
    rotation: Array = np.array(joint.placement(list(q)).rotation.rows())
    assert q.shape == (kind.nq,) and np.any(q != joint.neutral())
    assert_close(rotation @ rotation.T, np.eye(3), 1e-14)

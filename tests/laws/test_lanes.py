"""Limbs in lanes: random trees with alike limbs, mirrored, offset, with inertias of their own. Their builds
compare every function with the references.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc import Joint, Link, Placement, Vector3
from rbdc.analysis.pass_statistics import limb_groups
from rbdc.functions.catalogue import functions_of
from rbdc.ir.operations import ADD, MUL, SUB
from rbdc.model import WORLD, Problem
from rbdc.model import Problem as Tree
from rbdc.model.joint_space import JointSpaceModel
from rbdc.planning.limb_lanes import lane_model, laned
from rbdc.reduction import limb_frames
from rbdc.reduction.limb_frames import aligned
from rbdc.reduction.limbs import groups
from rbdc.reduction.passes import reduced
from rbdc.reduction.z_axes import reframed
from tests.support import FLAGS, UNOPTIMISED, build_module, slow_but
from tests.support_trees import random_inertia, random_placement

FUNCTIONS = (
    *("rnea", "crba", "minverse", "aba", "torque_regressor", "rnea_derivatives", "aba_derivatives"),
    *("rnea_vjp", "kinetic_energy", "com", "com_jacobian", "centroidal_momentum_matrix", "potential_energy"),
)
PLACES = {4: ((1, 1), (1, -1), (-1, 1), (-1, -1)), 3: ((1, 1), (1, -1), (-1, 1)), 2: ((1, 1), (1, -1))}
TARGETS = {"native": FLAGS, "avx2": ("-O1", "-mavx2", "-mfma"), "sse2": ("-O1",)}


def limbs(
    rng: np.random.Generator,
    count: int,
    kinds: tuple[str, ...],
    parent: str,
    tag: str,
    shape: int | None = None,
) -> tuple[list[Link], list[Joint]]:
    """Return `count` limbs of the same joints: mirrored attachments, axes to either side, inertias of their
    own, an offset now and then. With the same number `shape` they look like those of other calls.
    """
    links: list[Link] = []
    joints: list[Joint] = []
    alike = rng if shape is None else np.random.default_rng(shape)
    steps = [random_placement(alike) for _ in kinds]
    axes = [Vector3.of(alike.permutation(np.eye(3))[0].tolist()) for _ in kinds]
    for m in range(count):
        above, (x, y) = parent, PLACES[count][m]
        for k, kind in enumerate(kinds):
            p = steps[k].translation
            offset = float(rng.uniform(-0.01, 0.01)) if rng.random() < 0.3 else 0.0
            placement = Placement(steps[k].rotation, Vector3(x * p.x, y * p.y + offset, p.z))
            name = f"{tag}{m}_{k}"
            links.append(Link(name, random_inertia(rng)))
            axis = axes[k].scaled(float(rng.choice([-1.0, 1.0])))
            joints.append(Joint(f"{name}_joint", kind, above, name, placement, axis))
            above = name
    return links, joints


def creature(seed: int) -> Tree:
    """Return a trunk on a free-flyer or the ground with limbs in groups of four or two, now and then at a
    torso.
    """
    rng = np.random.default_rng(seed)
    kinds = [
        ("revolute",) * 3,
        ("revolute", "prismatic", "revolute"),
        ("prismatic", "revolute"),
        ("revolute", "revolute"),
    ][seed % 4]
    links, joints = [Link("trunk", random_inertia(rng))], []
    if seed % 3 == 0:
        links.append(Link("torso", random_inertia(rng)))
        joints.append(
            Joint("waist", "revolute", "trunk", "torso", random_placement(rng), Vector3(0.0, 0.0, 1.0))
        )
    more = limbs(rng, 4 if seed % 2 else 2, kinds, "trunk", "leg")
    arms = limbs(rng, 2, ("revolute", "revolute"), "torso", "arm") if seed % 3 == 0 else ([], [])
    tail = limbs(rng, 2, ("revolute",), "trunk", "antenna") if seed % 5 == 0 else ([], [])
    for some_links, some_joints in (more, arms, tail):
        links += some_links
        joints += some_joints
    return Problem.assemble(
        f"creature{seed}", links, joints, root_joint="fixed" if seed % 4 == 1 else "free-flyer"
    )


def with_hands(hands: int, fingers: int, kinds: tuple[str, ...], root: str) -> Tree:
    """Return a trunk with two arms, `hands` of them with fingers."""
    rng = np.random.default_rng(fingers)
    links, joints = limbs(rng, 2, ("revolute", "revolute"), "trunk", "arm")
    for m in range(hands):
        some_links, some_joints = limbs(rng, fingers, kinds, f"arm{m}_1", f"hand{m}_", shape=1)
        links += some_links
        joints += some_joints
    name = f"hands{hands}_{fingers}_{'_'.join(kinds)}_{root.replace('-', '_')}"
    return Problem.assemble(name, [Link("trunk", random_inertia(rng)), *links], joints, root_joint=root)


def widths(model: Tree, name: str = "rnea") -> set[int]:
    """Return the widths of the values of a function with limbs in lanes, by its first method."""
    function = functions_of(model)[name]
    program = laned(model, function, next(iter(function.methods)))
    assert program is not None
    return {value.width for value in program.arithmetic()}


@pytest.mark.parametrize("seed", slow_but(range(12), (1,), ()))
def test_lanes_compute_what_the_recursions_do(seed: int) -> None:
    model = creature(seed)
    assert lane_model(model) is not None
    module = build_module(model, functions=FUNCTIONS, cflags=UNOPTIMISED)
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())
    assert any(entry["lanes"] > 1 for entry in manifest["functions"].values())


@pytest.mark.parametrize(
    ("fingers", "kinds", "root"),
    [
        pytest.param(2, ("revolute", "prismatic"), "fixed", marks=pytest.mark.exhaustive),
        pytest.param(3, ("prismatic",), "free-flyer", marks=pytest.mark.exhaustive),
        pytest.param(4, ("revolute",), "fixed", marks=pytest.mark.exhaustive),
    ],
)
def test_fingers_of_all_arms_are_side_by_side(fingers: int, kinds: tuple[str, ...], root: str) -> None:
    model = with_hands(2, fingers, kinds, root)
    assert {2, 4} <= widths(model)
    build_module(model, functions=FUNCTIONS, cflags=UNOPTIMISED)


@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["avx2", "sse2"])
def test_fingers_in_every_width_of_registers(target: str) -> None:
    model = with_hands(2, 2, ("revolute", "revolute"), "fixed")
    flags = (*TARGETS[target], "-Werror")
    build_module(model, functions=FUNCTIONS, cflags=flags, name=f"hands_{target}")


@pytest.mark.parametrize(("fingers", "root"), slow_but([(2, "free-flyer"), (4, "fixed")], (), []))
def test_fingers_of_one_arm_are_a_group_of_their_own(fingers: int, root: str) -> None:
    model = with_hands(1, fingers, ("revolute", "revolute"), root)
    assert limb_groups(model) == [[f"hand0_{n}_0" for n in range(fingers)]]
    assert fingers in widths(model)
    build_module(model, functions=FUNCTIONS, cflags=UNOPTIMISED)


def test_groups_within_limbs_are_shown_with_those_of_all_limbs() -> None:
    fingers = [[f"hand{m}_{n}_0" for n in pair for m in range(2)] for pair in ((0, 1), (2, 3))]
    assert limb_groups(with_hands(2, 4, ("revolute", "revolute"), "fixed")) == [
        ["arm0_0", "arm1_0"],
        *fingers,
    ]


@pytest.mark.parametrize("target", slow_but(TARGETS, (), ()))
def test_every_width_of_registers(target: str) -> None:
    flags = (*TARGETS[target], "-Werror")
    build_module(creature(7), functions=FUNCTIONS, cflags=flags, name=f"creature_{target}")


@pytest.mark.parametrize("compiler", slow_but(["gcc", "clang"], (), ["clang"]))
def test_both_compilers_take_the_vectors_without_a_warning(compiler: str) -> None:
    flags = (*FLAGS, "-Werror", "-Wshadow")
    build_module(
        creature(5), functions=FUNCTIONS, compiler=compiler, cflags=flags, name=f"creature_{compiler}"
    )


def test_most_of_a_quadruped_is_in_lanes() -> None:
    model = creature(1)
    program = laned(model, functions_of(model)["rnea"], "newton_euler")
    assert program is not None
    wide = sum(value.width == 4 for value in program.arithmetic())
    scalars = [value for value in program.arithmetic() if value.width == 1]
    assert wide > 3 * sum(value.operation in (ADD, SUB, MUL) for value in scalars)


def test_a_robot_without_limbs_has_no_lanes() -> None:
    rng = np.random.default_rng(0)
    links, joints = limbs(rng, 2, ("revolute", "revolute"), "trunk", "arm")
    chain = Problem.assemble("chain", [Link("trunk"), *links[:2]], joints[:2])
    assert lane_model(chain) is None
    assert laned(chain, functions_of(chain)["rnea"], "newton_euler") is None


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_limbs_cost_least(seed: int) -> None:
    """Together they cost no more than any of 200 other choices, turned at random."""
    small = reduced(creature(seed), "regrouped")
    limbs = groups(small)
    best, signs = aligned(small, limbs)
    pairs = [(other, first) for g in limbs for first, *others in g.lanes() for other in others]

    def total(model: JointSpaceModel, backwards: int) -> float:
        unlike = sum(limb_frames._difference(model.bodies[b], model.bodies[a]) for a, b in pairs)
        return unlike + limb_frames.BACKWARDS * backwards

    least, rng = total(best, signs.count(-1.0)), np.random.default_rng(seed)
    turned = {other for other, _ in pairs}
    for _ in range(200):
        turns = {k: int(rng.integers(8)) if k in turned else 0 for k in range(small.njoints)} | {WORLD: 0}
        moves = {k: limb_frames._TURNS[turn] for k, turn in turns.items()}
        bodies = [reframed(b, moves[b.parent], moves[k]) for k, b in enumerate(small.bodies)]
        backwards = sum(turn >= limb_frames._OVER for turn in turns.values())
        assert least <= total(replace(small, bodies=tuple(bodies)), backwards) + 1e-9

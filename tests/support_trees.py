"""Seeded random trees with every joint type, built in code."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np

from rbdc import Inertia, Joint, Limits, Link, Mimic, Placement, Rotation, Symmetric3, Vector3
from rbdc.model import Problem
from tests.support import UNOPTIMISED, build_module, slow_but

KINDS = ("revolute", "aligned", "continuous", "prismatic", "spherical", "planar", "floating", "fixed")
SEEDS = range(50)
TREES = slow_but(SEEDS, (0, 2, 6), (3, 4, 5))
"""Parameters of tests: every joint type is in the first, and every one that moves at the root of one of the
default and slow tiers', fixed and free.
"""
LAW_FUNCTIONS = (
    *("rnea", "nle", "gravity_torque", "coriolis", "crba", "minverse", "aba"),
    *("forward_kinematics", "frame_jacobian", "frame_velocity", "frame_acceleration"),
    *(
        "com",
        "com_jacobian",
        "centroidal_momentum_matrix",
        "kinetic_energy",
        "potential_energy",
        "torque_regressor",
    ),
    *("integrate", "difference"),
)
"""What the laws and the peers look at on the trees: fifty builds of every function would take a quarter of an
hour.
"""


def random_inertia(rng: np.random.Generator) -> Inertia:
    """Return the inertia of a few point masses, which is physical for all numbers."""
    mass, first, about = 0.0, np.zeros(3), np.zeros((3, 3))
    for _ in range(5):
        m, r = rng.uniform(0.1, 1.0), rng.uniform(-0.3, 0.3, 3)
        mass, first = mass + m, first + m * r
        about = about + m * (r @ r * np.eye(3) - np.outer(r, r))
    j = [float(about[i, k]) for i, k in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
    return Inertia(float(mass), vector(first), Symmetric3(*j))


def vector(values: np.ndarray) -> Vector3:
    """Return a Vector3 of floats."""
    return Vector3.of([float(x) for x in values])


def random_placement(rng: np.random.Generator) -> Placement:
    """Return any rotation, a translation of some decimetres; one in four a multiple of a right angle, as
    robots have.
    """
    angles = rng.uniform(-3.0, 3.0, 3) if rng.random() < 0.75 else rng.integers(-1, 3, 3) * (np.pi / 2)
    return Placement(Rotation.from_rpy(*(float(x) for x in angles)), vector(rng.uniform(-0.4, 0.4, 3)))


def random_joint(
    rng: np.random.Generator, name: str, kind: str, parent: str, child: str, mimic: Mimic | None = None
) -> Joint:
    """Return a joint of the kind, its axis at random ("aligned": a coordinate axis)."""
    axis = rng.standard_normal(3)
    if kind == "aligned":
        axis, kind = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0]), "revolute"
    return Joint(
        name,
        kind,
        parent,
        child,
        random_placement(rng),
        vector(axis),
        Limits(-2.0, 2.0, 5.0, 50.0),
        mimic=mimic,
    )


def random_tree(seed: int, mimic: str = "independent", size: int = 7) -> Problem:
    """Return seven links beyond the root, or `size`, the joint types in turn, parents at random; the root is
    free in every other tree.

    With seed 0 .. 7 every type is somewhere at the root of the tree. Link 5 carries link 6 and, where link
    6's joint could not undo its motion (which would make M singular), has no inertia of its own.
    """
    rng = np.random.default_rng(seed)
    links, joints = [Link("base", random_inertia(rng))], []
    kinds = [KINDS[(seed + k * (1 + seed // 8)) % len(KINDS)] for k in range(size)]
    for k, kind in enumerate(kinds):
        massless = k == 5 and not set(kinds[5:]) & {"spherical", "planar", "floating"}
        parent = (
            "link5"
            if k == 6
            else ["base", *(f"link{i}" for i in range(k))][rng.integers(k + 1)]
            if k
            else "base"
        )
        links.append(Link(f"link{k}", None if massless else random_inertia(rng)))
        joints.append(random_joint(rng, f"joint{k}", kind, parent, f"link{k}"))
    root = "free-flyer" if seed % 2 else "fixed"
    return Problem.assemble(f"tree{seed}", links, joints, root_joint=root, mimic=mimic)


SCREWS = ("helical", "universal", "revolute", "cylindrical", "helical", "spherical", "cylindrical")
"""Joints that turn about an axis and slide along it, and universal ones, among others."""


def screw_tree(first: int = 0, size: int = 4, root: str = "fixed") -> Problem:
    """Return `size` links beyond the root, their joints of `SCREWS` in turn; links 1 and 2 are siblings."""
    rng = np.random.default_rng(100 + first)
    links, joints = [Link("base", random_inertia(rng))], []
    for k in range(size):
        kind = SCREWS[(first + k) % len(SCREWS)]
        above = "base" if k == 0 else f"link{max(0, k - 1 - (k == 2))}"
        joint = random_joint(rng, f"joint{k}", kind, above, f"link{k}")
        joints.append(replace(joint, pitch=rng.uniform(-0.2, 0.2)) if kind == "helical" else joint)
        links.append(Link(f"link{k}", random_inertia(rng)))
    return Problem.assemble(f"screws{first}", links, joints, root_joint=root)


def law_module(tree: Problem) -> ModuleType:
    """Return the compiled module of a tree with `LAW_FUNCTIONS`; the build verifies those of the first of
    `TREES`, which has every joint type, and leaves the others to the laws and the peers.
    """
    verify = tree.name == "tree0"
    return build_module(tree, functions=LAW_FUNCTIONS, cflags=UNOPTIMISED, verify=verify)


def mimic_tree(mimic: str, **options: Any) -> Problem:
    """Return a branching tree with a chain of two followers, one of them before its leader in depth-first
    order.
    """
    rng = np.random.default_rng(7)
    kinds = ["revolute", "prismatic", "revolute", "revolute", "prismatic", "continuous"]
    leaders = {0: Mimic("joint3", -0.5, 0.3), 3: Mimic("joint2", 2.0, -0.1), 4: Mimic("joint5", 0.7, 0.0)}
    parents = ["base", "link0", "base", "link2", "link2", "link4"]
    links = [Link("base", random_inertia(rng)), *(Link(f"link{k}", random_inertia(rng)) for k in range(6))]
    joints = [
        random_joint(rng, f"joint{k}", kinds[k], parents[k], f"link{k}", leaders.get(k)) for k in range(6)
    ]
    return Problem.assemble(f"mimic_{mimic}", links, joints, mimic=mimic, **options)

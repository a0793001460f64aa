"""Helpers of all tests: robots, compiled modules, comparison."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rbdc
from rbdc.functions.catalogue import presets
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.availability import buildable
from rbdc.resources import resolve, robot_names

Array = NDArray[np.float64]

ROOTS = ("fixed", "free-flyer")
# A free base that carries only joints which can undo its motion has no inertia of its own: M is singular.
NO_FREE_FLYER = ("planar_floating",)
URDF_ROBOTS = [robot for robot in robot_names() if resolve(robot).suffix == ".urdf"]
"""The shipped robots that Pinocchio can read too."""
CASES = [
    (robot, root) for robot in URDF_ROBOTS for root in ROOTS if root == "fixed" or robot not in NO_FREE_FLYER
]
CASE_NAMES = [f"{robot}-{root}" for robot, root in CASES]

SINGLE = [(robot, "fixed") for robot in ("double_pendulum_continuous", "planar_floating")]
SINGLE += [("hyq", "free-flyer")]
"""Those of the cases whose modules are also built in single precision."""

ON_LEGS = ("anymal_b", "g1_29dof", "hyq", "simple_humanoid", "solo12")
VALUES = ("anymal_b", "g1_29dof", "simple_humanoid", "solo12", "tiago_pro")
WITHOUT_PRODUCTS = ("hyq", "panda", "panda_arm", "r2d2", "ur5", *VALUES)
"""Robots whose modules are built without products of derivatives and vectors, which take a third of the time,
or without all that is of first order, which takes most of it; the exhaustive tier has them.
"""
OF_VALUES = (
    *("rnea", "nle", "gravity_torque", "crba", "minverse", "aba", "torque_regressor"),
    *("forward_kinematics", "frame_jacobian", "frame_velocity", "frame_acceleration"),
    *("com", "com_jacobian", "centroidal_momentum_matrix", "kinetic_energy", "potential_energy"),
    *("integrate", "difference"),
)
"""What the peers compare of `VALUES`; the others of their functions are half of their operations."""
SMALL = ("cartpole", "double_pendulum")
AS_USERS_DO = ("cartpole", "free-flyer")
OTHER_ROOTS = [
    (robot, root) for robot, root in CASES if robot not in SMALL and (root == "fixed") == (robot in ON_LEGS)
]
"""Cases with the root that is not theirs: their modules are built without what is of first order, which takes
most of the time and is asked of their own root's, and of small robots with both."""
OTHER_ROOTS += [(robot, "free-flyer") for robot in NO_FREE_FLYER]
WITH_DERIVATIVES = [case for case in CASES if case not in OTHER_ROOTS]
WITH_BATCHES = (("double_pendulum_continuous", "fixed"),)
"""Cases whose modules have kernels for batches."""

QUICK = (
    ("cartpole", "fixed"),
    ("double_pendulum", "fixed"),
    ("kuka_iiwa", "fixed"),
    ("planar_floating", "fixed"),
)
"""Robots and roots of the default tier: every joint type, singular M; trees have limbs in lanes. Others are
slow.
"""
QUICK_SINGLE = ("double_pendulum_continuous",)
"""Those of them that the default tier also has in single precision."""

COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
OUT = Path(__file__).parent.parent / ".rbdc-cache" / "generated"
# Correctness does not depend on the optimisation level; -O1 compiles faster; contraction as in real builds.
FLAGS = ("-O1", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math")

UNOPTIMISED = ("-O0", "-march=native", "-ffp-contract=fast")
"""For what is built many times over: compiling that optimised would take most of the suite's time; so would
taking vectors apart, which gcc does slowly for processors without them.
"""


def build_module(description: Any, **options: Any) -> ModuleType:
    """Return the compiled module of a robot's name, a path or a model, from the shared cache."""
    model = description if isinstance(description, rbdc.Model) else None
    tag = "" if model is None else model.name
    kind = options.get("dtype", "float64")
    folder = OUT / f"{options.get('root_joint', 'fixed')}-{options.get('mimic', 'independent')}-{kind}{tag}"
    options = {"cflags": FLAGS, "jobs": 1, "targets": ("c",), **options}
    return rbdc.load(build_package(description, BuildOptions(out=folder, **options)).directory)


PRODUCTS = ("_vjp", "_jvp")
"""How names of products of derivatives and vectors end."""


@cache
def full_module(robot: str, root: str, dtype: str = "float64") -> ModuleType:
    """Return every function of one shipped robot, of those `WITH_BATCHES` with kernels for them; of those
    that are `WITHOUT_PRODUCTS` none of these, of `OTHER_ROOTS` those `without_derivatives`, and `OF_VALUES`.
    `AS_USERS_DO` has the targets and flags that users get.
    """
    how: dict[str, Any] = {"preset": "full", "cflags": UNOPTIMISED}
    if (robot, root) == AS_USERS_DO:
        how |= {"cflags": None, "targets": BuildOptions().targets}
    elif robot in VALUES:
        how["functions"] = OF_VALUES
    elif (robot, root) in OTHER_ROOTS:
        model = Problem.from_file(resolve(robot), root_joint=root)
        how["functions"] = tuple(buildable(model, without_derivatives(), None)[0])
    elif robot in WITHOUT_PRODUCTS:
        how["functions"] = tuple(name for name in presets()["full"] if not name.endswith(PRODUCTS))
    elif (robot, root) in WITH_BATCHES:
        how["targets"] = ("c", "batch")
    return build_module(robot, root_joint=root, dtype=dtype, **how)


def without_derivatives() -> tuple[str, ...]:
    """Return names of the functions but for derivatives of dynamics and their products, and the Coriolis
    matrix, which together take three quarters of the time to build.
    """
    heavy = ("derivatives", *PRODUCTS, "coriolis")
    return tuple(n for n in presets()["full"] if n.startswith("frame_") or not n.endswith(heavy))


def without(cases: Iterable[tuple[str, str]], robots: Collection[str]) -> list[Any]:
    """Return robots and roots as parameters of a test, of which those robots are exhaustive."""
    return [pytest.param(*case, marks=pytest.mark.exhaustive if case[0] in robots else ()) for case in cases]


def slow_but(cases: Iterable[Any], quick: Collection[Any], slow: Collection[Any] | None = None) -> list[Any]:
    """Return parameters of a test, a value or a tuple each, of which all but the quick ones are slow; where
    some are named as slow, the others are exhaustive.
    """
    marked = []
    for value in cases:
        mark = pytest.mark.slow if slow is None or value in slow else pytest.mark.exhaustive
        values = value if isinstance(value, tuple) else (value,)
        marked.append(pytest.param(*values, marks=() if value in quick else mark))
    return marked


def is_quick(words: Sequence[str]) -> bool:
    """Return whether a test with these parameters belongs to the default tier, as far as robots decide."""
    robots = [word for word in words if word in robot_names()]
    roots = [word for word in words if word in ROOTS] if robots else []
    if "float32" in words and not set(robots) <= set(QUICK_SINGLE):
        return False
    if roots:
        return all((robot, root) in QUICK for robot in robots for root in roots)
    return all(robot in dict(QUICK) for robot in robots)


def is_exhaustive(words: Sequence[str]) -> bool:
    """Return whether a test with these parameters belongs to the exhaustive tier: robots on the root that is
    not theirs, and every function of a planar joint in single precision.
    """
    if {"planar_floating", "float32"} <= {*words} and "rolled" not in words:
        return True
    return any((robot, root) in OTHER_ROOTS for robot in words for root in words)


def assert_close(
    actual: Any, expected: Any, tolerance: float = 1e-10, floor: float = 0.0, what: str = ""
) -> None:
    """|actual - expected| <= tolerance * max|expected|, entry by entry; `floor` is the least scale, where
    cancellation sets one.
    """
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, expected {expected.shape}"
    scale = max(float(np.max(np.abs(expected), initial=0.0)), floor)
    error = float(np.max(np.abs(actual - expected), initial=0.0))
    assert np.all(np.isfinite(actual)), f"{what}: not finite"
    assert error <= tolerance * scale, (
        f"{what}: error {error:.3e} over scale {scale:.3e} is {error / (scale or 1):.2e} > {tolerance:.1e}"
    )


def conditioning(inertia: Array) -> float:
    """Return the condition number of M (nv, nv), of several (..., nv, nv) the worst, scaled to a diagonal of
    ones: units of the joints do not matter to an elimination without pivoting. 1 where there are massless
    joints.
    """
    scale = np.sqrt(np.diagonal(inertia, axis1=-2, axis2=-1))
    if not np.all(scale > 0.0):
        return 1.0
    return float(np.linalg.cond(inertia / (scale[..., :, None] * scale[..., None, :])).max())


def around(shape: tuple[int, ...], dtype: np.dtype[Any], shift: int) -> tuple[Array, Array, Array]:
    """Return an array that begins `shift` numbers after the beginning of a cache line, and numbers before and
    after it, which are 7.
    """
    line, size = 64 // dtype.itemsize, int(np.prod(shape))
    room = np.full(size + 4 * line, 7.0, dtype)
    start = -(room.ctypes.data // dtype.itemsize) % line + line + shift
    return room[:start], room[start : start + size].reshape(shape), room[start + size :]

"""Noise on every axis and origin of robots, compiled, against Pinocchio's own reading of the same text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rbdc
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.resources import resolve
from tests.support import ROOTS, UNOPTIMISED
from tests.support_descriptions import with_noise
from tests.support_pinocchio import REFERENCE, arguments, peer_of, states

ROBOTS = ("kuka_iiwa", "ur5", "panda_arm", "hyq", "g1_29dof", "tiago_pro")
FUNCTIONS = ("rnea", "crba", "aba")
SIZES = [10.0**-k for k in range(6, 17)]
AGREES = 1e-10
"""Of the largest entry of a function's results: in some postures gravity's torques are as small as the noise.
"""


def errors(robot: str, root: str, size: float, folder: Path) -> dict[str, float]:
    """Return for each function the error of the module of a robot with noise, relative to Pinocchio."""
    text = with_noise(
        resolve(robot).read_text(encoding="utf-8"), size, np.random.default_rng(round(-np.log10(size)))
    )
    path = folder / f"{robot}.urdf"
    path.write_text(text, encoding="utf-8")
    options = BuildOptions(
        functions=FUNCTIONS,
        root_joint=root,
        snap=0.0,  # noise below 1e-11 is what the code without snapping must stand
        targets=("c",),
        cflags=UNOPTIMISED,
        jobs=1,
        out=folder / "out",
    )
    module = rbdc.load(build_package(path, options).directory)
    reference, by_function = peer_of(text, root, snap=False), {}
    drawn = states(module, 8)
    for name in FUNCTIONS:
        right = np.array([REFERENCE[name](reference, *state) for state in drawn])
        off = np.abs(np.array([getattr(module, name)(*arguments(name, state)) for state in drawn]) - right)
        by_function[name] = float(off.max() / np.abs(right).max())
    return by_function


LARGE = ("g1_29dof", "tiago_pro")
CASES = [
    (robot, root, size)
    for robot in ROBOTS
    for k, root in enumerate(ROOTS)
    for size in SIZES[k :: 8 if robot in LARGE else 4]
]
"""Every fourth size for each root, of large robots every eighth: all eleven take ten minutes of a processor.
"""
OWN_ROOTS = [case for case in CASES if (case[0] == "hyq") == (case[1] == "free-flyer")]
TRIED = [case for case in OWN_ROOTS if case[0] not in LARGE][::4]
"""Sizes of the slow tier, for robots of both roots."""


@pytest.mark.parametrize(
    ("robot", "root", "size"),
    [
        pytest.param(*case, marks=pytest.mark.slow if case in TRIED else pytest.mark.exhaustive)
        for case in CASES
    ],
)
def test_noise_costs_no_digits(robot: str, root: str, size: float, tmp_path: Path) -> None:
    by_function = errors(robot, root, size, tmp_path)
    assert max(by_function.values()) <= AGREES, by_function

"""Limbs in lanes: outputs over contacts and with three axes take the signs of mirrored joints, which the
verification of their builds compares with the references.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rbdc import Link
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import InLanes
from rbdc.model import Problem
from rbdc.planning.limb_lanes import lane_model
from tests.laws.test_lanes import limbs
from tests.support import UNOPTIMISED, build_module, slow_but
from tests.support_trees import random_inertia

FUNCTIONS = (
    "contact_jacobian",
    "contact_velocity",
    "contact_placements",
    "contact_error",
    "contact_drift",
    "delassus",
    "contact_space",
    "contact_inverse_dynamics_derivatives",
    "contact_forward_dynamics",
    "centroidal_contact_dynamics_derivatives",
    "minverse",
)
POINT = ":0.1,0.2,-0.1,0.3,0.2,0.1"
CASES = {
    "as many rows as joints": (2, 3, "fixed", "point"),
    "four points": (4, 3, "free-flyer", "point"),
    "two soles": (2, 4, "free-flyer", "surface"),
}


def mirrored(count: int, joints: int, root: str) -> Problem:
    """Return a trunk with limbs some of whose axes are the other way."""
    rng = np.random.default_rng(3)
    kinds = ("revolute", "prismatic", "revolute", "revolute")[:joints]
    links, joined = limbs(rng, count, kinds, "trunk", "leg")
    name = f"mirrored_{count}_{joints}_{root.replace('-', '_')}"
    return Problem.assemble(name, [Link("trunk", random_inertia(rng)), *links], joined, root_joint=root)


def signs(model: Problem) -> set[float]:
    """Return the signs of joints in the common frame of their limbs."""
    limbs_alike = lane_model(model)
    assert limbs_alike is not None
    return {numbers[0] for numbers in limbs_alike.numbers.values()}


@pytest.mark.parametrize("case", slow_but(CASES, ("as many rows as joints",)))
def test_contacts_of_mirrored_limbs_are_side_by_side(case: str) -> None:
    count, joints, root, kind = CASES[case]
    model = mirrored(count, joints, root)
    assert -1.0 in signs(model)
    tips = [f"leg{m}_{joints - 1}" for m in range(count)]
    module = build_module(
        model,
        functions=FUNCTIONS,
        contacts=tuple(f"c{m}={kind}@{tip}{POINT}" for m, tip in enumerate(tips)),
        cflags=UNOPTIMISED,
    )
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())
    assert all(manifest["functions"][name]["lanes"] > 1 for name in FUNCTIONS[:-1])


def test_second_derivatives_of_few_mirrored_joints() -> None:
    model = mirrored(2, 2, "fixed")
    assert -1.0 in signs(model)
    name = "rnea_second_derivatives"
    assert all(isinstance(method, InLanes) for method in functions_of(model)[name].methods.values())
    build_module(model, functions=(name, "rnea_derivatives"), cflags=UNOPTIMISED)

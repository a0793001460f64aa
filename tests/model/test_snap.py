"""The default of --snap: right angles with twelve digits become right angles, and nothing else moves."""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.model.options import LIKELY_MEANT
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.resources import resolve
from tests.support import CASE_NAMES, CASES, UNOPTIMISED, Array, assert_close, build_module
from tests.support_pinocchio import peer_of, pin, states


def test_the_default_is_what_the_note_says() -> None:
    model = read("kuka_iiwa", BuildOptions())
    assert any(f"that were within {LIKELY_MEANT} of 0, 1 or -1" in line for line in model.warnings)
    assert not any("rounded" in line for line in read("kuka_iiwa", BuildOptions(snap=0.0)).warnings)


@pytest.mark.parametrize(("robot", "root"), CASES, ids=CASE_NAMES)
def test_rotations_move_by_no_more_than_the_tolerance(robot: str, root: str) -> None:
    written, snapped = (read(robot, BuildOptions(root_joint=root, snap=snap)) for snap in (0.0, LIKELY_MEANT))
    for one, other in zip(written.bodies, snapped.bodies, strict=True):
        difference: Array = np.array(one.placement.rotation.rows()) - np.array(
            other.placement.rotation.rows()
        )
        assert np.abs(difference.astype(float)).max() <= LIKELY_MEANT


@pytest.mark.parametrize("robot", ["kuka_iiwa", "ur5"])
def test_torques_move_as_little(robot: str) -> None:
    module = build_module(robot, functions=("rnea",), cflags=UNOPTIMISED, name=f"{robot}_snapped")
    p = peer_of(resolve(robot).read_text(), "fixed", snap=False)
    for q, v, a, _ in states(module):
        assert_close(module.rnea(q, v, a), np.array(pin.rnea(p.model, p.data, p.q(q), v, a)), 1e-9)

"""States in Pinocchio's coordinates and back, on Pinocchio's own reading of the same files; MuJoCo's
are in test_mjcf.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
import pytest

from rbdc.emit.python import every_joint
from rbdc.runtime._conversions import Converter
from tests.support import assert_close, build_module
from tests.support_pinocchio import peer
from tests.support_trees import mimic_tree, random_tree

pin: Any = pinocchio


def test_continuous_joints_have_cosine_and_sine() -> None:
    module = build_module("double_pendulum_continuous", functions=("rnea",))
    p = peer("double_pendulum_continuous", "fixed")
    q = module.random_configuration(0)
    v, a = np.random.default_rng(0).normal(size=(2, module.nv))
    theirs = module.to_pinocchio(q, v, a, module.rnea(q, v, a))
    assert theirs[0].shape == (p.model.nq,)
    assert_close(theirs[3], pin.rnea(p.model, p.data, *theirs[:3]))
    back = module.from_pinocchio(*theirs)
    assert_close(np.exp(1j * back[0]), np.exp(1j * q), 1e-14)
    for got, expected in zip(back[1:], (v, a, theirs[3]), strict=True):
        assert_close(got, expected, 1e-15)


def test_forces_of_followers_go_to_their_leaders() -> None:
    """Powers are the same on both sides, whoever has entries for the followers."""
    model = mimic_tree("coupled")
    converter = Converter(every_joint(model), model.nq, model.nv, np.dtype(float))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 5, model.nq))
    full = converter.to_pinocchio(q, v, None, tau)
    assert_close(np.sum(full[1] * full[2], -1), np.sum(v * tau, -1), 1e-14)
    forces = np.random.default_rng(1).normal(size=full[1].shape)
    back = converter.from_pinocchio(full[0], full[1], None, forces)
    assert_close(np.sum(back[1] * back[2], -1), np.sum(full[1] * forces, -1), 1e-14)
    assert_close(back[1], v, 1e-15)


def test_joints_that_mujoco_does_not_have() -> None:
    model = random_tree(3)
    converter = Converter(every_joint(model), model.nq, model.nv, np.dtype(float))
    with pytest.raises(ValueError, match="MuJoCo has no planar joint"):
        converter.to_mujoco(np.array(model.neutral()), None, None, None)

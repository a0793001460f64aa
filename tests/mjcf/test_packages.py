"""The models of gymnasium, dm_control and robosuite, where these are installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model import Problem
from tests.model.test_mjcf import DRIVES, Peer, check, friction, state
from tests.support import UNOPTIMISED, assert_close, build_module

FOLDERS = {
    "gymnasium": ("envs/mujoco/assets",),
    "dm_control": ("suite", "locomotion/walkers/assets", "third_party"),
    "robosuite": ("models/assets/robots", "models/assets/grippers", "models/assets/bases"),
}
NO_ROBOT = ("MuJoCo refuses the description", "nothing moves")
"""Files that are parts of others, and what is fixed as a whole."""


def files() -> Iterator[Path]:
    for package, folders in FOLDERS.items():
        spec = find_spec(package)
        for root in () if spec is None else spec.submodule_search_locations or ():
            for folder in folders:
                yield from sorted((Path(root) / folder).rglob("*.xml"))


def name_of(path: Path) -> str:
    return "/".join(path.parts[-3:])


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", [pytest.param(path, id=name_of(path)) for path in files()])
def test_every_model_builds(path: Path) -> None:
    """Dynamics and frames are MuJoCo's, springs, damping and friction included, compiled too."""
    try:
        check(path, 0)
    except (DescriptionError, UnsupportedError) as error:
        if any(reason in str(error) for reason in NO_ROBOT):
            pytest.skip(str(error).replace(str(path.parent), ""))
        raise
    name = f"mjcf_{path.parent.name}_{path.stem}".lower()
    module = build_module(str(path), functions=("rnea", "aba"), name=name, cflags=UNOPTIMISED, **DRIVES)
    model = Problem.from_file(path, **DRIVES)
    peer = Peer(model, path)
    q, v, a = state(model, 1)
    force = peer.inverse(q, v, a)
    expected = peer.converter.from_mujoco(peer.data.qpos, None, None, force)[1] + friction(peer, q, v)
    assert_close(module.rnea(q, v, a), expected)
    assert_close(module.rnea(q, v, module.aba(q, v, expected)), expected)

"""The type that editors complete: of every function of the catalogue, as it is generated."""

from __future__ import annotations

from importlib.resources import files

import pytest

import rbdc
from rbdc.emit.python import module_type
from rbdc.functions.catalogue import known
from tests.support import UNOPTIMISED


def test_the_stub_is_that_of_the_catalogue() -> None:
    """`python -m rbdc.emit.python` writes the stub again."""
    text = module_type()
    assert files("rbdc.runtime").joinpath("module.pyi").read_text(encoding="utf-8") == text
    assert all(f"    def {name}(self, " in text for name in known())


def test_a_module_lists_what_it_has(tmp_path_factory: pytest.TempPathFactory) -> None:
    m = rbdc.build(
        "cartpole",
        functions=("nle", "crba"),
        targets="c",
        cflags=UNOPTIMISED,
        out=tmp_path_factory.mktemp("listed"),
    )
    listed = dir(m)
    assert {"nle", "crba", "nq", "q_neutral", "functions", "to_mujoco"} <= set(listed)
    assert not [name for name in listed if name.startswith("_")] and "rnea" not in listed
    assert "np" not in listed and "sys" not in listed

"""Random descriptions, compiled: the build's own verification finds nothing, straight-line, rolled, in single
precision, in batches.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rbdc import Model
from rbdc.analysis.availability import buildable
from rbdc.functions.catalogue import functions_of
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from tests.support import UNOPTIMISED
from tests.support_descriptions import Scales, chains, mirrored, noisy_robots, trees

FUNCTIONS = 4
"""Of the catalogue, for each description."""
DESCRIPTIONS = (
    *(
        chains(),
        trees(),
        mirrored(),
        noisy_robots(("ur5", "kuka_iiwa", "panda", "cartpole", "double_pendulum")),
    ),
    *(chains(Scales(masses=(-9.0, 4.0))), trees(Scales(massless=0.5)), trees(Scales(lengths=(-4.0, 3.0)))),
)
WAYS: dict[str, dict[str, Any]] = {
    "straight-line": {"targets": ("c", "batch")},
    "rolled": {"style": "rolled", "targets": ("c",)},
    "single precision": {"dtype": "float32", "targets": ("c",)},
}
EXAMPLES = {"straight-line": 2, "rolled": 1, "single precision": 1}
"""Descriptions that are looked at in any case; the exhaustive tier goes on from there."""
names = st.permutations(list(functions_of(Model("any", (), (), 0, 0)))).map(lambda found: found[:FUNCTIONS])


def builds(model: Model, asked: list[str], way: str) -> None:
    """The package is built and verified; a VerificationError otherwise."""
    functions = buildable(model, asked, None)[0] or ["rnea"]
    with tempfile.TemporaryDirectory() as folder:
        options = BuildOptions(
            functions=tuple(functions), cflags=UNOPTIMISED, jobs=1, out=Path(folder), force=True, **WAYS[way]
        )
        errors = build_package(model, options).errors
    assert errors is not None
    assert set(errors) == set(functions)


@pytest.mark.parametrize("way", WAYS)
def test_builds_are_verified(way: str) -> None:
    _imagined(way, EXAMPLES[way])


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", WAYS)
def test_many_builds_are_verified(way: str) -> None:
    _imagined(way, 40)


def _imagined(way: str, examples: int) -> None:
    """Without making failing descriptions smaller, which would take hundreds of builds."""
    test = given(st.one_of(*DESCRIPTIONS), names)(lambda model, asked: builds(model, asked, way))
    settings(derandomize=True, deadline=None, max_examples=examples, phases=[Phase.generate], database=None)(
        test
    )()

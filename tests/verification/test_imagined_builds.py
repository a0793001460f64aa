"""Random descriptions, compiled: the build's own verification finds nothing, straight-line, rolled, in single
precision, in batches, and under random options.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st

from rbdc.errors import OptionError, SingularModelError, UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package, read
from rbdc.planning.availability import buildable
from tests.support import UNOPTIMISED, slow_but
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
names = st.permutations(list(functions_of(Problem("any", (), (), 0, 0)))).map(lambda found: found[:FUNCTIONS])


def builds(model: Problem, asked: list[str], way: str) -> None:
    """The package is built and verified; a VerificationError otherwise."""
    functions = buildable(model, asked, None)[0] or ["rnea"]
    with tempfile.TemporaryDirectory() as folder:
        options = BuildOptions(
            functions=tuple(functions), cflags=UNOPTIMISED, jobs=1, out=Path(folder), force=True, **WAYS[way]
        )
        errors = build_package(model, options).errors
    assert errors is not None
    assert set(errors) == set(functions)


@st.composite
def asked(draw: st.DrawFn, model: Problem) -> dict[str, Any]:
    """Return options of a build beside its functions, as they come together."""
    numbers = st.integers(-300, 300).map(lambda millimetres: f"{millimetres / 1000.0}")
    point = st.tuples(st.sampled_from([body.name for body in model.bodies]), numbers, numbers, numbers)
    kinds = st.sampled_from(["point", "point", "surface"])
    places = draw(st.lists(st.tuples(kinds, point), max_size=3))
    options: dict[str, Any] = {
        "style": draw(st.sampled_from(["unrolled", "unrolled", "rolled", "auto"])),
        "dtype": draw(st.sampled_from(["float64", "float64", "float32"])),
        "targets": draw(st.sampled_from([("c",), ("c", "batch"), ("c", "batch", "casadi")])),
        "contacts": [f"c{k}={kind}@{link}:{x},{y},{z}" for k, (kind, (link, x, y, z)) in enumerate(places)],
        "contact_frame": draw(st.sampled_from(["local", "local-world-aligned"])) if places else "local",
    }
    if not places and draw(st.booleans()):
        options["fext_frame"] = "world"
    if options["style"] != "rolled" and options["targets"][-1] != "casadi" and draw(st.booleans()):
        options["parameters"] = ()
    return options


@st.composite
def packages(draw: st.DrawFn) -> tuple[Problem, dict[str, Any]]:
    """Return a model and all options of its build: functions of contacts among them, and two fused."""
    described = draw(st.one_of(*DESCRIPTIONS))
    options = draw(asked(described))
    try:
        model = read(described, BuildOptions(**options))
    except (OptionError, UnsupportedError):
        reject()
    catalogue = functions_of(model)
    of_contacts = [name for name in catalogue if name not in functions_of(described)]
    wanted = draw(st.permutations(of_contacts))[:2] + draw(st.permutations(list(catalogue)))[:FUNCTIONS]
    functions = buildable(model, list(dict.fromkeys(wanted)), None)[0] or ["rnea"]
    pair = [name for name in functions if not catalogue[name].declaration.framed][:2]
    options |= {"functions": tuple(functions)}
    if len(pair) == 2 and draw(st.booleans()):
        options["fuse"] = (tuple(pair),)
    return described, options


@pytest.mark.parametrize(
    ("examples", "start"),
    [
        pytest.param(2, 0, marks=pytest.mark.slow),
        *(pytest.param(15, k, marks=pytest.mark.exhaustive) for k in range(1, 5)),
    ],
)
def test_builds_under_any_options_are_verified(examples: int, start: int) -> None:
    def holds(package: tuple[Problem, dict[str, Any]]) -> None:
        model, options = package
        with tempfile.TemporaryDirectory() as folder:
            how = BuildOptions(cflags=UNOPTIMISED, jobs=1, out=Path(folder), force=True, **options)
            try:
                assert build_package(model, how).errors
            except UnsupportedError:
                reject()
            except SingularModelError:  # masses of 1e-9 to 1e4 on one chain leave single precision no digit
                assert options["dtype"] == "float32"
                reject()

    _tried(seed(start)(given(packages())(holds)), examples)


@pytest.mark.parametrize("way", slow_but(WAYS, ("rolled", "single precision")))
def test_builds_are_verified(way: str) -> None:
    _imagined(way, EXAMPLES[way])


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", WAYS)
def test_many_builds_are_verified(way: str) -> None:
    _imagined(way, 40)


def _imagined(way: str, examples: int) -> None:
    _tried(given(st.one_of(*DESCRIPTIONS), names)(lambda model, asked: builds(model, asked, way)), examples)


def _tried(test: Callable[[], None], examples: int) -> None:
    """Try examples without shrinking failures, which would take hundreds of builds."""
    settings(
        derandomize=True,
        deadline=None,
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )(test)()

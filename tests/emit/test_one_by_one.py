"""Batches of samples one by one: which have them so."""

from __future__ import annotations

import pickle

import pytest

from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.registry import Generated
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import DOUBLE, FLOAT
from rbdc.model import Problem
from rbdc.planning.batches import batch_plan, goes_one_by_one
from rbdc.planning.candidates import over
from rbdc.planning.forms import Subject, chosen_plan
from rbdc.planning.plans import UNTOLD, FormChoice
from rbdc.resources import resolve

ROBOT = "robot"


def generated(name: str, choice: FormChoice = UNTOLD) -> tuple[Problem, Generated]:
    model = Problem.from_urdf(resolve("double_pendulum"))
    options = GenerationOptions(targets=("c", "batch"), choices={"": {name: choice}})
    return model, generate(model, ROBOT, [name], lambda _: None, options)


def is_a_loop(package: Generated) -> bool:
    """Return whether the batch of the only function loads no samples into lanes."""
    (source,) = package.sources
    return f"{ROBOT}_load" not in package.files[f"{ROBOT}_{source.declaration.name}_batch.c"]


def test_the_faster_way_is_taken() -> None:
    for name, one_by_one in (("integrate", True), ("rnea", False)):
        _, package = generated(name)
        (source,) = package.sources
        assert is_a_loop(package) is one_by_one
        assert source.declaration.lanes, "blocks in lanes are side by side all the same"
        _, forced = generated(name, FormChoice(lanes=DOUBLE.lanes))
        assert not is_a_loop(forced)


@pytest.mark.parametrize(
    ("robot", "name", "one_by_one"),
    [
        pytest.param("hyq", "rnea_derivatives", True, marks=pytest.mark.slow),
        pytest.param("hyq", "aba_jvp", False, marks=pytest.mark.slow),
        ("hyq", "rnea_jvp", False),
        ("hyq", "integrate", False),
        ("simple_humanoid", "difference", True),
        ("kuka_iiwa", "difference", True),
        ("kuka_iiwa", "rnea_derivatives", False),
        ("planar_floating", "integrate", False),
        ("cartpole", "crba", False),
    ],
)
def test_samples_go_as_measured(robot: str, name: str, one_by_one: bool) -> None:
    """Samples are computed one by one if that is faster on processors of both makers with both compilers."""
    root = "free-flyer" if robot in ("hyq", "simple_humanoid") else "fixed"
    model = Problem.from_urdf(resolve(robot), root_joint=root)
    subject = Subject(model, functions_of(model)[name])
    batch = batch_plan(subject, chosen_plan(subject))
    assert batch.samples and batch.one_by_one is one_by_one
    helpers = over(subject.function, pickle.loads(pickle.dumps(DOUBLE)))
    plan = chosen_plan(Subject(model, helpers))
    assert goes_one_by_one(helpers, plan, batch.samples) is one_by_one, "in processes of a build"
    single = over(subject.function, FLOAT)
    assert not goes_one_by_one(single, chosen_plan(Subject(model, single)), batch.samples), "not measured"


@pytest.mark.slow
def test_humanoids_run_side_by_side() -> None:
    """The kernel of 23,000 operations that gives all sensitivities of 301 samples in less than 1 ms."""
    options = GenerationOptions(targets=("c", "batch"))
    model = Problem.from_file(resolve("human43"))
    package = generate(model, ROBOT, ["rnea_derivatives"], lambda _: None, options)
    assert package.sources[0].declaration.lanes and not is_a_loop(package)

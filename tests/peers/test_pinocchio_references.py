"""The references over floats against Pinocchio itself: no compiled code on our side."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rbdc.model import Problem
from rbdc.report.accuracy import draw
from rbdc.resources import resolve
from rbdc.spatial import Force
from tests.support import Array, assert_close
from tests.support_pinocchio import ARGUMENTS, REFERENCE, REFERENCES, Peer, kinematics, peer, pin
from tests.support_references import METHODS, reference_of

TOLERANCE = 1e-10
SAMPLES = 3
CASES = [("kuka_iiwa", "fixed"), ("r2d2", "fixed"), ("planar_floating", "fixed"), ("hyq", "free-flyer")]

Case = tuple[Problem, Peer, list[dict[str, Array]]]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case[0])
def case(request: pytest.FixtureRequest) -> Case:
    """A robot as rbdc and as Pinocchio read it, and random inputs."""
    robot, root = request.param
    model = Problem.from_urdf(resolve(robot), root_joint=root)
    drawn = draw(model, SAMPLES)
    samples = [{name: np.array(values[k]) for name, values in drawn.items()} for k in range(SAMPLES)]
    rng = np.random.default_rng(1)
    return (
        model,
        peer(robot, root),
        [{**one, "fext": rng.standard_normal((model.njoints, 6))} for one in samples],
    )


def floats(*values: Array) -> list[list[float]]:
    return [[float(x) for x in own] for own in values]


def check(got: Any, expected: Any, what: str) -> None:
    found, true = np.array(got, dtype=float), np.array(expected)
    assert_close(found.reshape(true.shape), true, TOLERANCE, 1.0, what)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_functions(case: Case, name: str) -> None:
    model, p, samples = case
    for x in samples:
        given = [x[letter] for letter in ARGUMENTS.get(name, "q")]
        expected = REFERENCE[name](p, x["q"], x["v"], x["a"], x["fext"])
        for method, algorithm in METHODS[name].items():
            check(algorithm(model, *floats(*given)), expected, f"{name} {method}")


def test_placements(case: Case) -> None:
    model, p, samples = case
    names = tuple(frame.name for frame in model.frames)
    for x in samples:
        check(
            reference_of("forward_kinematics")(model, *floats(x["q"])),
            kinematics(p, x["q"], names),
            "placements",
        )


def test_first_derivatives(case: Case) -> None:
    model, p, samples = case
    for x in samples:
        q, v, a = floats(x["q"], x["v"], x["a"])
        fext, theirs = [Force.of(row) for row in x["fext"].tolist()], p.forces(x["fext"])
        inverse = [
            np.array(m)
            for m in pin.computeRNEADerivatives(p.model, p.data, p.q(x["q"]), x["v"], x["a"], theirs)
        ]
        inverse[2] = np.triu(inverse[2]) + np.triu(inverse[2], 1).T
        for algorithm in METHODS["rnea_derivatives"].values():
            for got, expected in zip(algorithm(model, q, v, a, fext), inverse, strict=True):
                check(got, expected, "rnea_derivatives")
        forward = [
            np.array(m)
            for m in pin.computeABADerivatives(p.model, p.data, p.q(x["q"]), x["v"], x["a"], theirs)
        ]
        forward[2] = np.triu(forward[2]) + np.triu(forward[2], 1).T
        for got, expected in zip(reference_of("aba_derivatives")(model, q, v, a, fext), forward, strict=True):
            check(got, expected, "aba_derivatives")


def test_manifold(case: Case) -> None:
    model, p, samples = case
    for x, other in pairwise(samples):
        moved = np.array(reference_of("integrate")(model, *floats(x["q"], 3.0 * x["v"])), dtype=float)
        check(p.q(moved), pin.integrate(p.model, p.q(x["q"]), 3.0 * x["v"]), "integrate")
        near = np.array(reference_of("integrate")(model, *floats(x["q"], 0.1 * other["v"])), dtype=float)
        check(
            reference_of("difference")(model, *floats(x["q"], near)),
            pin.difference(p.model, p.q(x["q"]), p.q(near)),
            "difference",
        )


@pytest.mark.parametrize("where", sorted(REFERENCES))
def test_frames(case: Case, where: str) -> None:
    """In LOCAL_WORLD_ALIGNED Pinocchio's derivatives by q are those at a point at rest;
    `test_pinocchio_frames` has the difference.
    """
    model, p, samples = case
    for x in samples:
        q, v, a = floats(x["q"], x["v"], x["a"])
        pin.computeForwardKinematicsDerivatives(p.model, p.data, p.q(x["q"]), x["v"], x["a"])
        pin.computeJointJacobians(p.model, p.data, p.q(x["q"]))
        pin.updateFramePlacements(p.model, p.data)
        for index, frame in enumerate(model.frames):
            own = (p.model, p.data, p.frame(frame.name), REFERENCES[where])
            check(
                reference_of("frame_jacobian")(model, q, index, where),
                pin.getFrameJacobian(*own),
                f"J of {frame.name}",
            )
            check(
                reference_of("frame_velocity")(model, q, v, index, where),
                pin.getFrameVelocity(*own).vector,
                f"v of {frame.name}",
            )
            found = reference_of("frame_acceleration")(model, q, v, a, index, where)
            check(found, pin.getFrameAcceleration(*own).vector, f"a of {frame.name}")
            if where == "LOCAL_WORLD_ALIGNED":
                continue
            by_velocity = reference_of("frame_velocity_derivatives")(model, q, v, index, where)
            for got, expected in zip(by_velocity, pin.getFrameVelocityDerivatives(*own), strict=True):
                check(got, expected, f"derivative of v of {frame.name}")
            by_acceleration = reference_of("frame_acceleration_derivatives")(model, q, v, a, index, where)
            for got, expected in zip(
                by_acceleration, pin.getFrameAccelerationDerivatives(*own)[1:], strict=True
            ):
                check(got, expected, f"derivative of a of {frame.name}")

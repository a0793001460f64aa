"""The references themselves: one lane a sample gives what samples give alone, in the model's numbers too;
they agree with the algorithms that are generated, which share nothing with them but the spatial algebra; the
manifold's maps on 40 digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest

from rbdc import Inertia, Placement, Symmetric3, Vector3
from rbdc.algorithms.reference.manifold import difference, integrate
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import arrays, called_with, for_one_frame
from rbdc.functions.record import Requirement
from rbdc.model import Problem
from rbdc.model.joints import FreeFlyer, JointType
from rbdc.model.numbers import with_numbers
from rbdc.planning.availability import random_placements
from rbdc.report.accuracy import deepest_frame
from tests.laws.test_manifold import chain_model, large_rotation
from tests.support import Array, assert_close, slow_but
from tests.support_references import FRAMED, METHODS, generated, reference_of
from tests.support_trees import mimic_tree, random_tree

LANES = 3
SPREAD = 1e-2
"""Of the lanes' models about the one as read: each is a proper robot."""
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
TREES = (*range(8), "coupled")
NAMES = [(name, method) for name, methods in METHODS.items() for method in methods]
SLOWEST = ("fdsva-so-aza", "fdsva-so-idfoza", "chain-rule", "bicomplex-step")
"""Methods of which a tree takes half a minute: the default tier has them on the coupled tree alone, as other
second derivatives, which take seconds.
"""


def is_heavy(name: str, method: str) -> bool:
    """Return whether the method takes seconds on a tree, of which few are then tried."""
    heavy = ("second_derivatives", "hessian", "minverse_derivatives")
    return method in SLOWEST or any(word in name for word in heavy)


CASES = slow_but(
    [(*name, which) for name in NAMES for which in TREES],
    [(*name, which) for name in NAMES for which in (("coupled",) if is_heavy(*name) else (2, "coupled"))],
    [(*name, 6) for name in NAMES if not is_heavy(*name)],
)
"""A small tree and one with coupled joints, and a large one; the others are exhaustive."""

CONTEXT = mpmath.MPContext()
CONTEXT.dps = 40


@cache
def tree(which: int | str) -> Problem:
    """Return a random tree, the first eight with every joint type at the root, or one with coupled joints."""
    return mimic_tree("coupled") if isinstance(which, str) else random_tree(which)


def states(model: Problem, count: int) -> dict[str, list[Array]]:
    """Return inputs by name, so many samples of each."""
    rng = np.random.default_rng(4)
    by_name: dict[str, list[Array]] = {}
    for name in ("q", "q0", "q1"):
        steps = rng.normal(size=(count, model.nv))
        by_name[name] = [np.array(integrate(model, model.neutral(), step.tolist())) for step in steps]
    for name in ("v", "a", "tau", "w", "dq", "dv", "da", "dtau"):
        by_name[name] = list(rng.normal(size=(count, model.nv)))
    by_name["fext"] = list(rng.normal(size=(count, 6 * model.njoints)))
    for name in ("target", "pose"):
        by_name[name] = list(random_placements(rng, count, 7))
    by_name["mu"] = list(rng.uniform(0.5, 1.0, (count, 1)))
    by_name["dt"] = list(rng.uniform(0.0, 1e-2, (count, 1)))
    for function in functions_of(model).values():
        for p in function.declaration.required:
            if p.name not in by_name:
                by_name[p.name] = list(rng.normal(size=(count, p.size)))
    return by_name


def inputs_of(name: str, model: Problem, values: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the inputs of a function in their order, with the regularisation of a task, whose
    rows may depend on each other, and without other options at run time.
    """
    inputs = functions_of(model)[name].declaration.inputs
    return {p.name: values[p.name] for p in inputs if not p.optional or p.name in ("fext", "mu")}


def evaluated(name: str, method: str, model: Problem, inputs: dict[str, Any], *where: Any) -> list[Any]:
    """Return all entries of all outputs of a method."""
    arguments, keywords = called_with(inputs)
    outputs = arrays(METHODS[name][method](model, *arguments, *where, **keywords))
    return [entry for output in outputs for entry in output]


def places(name: str, model: Problem) -> list[tuple[Any, ...]]:
    """Return frames and references for a framed function, nothing for another: the first, and the frame that
    most joints carry; of a pair relative to the last.
    """
    if name not in FRAMED:
        return [()]
    others = (len(model.frames) - 1,) if functions_of(model)[name].declaration.pair else ()
    return [(frame, *others, where) for frame in (0, deepest_frame(model)) for where in REFERENCES]


@cache
def lane_models(which: int | str) -> tuple[Problem, list[Problem]]:
    """Return a model whose every number has a value for each lane, but for the joints' axes; and the models
    of the lanes.
    """
    model = tree(which)
    rng = np.random.default_rng(6)
    drawn: list[Array] = []

    def spread(x: float) -> Array:
        drawn.append(float(x) * (1.0 + SPREAD * rng.uniform(-1.0, 1.0, LANES)))
        return drawn[-1]

    def with_axes(small: Problem) -> Problem:
        bodies = zip(small.bodies, model.bodies, strict=True)
        return replace(small, bodies=tuple(replace(one, joint=body.joint) for one, body in bodies))

    together, alone = with_axes(with_numbers(model, spread)), []
    for k in range(LANES):
        values = iter(drawn)
        alone.append(with_axes(with_numbers(model, lambda _, k=k, values=values: float(next(values)[k]))))  # type: ignore[misc]
    return together, alone


def conditioned(name: str, model: Problem, inputs: dict[str, list[float]]) -> float:
    """Return the condition number of M where the function solves with it, else 1."""
    if Requirement.REGULAR_INERTIA not in functions_of(model)[name].requires:
        return 1.0
    return float(np.linalg.cond(np.array(reference_of("crba")(model, inputs["q"]), dtype=float)))


@pytest.mark.parametrize(("name", "method", "which"), CASES)
def test_lanes_are_samples(name: str, method: str, which: int | str) -> None:
    model = tree(which)
    together, alone = lane_models(which)
    samples = inputs_of(name, model, states(model, LANES))
    lanes = {key: list(np.array(values).T) for key, values in samples.items()}
    for where in places(name, model):
        results = [np.broadcast_to(x, LANES) for x in evaluated(name, method, together, lanes, *where)]
        for k in range(LANES):
            alone_at = {key: values[k].tolist() for key, values in samples.items()}
            single = evaluated(name, method, alone[k], alone_at, *where)
            got = np.array([x[k] for x in results])
            tolerance = max(1e-13, 1e-15 * conditioned(name, model, alone_at))
            assert_close(
                got, np.array(single, dtype=float), tolerance, 1.0, f"{name} {method} {where}, lane {k}"
            )


@pytest.mark.parametrize(("name", "method", "which"), CASES)
def test_the_generated_algorithms_agree(name: str, method: str, which: int | str) -> None:
    """Over floats, so that neither passes over programs nor C take part; frames by climbing to the root."""
    model = tree(which)
    sample = {key: values[0].tolist() for key, values in states(model, 1).items()}
    inputs = inputs_of(name, model, sample)
    tolerance = max(1e-12, 1e-14 * conditioned(name, model, sample))
    for where in places(name, model):
        expected = np.array(evaluated(name, method, model, inputs, *where), dtype=float)
        forms = functions_of(model)[name].methods
        if where:
            forms = {"climb": for_one_frame(FRAMED[name], *where)}
        for form, evaluate in forms.items():
            assert_close(
                np.array([x for y in generated(evaluate, model, inputs) for x in y], dtype=float).ravel(),
                expected,
                tolerance,
                1.0,
                f"{name} {method} {where} against {form}",
            )


def test_the_coriolis_matrix_has_the_christoffel_symbols_of_the_inertia() -> None:
    """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2 where directions commute; complex-step."""
    model = tree("coupled")
    q, v = np.random.default_rng(8).normal(size=(2, model.nv))
    steps = 1e-30j * np.eye(model.nv)
    by_q = np.array([np.imag(reference_of("crba")(model, list(q + step))) / 1e-30 for step in steps])
    symbols = (by_q.transpose(1, 2, 0) + by_q.transpose(1, 0, 2) - by_q) / 2.0
    assert_close(reference_of("coriolis")(model, q.tolist(), v.tolist()), symbols @ v, 1e-14)


def test_every_function_has_a_reference() -> None:
    known = functions_of(tree(0))
    assert all(METHODS[name] for name in known)
    assert set(FRAMED) == {name for name, function in known.items() if function.declaration.framed}


def test_a_reference_that_there_is_not_is_refused() -> None:
    model = tree(0)
    with pytest.raises(OptionError, match="none of LOCAL"):
        reference_of("frame_velocity")(model, model.neutral(), [0.0] * model.nv, 0, "local")


def exact(values: Sequence[float] | Array) -> list[Any]:
    """Return a value with 40 digits."""
    return [CONTEXT.mpf(float(x)) for x in values]


def exact_units(model: Problem, q: Sequence[float]) -> list[Any]:
    """Return a configuration in 40 digits, its rotations unit to as many."""
    return integrate(model, exact(q), exact([0.0] * model.nv))


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-9, 9e-4, 1e-3, 1.1e-3, 0.02, 0.3, 2.0, 3.1])
def test_difference_undoes_integrate_on_forty_digits(size: float) -> None:
    """Both sides of 1e-3, where the series end."""
    model, rng = chain_model(), np.random.default_rng(3)
    q = exact_units(
        model, [float(x) for x in integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())]
    )
    step = exact(large_rotation(size, rng))
    steps = difference(model, q, integrate(model, q, step))
    assert max(abs(x - y) for x, y in zip(steps, step, strict=True)) < 1e-35


@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-9, 9e-4, 1e-3, 1.1e-3, 0.02, 0.3, 2.0, 3.1, 5.0, 20.0])
def test_integrate_is_the_matrix_exponential_on_forty_digits(size: float) -> None:
    model, rng = chain_model(), np.random.default_rng(3)
    q = exact_units(
        model, [float(x) for x in integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())]
    )
    step = exact(large_rotation(size, rng))
    moved = integrate(model, q, step)
    for index, body in enumerate(model.bodies):
        joint = with_unit_axis(body.joint)
        before, after = (matrix(joint.placement(x[model.q_slice(index)])) for x in (q, moved))
        twist = joint.motion(step[model.v_slice(index)]).scalars()
        off = before * CONTEXT.expm(twist_matrix(twist), method="taylor") - after
        assert max(abs(x) for x in off) < 1e-34, body.name


def with_unit_axis(joint: JointType) -> JointType:
    """Return the joint with an axis, or a normal, that is a unit vector to 40 digits."""
    precise = with_numbers(joint, CONTEXT.mpf)
    vectors = {f.name: getattr(precise, f.name) for f in fields(precise)}  # type: ignore[arg-type]
    return replace(precise, **{name: x.scaled(1 / CONTEXT.sqrt(x.dot(x))) for name, x in vectors.items()})  # type: ignore[type-var]


def matrix(placement: Placement) -> Any:
    """Return 4x4, in 40 digits."""
    rows, p = placement.rotation.rows(), placement.translation.scalars()
    return CONTEXT.matrix([[*row, x] for row, x in zip(rows, p, strict=True)] + [[0, 0, 0, 1]])


def twist_matrix(twist: Sequence[Any]) -> Any:
    """Return the matrix [[w] v; 0 0] of [v; w]."""
    vx, vy, vz, x, y, z = twist
    return CONTEXT.matrix([[0, -z, y, vx], [z, 0, -x, vy], [-y, x, 0, vz], [0, 0, 0, 0]])


def test_ends_of_the_manifold_in_lanes() -> None:
    """No step, tiny steps, half a turn, both quaternions of a rotation: in one batch, without a warning, as
    samples give alone.
    """
    body = replace(tree(1).bodies[0], joint=FreeFlyer())
    model = replace(tree(1), bodies=(body,), frames=(), nq=7, nv=6)
    zero = [0.1, -0.2, 0.3, 0.0, 0.0, 0.0, 1.0]
    ends = [
        zero,
        [*zero[:3], 1e-200, 0.0, 0.0, 1.0],
        [*zero[:3], 1.0, 0.0, 0.0, 0.0],
        [-x for x in zero],
        [*zero[:3], 0.0, 0.6, 0.8, 0.0],
    ]
    steps = difference(model, [np.full(len(ends), x) for x in zero], list(np.array(ends).T))
    for k, end in enumerate(ends):
        np.testing.assert_array_equal([x[k] for x in steps], np.array(difference(model, zero, end)))
    assert not any(steps[k][0] for k in range(6))
    assert steps[3][1] == 2e-200
    assert_close([steps[3][2], steps[4][4] / 0.6, steps[5][4] / 0.8], [np.pi] * 3, 1e-15)
    back = integrate(model, [np.full(len(ends), x) for x in zero], steps)
    errors = [
        min(np.max(np.abs(sign * np.array([x[k] for x in back[3:]]) - end[3:])) for sign in (1, -1))
        for k, end in enumerate(ends)
    ]
    assert max(errors) < 1e-15


def test_a_lane_of_masses_is_not_taken_for_zero() -> None:
    """A body without mass in one lane only."""
    model, masses = tree(2), np.array([0.0, 1.5])
    q, v, a = model.neutral(), [0.3] * model.nv, [1.0] * model.nv

    def torque(m: Any) -> list[Any]:
        inertia = Inertia(m, Vector3(m, 0.0, 0.0), Symmetric3(m, 0.0, m, 0.0, 0.0, m))
        bodies = (*model.bodies[:-1], replace(model.bodies[-1], inertia=inertia))
        return list(reference_of("rnea")(replace(model, bodies=bodies), q, v, a))

    lanes = [np.broadcast_to(x, 2) for x in torque(masses)]
    for k, mass in enumerate(masses):
        assert_close(
            np.array([x[k] for x in lanes]), np.array(torque(float(mass))), 1e-15, 1.0, f"mass {mass}"
        )

"""Derivatives of a frame's velocity and acceleration on random trees and coupled joints, against the
functions they are derivatives of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.derivatives import frame_derivatives
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.reference import frames
from rbdc.functions.catalogue import functions_of
from rbdc.functions.references import reference_of
from rbdc.model import Problem
from tests.laws.test_motion import TOLERANCE as DIFFERENCES
from tests.laws.test_motion import rate, state
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_trees import TREES, mimic_tree, random_tree

FRAMED = (
    "frame_velocity",
    "frame_acceleration",
    "frame_velocity_derivatives",
    "frame_acceleration_derivatives",
)
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
BASES = ("frame_velocity", "frame_acceleration")
TINY = 1e-200
"""The complex step: its square vanishes, so there is neither truncation nor cancellation."""
TOLERANCE = 1e-12

Case = tuple[Problem, ModuleType]


@pytest.fixture(scope="module", params=[*TREES[:16:2], "coupled"])
def case(request: pytest.FixtureRequest) -> Case:
    """A tree and its compiled module; the first eight seeds have every joint type at the root."""
    model = mimic_tree("coupled") if request.param == "coupled" else random_tree(request.param)
    model = replace(model, name=f"framed_{request.param}")
    functions = (*FRAMED, "integrate")
    return model, build_module(model, functions=functions, cflags=UNOPTIMISED, verify=False)


def complex_step(model: Problem, base: str, arguments: Sequence[Array], *where: Any) -> list[Array]:
    """Derivatives (6, nv) of the reference for a frame's motion by q (in the tangent space), v and a, all
    directions at once.
    """
    algorithm: Callable[..., Any] = getattr(frames, base)
    q, identity = [float(x) for x in arguments[0]], np.eye(model.nv)
    turned = np.array([configuration_rate(model, q, [float(x) for x in unit]) for unit in identity]).T
    found = []
    for moved, directions in enumerate([turned, *[identity] * (len(arguments) - 1)]):
        given = [
            list(x[:, None] + 1j * TINY * directions if k == moved else x) for k, x in enumerate(arguments)
        ]
        entries = algorithm(model, *given, *where)
        found.append(np.array([np.broadcast_to(np.imag(entry) / TINY, model.nv) for entry in entries]))
    return found


@pytest.mark.parametrize("where", REFERENCES)
@pytest.mark.parametrize("base", BASES)
def test_complex_step(case: Case, base: str, where: str) -> None:
    """The generated algorithm and the reference over floats, and the compiled function, give the derivative
    to rounding.
    """
    model, module = case
    arguments = state(module)[: 2 if base == "frame_velocity" else 3]
    floats = [[float(x) for x in values] for values in arguments]
    for index, frame in enumerate(module.frame_names):
        expected = complex_step(model, base, arguments, index, where)
        compiled = getattr(module, f"{base}_derivatives")(*arguments, frame, where)
        for got, true in zip(compiled, expected, strict=True):
            assert_close(got, true, TOLERANCE, 1.0, f"{module.name} {frame}, compiled")
        name = f"{base}_derivatives"
        for of in (getattr(frame_derivatives, name), reference_of(functions_of(model)[name])):
            evaluated = of(model, *floats, index, where)
            for got, true in zip(evaluated, expected, strict=True):
                entries = np.array(got, dtype=float).reshape(true.shape)
                assert_close(entries, true, TOLERANCE, 1.0, f"{module.name} {frame}, {of}")


@pytest.mark.parametrize("where", REFERENCES)
def test_central_differences(case: Case, where: str) -> None:
    """Of the compiled functions themselves."""
    module, (q, v, a) = case[1], state(case[1])
    unit = np.eye(module.nv)
    for frame in module.frame_names:

        def velocity(t: float, u: float, frame: str = frame) -> Array:
            return np.asarray(
                module.frame_velocity(module.integrate(q, t * unit), v + u * unit, frame, where)
            )

        def acceleration(t: float, u: float, w: float, frame: str = frame) -> Array:
            given = module.integrate(q, t * unit), v + u * unit, a + w * unit
            return np.asarray(module.frame_acceleration(*given, frame, where))

        by_velocity = [rate(lambda t: velocity(t, 0.0)), rate(lambda t: velocity(0.0, t))]
        by_acceleration = [rate(lambda t: acceleration(*(t * row))) for row in np.eye(3)]  # noqa: B023 - called at once
        found = (
            module.frame_velocity_derivatives(q, v, frame, where),
            module.frame_acceleration_derivatives(q, v, a, frame, where),
        )
        for got, expected in zip((*found[0], *found[1]), (*by_velocity, *by_acceleration), strict=True):
            assert_close(got, expected.T, DIFFERENCES, 10.0, f"{module.name} {frame}")


def test_the_velocity_is_linear_in_v(case: Case) -> None:
    """dv_dv is the Jacobian, which is da_da as well."""
    module, (q, v, a) = case[1], state(case[1])
    for frame in module.frame_names:
        _, jacobian = module.frame_velocity_derivatives(q, v, frame, "WORLD")
        assert_close(jacobian @ v, module.frame_velocity(q, v, frame, "WORLD"), TOLERANCE, 1.0, frame)
        assert np.array_equal(module.frame_acceleration_derivatives(q, v, a, frame, "WORLD")[2], jacobian)


@pytest.mark.parametrize("base", BASES)
def test_batch_and_out(case: Case, base: str) -> None:
    """A batch gives what its samples give, into new arrays or given ones."""
    module, rng = case[1], np.random.default_rng(21)
    function, frame = getattr(module, f"{base}_derivatives"), module.frame_names[-1]
    q = np.array([[module.random_configuration(rng) for _ in range(3)] for _ in range(2)])
    rest = [rng.standard_normal((2, 3, module.nv)), rng.standard_normal(module.nv)][
        : 1 if base == "frame_velocity" else 2
    ]
    batched = function(q, *rest, frame, "WORLD")
    out = tuple(np.full_like(matrix, np.nan) for matrix in batched)
    returned = function(q, *rest, frame, "WORLD", out=out)
    assert all(one is other for one, other in zip(returned, out, strict=True))
    for k in np.ndindex(2, 3):
        single = function(q[k], *(np.broadcast_to(x, (2, 3, module.nv))[k] for x in rest), frame, "WORLD")
        given = tuple(np.full((6, module.nv), np.nan) for _ in single)
        function(q[k], *(np.broadcast_to(x, (2, 3, module.nv))[k] for x in rest), frame, "WORLD", out=given)
        for matrix, filled, alone, into in zip(batched, out, single, given, strict=True):
            assert matrix[k].shape == (6, module.nv)
            assert np.array_equal(matrix[k], alone)
            assert np.array_equal(filled[k], alone)
            assert np.array_equal(into, alone)


def test_out_is_checked(case: Case) -> None:
    module, (q, v, _) = case[1], state(case[1])
    good = np.empty((6, module.nv))
    with pytest.raises(TypeError, match="tuple of 2 arrays"):
        module.frame_velocity_derivatives(q, v, 0, out=good)
    with pytest.raises(ValueError, match="overlaps"):
        module.frame_velocity_derivatives(q, v, 0, out=(good, good))


@pytest.mark.parametrize(("frame", "reference"), [(-1, 0), (10_000, 0), (0, -1), (0, 3)])
def test_c_gives_nan_where_there_is_no_such_frame_or_reference(
    case: Case, frame: int, reference: int
) -> None:
    """Every entry of every output, and nothing beyond them."""
    model, module = case
    native: Any = module._native
    arrays = dict(zip("qva", state(module), strict=True))
    for name in FRAMED:
        given = [
            native.ffi.from_buffer("double[]", arrays[letter])
            for letter in ("qva" if "acceleration" in name else "qv")
        ]
        shape = (6, module.nv) if name.endswith("derivatives") else (6,)
        count = 1 if shape == (6,) else len(given)
        outputs = [np.zeros(int(np.prod(shape)) + 1) for _ in range(count)]
        pointers = [native.ffi.from_buffer("double[]", x) for x in outputs]
        getattr(native.lib, f"{model.name}_{name}")(*given, frame, reference, *pointers)
        assert all(np.isnan(x[:-1]).all() and x[-1] == 0.0 for x in outputs), name

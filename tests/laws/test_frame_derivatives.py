"""Derivatives of a frame's velocity and acceleration on random trees and coupled joints, against the complex
step of the references.
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
from tests.laws.test_motion import state
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
    """Return derivatives (6, nv) of the reference for a frame's motion by q (in the tangent space), v and a,
    all directions at once.
    """
    algorithm: Callable[..., Any] = getattr(frames, base)
    q, identity = [float(x) for x in arguments[0]], np.eye(model.nv)
    turned = np.array([configuration_rate(model, q, [float(x) for x in unit]) for unit in identity]).T
    derivatives = []
    for moved, directions in enumerate([turned, *[identity] * (len(arguments) - 1)]):
        stepped = [
            list(x[:, None] + 1j * TINY * directions if k == moved else x) for k, x in enumerate(arguments)
        ]
        entries = algorithm(model, *stepped, *where)
        derivatives.append(np.array([np.broadcast_to(np.imag(entry) / TINY, model.nv) for entry in entries]))
    return derivatives


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

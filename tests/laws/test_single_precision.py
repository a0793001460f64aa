"""Modules over floats against those over doubles: every function of several robots, within a few units of
single precision.

Both get the same inputs, which single precision holds exactly. What may differ is rounding, of the model's
numbers as well: some units of the largest entry of a result, and for solutions with M as many times more as
its condition number says, when rows and columns are scaled to a diagonal of ones. What moves a frame may
cancel to nothing, but is made of numbers around one.
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.catalogue import requiring
from rbdc.functions.record import Requirement
from tests.emit.test_rolled import rolled_module, rolled_robot
from tests.laws.test_batches import arguments, as_tuple, names_of
from tests.support import SINGLE, Array, full_module, slow_but

UNIT = float(np.finfo(np.float32).eps)
UNITS = 8.0
"""Of the largest entry of a result."""
SAMPLES = 33
ROLLED = [("hyq", "free-flyer"), ("planar_floating", "fixed"), ("kuka_iiwa", "fixed")]

UNROLLED = [(*case, "float32", "unrolled") for case in SINGLE]
PAIRS = [pytest.param(x, marks=pytest.mark.exhaustive if x[0] == "hyq" else ()) for x in UNROLLED]
"""A quadruped of which every function is built takes half a minute."""
PAIRS += slow_but(
    [((*case, "float32", "rolled"),) for case in ROLLED],
    (),
    [((*case, "float32", "rolled"),) for case in ROLLED[1:2]],
)


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def pair(request: pytest.FixtureRequest) -> tuple[ModuleType, ModuleType]:
    """The module over floats and that over doubles: of all functions, or of those that have a rolled form."""
    robot, root, _, style = request.param
    if style == "unrolled":
        return full_module(robot, root, "float32"), full_module(robot, root)
    model = rolled_robot(robot, root)
    return rolled_module(*model, dtype="float32"), rolled_module(*model)


def conditioning(double: ModuleType, q: Array) -> float:
    """Return the largest condition number of M with a diagonal of ones."""
    scaled = [m / np.sqrt(np.outer(np.diag(m), np.diag(m))) for m in double.crba(q)]
    return max(float(np.linalg.cond(m)) for m in scaled)


def units(result: Any, expected: Any, floor: float) -> float:
    """Return the largest error in units of the largest entry, or of `floor` where that is larger."""
    assert result.dtype == np.float32 and expected.dtype == np.float64
    assert result.shape == expected.shape
    scale = float(np.abs(expected).max(initial=floor))
    error = float(np.abs(result.astype(float) - expected).max(initial=0.0))
    return error / (UNIT * scale) if error else 0.0


def test_errors(pair: tuple[ModuleType, ModuleType]) -> None:
    """Samples come one by one and as a batch of whole blocks and one further sample; with external forces if
    the function accepts them.
    """
    single, double = pair
    rng = np.random.default_rng(1)
    for name in names_of(double):
        parameters = inspect.signature(getattr(double, name)).parameters
        values: dict[str, Any] = arguments(single, name, SAMPLES)
        extra = {"frame": double.frame_names[-1], "reference": "WORLD"} if "frame" in parameters else {}
        bound = UNITS * (
            conditioning(double, values["q"].astype(float))
            if name in requiring(Requirement.REGULAR_INERTIA)
            else 1.0
        )
        forces: list[dict[str, Any]] = [{}]
        if "fext" in parameters:
            forces.append({"fext": rng.standard_normal((SAMPLES, double.njoints, 6)).astype(np.float32)})
        for force in forces:
            inputs = {**values, **force}
            expected = as_tuple(
                getattr(double, name)(**{key: x.astype(float) for key, x in inputs.items()}, **extra)
            )
            batch = as_tuple(getattr(single, name)(**inputs, **extra))
            rows = [
                as_tuple(getattr(single, name)(**{key: x[k] for key, x in inputs.items()}, **extra))
                for k in range(SAMPLES)
            ]
            for k, truth in enumerate(expected):
                one_by_one = np.array([row[k] for row in rows])
                for what, result in (("batch", batch[k]), ("single", one_by_one)):
                    worst = units(result, truth, 1.0 if "frame" in parameters else 0.0)
                    assert worst <= bound, (
                        f"{double.name} {name} {k}, {what}: {worst:.1f} units, {bound:.1f} allowed"
                    )


def test_what_is_not_finite(pair: tuple[ModuleType, ModuleType]) -> None:
    """NaN and infinity are refused, in a batch by the place of the first of them."""
    single, _ = pair
    inputs = arguments(single, "rnea", SAMPLES)
    for bad in (np.nan, np.inf):
        spoilt = {**inputs, "a": inputs["a"].copy()}
        spoilt["a"][5] = bad
        with pytest.raises(ValueError, match=r"argument a has entries that are not finite: a\[5, 0\]"):
            single.rnea(**spoilt)
        given_q = inputs["q"].copy()
        given_q[7, 0] = bad
        with pytest.raises(ValueError, match="argument q has entries that are not finite"):
            single.rnea(given_q, inputs["v"], inputs["a"])

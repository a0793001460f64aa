"""The inputs of a comparison: every function of the catalogue gets its own, and an unknown one is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import Parameter
from rbdc.model import Problem
from rbdc.report.accuracy import draw, inputs_of
from rbdc.resources import resolve


def test_every_function_has_its_inputs() -> None:
    model = Problem.from_urdf(resolve("hyq"), root_joint="free-flyer")
    assert model.nq != model.nv, "sizes tell configurations from tangent vectors"
    drawn = draw(model, 2)
    for function in functions_of(model).values():
        names = inputs_of(function.declaration, drawn)
        assert names == [p.name for p in function.declaration.required]
        assert [drawn[name].shape for name in names] == [(2, p.size) for p in function.declaration.required]


@pytest.mark.parametrize(("name", "size"), [("wrench", 6), ("v", 5)])
def test_an_input_that_cannot_be_made_is_refused(name: str, size: int) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    declaration = functions_of(model)["rnea"].declaration
    unknown = Parameter(name, (size,), "something else")
    changed = replace(declaration, inputs=(declaration.inputs[0], unknown, *declaration.inputs[2:]))
    with pytest.raises(
        UnsupportedError, match=f"rnea: a comparison has no values for the input '{name}' of {size} entries"
    ):
        inputs_of(changed, draw(model, 1))


def test_inputs_at_rest_are_zero_but_for_configurations_placements_and_times() -> None:
    drawn = draw(Problem.from_urdf(resolve("ur5")), 3, at_rest=True)
    nonzero = {"q", "q0", "q1", "target", "pose", "dt", "ddt"}
    assert {name for name, x in drawn.items() if np.any(x != 0.0)} == nonzero
    assert np.allclose(np.linalg.norm(drawn["target"][:, 3:], axis=1), 1.0)

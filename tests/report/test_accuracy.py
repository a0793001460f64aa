"""When a result counts as wrong: by its error relative to the sample's largest entry, beyond what nobody
knows of it.
"""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.algorithms.trace import silent
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import for_one_frame
from rbdc.model import Problem
from rbdc.report.accuracy import WRONG, WRONG_NUMERICAL, deepest_frame, draw, errors, inputs_of, tolerance
from rbdc.report.accuracy import reference as in_40_digits
from rbdc.resources import resolve
from tests.support import Array, assert_close


def reference(*samples: list[float]) -> Array:
    return np.array([samples, np.zeros_like(samples)])


def test_errors_are_relative_to_the_largest_entry_of_their_sample() -> None:
    measures = errors(np.array([[1.0, 101.0], [0.25, 0.5]]), reference([1.0, 100.0], [0.25, 0.25]))
    assert (measures["max_abs"], measures["max_rel"], measures["scaled"]) == (1.0, 0.25, 1.0)


def test_what_terms_that_cancel_leave_is_no_error() -> None:
    """1e-12 of terms of about 1: sixteen digits of the terms are four of what is left."""
    truth, values = reference([1e-12, -2e-12]), np.array([[1e-12, -2e-12 + 1e-16]])
    assert errors(values, truth)["scaled"] == pytest.approx(5e-5) and errors(values, truth)["scaled"] > WRONG
    known = errors(values, truth, np.array([[0.0, 2e-16]]))
    assert known["scaled"] == 0.0
    assert known["max_abs"] == errors(values, truth)["max_abs"], "the metrics show it all the same"
    assert errors(values, truth, np.array([[2e-16, 2e-17]]))["scaled"] == pytest.approx(4e-5), (
        "of the other entry, or less than the error"
    )


def test_what_is_not_finite_is_wrong_whatever_is_uncertain() -> None:
    assert errors(np.array([[np.nan]]), reference([1.0]), np.array([[1e300]]))["scaled"] == np.inf


def test_differences_may_err_by_more() -> None:
    assert [tolerance(name) for name in ("generated", "casadi", "central-difference")] == [
        WRONG,
        WRONG,
        WRONG_NUMERICAL,
    ]


@pytest.mark.parametrize("name", ["frame_error", "frame_jacobian_time_derivative"])
def test_functions_of_a_frame_have_reference_results(name: str) -> None:
    """Functions with a target, which references take by name, have them, too."""
    model = Problem.from_urdf(resolve("double_pendulum"))
    function, drawn = functions_of(model)[name], draw(model, 1)
    inputs = {key: drawn[key] for key in inputs_of(function.declaration, drawn)}
    (high, _) = in_40_digits(model, function, inputs)
    assert function.at_frame is not None
    evaluate = for_one_frame(function.at_frame, deepest_frame(model), "LOCAL")
    outputs = evaluate(model, {key: [*map(float, x[0])] for key, x in inputs.items()}, silent)
    assert_close([x for output in outputs for x in output], high[0], 1e-13, 1.0)

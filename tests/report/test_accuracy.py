"""When a result counts as wrong: by its error relative to the sample's largest entry, beyond what nobody
knows of it.
"""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.report.accuracy import WRONG, WRONG_NUMERICAL, errors, tolerance
from tests.support import Array


def reference(*samples: list[float]) -> Array:
    return np.array([samples, np.zeros_like(samples)])


def test_errors_are_relative_to_the_largest_entry_of_their_sample() -> None:
    found = errors(np.array([[1.0, 101.0], [0.25, 0.5]]), reference([1.0, 100.0], [0.25, 0.25]))
    assert (found["max_abs"], found["max_rel"], found["scaled"]) == (1.0, 0.25, 1.0)


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

"""How far results may be off."""

from __future__ import annotations

import numpy as np

from rbdc.verification.expected import Expected


def test_results_of_any_size_are_wrong_without_a_warning() -> None:
    expected = Expected(np.array([[1.0, -1e308, 2.0]]), np.array([[1e-10, 1e-10, np.nan]]))
    with np.errstate(all="raise"):
        error = expected.error(np.array([[1e308, 1e308, 7.0]]))
    assert np.array_equal(error, [[np.inf, np.inf, 0.0]])

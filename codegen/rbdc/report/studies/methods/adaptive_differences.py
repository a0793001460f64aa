"""Adaptive central differences with Richardson extrapolation, by the method of `jacobianest` of D'Errico's
Adaptive Robust Numerical Differentiation, which Zhakatayev, Rogovchenko and Paetzold (2023) use.

Steps are relative to the coordinate, or absolute where the coordinate is zero. The first of 26 steps is 100;
each further step is smaller by a factor of about 2. Four successive slopes give one estimate without the
terms of order 2 and 4 in the step. The three smallest and the three largest estimates are dropped. Of the
others, the estimate with the smallest estimated error is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGEST, RATIO, STEPS = 100.0, 2.0000001, 26
DROPPED = 3
CONFIDENCE = 12.7062047361747
"""Student's t for one degree of freedom and 95 %."""
EVALUATIONS = 2 * STEPS
"""Calls of the function for one coordinate."""


def adaptive_differences(function: Callable[..., Any], states: Sequence[Array]) -> Array:
    """Return derivatives with respect to all coordinates of all states (states, samples, outputs,
    coordinates).

    function: from states of shape (..., coordinates) to values (..., outputs).
    states: q, v and a, for instance, of shape (samples, coordinates) each.

    Checked: exact for polynomials of degree 5; wrong near a coordinate of 0 if the function vanishes there.
    """
    scale = LARGEST * RATIO ** -np.arange(STEPS, dtype=float)
    matrices = []
    for of, state in enumerate(states):
        columns = []
        for m in range(state.shape[1]):
            x = state[:, m]
            steps = scale[:, None] * np.where(x == 0.0, 1.0, x)
            ends = []
            for sign in (1.0, -1.0):
                moved = [np.tile(each, (STEPS, 1, 1)) for each in states]
                moved[of][:, :, m] += sign * steps
                ends.append(np.asarray(function(*moved)))
            columns.append(extrapolated((ends[0] - ends[1]) * (0.5 / steps)[:, :, None]))
        matrices.append(np.stack(columns, axis=-1))
    return np.stack(matrices)


def extrapolated(slopes: Array) -> Array:
    """Return the chosen estimates from slopes; their first axis has steps of decreasing size."""
    powers = np.arange(4.0)[:, None] * np.array([2.0, 4.0])
    terms = np.hstack([np.ones((4, 1)), RATIO**-powers])
    q, r = np.linalg.qr(terms)
    windows = np.stack([slopes[k : STEPS - 4 + k] for k in range(4)])
    fitted = np.tensordot(np.linalg.solve(r, q.T), windows, axes=1)
    left = windows - np.tensordot(terms, fitted, axes=1)
    spread = np.sqrt(np.sum(np.linalg.inv(r)[0] ** 2))
    errors = np.sqrt(np.sum(left * left, axis=0)) * CONFIDENCE * spread
    order = np.argsort(fitted[0], axis=0)[DROPPED:-DROPPED]
    best = np.argmin(np.take_along_axis(errors, order, axis=0), axis=0)[None]
    chosen = np.take_along_axis(order, best, axis=0)
    return np.asarray(np.take_along_axis(fitted[0], chosen, axis=0)[0])

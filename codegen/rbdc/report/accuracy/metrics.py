"""Error metrics of Singh, Russell and Wensing, equations (40) to (43), over all outputs and samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from rbdc.report.accuracy.oracle import Reference

Array = NDArray[np.float64]

WRONG = 1e-8
"""Bound of a method's error relative to the sample's largest entry, beyond which the result is wrong."""
WRONG_NUMERICAL = 1e-2
"""Bound of the error of finite differences."""


def tolerance(method: str) -> float:
    """Largest admissible scaled error of a method, by its name."""
    return WRONG_NUMERICAL if method.endswith(("-difference", "-diff-1", "-diff-2")) else WRONG


@dataclass(frozen=True)
class Errors:
    """Errors of one method.

    max_abs: largest |A - Aref| (40). rms_abs: its root mean square (41). max_rel: largest |A - Aref| /
    max(|Aref|, 1) (42). rms_rel: its root mean square (43). scaled: largest error of a sample relative to the
    sample's largest entry, less the known uncertainty; it does not depend on units and therefore decides
    whether a result is wrong.
    """

    max_abs: float
    rms_abs: float
    max_rel: float
    rms_rel: float
    scaled: float

    def data(self) -> dict[str, float | None]:
        """The metrics by name for JSON; None for an infinite error, which JSON cannot express."""
        return {name: x if np.isfinite(x) else None for name, x in asdict(self).items()}


def errors(values: Array, reference: Reference, uncertain: Array | float = 0.0) -> Errors:
    """The metrics of `values`, (samples, size), against the reference.

    An entry that is not finite has an infinite error.

    uncertain: the part of each entry's error, (samples, size), that `scaled` disregards.
    """
    difference = np.abs(reference.error(values))
    difference = np.where(np.isfinite(difference), difference, np.inf)
    relative = difference / np.maximum(np.abs(reference.high), 1.0)
    largest = np.maximum(np.max(np.abs(reference.high), axis=1, initial=0.0), np.finfo(float).tiny)
    beyond = np.max(np.maximum(difference - uncertain, 0.0), axis=1, initial=0.0)
    return Errors(
        float(np.max(difference, initial=0.0)),
        _root_mean_square(difference),
        float(np.max(relative, initial=0.0)),
        _root_mean_square(relative),
        float(np.max(beyond / largest, initial=0.0)),
    )


def _root_mean_square(x: Array) -> float:
    return float(np.sqrt(np.mean(x * x))) if x.size else 0.0

"""The four error metrics of Singh, Russell and Wensing, equations (40) to (43), over all outputs of a function and all samples."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from rbdc.report.oracle import Reference

Array = NDArray[np.float64]

WRONG = 1e-8
"""A result is wrong where its error, relative to the sample's largest entry, exceeds this; differences may err by `WRONG_NUMERICAL`."""
WRONG_NUMERICAL = 1e-2


def tolerance(method: str) -> float:
    """What the results of a method may err by."""
    return WRONG_NUMERICAL if method.endswith("-difference") else WRONG


@dataclass(frozen=True)
class Errors:
    """max_abs (40): largest |A - Aref|; rms_abs (41); max_rel (42): largest |A - Aref| / max(|Aref|, 1); rms_rel (43).

    scaled: the largest error of a sample relative to the sample's largest entry, but for what is known to be uncertain; it decides whether
    a result is wrong, for it does not depend on units.
    """

    max_abs: float
    rms_abs: float
    max_rel: float
    rms_rel: float
    scaled: float

    def data(self) -> dict[str, float | None]:
        """The metrics by name for JSON, which has no infinity: an error without bound is None."""
        return {name: x if np.isfinite(x) else None for name, x in asdict(self).items()}


def errors(values: Array, reference: Reference, uncertain: Array | float = 0.0) -> Errors:
    """The metrics of values (samples, size) against the reference, of which so much of each entry is uncertain. What is not finite counts
    as an infinite error.
    """
    difference = np.abs(reference.error(values))
    difference = np.where(np.isfinite(difference), difference, np.inf)
    relative = difference / np.maximum(np.abs(reference.high), 1.0)
    largest = np.maximum(np.max(np.abs(reference.high), axis=1, initial=0.0), np.finfo(float).tiny)
    return Errors(
        float(np.max(difference, initial=0.0)),
        _root_mean_square(difference),
        float(np.max(relative, initial=0.0)),
        _root_mean_square(relative),
        float(np.max(np.max(np.maximum(difference - uncertain, 0.0), axis=1, initial=0.0) / largest, initial=0.0)),
    )


def _root_mean_square(x: Array) -> float:
    return float(np.sqrt(np.mean(x * x))) if x.size else 0.0

"""How figures grow with the size of a mechanism: exponents, and sizes at which another method takes over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

FEWEST = 3
"""Points below which no exponent is given: a line through two says nothing of the fit."""


@dataclass(frozen=True)
class Growth:
    """log y = exponent log x + constant by least squares, natural logarithms.

    Singh, Russell and Wensing, Table III, with x the number of bodies and y in microseconds.
    """

    exponent: float
    constant: float
    points: int


def growth(points: Mapping[int, float]) -> Growth | None:
    """The growth of positive values over sizes; None for fewer than `FEWEST`."""
    kept = {size: y for size, y in points.items() if y > 0.0}
    if len(kept) < FEWEST:
        return None
    slope, constant = np.polyfit(np.log(list(kept)), np.log(list(kept.values())), 1)
    return Growth(float(slope), float(constant), len(kept))


@dataclass(frozen=True)
class Crossing:
    """From about `size` bodies on `faster` takes less time than `slower`, which did before."""

    size: float
    faster: str
    slower: str


def crossings(curves: Mapping[str, Mapping[int, float]]) -> list[Crossing]:
    """Where two methods' curves over the same sizes cross, by straight lines between logarithms."""
    names, found = list(curves), []
    for k, one in enumerate(names):
        for other in names[k + 1 :]:
            sizes = sorted(set(curves[one]) & set(curves[other]))
            found += _between(one, other, sizes, [log(curves[one][n] / curves[other][n]) for n in sizes])
    return sorted(found, key=lambda crossing: crossing.size)


def _between(one: str, other: str, sizes: Sequence[int], leads: Sequence[float]) -> list[Crossing]:
    """The crossings of two methods by the logarithm of their ratio at each size."""
    found = []
    for n, m, before, after in zip(sizes, sizes[1:], leads, leads[1:], strict=False):
        if before * after < 0.0:
            share = before / (before - after)
            size = exp(log(n) + share * (log(m) - log(n)))
            found.append(Crossing(size, *((one, other) if after < 0.0 else (other, one))))
    return found

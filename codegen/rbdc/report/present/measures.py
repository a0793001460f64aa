"""Figures of methods over the sizes of families of mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Measure(NamedTuple):
    """A figure of the methods that grows with the size: the title of its curves, the words of their ordinate,
    and its value among a method's figures, None where there is none.
    """

    title: str
    words: str
    of: Callable[[Mapping[str, Any]], float | None]


TIME = Measure("time", "time of a call (\u00b5s)", lambda figures: 1e-3 * figures["nanoseconds"])
CODE = Measure("machine code", "machine code (bytes)", lambda figures: figures["code_bytes"])
ERROR = Measure("errors", "RMS relative error", lambda figures: (figures["errors"] or {}).get("rms_rel"))


def curves(
    entries: Sequence[Mapping[str, Any]], function: str, family: str, measure: Measure
) -> dict[str, dict[int, float]]:
    """By method the values over the sizes of a family."""
    found: dict[str, dict[int, float]] = {}
    for entry in entries:
        if entry["family"] == family and function in entry["functions"]:
            for method, figures in entry["functions"][function]["methods"].items():
                y = measure.of(figures)
                if y is not None:
                    found.setdefault(method, {})[entry["size"]] = y
    return found

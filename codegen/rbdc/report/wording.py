"""What page, plots and terminal share."""

from __future__ import annotations

from typing import Any


def shown_methods(function: dict[str, Any]) -> list[dict[str, Any]]:
    """The methods of the plots, fastest first: of the builds and variants of a peer the fastest alone."""
    methods = sorted(function["methods"], key=lambda m: m["nanoseconds"]["minimum"])
    kept: list[dict[str, Any]] = []
    for method in methods:
        if method["family"] != "peer" or all(m["family"] != "peer" for m in kept):
            kept.append(method)
    return kept


def nanoseconds(ns: float) -> str:
    """A time with three significant digits in a unit that suits it."""
    return f"{ns:.3g} ns" if ns < 1000.0 else f"{ns / 1000.0:.3g} \u00b5s" if ns < 1e6 else f"{ns / 1e6:.3g} ms"

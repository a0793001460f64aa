"""Verdicts on what an article says."""

from __future__ import annotations

from collections.abc import Sequence

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"


def judged(claim: str, holds: bool, found: str) -> dict[str, str]:
    """A claim that was tried, with what was found."""
    return {"claim": claim, "verdict": REPRODUCED if holds else NOT_REPRODUCED, "found": found}


def not_comparable(claim: str, reason: str, found: str = "") -> dict[str, str]:
    """A claim that could not be tried, with the reason."""
    return {"claim": claim, "verdict": f"not comparable: {reason}", "found": found}


def untried(claims: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The claims of a quick run, which decides none: what it found, as a sign that it works."""
    return [not_comparable(c["claim"], "a quick run of few small cases", c["found"]) for c in claims]


def listed(values: Sequence[float]) -> str:
    """Numbers with three significant digits between commas."""
    return ", ".join(f"{x:.3g}" for x in values)

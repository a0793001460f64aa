"""Verdicts on the claims of an article."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"


def judged(claim: str, holds: bool, found: str) -> dict[str, str]:
    """Return a claim with its verdict, `reproduced` or not, and the measurement that decides it."""
    return {"claim": claim, "verdict": REPRODUCED if holds else NOT_REPRODUCED, "found": found}


def not_comparable(claim: str, reason: str, found: str = "") -> dict[str, str]:
    """Return a claim that no measurement decides; its verdict has the reason."""
    return {"claim": claim, "verdict": f"not comparable: {reason}", "found": found}


def told(report: dict[str, Any], claims: list[dict[str, str]], started: float) -> dict[str, Any]:
    """Return a study's report with its claims and with the seconds since it started.

    After a quick run every verdict is `not comparable`; the measurements stay in the report.
    """
    if report["quick"]:
        few = "a quick run of few small cases"
        claims = [not_comparable(claim["claim"], few, claim["found"]) for claim in claims]
    return {**report, "claims": claims, "seconds": time.monotonic() - started}


def listed(values: Iterable[float]) -> str:
    """Return numbers with three significant digits, separated by commas."""
    return ", ".join(f"{x:.3g}" for x in values)

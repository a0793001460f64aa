"""Suggestions for unknown names in messages. This file is copied into each generated package."""

from __future__ import annotations

from collections.abc import Iterable

MOST, FEW = 30, 8
"""Largest number of names in a message: without and with similar names."""


def alike(name: object, known: Iterable[str]) -> list[str]:
    """Return at most three known names that are similar to this one, the most similar first.

    difflib compares names without regard to case. If it finds none, known names that contain the name are
    similar: "panda_hand" for "hand".
    """
    from difflib import get_close_matches

    names, given = list(dict.fromkeys(known)), str(name).lower()
    cases = {own.lower(): own for own in reversed(names)}
    close = [cases[own] for own in get_close_matches(given, cases, n=3)]
    return close or [own for own in names if len(given) > 2 and given in own.lower()][:3]


def hint(name: object, known: Iterable[str], after: str = " ") -> str:
    """Return "did you mean rnea?" followed by `after`, or "" if no known name is similar."""
    close = alike(name, known)
    return f"did you mean {' or '.join(close)}?{after}" if close else ""


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return "did you mean rnea?", or "there are rnea, aba" if few names are known or none is similar."""
    names = list(dict.fromkeys(known))
    close, listed = hint(name, names, ""), f"there are {', '.join(names[:MOST]) or 'none'}"
    if len(names) > MOST:
        listed += f" and {len(names) - MOST} more"
    return f"{close} {listed}" if close and len(names) <= FEW else close or listed

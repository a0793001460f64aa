"""Names like one that is not known, for messages. It is copied into each generated package."""

from __future__ import annotations

from collections.abc import Iterable

MOST, FEW = 30, 8
"""Names that a message lists, and those that it lists beside names that are alike."""


def alike(name: object, known: Iterable[str]) -> list[str]:
    """Return at most three known names that are like this one, the likest first.

    Names are alike by difflib, in any case of letters, or where one holds the other: "hand", "panda_hand".
    """
    from difflib import get_close_matches

    names, given = list(dict.fromkeys(known)), str(name).lower()
    cases = {own.lower(): own for own in reversed(names)}
    close = [cases[own] for own in get_close_matches(given, cases, n=3)]
    return close or [own for own in names if len(given) > 2 and given in own.lower()][:3]


def hint(name: object, known: Iterable[str], after: str = " ") -> str:
    """Return "did you mean rnea?" and what comes after, or nothing where no known name is like this one."""
    close = alike(name, known)
    return f"did you mean {' or '.join(close)}?{after}" if close else ""


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return "did you mean rnea?", or "there are rnea, aba" where few are known or none is like this one."""
    names = list(dict.fromkeys(known))
    close, listed = hint(name, names, ""), f"there are {', '.join(names[:MOST]) or 'none'}"
    if len(names) > MOST:
        listed += f" and {len(names) - MOST} more"
    return f"{close} {listed}" if close and len(names) <= FEW else close or listed

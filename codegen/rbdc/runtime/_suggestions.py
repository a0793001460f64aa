"""Names like one that is not known, for messages. It is copied into each generated package."""

from __future__ import annotations

from collections.abc import Iterable

MOST, FEW = 30, 8
"""Names that a message lists, and those that it lists beside names that are alike."""


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return "did you mean rnea?", or "there are rnea, aba" where no known name is like this one or few are.

    Names are alike by difflib, in any case of letters, or where one holds the other: "hand", "panda_hand".
    """
    from difflib import get_close_matches

    names, given = list(dict.fromkeys(known)), str(name).lower()
    cases = {own.lower(): own for own in reversed(names)}
    close = [cases[own] for own in get_close_matches(given, cases, n=3)]
    if not close and len(given) > 2:
        close = [own for own in names if given in own.lower()][:3]
    listed = f"there are {', '.join(names[:MOST]) or 'none'}"
    if len(names) > MOST:
        listed += f" and {len(names) - MOST} more"
    if not close:
        return listed
    return f"did you mean {' or '.join(close)}?{f' {listed}' if len(names) <= FEW else ''}"

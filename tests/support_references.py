"""The papers' methods by the names of functions."""

from __future__ import annotations

from rbdc.functions.catalogue import known
from rbdc.functions.references import Method, references_of

METHODS: dict[str, dict[str, Method]] = {name: references_of(function) for name, function in known().items()}
"""By function and by method, the last of which is the reference."""

FRAMED = {name: function.at_frame for name, function in known().items() if function.at_frame is not None}
"""The generated algorithms of functions of a frame."""


def reference_of(name: str) -> Method:
    """The method of a function that decides."""
    return list(METHODS[name].values())[-1]

"""Colours of methods: one for each, in every figure, table and key of every page.

Colours of a family are of one hue, so that a page's key names families. All builds and variants of a build of
Pinocchio have its peer's colour, for a figure shows the fastest of them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from rbdc.functions.catalogue import known
from rbdc.functions.references import references_of
from rbdc.report.options import CASADI, CPPADCODEGEN, NATIVE, PINOCCHIO, peer_of

FAMILY_COLOURS = {
    "generated": "#0b7a5c",
    "single": "#8fbf3f",
    "analytical": "#2f6fb5",
    "ad": "#d07a1f",
    "numerical": "#8a8f98",
    "peer": "#7a4fa3",
}
"""Colours of the families in a page's key; those of their foremost methods."""

_METHODS = {
    "generated": FAMILY_COLOURS["generated"],
    "generated-gcc": "#74c2a7",
    "generated-clang": "#3f9c80",
    "generated-parameters": "#14b8a6",
    "generated-zeroed": "#5eead4",
    "generated-lanes": "#a3d9c6",
    "generated-float32": FAMILY_COLOURS["single"],
    "rolled": FAMILY_COLOURS["analytical"],
    "unrolled-zhakatayev": "#00b4d8",
    "chain-rule": "#17a2b8",
    CASADI: FAMILY_COLOURS["ad"],
    "ad-casadi": "#e0562b",
    "ad-forward-casadi": "#eda35c",
    "ad-reverse-casadi": "#a65e12",
    "ad-auto-casadi": "#f4c795",
    "ad": "#d4b106",
    "ad-forward": "#b8860b",
    "ad-reverse": "#8a6d00",
    "ad-auto": "#ecd24f",
    CPPADCODEGEN: "#8f4a10",
    "finite-difference": FAMILY_COLOURS["numerical"],
    "central-difference": "#5b6472",
    "complex-step": "#b9bec7",
    "finite-diff-1": "#6f6a72",
    "finite-diff-2": "#a39aa6",
    "bicomplex-step": "#3b414b",
    NATIVE: FAMILY_COLOURS["peer"],
    PINOCCHIO: "#b08bd0",
}
"""Colours of the methods that go by one name for all functions, and of algorithms that some models have; in
batches that of the method for single samples.
"""

_ALGORITHMS = ("#6aa5de", "#123f73", "#4b5fd1", "#0e7490", "#9aa7f0", "#7dc4d6", "#1d4ed8", "#5c7ea8")
"""Colours of the straight-line code of other algorithms; those of one function differ."""

INK = "#1d2430"
"""Colour of what stands for no method among methods."""

_OTHERS = ("#c0392b", "#2f6fb5", "#d07a1f", "#7a4fa3", "#17a2b8", "#b8860b", "#8a8f98", "#8fbf3f")
"""Colours of curves that are no methods."""

UNROLLED = "unrolled-"
"""Prefix of straight-line code by an algorithm."""


def colour_of(method: str) -> str | None:
    """The colour of a method, of a peer's without one of its own the peer's; None for what is none."""
    method = method.removesuffix("-batch").removesuffix("-loop")
    return _METHODS.get(method) or _algorithms().get(method) or _METHODS.get(peer_of(method) or "")


def of_method(method: Mapping[str, Any]) -> str:
    """The colour of a method of a report; of one that this version does not know its family's."""
    return colour_of(method["method"]) or FAMILY_COLOURS[method["family"]]


def line_colours(names: Iterable[str]) -> dict[str, str]:
    """Colours of curves by their names: of methods their own, of others in their order."""
    names = list(dict.fromkeys(names))
    methods = {name: colour for name in names if (colour := colour_of(name)) is not None}
    left = [colour for colour in _OTHERS if colour not in methods.values()]
    others = [name for name in names if name not in methods]
    return {**methods, **{name: left[k % len(left)] for k, name in enumerate(others)}}


@cache
def _algorithms() -> dict[str, str]:
    """The first colour, for every algorithm of the catalogue, that no other one of its functions has; those
    with most others beside them first.
    """
    beside: dict[str, set[str]] = {}
    for function in known().values():
        own = {*function.methods, *references_of(function), function.comparison.through_passes}
        names = {f"{UNROLLED}{name}" for name in own if name} - {*_METHODS}
        for name in names:
            beside.setdefault(name, set()).update(names - {name})
    chosen: dict[str, str] = {}
    for name in sorted(beside, key=lambda name: (-len(beside[name]), name)):
        used = {chosen.get(other) for other in beside[name]}
        free = [colour for colour in _ALGORITHMS if colour not in used]
        chosen[name] = (free or _ALGORITHMS)[0]
    return chosen

"""Colours of methods: one for each, in every figure, table and key of every page.

The family of a method sets the hue, so that a page's key names families. Its place among the methods of its
functions sets the shade. All builds of a peer have one colour: a figure shows only the fastest build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import cos, radians, sin
from typing import Any

from rbdc.functions.catalogue import known
from rbdc.functions.record import Function
from rbdc.functions.references import references_of
from rbdc.report.methods.casadi_methods import modes_of
from rbdc.report.methods.contenders import BY_PARAMETERS, SINGLE, ZEROED, differences_of_loops
from rbdc.report.methods.differentiation import CHAIN_RULE, bases_of
from rbdc.report.methods.reference_loops import texts_of
from rbdc.report.options import CASADI, CPPADCODEGEN, LOOPS, NATIVE, PINOCCHIO, as_loops, peer_of

UNROLLED = "unrolled-"
"""Prefix of straight-line code by an algorithm."""
LAST = 23
"""Index of the shade of straight-line code by algorithms that only some models have; their loops have the
shade before it.
"""
INK = "#1d2430"
"""Colour of items that are shown among methods but are not methods."""
GOLDEN = 137.5
"""Degrees between the hues of curves that are not methods: no two of twelve hues are close."""


def _shade(hue: float, k: int = 0, chroma: float = 0.12) -> str:
    """Return the k-th of 24 shades around a hue (degrees of Ottosson's OKLab).

    Each is light enough for a dark page and dark enough for a white one. The last twelve are paler.
    """
    chroma *= (1.0, 0.55)[k // 12 % 2]
    lightness, angle = (0.56, 0.73, 0.47, 0.65)[k % 4], radians(hue + (0.0, 24.0, -24.0)[k // 4 % 3])
    a, b = chroma * cos(angle), chroma * sin(angle)
    cones = [
        (lightness + x * a + y * b) ** 3
        for x, y in ((0.39634, 0.21580), (-0.10556, -0.06385), (-0.08948, -1.29149))
    ]
    to_linear = ((4.07674, -3.30771, 0.23097), (-1.26844, 2.60976, -0.34132), (-0.00420, -0.70342, 1.70761))
    rgb = (sum(x * cone for x, cone in zip(row, cones, strict=True)) for row in to_linear)
    encoded = (1.055 * max(x, 0.0031308) ** (1.0 / 2.4) - 0.055 for x in rgb)
    return "#" + "".join(f"{round(255.0 * min(x, 1.0)):02x}" for x in encoded)


_HUES = {
    "generated": 165.0,
    "single": 120.0,
    "analytical": 255.0,
    "ad": 60.0,
    "numerical": 0.0,
    "peer": 310.0,
}
_CHROMA = {"numerical": 0.02}
FAMILY_COLOURS = {family: _shade(hue, 0, _CHROMA.get(family, 0.12)) for family, hue in _HUES.items()}
"""Colours of the families in a page's key: the colours of their first methods."""


def colour_of(method: str) -> str | None:
    """Return the colour of a method; None for other labels.

    A method of batches has the colour of the method for single samples, a build of a peer the colour of the
    peer.
    """
    method, colours = method.removesuffix("-batch").removesuffix("-loop"), _colours()
    analytical = method.startswith(UNROLLED) or as_loops(method)
    some = _shade(_HUES["analytical"], LAST - as_loops(method)) if analytical else None
    return colours.get(method) or colours.get(peer_of(method) or "", some)


def of_method(method: Mapping[str, Any]) -> str:
    """Return the colour of a method of a report; the colour of its family if this version does not know the
    method.
    """
    return colour_of(method["method"]) or FAMILY_COLOURS[method["family"]]


def line_colours(names: Iterable[str]) -> dict[str, str]:
    """Return colours of curves by their names: methods have their own colours, others are coloured in their
    order.
    """
    of_methods = {name: colour_of(name) for name in names}
    others = [name for name, colour in of_methods.items() if colour is None]
    return {name: colour or _shade(25.0 + GOLDEN * others.index(name)) for name, colour in of_methods.items()}


def _methods(function: Function) -> dict[str, list[str]]:
    """Return the methods that a function may have, by family, the most frequent first."""
    algorithms = {*function.methods, *references_of(function), function.comparison.through_passes} - {""}
    modes = modes_of(function)
    return {
        "generated": ["generated", "generated-gcc", "generated-clang", "generated-lanes"],
        "single": [SINGLE],
        "analytical": [
            *("rolled", CHAIN_RULE, ZEROED, BY_PARAMETERS),
            *sorted(f"{UNROLLED}{name}" for name in algorithms),
            *sorted(f"{LOOPS}-{name}" for name in texts_of(function)),
            *sorted(f"{LOOPS}-{name}-zeroed" for name in texts_of(function) if function.declaration.zeroed),
        ],
        "ad": [CASADI, CPPADCODEGEN, *modes, *(f"{mode}-casadi" for mode in modes)],
        "numerical": [
            *(name for name in bases_of(function) if name != CHAIN_RULE),
            *differences_of_loops(function),
        ],
        "peer": [NATIVE, PINOCCHIO],
    }


@cache
def _colours() -> dict[str, str]:
    """Return the colour of every method: the first shade of its family that no other method of the same
    functions has.
    """
    beside: dict[tuple[str, str], dict[str, None]] = {}
    for function in known().values():
        for family, names in _methods(function).items():
            for name in names:
                beside.setdefault((family, name), {}).update(dict.fromkeys(names))
    shades: dict[str, int] = {}
    for (_, name), others in beside.items():
        in_use = {shades.get(other) for other in others}
        shades[name] = next(k for k in range(len(in_use) + 1) if k not in in_use)
    return {name: _shade(_HUES[family], shades[name], _CHROMA.get(family, 0.12)) for family, name in beside}

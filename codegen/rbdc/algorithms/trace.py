"""Labels for intermediate quantities, which make generated code readable.

An algorithm announces each per-body quantity as it is computed; numeric evaluation ignores the announcements,
the compiler turns them into sections and names of the generated C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from rbdc.spatial import Scalars

Trace: TypeAlias = Callable[[str, str, str, Scalars], None]
"""trace(section, formula, symbol, values). `section` (usually a body's name) and `formula` become a comment
in C. `symbol` is a C identifier stem such as "v3".
"""


def silent(section: str, formula: str, symbol: str, values: Scalars) -> None:
    """Keep nothing: the default trace."""


def _xyz(*vectors: str) -> tuple[str, ...]:
    return tuple(vector + axis for vector in vectors for axis in "xyz")


def _entries(matrix: str) -> tuple[str, ...]:
    return tuple(f"{matrix}{row}{column}" for row in "xyz" for column in "xyz")


_FORCE, _MOTION, _PLACEMENT = _xyz("f", "n"), _xyz("v", "w"), (*_entries("R"), *_xyz("p"))
_INERTIA = ("m", *_xyz("h"), "xx", "xy", "yy", "xz", "yz", "zz")
_FACTOR = (*_xyz("p"), *_entries("N"))

_COMPONENTS: Mapping[str, Sequence[tuple[str, ...]]] = {
    **dict.fromkeys(("f", "fC", "fx", "pA", "U", "UD"), (_FORCE,)),
    **dict.fromkeys(("X", "W"), (_PLACEMENT,)),
    "v": (_MOTION,),
    "a": (_xyz("a", "dw"),),
    "m": (_xyz("w", "dw", "a"), _xyz("w", "dw", "v", "a")),
    "V": (_MOTION,),
    "s": (_xyz("sv", "sw", "psiv", "psiw", "dpsiv", "dpsiw"),),
    "IC": (_INERTIA,),
    "B": (_FACTOR,),
    "c": ((*_INERTIA, *_FACTOR, *_FORCE),),
}
"""Names of the components of a quantity, by the stem of its symbol. dw is the rate of w. For a joint's
direction s, psi is v x s and dpsi is a x s + v x psi, with v and a of the joint's parent.
"""


_OF_COLUMNS = frozenset({"U", "UD", "s"})
"""Stems of quantities with a column for each degree of freedom of a joint."""


def components(symbol: str, count: int) -> list[str]:
    """Return the names of `count` values that are announced under a symbol.

    Six values under `f3` are named `f3_fx` and so on. For several columns, the number of the column precedes
    the component. Values without component names are numbered, and a single value gets the symbol itself.
    """
    if count == 1:
        return [symbol]
    stem = re.match("[A-Za-z]*", symbol)
    letters = stem.group() if stem else ""
    for parts in _COMPONENTS.get(letters) or _COMPONENTS.get(letters.removeprefix("d"), ()):
        columns, rest = divmod(count, len(parts))
        if columns == 1 and not rest:
            return [f"{symbol}_{part}" for part in parts]
        if columns and not rest and letters in _OF_COLUMNS:
            return [f"{symbol}_{column}{part}" for column in range(columns) for part in parts]
    return [f"{symbol}_{number}" for number in range(count)]

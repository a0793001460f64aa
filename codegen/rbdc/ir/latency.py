"""How long results let those wait that need them, in cycles, about: what orders of statements go by."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.ir.nodes import CALL_OF, Program, Value

SUMS = ("add", "sub", "neg")
"""The operations that sums are made of, and products fused with."""

_ARITHMETIC = 4
_OF = {
    "div": 24,
    "sqrt": 24,
    "sin": 60,
    "cos": 60,
    "atan2": 100,
    **dict.fromkeys(CALL_OF, 40),
    **dict.fromkeys(("constant", "input", "lanes", "gather", "extract"), 0),
}


def latency(value: Value) -> int:
    """Cycles until the result can be used."""
    return _OF.get(value.operation, _ARITHMETIC)


def is_fused(program: Program, users: Sequence[Sequence[int]], index: int) -> bool:
    """Whether a value is a product that alone one sum uses: it is made there."""
    alone = program.values[index].operation == "mul" and len(users[index]) == 1 and users[index][0] >= 0
    return alone and program.values[users[index][0]].operation in SUMS

"""Commutative ordering: the operands of + and * in the order of their making.

``a + b`` and ``b + a`` become one value.
"""

from __future__ import annotations

from rbdc.ir.builder import Builder
from rbdc.ir.operations import Operation


def order_operands(builder: Builder, operation: Operation, arguments: tuple[int, ...]) -> int | None:
    """Before: ``b * a``. After: ``a * b``."""
    if operation.is_commutative and arguments[0] > arguments[1]:
        return builder.raw(operation, (arguments[1], arguments[0]))
    return None

"""A symbolic scalar: a CasADi SX whose products with 0 and 1 and sums with 0 are simplified in Python.

Most operands of the recursions are constants, and most constants are 0 or 1. Testing for 0 and 1 in Python
makes tracing three times as fast as in CasADi, and keeps constants Python floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import casadi as ca

from rbdc.spatial.scalars import is_number

# SX.binary takes a tenth of the time of ca.plus and the like, which first determine the kind of matrices.
_binary = ca.SX.binary
_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE = ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV


def expression(x: Any) -> Any:
    """Return the SX of a symbolic scalar, an SX or a number."""
    return x.expression if type(x) is Symbolic else ca.SX(x)


class Symbolic:
    """One SX scalar with the operators that the algorithms use.

    See `rbdc.spatial.scalars` for sin and the like.
    """

    __slots__ = ("expression",)

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def __add__(self, other: Any) -> Any:
        if type(other) is Symbolic:
            return Symbolic(_binary(_ADD, self.expression, other.expression))
        if not is_number(other):
            return NotImplemented
        return self if other == 0.0 else Symbolic(_binary(_ADD, self.expression, ca.SX(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Symbolic:
            return Symbolic(_binary(_SUBTRACT, self.expression, other.expression))
        if not is_number(other):
            return NotImplemented
        return self if other == 0.0 else Symbolic(_binary(_SUBTRACT, self.expression, ca.SX(other)))

    def __rsub__(self, other: Any) -> Any:
        return -self if other == 0.0 else Symbolic(_binary(_SUBTRACT, ca.SX(other), self.expression))

    def __mul__(self, other: Any) -> Any:
        if type(other) is Symbolic:
            return Symbolic(_binary(_MULTIPLY, self.expression, other.expression))
        if not is_number(other):
            return NotImplemented
        if other == 0.0:
            return 0.0
        return (
            self
            if other == 1.0
            else -self
            if other == -1.0
            else Symbolic(_binary(_MULTIPLY, ca.SX(other), self.expression))
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is not Symbolic and not is_number(other):
            return NotImplemented
        return Symbolic(_binary(_DIVIDE, self.expression, expression(other)))

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if other == 0.0 else Symbolic(_binary(_DIVIDE, ca.SX(other), self.expression))

    def __neg__(self) -> Any:
        return Symbolic(ca.SX.unary(ca.OP_NEG, self.expression))

    @staticmethod
    def elementary(name: str, *arguments: Any) -> Symbolic:
        """Return sin, cos, sqrt or atan2 of numbers and symbolic scalars."""
        return Symbolic(getattr(ca, name)(*(expression(x) for x in arguments)))

    @staticmethod
    def in_one_piece(formulas: Callable[..., Sequence[Any]], *arguments: Any) -> list[Symbolic]:
        """Return the results of the formulas as results of one call, which `rbdc.ir.from_casadi` recognises.
        Within `written_out` the results are the formulas themselves.
        """
        if _WRITTEN_OUT.get():
            return list(formulas(*arguments))
        results = _called(formulas, len(arguments))(*(expression(x) for x in arguments))
        return [Symbolic(x) for x in results]

    @staticmethod
    def where_less(a: Any, b: Any, then: Any, otherwise: Any) -> Symbolic:
        """Return `then` where a < b, else `otherwise`; the branch not taken is not evaluated."""
        return Symbolic(ca.if_else(expression(a) < expression(b), expression(then), expression(otherwise)))


_WRITTEN_OUT = ContextVar("written_out", default=False)


@contextmanager
def written_out() -> Iterator[None]:
    """Replace the calls of `Symbolic.in_one_piece` by formulas within a context, for C without rbdc's
    functions.
    """
    token = _WRITTEN_OUT.set(True)
    try:
        yield
    finally:
        _WRITTEN_OUT.reset(token)


@lru_cache(maxsize=8)
def _called(formulas: Callable[..., Sequence[Any]], count: int) -> ca.Function:
    arguments = [ca.SX.sym(f"x{k}") for k in range(count)]
    results = [expression(x) for x in formulas(*(Symbolic(x) for x in arguments))]
    return ca.Function(formulas.__name__.strip("_"), arguments, results, {"never_inline": True})

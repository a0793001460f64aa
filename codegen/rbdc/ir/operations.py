"""The operations of the intermediate representation. Each is defined once, by one record.

To add one, write a record here and enter it in `OPERATIONS`. A new `Form` is only needed if no present one
fits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from rbdc.spatial.scalars import polynomial


class Form(Enum):
    """How a backend writes an operation."""

    MISSING = "not at all: a pass replaces it"
    LEAF = "a literal, or an entry of an array"
    PREFIX = "a sign and its argument"
    INFIX = "a sign between its arguments"
    FUNCTION = "a call of an elementary function"
    JOINT_CALL = "a statement that also computes other values of the same arguments"
    CHOICE = "the second argument if the first is true, else the third"
    LANES = "a vector built from lanes, or split into them"


class Precedence(IntEnum):
    """Precedence of an expression."""

    CONDITION = 0
    SUM = 1
    PRODUCT = 2
    UNARY = 3
    ATOM = 4


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operation:
    """One operation: its value, its properties for passes, its cost, and its spelling. An operation equals
    only itself.

    name: name in printed programs, and CasADi's name of the corresponding operation.
    arity: number of arguments; None: one for each lane (GATHER), or one or two (sine and cosine).
    numeric: function from one lane of each argument to one lane of the result; None for leaves and lane
        operations.
    is_defined: function that returns whether the result exists for these arguments; None: always. Undefined
        results are not folded. Operations on vectors of constants are folded only if this is None.
    is_trigonometric: whether it is a sine or cosine.
    is_condition: whether its result is a truth value, which only choices use.
    is_commutative: whether its arguments can be exchanged.
    signs: for sums, +1 or -1 for each argument; empty otherwise.
    parity: f(-x) / f(x), or 0 if this ratio is not always 1 or always -1.
    counted_as: field of `rbdc.ir.cost.Cost` that counts it on scalars.
    latency: approximate number of cycles until its result can be used.
    form, spelling, precedence: how it is written in C.
    call: name of the call that computes it together with other operations (`JOINT_CALLS`).
    """

    name: str
    arity: int | None
    numeric: Callable[..., float] | None = None
    is_defined: Callable[..., bool] | None = None
    is_trigonometric: bool = False
    is_condition: bool = False
    is_commutative: bool = False
    signs: tuple[int, ...] = ()
    parity: int = 0
    counted_as: str = "others"
    latency: int = 4
    form: Form = Form.MISSING
    spelling: str = ""
    precedence: Precedence = Precedence.ATOM
    call: str = ""

    def __repr__(self) -> str:
        return self.name

    @property
    def is_leaf(self) -> bool:
        """Whether the operation is a constant or an input, which needs no statement."""
        return self.form is Form.LEAF

    @property
    def is_sum(self) -> bool:
        """Whether the operation is a sum or difference of two values."""
        return len(self.signs) == 2

    @property
    def is_product(self) -> bool:
        """Whether the operation is a product or quotient of two values."""
        return self.precedence is Precedence.PRODUCT

    @property
    def is_elementary(self) -> bool:
        """Whether a call computes the operation."""
        return self.counted_as == "calls"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the operation by name, so that it is identical in another process."""
        return _named, (self.name,)


def _named(name: str) -> Operation:
    return OPERATIONS[name]


CONSTANT = Operation("constant", 0, latency=0, form=Form.LEAF)
INPUT = Operation("input", 0, latency=0, form=Form.LEAF)

NEG = Operation(
    "neg",
    1,
    operator.neg,
    signs=(-1,),
    counted_as="negations",
    form=Form.PREFIX,
    spelling="-",
    precedence=Precedence.UNARY,
)


def _infix(
    name: str, numeric: Callable[..., float], spelling: str, binds: Precedence, **others: Any
) -> Operation:
    return Operation(name, 2, numeric, form=Form.INFIX, spelling=spelling, precedence=binds, **others)


def _function(name: str, arity: int | None, numeric: Callable[..., float], **others: Any) -> Operation:
    return Operation(name, arity, numeric, counted_as="calls", form=Form.FUNCTION, spelling=name, **others)


def _sine_or_cosine(name: str, numeric: Callable[[float], float], parity: int) -> Operation:
    """Return the sine or cosine. After angles are gathered, a constant offset is a second argument."""

    def of_sum(angle: float, offset: float = 0.0) -> float:
        return numeric(angle + offset)

    return _function(name, None, of_sum, is_trigonometric=True, parity=parity, latency=60)


ADD = _infix(
    "add", operator.add, "+", Precedence.SUM, is_commutative=True, signs=(1, 1), counted_as="additions"
)
SUB = _infix("sub", operator.sub, "-", Precedence.SUM, signs=(1, -1), counted_as="additions")
MUL = _infix("mul", operator.mul, "*", Precedence.PRODUCT, is_commutative=True, counted_as="multiplications")
DIV = _infix(
    "div",
    operator.truediv,
    "/",
    Precedence.PRODUCT,
    is_defined=lambda a, b: b != 0.0,
    counted_as="divisions",
    latency=24,
)
SIN = _sine_or_cosine("sin", math.sin, -1)
COS = _sine_or_cosine("cos", math.cos, 1)
SQRT = _function("sqrt", 1, math.sqrt, is_defined=lambda a: a >= 0.0, latency=24)
ATAN2 = _function("atan2", 2, math.atan2, latency=100)


def _ratio(name: str, arity: int, call: str, numeric: Callable[..., float]) -> Operation:
    """Return the operation of a ratio that exponentials or logarithms of rotations use; see
    `rbdc.spatial.quaternions`.
    """
    return Operation(
        name,
        arity,
        numeric,
        is_defined=lambda *arguments: arguments[-1] >= 0.0,
        counted_as="calls",
        latency=40,
        form=Form.JOINT_CALL,
        call=call,
    )


def _half_sine_ratio(u: float) -> float:
    """Return sin(t/2)/t for u = t^2."""
    return 0.5 if u == 0.0 else math.sin(0.5 * math.sqrt(u)) / math.sqrt(u)


def _cubic_ratio(u: float) -> float:
    """Return (t - sin t)/t^3 for u = t^2; a power series where the difference would cancel."""
    if u < 1.0:
        return sum((-u) ** k / math.factorial(2 * k + 3) for k in range(9))
    t = math.sqrt(u)
    return (t - math.sin(t)) / (t * u)


def _angle_ratio(c: float, s2: float) -> float:
    """Return t / sin(t/2) for c = cos(t/2) and s2 = sin(t/2)^2."""
    return 2.0 if s2 == 0.0 else 2.0 * math.atan2(math.sqrt(s2), c) / math.sqrt(s2)


def _cotangent_ratio(c: float, s2: float) -> float:
    """Return (1 - (t/2) cot(t/2)) / t^2 for c = cos(t/2) and s2 = sin(t/2)^2; a power series where the
    difference would cancel.
    """
    x = math.atan2(math.sqrt(s2), c)
    if x < 0.1:
        coefficients = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000)
        return float(polynomial(4.0 * x * x, *coefficients))
    return 0.25 * (1.0 - x * c / math.sqrt(s2)) / (x * x)


HALF_COSINE = _ratio("half_cosine", 1, "exponential", lambda u: math.cos(0.5 * math.sqrt(u)))
HALF_SINE_RATIO = _ratio("half_sine_ratio", 1, "exponential", _half_sine_ratio)
CUBIC_RATIO = _ratio("cubic_ratio", 1, "exponential", _cubic_ratio)
ANGLE_RATIO = _ratio("angle_ratio", 2, "logarithm", _angle_ratio)
COTANGENT_RATIO = _ratio("cotangent_ratio", 2, "logarithm", _cotangent_ratio)

LESS = _infix("lt", lambda a, b: float(a < b), "<", Precedence.CONDITION, is_condition=True)
NOT = Operation("not", 1, lambda a: float(not a), is_condition=True)
"""The negation of a condition; `join_choices` replaces it."""
WHERE = Operation(
    "where", 3, lambda a, b, c: b if a else c, form=Form.CHOICE, precedence=Precedence.CONDITION
)

LANES = Operation("lanes", 0, latency=0, form=Form.LANES)
"""Constants, one for each lane."""
GATHER = Operation("gather", None, latency=0, form=Form.LANES)
"""A vector of scalars, one for each lane."""
EXTRACT = Operation("extract", 1, latency=0, form=Form.LANES)
"""Lane `lane` of the argument."""
ROTATE = Operation("rotate", 1, form=Form.LANES)
"""Lane m of the result is lane m + `lane` of the argument, cyclically. The result may be narrower than the
argument, or wider: then lanes of the argument are repeated.
"""
REDUCE = Operation("reduce", 1, form=Form.LANES, precedence=Precedence.SUM)
"""The sum of all lanes."""
EXCHANGE = Operation("exchange", 2, form=Form.LANES)
"""The even blocks of two vectors, alternating; the odd blocks if `lane` is negative. A block has |`lane`|
lanes.
"""

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        *(CONSTANT, INPUT, NEG, ADD, SUB, MUL, DIV, SIN, COS, SQRT, ATAN2),
        *(HALF_COSINE, HALF_SINE_RATIO, CUBIC_RATIO, ANGLE_RATIO, COTANGENT_RATIO),
        *(LESS, NOT, WHERE, LANES, GATHER, EXTRACT, ROTATE, REDUCE, EXCHANGE),
    )
}
"""All operations by name. A scalar argument beside vectors stands for the same number in all lanes. Vectors
of different widths do not mix.
"""

JOINT_CALLS: dict[str, tuple[Operation, ...]] = {
    call: tuple(operation for operation in OPERATIONS.values() if operation.call == call)
    for call in dict.fromkeys(operation.call for operation in OPERATIONS.values() if operation.call)
}
"""Results that one call computes from the same arguments, in order, by the name of the call."""

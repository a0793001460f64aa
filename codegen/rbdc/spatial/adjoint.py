"""Reverse-mode differentiation over recorded scalars: values that remember the operations that computed them.

The gradient of a weighted sum of results with respect to all inputs takes a small multiple of the operations
that compute the results (Linnainmaa 1970). Adjoints are called bars, after Griewank's notation.
`Tape.adjoints` visits the recorded operations in reverse order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

from rbdc.spatial.scalars import Scalar, cos, is_number, is_zero, sin, sqrt

Bar: TypeAlias = Callable[[Scalar], Scalar]
"""Function that returns the adjoint of a value; zero for a constant."""


class Recorded:
    """A scalar on a tape. Numbers and scalars of other types are constants.

    Recorded scalars have no `atan2` and no comparison, because no recursion of dynamics needs them.
    """

    __slots__ = ("index", "tape", "value")
    level: ClassVar[int] = 4  # in operations with dual numbers, this class computes the result
    __array_ufunc__ = None  # NumPy leaves the operation to this class: an array is one constant

    def __init__(self, value: Scalar, tape: Tape, index: int) -> None:
        self.value, self.tape, self.index = value, tape, index

    def __add__(self, other: Any) -> Recorded:
        return self.tape.computed(self.value + value_of(other), (self, 1.0), (other, 1.0))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Recorded:
        return self.tape.computed(self.value - value_of(other), (self, 1.0), (other, -1.0))

    def __rsub__(self, other: Any) -> Recorded:
        return self.tape.computed(value_of(other) - self.value, (self, -1.0))

    def __mul__(self, other: Any) -> Any:
        if is_number(other) and other in (0, 1):
            return 0.0 if other == 0 else self
        return self.tape.computed(self.value * value_of(other), (self, value_of(other)), (other, self.value))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Recorded:
        quotient = self.value / value_of(other)
        return self.tape.computed(
            quotient, (self, 1.0 / value_of(other)), (other, -quotient / value_of(other))
        )

    def __rtruediv__(self, other: Any) -> Recorded:
        quotient = other / self.value
        return self.tape.computed(quotient, (self, -quotient / self.value))

    def __neg__(self) -> Recorded:
        return self.tape.computed(-self.value, (self, -1.0))

    @staticmethod
    def elementary(name: str, *arguments: Recorded) -> Recorded:
        """Return a sine, cosine or square root; see `rbdc.spatial.scalars`. Raises TypeError for others."""
        x = arguments[0]
        if name == "sin":
            return x.tape.computed(sin(x.value), (x, cos(x.value)))
        if name == "cos":
            return x.tape.computed(cos(x.value), (x, -sin(x.value)))
        if name == "sqrt":
            root = sqrt(x.value)
            return x.tape.computed(root, (x, 0.5 / root))
        raise TypeError(f"no adjoint of {name}")


class Tape:
    """A record of operations: for each value its operands, and its derivatives with respect to them."""

    def __init__(self) -> None:
        self._sources: list[list[tuple[int, Scalar]]] = []
        self._watched: dict[int, list[Callable[[Bar], None]]] = {}

    def variables(self, values: Sequence[Scalar]) -> list[Recorded]:
        """Record these values as independent variables."""
        return [self.computed(value) for value in values]

    def computed(self, value: Scalar, *sources: tuple[Any, Scalar]) -> Recorded:
        """Record a value and its derivatives with respect to its sources, without constant sources."""
        self._sources.append([(x.index, derivative) for x, derivative in sources if isinstance(x, Recorded)])
        return Recorded(value, self, len(self._sources) - 1)

    def watch(self, values: Sequence[Scalar], then: Callable[[Bar], None]) -> None:
        """Have `adjoints` call `then` as soon as the adjoints of the values are known."""
        indices = [x.index for x in values if isinstance(x, Recorded)]
        if indices:
            self._watched.setdefault(min(indices), []).append(then)

    def adjoints(self, results: Sequence[Scalar], weights: Sequence[Scalar]) -> Bar:
        """Return a function that maps a value x on the tape to d(sum of weights times results)/dx."""
        bars: list[Scalar] = [0.0] * len(self._sources)
        for result, weight in zip(results, weights, strict=True):
            if isinstance(result, Recorded):
                bars[result.index] = bars[result.index] + weight

        def bar(x: Scalar) -> Scalar:
            return bars[x.index] if isinstance(x, Recorded) else 0.0

        for index in reversed(range(len(bars))):
            for then in self._watched.get(index, ()):
                then(bar)
            if not is_zero(bars[index]):
                for source, derivative in self._sources[index]:
                    bars[source] = bars[source] + derivative * bars[index]
        return bar


def value_of(x: Scalar) -> Scalar:
    """Return the value of a scalar; a constant is its own value."""
    return x.value if isinstance(x, Recorded) else x

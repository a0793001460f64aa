"""Statements over lanes: scalars that write themselves down as C as the mathematics is evaluated with them,
zeros and ones left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rbdc.functions.scalar_types import ScalarType
from rbdc.spatial import Motion, Scalar, Symmetric3, Vector3
from rbdc.spatial.scalars import is_number


@dataclass(frozen=True)
class Lanes:
    """An expression of C over lanes; `sum`: it must stand in parentheses as a factor."""

    text: str
    scalar: ScalarType
    sum: bool = False

    @property
    def factor(self) -> str:
        """The expression as a factor of a product."""
        return f"({self.text})" if self.sum else self.text

    def __add__(self, other: Scalar) -> Scalar:
        if is_number(other) and other == 0.0:
            return self
        text = _text(other, self.scalar)
        return Lanes(
            f"{self.text} - {text[1:]}" if text[0] == "-" else f"{self.text} + {text}", self.scalar, True
        )

    def __radd__(self, other: Scalar) -> Scalar:
        return self + other

    def __sub__(self, other: Scalar) -> Scalar:
        if is_number(other):
            return self + -other
        return Lanes(f"{self.text} - {other.factor}", self.scalar, True)

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        if not is_number(other):
            return Lanes(f"{self.factor} * {other.factor}", self.scalar)
        if other in (0.0, 1.0, -1.0):
            return {0.0: 0.0, 1.0: self, -1.0: -self}[float(other)]
        return Lanes(f"{self.scalar.literal(float(other))} * {self.factor}", self.scalar, other < 0)

    def __rmul__(self, other: Scalar) -> Scalar:
        return self * other

    def __neg__(self) -> Lanes:
        return Lanes(f"-{self.factor}", self.scalar, True)


def _text(value: Scalar, scalar: ScalarType) -> str:
    return scalar.literal(float(value)) if is_number(value) else str(value.text)


@dataclass(frozen=True)
class Block:
    """Statements under one comment, which is their formula."""

    comment: str
    lines: tuple[str, ...]


@dataclass
class Trace:
    """Collects the statements of one loop's body.

    kind: the C type of lanes. blocks: those that are finished or begun.
    """

    scalar: ScalarType
    kind: str = "limbs"
    _comments: list[str] = field(default_factory=list)
    _lines: list[list[str]] = field(default_factory=list)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The statements so far, blocks without any left out."""
        made = zip(self._comments, self._lines, strict=True)
        return tuple(Block(comment, tuple(lines)) for comment, lines in made if lines)

    def begin(self, comment: str) -> None:
        """Begin a block."""
        self._comments.append(comment)
        self._lines.append([])

    def read(self, text: str) -> Lanes:
        """Value of a C expression, a name or an entry of an array."""
        return Lanes(text, self.scalar)

    def vector(self, array: str, start: int) -> Vector3:
        """Three consecutive entries of an array."""
        return Vector3.of(self.read(f"{array}[{start + k}]") for k in range(3))

    def motion(self, array: str, start: int) -> Motion:
        """Six consecutive entries of an array: linear, then angular."""
        return Motion(self.vector(array, start), self.vector(array, start + 3))

    def let(self, name: str, value: Scalar) -> Scalar:
        """A local variable of this value; names and numbers need none."""
        if is_number(value) or value.text.isidentifier():
            return value
        self._lines[-1].append(f"const {self.kind} {name} = {value.text};")
        return self.read(name)

    def let_vector(self, name: str, value: Vector3) -> Vector3:
        """C expressions of the three components of a vector."""
        return Vector3.of(
            self.let(f"{name}_{axis}", x) for axis, x in zip("xyz", value.scalars(), strict=True)
        )

    def let_motion(self, name: str, value: Motion) -> Motion:
        """C expressions of a spatial vector, `name` and what it is: u linear, w angular."""
        return Motion(self.let_vector(f"{name}_u", value.linear), self.let_vector(f"{name}_w", value.angular))

    def let_symmetric(self, name: str, value: Symmetric3) -> Symmetric3:
        """C expressions of a symmetric matrix."""
        names = ("xx", "xy", "yy", "xz", "yz", "zz")
        return Symmetric3(*(self.let(f"{name}_{n}", x) for n, x in zip(names, value.scalars(), strict=True)))

    def store(self, array: str, start: int, values: Iterable[Scalar]) -> None:
        """Write consecutive entries of an array of lanes; what is constant as well."""
        for k, value in enumerate(values, start):
            constant = f"({self.kind}){{0}} + " if self.kind != self.scalar.name else ""
            text = constant + _text(value, self.scalar) if is_number(value) else value.text
            self._lines[-1].append(f"{array}[{k}] = {text};")

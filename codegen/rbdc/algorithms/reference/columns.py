"""Columns of matrices, as motions and forces; side by side in one, each scalar a row of numbers, where the
scalars can stand so (`rbdc.verification`). Others stay columns of their own: the recursions are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rbdc.spatial import Force, Motion, Scalar, Scalars
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

Vector = TypeVar("Vector", Motion, Force)


@dataclass(frozen=True)
class Columns(Generic[Vector]):
    """One vector for each of `dofs`, side by side; several kinds of them."""

    dofs: tuple[int, ...]
    vectors: tuple[Vector, ...]

    @property
    def vector(self) -> Vector:
        """The only kind."""
        (vector,) = self.vectors
        return vector

    def each(self, x: Scalar) -> Iterator[tuple[int, Scalar]]:
        """The degrees of freedom and their numbers of a scalar that was made of the vectors."""
        return zip(self.dofs, _of_columns(x, len(self.dofs)), strict=True)

    def mapped(self, change: Callable[[Vector], Vector]) -> Columns[Vector]:
        """The columns changed one by one."""
        return Columns(self.dofs, tuple(change(x) for x in self.vectors))

    def within(self, dofs: range) -> Columns[Vector]:
        """Columns of consecutive degrees of freedom that are among these."""
        chosen = [k for k, dof in enumerate(self.dofs) if dof in dofs]
        if len(chosen) == len(self.dofs):
            return self
        start, stop = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
        return Columns(
            self.dofs[start:stop],
            tuple(_vector(x, [_part(y, start, stop) for y in x.scalars()]) for x in self.vectors),
        )

    def row(self, scalars: Scalars) -> Scalar:
        """One scalar of as many columns as these, of theirs."""
        if len(self.dofs) == 1:
            return scalars[0]
        own: list[Scalar] = [y for x in self.vectors for y in x.scalars()]
        return _side_by_side([(x, 1) for x in scalars], _maker([*scalars, *own]))


def within(blocks: Iterable[Columns[Vector]], dofs: range) -> list[Columns[Vector]]:
    """The columns of consecutive degrees of freedom."""
    return [chosen for chosen in (block.within(dofs) for block in blocks) if chosen.dofs]


def joined(blocks: Iterable[Columns[Vector]]) -> list[Columns[Vector]]:
    """The columns of all blocks in one, if their scalars can stand side by side; else the blocks."""
    blocks = list(blocks)
    rows = [[x for vector in block.vectors for x in vector.scalars()] for block in blocks]
    maker = _maker([x for row in rows for x in row])
    if len(blocks) < 2 or maker is None:
        return blocks
    counts = [len(block.dofs) for block in blocks]
    columns = zip(*rows, strict=True)
    scalars = [_side_by_side(list(zip(column, counts, strict=True)), maker) for column in columns]
    vectors = blocks[0].vectors
    made = tuple(_vector(x, scalars[6 * k : 6 * k + 6]) for k, x in enumerate(vectors))
    return [Columns(tuple(dof for block in blocks for dof in block.dofs), made)]


def added(blocks: Iterable[Columns[Vector]], to: Iterable[Columns[Vector]]) -> list[Columns[Vector]]:
    """The blocks added to those of the same degrees of freedom, or beside them."""
    result = {block.dofs: block for block in to}
    for block in blocks:
        old = result.get(block.dofs)
        if old is not None:
            block = Columns(block.dofs, tuple(x + y for x, y in zip(old.vectors, block.vectors, strict=True)))
        result[block.dofs] = block
    return list(result.values())


def _vector(kind: Vector, scalars: Scalars) -> Vector:
    return type(kind).of(scalars)


def _maker(scalars: Iterable[Scalar]) -> Scalar:
    """One that can make rows of columns; None where none can."""
    return next((x for x in map(value_of, scalars) if hasattr(x, "beside")), None)


def _side_by_side(parts: Sequence[tuple[Scalar, int]], maker: Scalar) -> Scalar:
    """Scalars of so many columns each as one."""
    if any(type(x) is Tangent for x, _ in parts):
        values, rates = ([(part(x), n) for x, n in parts] for part in (value_of, rate_of))
        return Tangent(_side_by_side(values, maker), _side_by_side(rates, maker))
    return 0.0 if all(is_zero(x) for x, _ in parts) else maker.beside(parts)


def _of_columns(x: Scalar, count: int) -> Scalars:
    """The scalars of so many columns."""
    if type(x) is Tangent:
        return tangents(_of_columns(x.value, count), _of_columns(x.rate, count))
    columns: Scalars = x.of_columns(count) if hasattr(x, "of_columns") else [x] * count
    return columns


def _part(x: Scalar, start: int, stop: int) -> Scalar:
    if type(x) is Tangent:
        return Tangent(_part(x.value, start, stop), _part(x.rate, start, stop))
    return x.part(start, stop) if hasattr(x, "part") else x

"""Arrays, blocks of derivatives and functions as the templates of external functions take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from rbdc.functions.declarations import Parameter


@dataclass(frozen=True)
class Array:
    """An array of an external function: its name there and its sparsity pattern, of `rows` and `columns`."""

    name: str
    rows: int
    columns: int
    full: bool = True

    @property
    def pattern(self) -> str:
        """The C constant with the pattern."""
        return f"{'dense' if self.full else 'empty'}_{self.rows}_{self.columns}"

    @property
    def numbers(self) -> str:
        """CasADi's encoding of it: rows, columns, and 1 for dense, or else where the columns begin."""
        tail = [1] if self.full else [0] * (self.columns + 1)
        return ", ".join(map(str, [self.rows, self.columns, *tail]))


@dataclass(frozen=True)
class Local:
    """A local array of the C: an input at `place`, a part of the work vector at `offset` that goes to the
    result `place` as a matrix, or the configuration `source` with unit quaternions. q: the configuration by
    whose entries its rows are.
    """

    name: str
    place: int = 0
    offset: int = 0
    rows: int = 0
    columns: int = 0
    source: str = ""
    size: int = 0
    q: str = ""


@dataclass(frozen=True)
class Block:
    """Derivatives of an output, (rows, columns), by the `n` directions of an input, `D`, and, of second
    order, by those of another one, `m`, too, `T`, that go to the result `place` by the entries of the inputs.
    q, r: the configurations, NULL for vectors.
    """

    place: int
    rows: int
    columns: int
    n: int
    q: str
    D: str
    m: int = 0
    r: str = "NULL"
    T: str = ""

    @property
    def curved(self) -> str:
        """The derivatives that turn with the directions, which only those of one configuration twice do."""
        return self.D if self.q == self.r != "NULL" else "NULL"


@dataclass(frozen=True)
class External:
    """One external function: its symbol, inputs and outputs, the size of its work vector, the template of its
    body and what that has. calls: of the library; given: results that are matrices; derivatives: those that
    are; moved: derivatives of a configuration in its tangent space, `source`, that become those of its
    entries; each: the call for second derivatives of one entry of so many, `rows`, of the output.
    """

    symbol: str
    summary: str
    inputs: list[Array]
    outputs: list[Array]
    arrays: list[Local]
    units: list[Local]
    places: list[Local]
    work: int
    body: str
    calls: Sequence[str] = ()
    given: Sequence[Local] = ()
    derivatives: Sequence[Block] = ()
    moved: Sequence[Local] = ()
    each: str = ""
    rows: int = 1

    @property
    def count_in(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    @property
    def count_out(self) -> int:
        """The number of outputs."""
        return len(self.outputs)


def rows_of(p: Parameter) -> int:
    """Rows of an array as a matrix: a tensor has the matrices of its last indices one below the other."""
    return p.size if len(p.shape) < 2 else prod(p.shape[:-1])


def array(name: str, p: Parameter) -> Array:
    """The array of a parameter, as a matrix."""
    rows = rows_of(p)
    return Array(name, rows, p.size // rows if rows else 1)


def unread(output: Parameter) -> Array:
    """A value, which derivatives do not need: a pattern without entries."""
    return replace(array(f"out_{output.name}", output), full=False)


def jacobian_of(y: Array, x: Array) -> Array:
    """The Jacobian of an array by another one, without entries so far."""
    return Array(f"jac_{y.name}_{x.name}", y.rows * y.columns, x.rows * x.columns, full=False)


def filled(outputs: Sequence[Array], blocks: Sequence[Block]) -> list[Array]:
    """Outputs, those full that blocks go to."""
    places = {block.place for block in blocks}
    return [replace(y, full=place in places) for place, y in enumerate(outputs)]


def ignored(x: Array) -> Array:
    """A first derivative, which second ones do not read: a pattern without entries."""
    return replace(x, name=f"out_{x.name}", full=False)

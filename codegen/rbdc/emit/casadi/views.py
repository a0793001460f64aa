"""The external functions of CasADi as their template takes them: values, Jacobians, products, and the
Jacobians of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from typing import Any

from rbdc.emit.names import comment
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.record import Differential, Function
from rbdc.model import Model

_BLOCKS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
"""Second derivatives that are not zero, by the numbers of two inputs: the configuration, the velocity and an
acceleration or a force.
"""


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
class External:
    """One external function: its symbol, inputs and outputs, the size of its work vector, the template of its
    body and what that has: calls of the library, results that are matrices, results by entries of q; where
    the blocks of second derivatives go, and whether they are of what solves an equation.
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
    call: str = ""
    given: Sequence[Local] = ()
    tangent: Sequence[Local] = ()
    value: str = ""
    first: str = ""
    second: str = ""
    blocks: str = ""
    solved: int = 0
    square: int = 0

    @property
    def count_in(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    @property
    def count_out(self) -> int:
        """The number of outputs."""
        return len(self.outputs)


class Externals:
    """The external functions of one function of the library."""

    def __init__(self, model: Model, robot: str, function: Function, built: Mapping[str, Function]) -> None:
        self._model, self._robot, self._built = model, robot, built
        self._name, self._differential = function.name, function.differential
        self._charted = any(not body.joint.euclidean for body in model.bodies if body.coupling is None)
        self._required, self._outputs = function.declaration.required, function.declaration.outputs
        self._summary = comment(function.declaration.summary)
        self._framed = function.declaration.framed
        self._place = [Array(name, 1, 1) for name in ("frame", "reference") if self._framed]
        self._inputs = [*(_array(p.name, p) for p in self._required), *self._place]
        self._symbol = f"{robot}_casadi_{function.name}"

    def all(self) -> list[External]:
        """The value, and the derivatives that the functions that were built allow."""
        made = [self._value()]
        d = self._differential
        if d is None or not self._has(d.first):
            return made
        made.append(self._jacobian())
        if d.second and self._has(d.second):
            made.append(self._jacobian_twice())
        if d.weighted and self._has(d.weighted):
            made.append(self._adjoint())
            if d.second and self._has(d.second):
                made.append(self._second())
        return made

    def _has(self, name: str) -> bool:
        return name in self._built

    def _value(self) -> External:
        places = self._work([(f"y_{p.name}", p.size) for p in self._outputs])
        given = [
            replace(place, place=k, rows=_rows(p), columns=p.size // max(_rows(p), 1))
            for k, (place, p) in enumerate(zip(places, self._outputs, strict=True))
        ]
        return self._external(
            self._symbol,
            self._inputs,
            [_array(p.name, p) for p in self._outputs],
            places,
            "casadi_value.c.jinja",
            call=self._call(self._name, {}, [place.name for place in places]),
            given=given,
        )

    def _jacobian(self) -> External:
        first, count = self._first(), len(self._required)
        places = self._work([(f"d_{k}", p.size) for k, p in enumerate(first.declaration.outputs)])
        outputs: list[Array] = []
        pairs: list[tuple[Local, Parameter]] = []
        for number, output in enumerate(self._outputs):
            own, rows = places[number * count : (number + 1) * count], output.size
            pairs += [
                (replace(d, place=len(outputs) + k, rows=rows), p)
                for k, (d, p) in enumerate(zip(own, self._required, strict=True))
            ]
            outputs += [Array(f"jac_{output.name}_{p.name}", rows, p.size) for p in self._required]
            outputs += [Array(f"jac_{output.name}_{p.name}", rows, 1, full=False) for p in self._place]
        return self._external(
            f"jac_{self._symbol}",
            [*self._inputs, *map(_unread, self._outputs)],
            outputs,
            places,
            "casadi_jacobian.c.jinja",
            call=self._call(first.name, {}, [place.name for place in places]),
            tangent=[replace(d, q=f"x_{p.name}") for d, p in pairs if p.configuration],
            given=[replace(d, columns=p.size) for d, p in pairs if not p.configuration],
        )

    def _adjoint(self) -> External:
        output, weighted = self._outputs[0], self._built[self._weighted_name()]
        places = self._work([(f"d_{p.name}", p.size) for p in weighted.declaration.outputs])
        weights = next(p.name for p in weighted.declaration.inputs if p.kind is Kind.WEIGHTS)
        results = [replace(d, place=k, rows=1) for k, d in enumerate(places[: len(self._required)])]
        pairs = list(zip(results, self._required, strict=True))
        return self._external(
            f"adj1_{self._symbol}",
            [*self._inputs, _unread(self._outputs[0]), _array(f"adj_{output.name}", output)],
            [Array(f"adj_{p.name}", p.size, 1) for p in self._required],
            places,
            "casadi_jacobian.c.jinja",
            weights=True,
            call=self._call(weighted.name, {weights: "weights"}, [place.name for place in places]),
            tangent=[replace(d, q=f"x_{p.name}") for d, p in pairs if p.configuration],
            given=[replace(d, columns=p.size) for d, p in pairs if not p.configuration],
        )

    def _second(self) -> External:
        """The Jacobian of the products with weights."""
        output = self._outputs[0]
        weights = _array(f"adj_{output.name}", output)
        columns = [*((p.name, p.size) for p in self._required), (f"out_{output.name}", output.size)]
        columns.append((weights.name, output.size))
        full = {*_BLOCKS, *((row, len(columns) - 1) for row in range(3))}
        outputs = [
            Array(f"jac_adj_{p.name}_{name}", p.size, size, (row, column) in full)
            for row, p in enumerate(self._required)
            for column, (name, size) in enumerate(columns)
        ]
        return self._twice(
            f"jac_adj1_{self._symbol}",
            [weights, *(Array(f"adj_{p.name}", p.size, 1) for p in self._required)],
            outputs,
            [],
            "casadi_second.c.jinja",
            weights=True,
            blocks=", ".join(f"res[{len(columns) * row + column}]" for row, column in _BLOCKS),
        )

    def _jacobian_twice(self) -> External:
        """The Jacobian of the Jacobian, a row for each of its entries by columns."""
        output, sizes = self._outputs[0], [p.size for p in self._required]
        columns = [*((p.name, p.size) for p in self._required), (f"out_{output.name}", output.size)]
        outputs = [
            Array(
                f"jac_jac_{output.name}_{p.name}_{name}", output.size * p.size, size, (row, column) in _BLOCKS
            )
            for row, p in enumerate(self._required)
            for column, (name, size) in enumerate(columns)
        ]
        blocks = [
            Local(f"B{k}", place=len(columns) * row + column, size=sizes[row] * sizes[column])
            for k, (row, column) in enumerate(_BLOCKS)
        ]
        return self._twice(
            f"jac_jac_{self._symbol}",
            [Array(f"jac_{output.name}_{p.name}", output.size, p.size) for p in self._required],
            outputs,
            [("weights", output.size), *((block.name, block.size) for block in blocks)],
            "casadi_jacobian_twice.c.jinja",
            blocks=", ".join(block.name for block in blocks),
            given=blocks,
        )

    def _twice(
        self,
        symbol: str,
        before: Sequence[Array],
        outputs: list[Array],
        more: Sequence[tuple[str, int]],
        body: str,
        **words: Any,
    ) -> External:
        """A Jacobian of first derivatives. before: the inputs of these beyond the function's own, and their
        outputs, which are not read. more: room beside that of the tensors.
        """
        d, (q, v, _) = self._differential or Differential(""), self._required
        n, own = v.size, 1 if words.get("weights") else 0
        wanted = [*((f"T{k}", n**3) for k in range(4)), *((f"D{k}", n * n) for k in range(3))]
        wanted += [("room", 5 * n * n + 2 * n + n * q.size), *more]
        wanted += [("ddq", n)] if d.inverse else []
        at = {self._built[d.second].declaration.required[-1].name: "ddq"} if d.inverse else {}
        unread = [replace(array, name=f"out_{array.name}", full=False) for array in before[own:]]
        return self._external(
            symbol,
            [*self._inputs, _unread(self._outputs[0]), *before[:own], *unread],
            outputs,
            self._work(wanted),
            body,
            value=self._call(self._name, {}, ["ddq"]) if d.inverse else "",
            first=self._call(d.first, {}, [f"D{k}" for k in range(3)]),
            second=self._call(d.second, at, [f"T{k}" for k in range(4)]),
            solved=int(d.inverse),
            square=n * n,
            **words,
        )

    def _external(
        self,
        symbol: str,
        inputs: list[Array],
        outputs: list[Array],
        places: list[Local],
        body: str,
        *,
        weights: bool = False,
        **more: object,
    ) -> External:
        arrays = [Local(f"x_{p.name}", k) for k, p in enumerate(self._inputs)]
        arrays += [Local("weights", len(self._inputs) + 1)] if weights else []
        configurations = [p for p in self._required if p.configuration and self._charted]
        units = [Local(f"u_{p.name}", source=f"x_{p.name}", size=p.size) for p in configurations]
        work = max((place.offset + place.size for place in places), default=0)
        made = External(symbol, self._summary, inputs, outputs, arrays, units, places, work, body)
        return replace(made, **more)  # type: ignore[arg-type]

    def _call(self, name: str, at: Mapping[str, str], outputs: Sequence[str]) -> str:
        """A call of the library; what this function does not take is zero there, `at` says where else."""
        own = {
            p.name: f"u_{p.name}" if p.configuration and self._charted else f"x_{p.name}"
            for p in self._required
        }
        places = own | dict(at)
        given = [
            "NULL" if p.optional else places.get(p.name, "zeros")
            for p in self._built[name].declaration.inputs
        ]
        place = ["(int)*x_frame", "(int)*x_reference"] if self._framed else []
        return f"{self._robot}_{name}({', '.join([*given, *place, *outputs])})"

    def _work(self, sizes: Iterable[tuple[str, int]]) -> list[Local]:
        named = list(sizes)
        offsets = [0, *accumulate(size for _, size in named)]
        return [
            Local(name, offset=offset, size=size)
            for (name, size), offset in zip(named, offsets, strict=False)
        ]

    def _first(self) -> Function:
        return self._built[self._differential.first if self._differential else ""]

    def _weighted_name(self) -> str:
        return self._differential.weighted if self._differential else ""


def _rows(p: Parameter) -> int:
    """Rows of an array as a matrix: a tensor has the matrices of its last indices one below the other."""
    return p.size if len(p.shape) < 2 else prod(p.shape[:-1])


def _array(name: str, p: Parameter) -> Array:
    rows = _rows(p)
    return Array(name, rows, p.size // rows if rows else 1)


def _unread(output: Parameter) -> Array:
    """A value, which derivatives do not need: a pattern without entries."""
    return replace(_array(f"out_{output.name}", output), full=False)

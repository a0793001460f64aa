"""The external functions of CasADi for their template: values, Jacobians, products with weights, and the
Jacobians of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, product, zip_longest
from typing import Any

from rbdc.emit.casadi.parts import JACOBIAN, ONE, PRODUCTS, CasadiArray, Result, Rooms
from rbdc.emit.names import comment
from rbdc.emit.render import braced
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.record import Differential, Function
from rbdc.model import Problem

External = dict[str, Any]
"""Template context of an external function."""

_BLOCKS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
"""Pairs of inputs with nonzero second derivatives of inverse and forward dynamics: configuration, velocity,
and acceleration or force, by index.
"""


@dataclass(frozen=True)
class _First:
    """First derivatives.

    prefix: prefix of their external function.
    by: arrays that this function takes, each with its parameter if the function can be differentiated by this
        array.
    entries: for each result: its array, output and input (None for a place), and where the library stores it.
    calls: calls that compute them.
    rooms: arrays that the calls fill.
    """

    prefix: str
    by: list[tuple[CasadiArray, Parameter | None]]
    entries: Sequence[tuple[CasadiArray, CasadiArray, Parameter | None, str]]
    calls: list[str]
    rooms: Rooms


@dataclass(frozen=True)
class _Second:
    """Second derivatives.

    call: returns a call of the library that fills arrays `t_k` at places.
    sizes: sizes of these arrays.
    of: array of the derivatives, by place of the first derivatives and input, if they are not zero.
    calls: calls that come once before.
    rooms: arrays that these calls fill.
    """

    call: Callable[[Iterable[str]], str]
    sizes: Sequence[int]
    of: Mapping[tuple[str, str], str]
    calls: Sequence[str] = ()
    rooms: Rooms = field(default_factory=dict)


class Externals:
    """The external functions of one function of the library, among the built ones."""

    def __init__(self, model: Problem, robot: str, function: Function, built: Mapping[str, Function]) -> None:
        self._model, self._robot, self._built = model, robot, built
        self._name, self._differential = (
            function.name,
            (function.differential or Differential("")).among(built),
        )
        self._charted = any(not body.joint.euclidean for body in model.bodies if body.coupling is None)
        self._required, outputs = function.declaration.required, function.declaration.outputs
        self._summary = comment(function.declaration.summary)
        self._place = [
            CasadiArray(name, 1, 1) for name in ("frame", "reference") if function.declaration.framed
        ]
        self._inputs = [*(CasadiArray(p.name, p.size, 1) for p in self._required), *self._place]
        self._outputs = [CasadiArray.of(p) for p in outputs]

    def all(self) -> list[External]:
        """Return the value, and the derivatives that the built functions allow."""
        if self._differential.first not in self._built:
            return [self._value()]
        several = len(self._outputs) > 1  # of which CasADi takes sums by their Jacobians
        jacobian = self._jacobian()
        products = None if several else self._built.get(self._differential.weighted)
        made = [self._value(), self._once(jacobian)]
        rows = self._outputs[0].rows * self._outputs[0].columns
        if products is not None:
            weighted = self._products(products)
            made.append(self._once(weighted))
        if self._differential.second in self._built:
            made.append(self._twice(jacobian, self._by_blocks("d_0"), rows))
            if products is not None:
                made.append(self._twice(*self._products_by_blocks(products, weighted)))
            return made
        if (by_function := self._by_function(self._first)) is not None:
            made.append(self._twice(jacobian, by_function))
        if products is not None and (by_function := self._by_function(products)) is not None:
            made += [self._twice(jacobian, by_function, rows), self._twice(weighted, by_function)]
        return made

    @property
    def moves(self) -> bool:
        """Whether derivatives in the tangent space of a configuration are mapped to derivatives by its
        entries.
        """
        differential = self._differential
        return self._charted and differential.configuration and differential.first in self._built

    @property
    def _first(self) -> Function:
        return self._built[self._differential.first]

    def _value(self) -> External:
        rooms = {f"y_{y.name}": y.rows * y.columns for y in self._outputs}
        results = [
            (y, f"by_columns({y.rows}, {y.columns}, {name}")
            for y, name in zip(self._outputs, rooms, strict=True)
        ]
        return self._external("", self._inputs, results, rooms, [self._call(self._name, rooms)])

    def _jacobian(self) -> _First:
        rooms = places = _rooms("d_", self._first)
        calls = [self._call(self._first.name, rooms)]
        if self.moves:
            nq, first = self._model.nq, list(rooms.items())[: len(rooms) // len(self._outputs)]
            widths = [size // self._model.nv for _, size in first]
            moved = {f"e_{k}": nq * n for k, n in enumerate(widths)}
            others = {f"y_{k}": y.rows for k, y in enumerate(self._outputs[1:], 1)}
            places = {**moved, **dict(list(rooms.items())[len(first) :])}
            rooms = {**rooms, "y": nq, **others, **moved}
            calls.append(self._call(self._name, ["y", *others]))
            calls += [f"entries_of(y, {n}, d_{k}, e_{k});" for k, n in enumerate(widths)]
        count = len(places) // len(self._outputs)
        by = [*zip_longest(self._inputs, self._required[:count])]  # a regularisation comes after these
        entries = [  # further derivatives of the single output may follow those by these inputs
            (y.jacobian(x, full=p is not None), y, p, list(places)[count * number + k] if p else "")
            for number, y in enumerate(self._outputs)
            for k, (x, p) in enumerate(by)
        ]
        return _First(JACOBIAN, [*by, *((y.unread(), None) for y in self._outputs)], entries, calls, rooms)

    def _products(self, weighted: Function) -> _First:
        y, rooms = self._outputs[0], _rooms("d_", weighted)
        weights = (replace(y, name=f"adj_{y.name}"), self._weights(weighted))
        entries = [
            (replace(x, name=f"adj_{x.name}"), ONE, p, D)
            for x, p, D in zip(self._inputs, self._required, rooms, strict=False)
        ]
        by = [*zip_longest(self._inputs, self._required), (y.unread(), None), weights]
        return _First(PRODUCTS, by, entries, [self._call(weighted.name, rooms)], rooms)

    def _given(self, p: Parameter) -> str:
        """Return the name of an input; configurations are normalised."""
        return f"{'u' if p.configuration and self._charted else 'x'}_{p.name}"

    def _q(self, p: Parameter) -> str:
        """Return the configuration by whose entries an input is differentiated."""
        return self._given(p) if p.configuration else "NULL"

    def _size(self, p: Parameter) -> int:
        """Return the number of directions of an input."""
        return self._model.nv if p.configuration else p.size

    def _weights(self, weighted: Function) -> Parameter:
        """Return the weights of a function of products."""
        return next(p for p in weighted.declaration.inputs if p.kind is Kind.WEIGHTS)

    def _by_function(self, first: Function) -> _Second | None:
        """Return second derivatives from the function with the derivatives of the outputs of `first`. Forces
        have no derivatives by forces.
        """
        second = self._built.get((first.differential or Differential("")).first)
        if second is None:
            return None
        count = len(first.declaration.outputs) // len(self._outputs)
        forces = [k for k, p in enumerate(self._required) if p.kind is Kind.WRENCHES]
        pairs = product(range(len(first.declaration.outputs)), first.declaration.required)
        return _Second(
            lambda places: self._call(second.name, places),
            [p.size for p in second.declaration.outputs],
            {
                (f"d_{D}", r.name): f"t_{number}"
                for number, (D, r) in enumerate(pairs)
                if r.kind is not Kind.WRENCHES or D % count not in forces
            },
        )

    def _by_blocks(self, D: str) -> _Second:
        """Return second derivatives from the second derivatives of inverse dynamics; with weights, one block
        for each pair of inputs. D: first of the arrays with the first derivatives.
        """
        d, names = self._differential, [p.name for p in self._required]
        second = self._built[d.second]
        tensors = _rooms("T", second)
        solution = {"ddq": self._model.nv} if d.inverse else {}
        return _Second(
            lambda places: (
                f"second_blocks(weights, T0, {D}, {int(d.inverse)}, (double *const[]){braced(places)});"
            ),
            [self._model.nv**2] * len(_BLOCKS),
            {
                (f"d_{k}", names[j]): f"t_{number}"
                for number, (k, j) in enumerate(_BLOCKS)
                if max(k, j) < len(names)
            },
            [*(self._call(self._name, [ddq]) for ddq in solution), self._call(d.second, tensors, *solution)],
            {**tensors, **solution},
        )

    def _products_by_blocks(self, products: Function, first: _First) -> tuple[_First, _Second]:
        """Return the products with the first derivatives, which are linear in the weights, and their
        derivatives by blocks.
        """
        second, Ds, weights = self._by_blocks("D0"), _rooms("D", self._first), self._weights(products).name
        transposed = {f"W{k}": self._model.nv**2 for k, _ in enumerate(self._required)}
        calls = [
            self._call(self._first.name, Ds),
            "times_columns(NV, D0, weights, d_0);",
            *(f"by_columns(NV, NV, D{k}, {W});" for k, W in enumerate(transposed)),
        ]
        by_weights = {(f"d_{k}", weights): W for k, W in enumerate(transposed)}
        rooms = {**Ds, **transposed, "d_0": self._model.nv}
        return replace(first, calls=calls, rooms=rooms), replace(second, of={**second.of, **by_weights})

    def _once(self, first: _First) -> External:
        """Return the external function of first derivatives."""
        results = [
            (
                own,
                f"jacobian_by_entries({y.rows}, {y.columns}, {self._size(p)}, {self._q(p)}, {D}" if p else "",
            )
            for own, y, p, D in first.entries
        ]
        return self._external(first.prefix, [x for x, _ in first.by], results, first.rooms, first.calls)

    def _twice(self, first: _First, second: _Second, rows: int = 0) -> External:
        """Return the Jacobian of first derivatives, with a row for each entry, by columns. rows: size of the
        output, whose entries are taken one by one with unit weights; 0 if there are weights or none are
        needed.
        """
        call = second.call(f"t_{k}{f' + i * {n}' if rows else ''}" for k, n in enumerate(second.sizes))
        row_by_row = [
            f"memset(weights, 0, sizeof(double) * {rows});",
            f"for (int i = 0; i < {rows}; ++i) {{",
            *(f"    {line}" for line in ("weights[i] = 1.0;", call, "weights[i] = 0.0;")),
            "}",
        ]
        size = max((p.size + self._size(p)) * r.size for p in self._required for _, r in first.by if r)
        rooms = {**first.rooms, **{f"t_{k}": max(rows, 1) * n for k, n in enumerate(second.sizes)}}
        rooms |= {**second.rooms, "room": size, **({"weights": rows} if rows else {})}
        return self._external(
            JACOBIAN + first.prefix,
            [*(x for x, _ in first.by), *(own.unread() for own, *_ in first.entries)],
            [self._differentiated(entry, x, r, second) for entry in first.entries for x, r in first.by],
            rooms,
            [*first.calls, *second.calls, *(row_by_row if rows else [call])],
        )

    def _differentiated(
        self,
        entry: tuple[CasadiArray, CasadiArray, Parameter | None, str],
        x: CasadiArray,
        r: Parameter | None,
        second: _Second,
    ) -> Result:
        """Return the derivatives of some first derivatives by an array."""
        own, y, p, D = entry
        if p is None or r is None or (D, r.name) not in second.of:
            return own.jacobian(x, full=False), ""
        curved = D if self._q(p) == self._q(r) != "NULL" else "NULL"  # directions rotate with q
        sides = f"{self._q(p)}, {self._size(p)}, {self._q(r)}, {self._size(r)}"
        call = f"tensor_by_entries({y.rows}, {y.columns}, {sides}, {second.of[D, r.name]}, {curved}, room"
        return own.jacobian(x), call

    def _external(
        self,
        prefix: str,
        inputs: list[CasadiArray],
        results: Sequence[Result],
        rooms: Rooms,
        statements: Sequence[str],
    ) -> External:
        """Return one external function: its symbol, which begins with `prefix`, its input and output arrays,
        the size of its work vector, and the lines of its body.
        """
        lines = [f"const double *const x_{x.name} = given(arg[{k}]);" for k, x in enumerate(self._inputs)]
        if PRODUCTS in prefix:
            lines.append(f"const double *const weights = given(arg[{len(self._inputs) + 1}]);")
        units = [p for p in self._required if p.configuration and self._charted]
        lines += [f"double u_{p.name}[NQ + UNITS];" for p in units]
        starts = accumulate(rooms.values(), initial=0)
        lines += [f"double *const {name} = w + {start};" for name, start in zip(rooms, starts, strict=False)]
        lines += ["(void)iw;", "(void)mem;", *(f"unit(x_{p.name}, u_{p.name});" for p in units), *statements]
        lines += [f"{call}, res[{k}]);" for k, (_, call) in enumerate(results) if call]
        sides = {"in": inputs, "out": [y for y, _ in results]}
        return {
            "prefix": prefix,
            "symbol": f"{prefix}{self._robot}_casadi_{self._name}",
            "summary": self._summary,
            "sides": [(side, arrays, len(arrays)) for side, arrays in sides.items()],
            "work": sum(rooms.values()),
            "lines": lines,
        }

    def _call(self, name: str, outputs: Iterable[str], other: str = "zeros") -> str:
        """Return a call of the library. other: arrays that replace inputs which this function lacks."""
        places = {p.name: self._given(p) for p in self._required}
        given = [
            "NULL" if p.optional else places.get(p.name, "weights" if p.kind is Kind.WEIGHTS else other)
            for p in self._built[name].declaration.inputs
        ]
        given += [f"(int)*x_{x.name}" for x in self._place]
        return f"{self._robot}_{name}({', '.join([*given, *outputs])});"


def _rooms(stem: str, function: Function) -> Rooms:
    """Return arrays for the outputs of a function, numbered."""
    return {f"{stem}{k}": p.size for k, p in enumerate(function.declaration.outputs)}

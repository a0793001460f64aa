"""The external functions of CasADi for their template: values, Jacobians, products of weights with Jacobians,
and the Jacobians of these derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, product, zip_longest
from typing import Any

from rbdc.emit.casadi.hessians import Blocks
from rbdc.emit.casadi.parts import JACOBIAN, ONE, PRODUCTS, CasadiArray, First, Result, Rooms, Second
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


class Externals:
    """The external functions of one function of the library. `built`: all functions of the package."""

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
        jacobian = self._jacobian()
        products = self._built.get(self._differential.weighted)
        externals = [self._value(), self._once(jacobian)]
        rows = sum(y.rows * y.columns for y in self._outputs)
        if products is not None:
            weighted = self._products(products)
            externals.append(self._once(weighted))
        if self._differential.hessian:
            externals.append(self._twice(jacobian, self._by_hessian("d_", one_by_one=True), rows))
            if products is not None:
                externals.append(self._twice(*self._products_by_hessian(products, weighted)))
            return externals
        if self._differential.second in self._built:
            externals.append(self._twice(jacobian, self._by_blocks("d_0"), rows))
            if products is not None:
                externals.append(self._twice(*self._products_by_blocks(products, weighted)))
            return externals
        if (by_function := self._by_function(self._first)) is not None:
            externals.append(self._twice(jacobian, by_function))
        if products is not None and (by_function := self._by_function(products)) is not None:
            externals += [self._twice(jacobian, by_function, rows), self._twice(weighted, by_function)]
        return externals

    @property
    def moves(self) -> bool:
        """Whether derivatives in the tangent space of a configuration are mapped to derivatives by the
        configuration's entries.
        """
        differential = self._differential
        return self._charted and differential.configuration and differential.first in self._built

    @property
    def pulls(self) -> bool:
        """Whether weights of the entries of a configuration are mapped to its tangent space."""
        return self.moves and bool(self._differential.weighted or self._differential.hessian)

    @property
    def bows(self) -> bool:
        """Whether second derivatives of the entries of a resulting configuration are added."""
        return self.moves and self._differential.hessian in self._built

    @property
    def _first(self) -> Function:
        return self._built[self._differential.first]

    @property
    def _count(self) -> int:
        """Number of inputs by which each output is differentiated."""
        return len(self._first.declaration.outputs) // len(self._outputs)

    def _value(self) -> External:
        rooms = {f"y_{y.name}": y.rows * y.columns for y in self._outputs}
        results = [
            (y, f"by_columns({y.rows}, {y.columns}, {name}")
            for y, name in zip(self._outputs, rooms, strict=True)
        ]
        return self._external("", self._inputs, results, rooms, [self._call(self._name, rooms)])

    def _jacobian(self) -> First:
        rooms = places = _rooms("d_", self._first)
        calls = [self._call(self._first.name, rooms)]
        if self.moves:
            nq, first = self._model.nq, list(rooms.items())[: len(rooms) // len(self._outputs)]
            widths = [size // self._model.nv for _, size in first]
            moved = {f"e_{k}": nq * n for k, n in enumerate(widths)}
            places = {**moved, **dict(list(rooms.items())[len(first) :])}
            rooms = {**rooms, **self._results, **moved}
            calls.append(self._call(self._name, self._results))
            calls += [f"entries_of(y, {n}, d_{k}, e_{k});" for k, n in enumerate(widths)]
        count = len(places) // len(self._outputs)
        by = [*zip_longest(self._inputs, self._required[:count])]  # a regularisation comes after these
        entries = [  # further derivatives of the single output may follow those by these inputs
            (y.jacobian(x, full=p is not None), y, p, list(places)[count * number + k] if p else "")
            for number, y in enumerate(self._outputs)
            for k, (x, p) in enumerate(by)
        ]
        return First(JACOBIAN, [*by, *((y.unread(), None) for y in self._outputs)], entries, calls, rooms)

    @property
    def _results(self) -> Rooms:
        return {f"y_{k}" if k else "y": y.rows for k, y in enumerate(self._outputs)}

    def _products(self, weighted: Function) -> First:
        ys, rooms = self._outputs, _rooms("d_", weighted)
        weights = [
            (replace(y, name=f"adj_{y.name}"), replace(p, shape=(y.rows,)) if len(ys) > 1 else p)
            for y, p in zip(ys, self._weights(weighted), strict=True)
        ]
        entries = [
            (replace(x, name=f"adj_{x.name}"), ONE, p, D)
            for x, p, D in zip(self._inputs, self._required, rooms, strict=False)
        ]
        by = [*zip_longest(self._inputs, self._required), *((y.unread(), None) for y in ys), *weights]
        calls = [*self._pulled(), self._call(weighted.name, rooms)]
        if self.moves:
            calls.insert(0, self._call(self._name, self._results))
            rooms = {**rooms, **self._results, "weights_0": self._model.nv}
        return First(PRODUCTS, by, entries, calls, rooms)

    def _pulled(self) -> list[str]:
        """Return the line that maps weights of the entries of the resulting configuration, if any."""
        return ["tangent_of(y, adj_0, weights_0);"] if self.moves else []

    def _weighing(self, places: Sequence[str]) -> list[str]:
        """Return the lines that name the weights of the outputs; `places` are their addresses."""
        names = [f"weights_{k}" for k, _ in enumerate(places)] if len(places) > 1 else ["weights"]
        if self.moves:
            names[0] = "adj_0"
        return [f"const double *const {x} = {place};" for x, place in zip(names, places, strict=True)]

    def _given(self, p: Parameter) -> str:
        """Return the name of an input; configurations are normalised."""
        return f"{'u' if p.configuration and self._charted else 'x'}_{p.name}"

    def _q(self, p: Parameter) -> str:
        """Return the C name of an input that is a configuration, otherwise "NULL"."""
        return self._given(p) if p.configuration else "NULL"

    def _size(self, p: Parameter) -> int:
        """Return the number of directions of an input."""
        return self._model.nv if p.configuration else p.size

    def _weights(self, weighted: Function) -> list[Parameter]:
        required = weighted.declaration.required
        return [p for p in required if p.kind is Kind.WEIGHTS or p.name.startswith("w_")]

    def _by_function(self, first: Function) -> Second | None:
        """Return second derivatives from the function with the derivatives of the outputs of `first`. Second
        derivatives with respect to wrenches twice are zero.
        """
        second = self._built.get((first.differential or Differential("")).first)
        if second is None:
            return None
        count = len(first.declaration.outputs) // len(self._outputs)
        forces = [k for k, p in enumerate(self._required) if p.kind is Kind.WRENCHES]
        pairs = product(range(len(first.declaration.outputs)), first.declaration.required)
        return Second(
            lambda places: [self._call(second.name, places)],
            [p.size for p in second.declaration.outputs],
            {
                (f"d_{D}", r.name): f"t_{number}"
                for number, (D, r) in enumerate(pairs)
                if r.kind is not Kind.WRENCHES or D % count not in forces
            },
        )

    def _by_blocks(self, D: str) -> Second:
        """Return second derivatives from the second derivatives of inverse dynamics; with weights, one block
        for each pair of inputs. D: first of the arrays with the first derivatives.
        """
        d, names = self._differential, [p.name for p in self._required]
        second = self._built[d.second]
        tensors = _rooms("T", second)
        solution = {"ddq": self._model.nv} if d.inverse else {}
        return Second(
            lambda places: [
                f"second_blocks(weights, T0, {D}, {int(d.inverse)}, (double *const[]){braced(places)});"
            ],
            [self._model.nv**2] * len(_BLOCKS),
            {
                (f"d_{k}", names[j]): f"t_{number}"
                for number, (k, j) in enumerate(_BLOCKS)
                if max(k, j) < len(names)
            },
            [*(self._call(self._name, [ddq]) for ddq in solution), self._call(d.second, tensors, *solution)],
            {**tensors, **solution},
        )

    def _products_by_blocks(self, products: Function, first: First) -> tuple[First, Second]:
        """Return the products with the first derivatives, which are linear in the weights, and their
        derivatives by blocks.
        """
        second, Ds, (weight,) = self._by_blocks("D0"), _rooms("D", self._first), self._weights(products)
        transposed = {f"W{k}": self._model.nv**2 for k, _ in enumerate(self._required)}
        calls = [
            self._call(self._first.name, Ds),
            "times_columns(NV, D0, weights, d_0);",
            *(f"by_columns(NV, NV, D{k}, {W});" for k, W in enumerate(transposed)),
        ]
        by_weights = {(f"d_{k}", weight.name): W for k, W in enumerate(transposed)}
        rooms = {**Ds, **transposed, "d_0": self._model.nv}
        return replace(first, calls=calls, rooms=rooms), replace(second, of={**second.of, **by_weights})

    def _by_hessian(self, D: str, *, one_by_one: bool) -> Second:
        """Return second derivatives from the function with the blocks of the Hessian of weighted outputs.

        D: prefix of the arrays with the first derivatives.
        one_by_one: whether each entry of the outputs has its weight in turn, from parts of one array.
        """
        hessian, count = self._built[self._differential.hessian].declaration, self._count
        names = [p.name for p in self._required[:count]]
        blocks = Blocks.of(hessian, {p.name: self._size(p) for p in self._required[:count]})
        bow = {name: f"{D}{k}" for k, name in enumerate(names) if self.moves}
        starts = [*accumulate((y.rows for y in self._outputs[:-1]), initial=0)] if one_by_one else [0]

        def call(places: Sequence[str]) -> list[str]:
            line = self._call(hessian.name, places[: len(blocks.pairs)])
            return [*self._pulled(), *blocks.lines(line, places, bow)]

        of = dict[tuple[str, str], str]()
        for m, start in enumerate(starts):
            stem = "e_" if one_by_one and self.moves and m == 0 else "d_"
            for t, ((p, r), size) in enumerate(zip(blocks.every, blocks.lengths, strict=True)):
                of[f"{stem}{m * count + names.index(p)}", r] = f"t_{t} + {start * size}"
        parts = self._weighing([f"weights + {start}" for start in starts]) if one_by_one else []
        rooms = {"bow": self._model.nv**2, "weights_0": self._model.nv} if self.moves else {}
        return Second(call, blocks.lengths, of, parts, rooms)

    def _products_by_hessian(self, products: Function, first: First) -> tuple[First, Second]:
        """Return the products with the first derivatives, which are linear in the weights, and their
        derivatives by the blocks of a Hessian.
        """
        second, Ds = self._by_hessian("D", one_by_one=False), _rooms("D", self._first)
        calls, rooms = [*first.calls, self._call(self._first.name, Ds)], {**first.rooms, **Ds}
        weights, of = self._weights(products), dict(second.of)
        for number, D in enumerate(Ds):
            m, k = divmod(number, self._count)
            y, n, W = self._outputs[m], self._size(self._required[k]), f"W{number}"
            if self.moves and m == 0:
                rooms[f"E{k}"] = y.rows * n
                calls.append(f"entries_of(y, {n}, {D}, E{k});")
                D = f"E{k}"
            calls.append(f"by_columns({y.rows}, {n}, {D}, {W});")
            rooms[W], of[f"d_{k}", weights[m].name] = y.rows * n, W
        return replace(first, calls=calls, rooms=rooms), replace(second, of=of)

    def _once(self, first: First) -> External:
        results = [
            (
                array,
                f"jacobian_by_entries({y.rows}, {y.columns}, {self._size(p)}, {self._q(p)}, {D}" if p else "",
            )
            for array, y, p, D in first.entries
        ]
        return self._external(first.prefix, [x for x, _ in first.by], results, first.rooms, first.calls)

    def _twice(self, first: First, second: Second, rows: int = 0) -> External:
        """Return the external function of the Jacobian of first derivatives: a row for each entry, in
        column-major order. rows: size of the output if its entries are taken one by one with unit weights; 0
        if there are weights or none are needed.
        """
        call = second.call([f"t_{k}{f' + i * {n}' if rows else ''}" for k, n in enumerate(second.sizes)])
        row_by_row = [
            f"memset(weights, 0, sizeof(double) * {rows});",
            f"for (int i = 0; i < {rows}; ++i) {{",
            *(f"    {line}" for line in ("weights[i] = 1.0;", *call, "weights[i] = 0.0;")),
            "}",
        ]
        size = max((p.size + self._size(p)) * r.size for p in self._required for _, r in first.by if r)
        rooms = {**first.rooms, **{f"t_{k}": max(rows, 1) * n for k, n in enumerate(second.sizes)}}
        rooms |= {**second.rooms, "room": size, **({"weights": rows} if rows else {})}
        return self._external(
            JACOBIAN + first.prefix,
            [*(x for x, _ in first.by), *(array.unread() for array, *_ in first.entries)],
            [self._differentiated(entry, x, r, second) for entry in first.entries for x, r in first.by],
            rooms,
            [*first.calls, *second.calls, *(row_by_row if rows else call)],
        )

    def _differentiated(
        self,
        entry: tuple[CasadiArray, CasadiArray, Parameter | None, str],
        x: CasadiArray,
        r: Parameter | None,
        second: Second,
    ) -> Result:
        """Return the derivatives of the first derivatives in `entry` with respect to the array `x`."""
        array, y, p, D = entry
        if p is None or r is None or (D, r.name) not in second.of:
            return array.jacobian(x, full=False), ""
        curved = D if self._q(p) == self._q(r) != "NULL" else "NULL"  # directions rotate with q
        sides = f"{self._q(p)}, {self._size(p)}, {self._q(r)}, {self._size(r)}"
        call = f"tensor_by_entries({y.rows}, {y.columns}, {sides}, {second.of[D, r.name]}, {curved}, room"
        return array.jacobian(x), call

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
            start = len(self._inputs) + len(self._outputs)
            lines += self._weighing([f"given(arg[{start + k}])" for k, _ in enumerate(self._outputs)])
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
        """Return a call of the library. other: array for inputs that this function lacks."""
        places = {p.name: self._given(p) for p in self._required}
        for k, p in enumerate(self._weights(self._built[name])):
            places.setdefault(p.name, f"weights_{k}" if len(self._outputs) > 1 else "weights")
        arguments = [
            "NULL" if p.optional else places.get(p.name, other) for p in self._built[name].declaration.inputs
        ]
        arguments += [f"(int)*x_{x.name}" for x in self._place]
        return f"{self._robot}_{name}({', '.join([*arguments, *outputs])});"


def _rooms(stem: str, function: Function) -> Rooms:
    return {f"{stem}{k}": p.size for k, p in enumerate(function.declaration.outputs)}

"""The external functions of CasADi with second derivatives: Jacobians of Jacobians and of products."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.emit.casadi.parts import Array, External, Local, array, unread
from rbdc.emit.casadi.views import ONE, Externals
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.record import Differential, Function

_BLOCKS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
"""Second derivatives that are not zero, by the numbers of two inputs: the configuration, the velocity and an
acceleration or a force.
"""


def _jacobian_of(y: Array, x: Array, *, full: bool) -> Array:
    """The Jacobian of an array by another one."""
    return Array(f"jac_{y.name}_{x.name}", y.rows * y.columns, x.rows * x.columns, full)


class TwiceExternals(Externals):
    """The external functions of one function of the library."""

    def all(self) -> list[External]:
        """The value, and the derivatives that the functions that were built allow."""
        made, d = super().all(), self._differential
        if d is None or not self._has(d.first):
            return made
        if self._has(d.second):
            made.append(self._jacobian_twice())
        elif (then := self._first().differential) is not None and self._has(then.first):
            made.append(self._tensors(self._built[then.first]))
        if not self._has(d.weighted):
            return made
        products = self._built[d.weighted]
        if self._has(d.second):
            return [*made, self._second()]
        if products.differential is None or not self._has(products.differential.first):
            return made
        second = self._built[products.differential.first]
        return [*made, self._tensors(second, products), self._products_twice(products, second)]

    def _tensors(self, second: Function, products: Function | None = None) -> External:
        """The Jacobian of the Jacobian, a row for each of its entries by columns, from the derivatives of the
        derivatives, or row by row from those of the products with weights.
        """
        first, required, rows = self._first(), self._required, self._outputs[0].size if products else 1
        Ds = [(f"d_{k}", p.size) for k, p in enumerate(first.declaration.outputs)]
        Ts = [(f"t_{k}", rows * p.size) for k, p in enumerate(second.declaration.outputs)]
        given = [(name, size // rows) for name, size in Ts]
        room = max((p.size + self._size(p)) * r.size for p in required for r in required)
        places = self._work([*Ds, *Ts, ("room", room), *([("weights", rows)] if products else [])])
        columns = [*self._inputs, *map(unread, self._outputs)]
        jacobians = [jacobian for y in self._outputs for jacobian in self._jacobians(y)]
        outputs = [_jacobian_of(jacobian, x, full=False) for jacobian in jacobians for x in columns]
        blocks = []
        inner = [p.name for p in (products or first).declaration.required]
        for number, y in enumerate(self._outputs):
            for k, p in enumerate(required):
                D = number * (len(Ds) // len(self._outputs)) + k
                for column, r in enumerate(required):
                    if _linear(p, r):
                        continue
                    place = (number * len(self._inputs) + k) * len(columns) + column
                    T, _ = Ts[D * len(inner) + inner.index(r.name)]
                    outputs[place] = replace(outputs[place], full=True)
                    block = self._block(y, p, Ds[D][0], place)
                    blocks.append(replace(block, m=self._size(r), r=self._q(r), T=T))
        return self._external(
            f"jac_jac_{self._symbol}",
            [*columns, *map(_ignored, jacobians)],
            outputs,
            places,
            "casadi_tensors_by_rows.c.jinja" if products else "casadi_tensors.c.jinja",
            first=self._call(first.name, {}, [name for name, _ in Ds]),
            second=self._call(
                second.name,
                {self._weights(products): "weights"} if products else {},
                [f"{name} + i * {size}" if products else name for name, size in given],
            ),
            derivatives=blocks,
            square=rows,
        )

    def _products_twice(self, products: Function, second: Function) -> External:
        """The Jacobian of the products with weights, from the derivatives of their function."""
        output, name = self._outputs[0], self._weights(products)
        weights = next(p for p in products.declaration.inputs if p.name == name)
        Ds = [f"d_{k}" for k, _ in enumerate(products.declaration.outputs)]
        Ts = [f"t_{k}" for k, _ in enumerate(second.declaration.outputs)]
        found = [*products.declaration.outputs, *second.declaration.outputs]
        sizes = zip([*Ds, *Ts], (p.size for p in found), strict=True)
        by = {k: p for k, p in enumerate([*self._required, None, weights]) if p is not None}
        room = max((p.size + self._size(p)) * r.size for p in self._required for r in by.values())
        inner = [p.name for p in products.declaration.required]
        blocks, outputs = [], self._rows_of_products()
        for k, p in enumerate(self._required):
            for column, r in by.items():
                if _linear(p, r):
                    continue
                place = k * (len(self._required) + 2) + column
                outputs[place] = replace(outputs[place], full=True)
                block = self._block(ONE, p, Ds[k], place)
                T = Ts[k * len(inner) + inner.index(r.name)]
                blocks.append(replace(block, m=self._size(r), r=self._q(r), T=T))
        adjoints = [Array(f"adj_{p.name}", p.size, 1) for p in self._required]
        return self._external(
            f"jac_adj1_{self._symbol}",
            [*self._inputs, unread(output), array(f"adj_{output.name}", output), *map(_ignored, adjoints)],
            outputs,
            self._work([*sizes, ("room", room)]),
            "casadi_tensors.c.jinja",
            weights=True,
            first=self._call(products.name, {name: "weights"}, Ds),
            second=self._call(second.name, {name: "weights"}, Ts),
            derivatives=blocks,
        )

    def _rows_of_products(self) -> list[Array]:
        """The Jacobians of the products by the inputs, the value and the weights, without entries so far."""
        output = self._outputs[0]
        columns = [(p.name, p.size) for p in self._required]
        columns += [(f"out_{output.name}", output.size), (f"adj_{output.name}", output.size)]
        return [
            Array(f"jac_adj_{p.name}_{name}", p.size, size, full=False)
            for p in self._required
            for name, size in columns
        ]

    def _second(self) -> External:
        """The Jacobian of the products with weights."""
        output, count = self._outputs[0], len(self._required)
        width = count + 2
        full = {*self._blocks(), *((row, count + 1) for row in range(count))}
        outputs = [
            replace(y, full=divmod(place, width) in full) for place, y in enumerate(self._rows_of_products())
        ]
        return self._twice(
            f"jac_adj1_{self._symbol}",
            [
                array(f"adj_{output.name}", output),
                *(Array(f"adj_{p.name}", p.size, 1) for p in self._required),
            ],
            outputs,
            [],
            "casadi_second.c.jinja",
            weights=True,
            blocks=self._places({(k, j): f"res[{width * k + j}]" for k, j in self._blocks()}),
            given=[Local(f"D{row}", place=width * row + count + 1) for row in range(count)],
        )

    def _blocks(self) -> list[tuple[int, int]]:
        """The blocks of second derivatives that are not zero."""
        return [block for block in _BLOCKS if max(block) < len(self._required)]

    def _places(self, places: Mapping[tuple[int, int], str]) -> str:
        """Where all blocks go, in C."""
        return ", ".join(places.get(block, "NULL") for block in _BLOCKS)

    def _jacobian_twice(self) -> External:
        """The Jacobian of the Jacobian, a row for each of its entries by columns."""
        output, sizes = self._outputs[0], [p.size for p in self._required]
        columns = [*((p.name, p.size) for p in self._required), (f"out_{output.name}", output.size)]
        outputs = [
            Array(
                f"jac_jac_{output.name}_{p.name}_{name}",
                output.size * p.size,
                size,
                (row, column) in self._blocks(),
            )
            for row, p in enumerate(self._required)
            for column, (name, size) in enumerate(columns)
        ]
        blocks = [
            Local(f"B{k}", place=len(columns) * row + column, size=sizes[row] * sizes[column])
            for k, (row, column) in enumerate(self._blocks())
        ]
        return self._twice(
            f"jac_jac_{self._symbol}",
            [Array(f"jac_{output.name}_{p.name}", output.size, p.size) for p in self._required],
            outputs,
            [("weights", output.size), *((block.name, block.size) for block in blocks)],
            "casadi_jacobian_twice.c.jinja",
            blocks=self._places({at: block.name for at, block in zip(self._blocks(), blocks, strict=True)}),
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
        d, nq = self._differential or Differential(""), self._model.nq
        n, own = self._model.nv, 1 if words.get("weights") else 0
        wanted = [*((f"T{k}", n**3) for k in range(4)), *((f"D{k}", n * n) for k in range(3))]
        wanted += [("room", 5 * n * n + 2 * n + n * nq), *more]
        wanted += [("ddq", n)] if d.inverse else []
        at = {self._built[d.second].declaration.required[-1].name: "ddq"} if d.inverse else {}
        return self._external(
            symbol,
            [*self._inputs, unread(self._outputs[0]), *before[:own], *map(_ignored, before[own:])],
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


def _linear(p: Parameter, r: Parameter) -> bool:
    """Whether nothing has second derivatives by these two: forces."""
    return p.kind is r.kind is Kind.WRENCHES


def _ignored(x: Array) -> Array:
    """A first derivative, which second ones do not read: a pattern without entries."""
    return replace(x, name=f"out_{x.name}", full=False)

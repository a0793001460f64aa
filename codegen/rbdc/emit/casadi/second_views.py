"""The external functions of CasADi with second derivatives: Jacobians of Jacobians and of products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rbdc.emit.casadi.parts import Array, Block, External, array, filled, ignored, jacobian_of, unread
from rbdc.emit.casadi.views import ONE, Externals
from rbdc.emit.render import braced
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.record import Function

_BLOCKS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0))
"""Second derivatives of inverse and forward dynamics that are not zero, by the numbers of two inputs: the
configuration, the velocity and an acceleration or a force.
"""


@dataclass(frozen=True)
class _Second:
    """How second derivatives are found. calls: of the library, once; call: one that fills arrays `t_k`, of so
    many numbers, at the places that it is given. of: by the number of first derivatives, and an input, the
    array with the derivatives, where they are not zero. more: room that all this takes beside.
    """

    calls: list[str]
    call: Callable[[Sequence[str]], str]
    sizes: list[int]
    of: Mapping[tuple[int, str], str]
    more: Sequence[tuple[str, int]] = ()


class TwiceExternals(Externals):
    """The external functions of one function of the library."""

    def all(self) -> list[External]:
        """The value, and the derivatives that the functions that were built allow."""
        if self._differential.first not in self._built:
            return [self._value()]
        made, blocks = [self._value(), self._jacobian()], self._differential.second in self._built
        first, products = self._first, self._built.get(self._differential.weighted)
        if products is not None:
            made.append(self._adjoint(products))
        if blocks:
            made.append(self._jacobian_twice(self._by_blocks("d_0"), by_rows=True))
        elif (second := self._derivatives_of(first)) is not None:
            made.append(self._jacobian_twice(self._by_function(first, second)))
        if products is not None and blocks:
            made.append(self._products_twice(products, self._by_blocks_of_products(products)))
        elif products is not None and (second := self._derivatives_of(products)) is not None:
            by_function = self._by_function(products, second, self._weights(products).name)
            made.append(self._jacobian_twice(by_function, by_rows=True))
            own = [(f"d_{k}", p.size) for k, p in enumerate(products.declaration.outputs)]
            calls = [self._weighted_call(products, [name for name, _ in own])]
            made.append(self._products_twice(products, replace(by_function, calls=calls, more=own)))
        return made

    def _derivatives_of(self, function: Function) -> Function | None:
        differential = function.differential
        return None if differential is None else self._built.get(differential.first)

    def _by_function(self, first: Function, second: Function, weights: str = "") -> _Second:
        """By a function with the derivatives of the outputs of `first`; forces have none by forces."""
        count = len(first.declaration.outputs) // len(self._outputs)
        forces = [k for k, p in enumerate(self._required) if p.kind is Kind.WRENCHES]
        pairs = product(range(len(first.declaration.outputs)), first.declaration.required)
        return _Second(
            [],
            lambda places: self._call(second.name, {weights: "weights"}, places),
            [p.size for p in second.declaration.outputs],
            {
                (D, r.name): f"t_{number}"
                for number, (D, r) in enumerate(pairs)
                if r.kind is not Kind.WRENCHES or D % count not in forces
            },
        )

    def _by_blocks(self, D: str) -> _Second:
        """By the second derivatives of inverse dynamics, with weights a block for each two inputs. D: the
        first one of the arrays with the first derivatives.
        """
        d, names = self._differential, [p.name for p in self._required]
        second = self._built[d.second].declaration
        at = {second.required[-1].name: "ddq"} if d.inverse else {}
        tensors = [(f"T{k}", p.size) for k, p in enumerate(second.outputs)]
        solution = [("ddq", self._model.nv)] if d.inverse else []
        return _Second(
            [
                *(self._call(self._name, {}, [name]) for name, _ in solution),
                self._call(d.second, at, [name for name, _ in tensors]),
            ],
            lambda places: (
                f"second_blocks(weights, T0, {D}, {int(d.inverse)}, (double *const[]){braced(places)})"
            ),
            [self._model.nv**2] * len(_BLOCKS),
            {(k, names[j]): f"t_{number}" for number, (k, j) in enumerate(_BLOCKS) if max(k, j) < len(names)},
            [*tensors, *solution],
        )

    def _by_blocks_of_products(self, products: Function) -> _Second:
        """By these blocks for the products, whose derivatives by the weights are the first derivatives."""
        second, Ds = self._by_blocks("D0"), [f"D{k}" for k, _ in enumerate(self._first.declaration.outputs)]
        transposed = {(k, self._weights(products).name): f"W{k}" for k, _ in enumerate(self._required)}
        return replace(
            second,
            calls=[
                self._call(self._first.name, {}, Ds),
                *second.calls,
                "times_columns(D0, weights, d_0)",
                *(f"by_columns(NV, NV, D{k}, {W})" for (k, _), W in transposed.items()),
            ],
            of={**second.of, **transposed},
            more=[
                *((name, self._model.nv**2) for name in (*Ds, *transposed.values())),
                *second.more,
                ("d_0", self._model.nv),
            ],
        )

    def _jacobian_twice(self, second: _Second, *, by_rows: bool = False) -> External:
        """The Jacobian of the Jacobian, a row for each of its entries by columns; `by_rows`: entries of the
        output one by one, each with a weight of one.
        """
        required, rows = self._required, self._outputs[0].size if by_rows else 1
        Ds = [(f"d_{k}", p.size) for k, p in enumerate(self._first.declaration.outputs)]
        columns = [*self._inputs, *map(unread, self._outputs)]
        jacobians = [jacobian for y in self._outputs for jacobian in self._jacobians(y)]
        outputs = [jacobian_of(jacobian, x) for jacobian in jacobians for x in columns]
        blocks: list[Block] = []
        for number, y in enumerate(self._outputs):
            for k, p in enumerate(required):
                D, place = self._derivative(number, k), (number * len(self._inputs) + k) * len(columns)
                blocks += self._blocks(y, p, D, second, place, dict(enumerate(required)))
        room = max((p.size + self._size(p)) * r.size for p in required for r in required)
        work = [*Ds, *((f"t_{k}", rows * size) for k, size in enumerate(second.sizes)), *second.more]
        call = second.call([f"t_{k}{f' + i * {n}' if by_rows else ''}" for k, n in enumerate(second.sizes)])
        calls = [self._call(self._first.name, {}, [name for name, _ in Ds]), *second.calls]
        calls += [] if by_rows else [call]
        return self._external(
            f"jac_jac_{self._symbol}",
            [*columns, *map(ignored, jacobians)],
            filled(outputs, blocks),
            self._work([*work, ("room", room), *([("weights", rows)] if by_rows else [])]),
            "casadi_tensors.c.jinja",
            calls=calls,
            each=call if by_rows else "",
            derivatives=blocks,
            rows=rows,
        )

    def _products_twice(self, products: Function, second: _Second) -> External:
        """The Jacobian of the products with weights."""
        output = self._outputs[0]
        by = dict(enumerate(self._required)) | {len(self._required) + 1: self._weights(products)}
        columns = [(p.name, p.size) for p in self._required]
        columns += [(f"out_{output.name}", output.size), (f"adj_{output.name}", output.size)]
        adjoints = [Array(f"adj_{p.name}", p.size, 1) for p in self._required]
        outputs = [jacobian_of(x, Array(y, size, 1)) for x in adjoints for y, size in columns]
        blocks = [
            block
            for k, p in enumerate(self._required)
            for block in self._blocks(ONE, p, k, second, k * len(columns), by)
        ]
        room = max((p.size + self._size(p)) * r.size for p in self._required for r in by.values())
        tensors = [(f"t_{k}", size) for k, size in enumerate(second.sizes)]
        return self._external(
            f"jac_adj1_{self._symbol}",
            [*self._inputs, unread(output), array(f"adj_{output.name}", output), *map(ignored, adjoints)],
            filled(outputs, blocks),
            self._work([*second.more, *tensors, ("room", room)]),
            "casadi_tensors.c.jinja",
            weights=True,
            calls=[*second.calls, second.call([name for name, _ in tensors])],
            derivatives=blocks,
        )

    def _blocks(
        self, y: Parameter, p: Parameter, D: int, second: _Second, place: int, by: Mapping[int, Parameter]
    ) -> list[Block]:
        """The second derivatives of an output by an input and each other one, from `place` on."""
        own = self._block(y, p, f"d_{D}", place)
        return [
            replace(own, place=place + column, m=self._size(r), r=self._q(r), T=second.of[D, r.name])
            for column, r in by.items()
            if (D, r.name) in second.of
        ]

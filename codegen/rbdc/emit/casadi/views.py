"""The external functions of CasADi as their template takes them: values, Jacobians and products."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rbdc.emit.casadi.parts import Array, Block, External, Local, array, rows_of, unread
from rbdc.emit.names import comment
from rbdc.functions.declarations import Kind, Parameter
from rbdc.functions.record import Differential, Function
from rbdc.model import Model

ONE = Parameter("", (1,), "")
"""A sum with weights, as an output."""


class Externals:
    """The external functions of one function of the library, without second derivatives."""

    def __init__(self, model: Model, robot: str, function: Function, built: Mapping[str, Function]) -> None:
        self._model, self._robot, self._built = model, robot, built
        self._name, self._differential = function.name, function.differential or Differential("")
        self._charted = any(not body.joint.euclidean for body in model.bodies if body.coupling is None)
        self._required, self._outputs = function.declaration.required, function.declaration.outputs
        self._summary = comment(function.declaration.summary)
        self._framed = function.declaration.framed
        self._place = [Array(name, 1, 1) for name in ("frame", "reference") if self._framed]
        self._inputs = [*(Array(p.name, p.size, 1) for p in self._required), *self._place]
        self._symbol = f"{robot}_casadi_{function.name}"

    @property
    def _first(self) -> Function:
        return self._built[self._differential.first]

    def _value(self) -> External:
        places = self._work([(f"y_{p.name}", p.size) for p in self._outputs])
        given = [
            replace(place, place=k, rows=rows_of(p), columns=p.size // max(rows_of(p), 1))
            for k, (place, p) in enumerate(zip(places, self._outputs, strict=True))
        ]
        return self._external(
            self._symbol,
            self._inputs,
            [array(p.name, p) for p in self._outputs],
            places,
            "casadi_value.c.jinja",
            calls=[self._call(self._name, {}, [place.name for place in places])],
            given=given,
        )

    def _jacobian(self) -> External:
        first = self._first
        Ds = [(f"d_{k}", p.size) for k, p in enumerate(first.declaration.outputs)]
        moved = self._moved(first)
        calls = [self._call(first.name, {}, [name for name, _ in Ds])]
        calls += [self._call(self._name, {}, [moved[0].name])] if moved else []
        places = self._work([*Ds, *((x.name, x.size) for x in moved)])
        entries = moved[1:] or places
        outputs: list[Array] = []
        blocks: list[Block] = []
        for number, output in enumerate(self._outputs):
            blocks += [
                self._block(output, p, entries[self._derivative(number, k)].name, len(outputs) + k)
                for k, p in enumerate(self._required)
            ]
            outputs += self._jacobians(output)
        return self._external(
            f"jac_{self._symbol}",
            [*self._inputs, *map(unread, self._outputs)],
            outputs,
            places,
            "casadi_jacobian.c.jinja",
            calls=calls,
            moved=moved[1:],
            derivatives=blocks,
        )

    def _moved(self, first: Function) -> list[Local]:
        """Room for a configuration that is the output, and for the derivatives of its entries, where these
        are others than those in the tangent space.
        """
        if not (self._charted and self._differential.configuration):
            return []
        shapes = [(self._model.nq, *p.shape[1:]) for p in first.declaration.outputs]
        made = [Local(f"e_{k}", source=f"d_{k}", columns=n, size=nq * n) for k, (nq, n) in enumerate(shapes)]
        return [Local("y", size=self._model.nq), *made]

    def _jacobians(self, output: Parameter) -> list[Array]:
        """The Jacobians of an output by every input of the external function."""
        by_arrays = [Array(f"jac_{output.name}_{p.name}", output.size, p.size) for p in self._required]
        return by_arrays + [
            Array(f"jac_{output.name}_{p.name}", output.size, 1, full=False) for p in self._place
        ]

    def _derivative(self, output: int, k: int) -> int:
        """The number of the first derivatives of an output by a required input; behind those of a single
        output by these inputs there may be others.
        """
        return output * (len(self._first.declaration.outputs) // len(self._outputs)) + k

    def _block(self, output: Parameter, p: Parameter, name: str, place: int) -> Block:
        y = array("", output)
        return Block(place, y.rows, y.columns, self._size(p), self._q(p), name)

    def _q(self, p: Parameter) -> str:
        return f"x_{p.name}" if p.configuration else "NULL"

    def _size(self, p: Parameter) -> int:
        """The directions of an input."""
        return self._model.nv if p.configuration else p.size

    def _weights(self, weighted: Function) -> Parameter:
        """The weights of a function of products with them."""
        return next(p for p in weighted.declaration.inputs if p.kind is Kind.WEIGHTS)

    def _weighted_call(self, weighted: Function, outputs: Sequence[str]) -> str:
        return self._call(weighted.name, {self._weights(weighted).name: "weights"}, outputs)

    def _adjoint(self, weighted: Function) -> External:
        output = self._outputs[0]
        places = self._work([(f"d_{p.name}", p.size) for p in weighted.declaration.outputs])
        return self._external(
            f"adj1_{self._symbol}",
            [*self._inputs, unread(self._outputs[0]), array(f"adj_{output.name}", output)],
            [Array(f"adj_{p.name}", p.size, 1) for p in self._required],
            places,
            "casadi_jacobian.c.jinja",
            weights=True,
            calls=[self._weighted_call(weighted, [x.name for x in places])],
            derivatives=[
                self._block(ONE, p, d.name, k)
                for k, (d, p) in enumerate(zip(places, self._required, strict=False))
            ],
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
        made, offset = list[Local](), 0
        for name, size in sizes:
            made.append(Local(name, offset=offset, size=size))
            offset += size
        return made

"""Functions by the chain rule on the operations of other functions: derivatives, products with derivatives,
derivatives of weighted sums.

For joints that follow others along curves (polynomials, closed loops), the points of the curves and their
derivatives are symbols during differentiation. So the computation of the curves is not differentiated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.couplings import GIVEN, curves_of
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.tools.linear import dot, identity
from rbdc.algorithms.trace import Trace, silent
from rbdc.functions.declarations import Parameter
from rbdc.functions.evaluation import CURVES, Evaluate, Inputs
from rbdc.model import Problem
from rbdc.spatial import Scalar

Rows = Sequence[Sequence[Scalar]]


@dataclass(frozen=True)
class Differentiated:
    """The derivatives of the outputs of an algorithm, by the chain rule on its operations. Derivatives with
    respect to q are in the tangent space: derivatives with respect to the entries of q times their rates.

    algorithm: the algorithm.
    by: inputs with respect to which each output is differentiated, one after the other.
    weights: inputs with a number for each entry of the outputs; their weighted sum is differentiated.
    directions: for each of `by`, the input with the direction along which derivatives are taken.
    kept: indices of the derivatives that are outputs; None keeps all.
    """

    algorithm: Evaluate
    by: tuple[Parameter, ...]
    weights: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    kept: tuple[int, ...] | None = None

    def __call__(self, model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        """Compute the derivatives: an `Evaluate`."""
        from rbdc.ir.symbolic import written_out

        curves, names = _Curves.of(model, inputs, trace), (*self.weights, *self.directions)
        others = {name: x for name, x in curves.inputs.items() if name not in names}
        with written_out():
            outputs = self.algorithm(model, others, silent)
            if self.weights:
                weights = [w for name in self.weights for w in inputs[name]]
                outputs = [[dot(weights, [x for output in outputs for x in output])]]
        if self.directions:
            return self._along(model, inputs, curves, outputs)
        return self._matrices(model, inputs, curves, outputs, trace)

    def _matrices(
        self, model: Problem, inputs: Inputs, curves: _Curves, outputs: Rows, trace: Trace
    ) -> list[list[Scalar]]:
        from rbdc.ir.from_casadi import jacobian

        matrices = []
        rates = {p.name: _rates(model, inputs[p.name]) for p in self.by if p.configuration}
        along = {name: [[*rate, *curves.followed(rate)] for rate in each] for name, each in rates.items()}
        for values in outputs:
            for p in self.by:
                by = [*inputs[p.name], *(curves.symbols if p.configuration else [])]
                rows = curves.put(jacobian(values, by, along.get(p.name)))
                _announce(model, rows, p, trace)
                matrices.append([x for row in rows for x in row])
        return matrices if self.kept is None else [matrices[k] for k in self.kept]

    def _along(self, model: Problem, inputs: Inputs, curves: _Curves, outputs: Rows) -> list[list[Scalar]]:
        from rbdc.ir.from_casadi import derivative_along

        by: list[Scalar] = []
        rate: list[Scalar] = []
        for p, direction in zip(self.by, self.directions, strict=True):
            by, x = [*by, *inputs[p.name]], list(inputs[direction])
            if p.configuration:
                x = configuration_rate(model, inputs[p.name], x)
                by, x = [*by, *curves.symbols], [*x, *curves.followed(x)]
            rate += x
        return curves.put([derivative_along(values, by, rate) for values in outputs])


@dataclass(frozen=True)
class _Curves:
    """Symbols for the positions of joints that follow others along curves, and for their derivatives.

    inputs: the inputs and the symbols.
    symbols, values: the symbols and their values.
    rates: for each symbol, the leader's entry of q and the derivative of the symbol with respect to it.
    """

    inputs: Inputs
    symbols: list[Scalar]
    values: list[Scalar]
    rates: list[tuple[int, Scalar]]

    @staticmethod
    def of(model: Problem, inputs: Inputs, trace: Trace) -> _Curves:
        if not model.curves:
            return _Curves(inputs, [], [], [])
        from rbdc.ir.from_casadi import symbols

        curves = curves_of(model, next(iter(inputs.values())), trace)
        values = list(inputs.get(CURVES, [x for curve in curves.values() for x in curve[:GIVEN]]))
        variables = symbols(CURVES, len(values))
        rates = [
            (model.bodies[k].index_q, rate)
            for i, (k, curve) in enumerate(curves.items())
            for rate in (*variables[GIVEN * i + 1 : GIVEN * (i + 1)], curve[GIVEN])
        ]
        return _Curves({**inputs, CURVES: variables}, variables, values, rates)

    def followed(self, rate: Sequence[Scalar]) -> list[Scalar]:
        """Return the rates of the symbols for rates of q."""
        return [rate_of_symbol * rate[entry] for entry, rate_of_symbol in self.rates]

    def put(self, rows: Rows) -> list[list[Scalar]]:
        """Replace the symbols in rows by their values."""
        from rbdc.ir.from_casadi import substituted

        return substituted(rows, self.symbols, self.values) if self.symbols else [*map(list, rows)]


def _rates(model: Problem, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Return dq/dt along each direction of the tangent space."""
    return [configuration_rate(model, q, unit) for unit in identity(model.nv)]


def _announce(model: Problem, rows: Rows, by: Parameter, trace: Trace) -> None:
    if not rows or len(rows[0]) != model.nv:
        return
    for index, body in enumerate(model.bodies):
        entries = [x for row in rows for x in row[model.v_slice(index)]]
        if entries and body.coupling is None:
            trace(body.name, f"derivatives by {by.name} of the joint", f"d{by.name}{index}", entries)

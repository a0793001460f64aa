"""Methods by CasADi: CasADi's C of the algorithms, and CasADi's derivatives through its C generator and
through rbdc's.

CasADi's C uses the papers' recursion with the fewest operations for the model. The operations are those of
the CasADi function that becomes C; derivatives are counted after differentiation.

Derivatives with respect to q are in the tangent space: the Jacobian with respect to the entries of q, times
the rate dq/dt of each unit velocity (`rbdc.algorithms.manifold.configuration_rate`). These rates are constant
if q is a vector space.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.trace import silent
from rbdc.emit.c.csource import windows_source
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import Evaluate
from rbdc.functions.record import Function
from rbdc.ir.cost import Cost, counted
from rbdc.ir.operations import ADD, DIV, MUL, NEG, SIN
from rbdc.ir.symbolic import Symbolic, expression, written_out
from rbdc.model import Problem
from rbdc.planning.candidates import chosen
from rbdc.report.methods.implementation import (
    ADAPTER,
    LIMIT,
    ROBOT,
    Implementation,
    Method,
    NotTried,
    by_the_papers,
    call_of,
    entry_point,
    header,
    recorded,
    refuse_large,
    statements_of,
    without_optional,
)

MODES = {"forward": "forward mode", "reverse": "reverse mode", "auto": "CasADi's choice of mode"}
"""The modes of CasADi's differentiation, in words."""

CASADI_LIMIT = 30_000
"""Instructions above which CasADi's C, a single C function, is not compiled: gcc needs minutes for it."""

_COUNTED = {
    ADD: (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE),
    MUL: (ca.OP_MUL, ca.OP_SQ),
    DIV: (ca.OP_DIV, ca.OP_INV),
    NEG: (ca.OP_NEG,),
    SIN: (ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_ATAN2),
}
"""CasADi's instructions, by an operation of rbdc with the same cost."""


def traced(model: Problem, function: Function, evaluate: Evaluate) -> ca.Function:
    """Return a recursion as a CasADi function of expressions, before any pass of rbdc; outputs are column
    vectors with row-major entries.
    """
    inputs = [(p.name, ca.SX.sym(p.name, p.size)) for p in function.declaration.required]
    with written_out():
        values = evaluate(model, {name: _scalars(x) for name, x in inputs}, silent)
    return _whole([x for _, x in inputs], [ca.vertcat(*map(expression, v)) for v in values])


def _whole(inputs: Sequence[Any], outputs: Sequence[Any]) -> ca.Function:
    return ca.Function(ROBOT, inputs, [ca.densify(x) for x in outputs])


def _scalars(column: Any) -> list[Symbolic]:
    return [Symbolic(column[k]) for k in range(column.numel())]


def derivatives(model: Problem, function: Function, mode: str, evaluate: Evaluate) -> ca.Function:
    """Return a function of first or second derivatives of a recursion, differentiated by CasADi in one of the
    `MODES`.

    Each tensor of second derivatives is the derivative of a matrix of first derivatives with respect to the
    tensor's second variable.
    """
    base, weight = _base(model, function), float(mode == "reverse")
    options = {} if mode == "auto" else {"helper_options": {"ad_weight": weight, "ad_weight_sp": weight}}
    values = traced(model, base, evaluate)
    variables = values.sx_in()
    every, ends = ca.vertcat(*variables), np.cumsum([0, *(x.numel() for x in variables)])
    jacobians = [ca.jacobian(result, every, options) for result in values.call(variables)]
    tangents = _tangents(model, variables[0])

    def slopes(result: int, by: int) -> Any:
        block = jacobians[result][:, int(ends[by]) : int(ends[by + 1])]
        return ca.vec((block @ tangents if by == 0 else block).T)

    second = function.second_order
    if second is None:
        of_by = [p.name.rsplit("_d", 1) for p in function.declaration.outputs]
        numbers, places = [*dict.fromkeys(of for of, _ in of_by)], [p.name for p in base.declaration.required]
        return _whole(variables, [slopes(numbers.index(of), places.index(by)) for of, by in of_by])
    # The tensor for the last input and q is the derivative of the last input's matrix with respect to q.
    last = np.arange(model.nv**3).reshape([model.nv] * 3).transpose(0, 2, 1).ravel().tolist()
    tensors = [
        slopes(outer, 0)[last] if outer == 2 else slopes(inner, outer) for inner, outer in second.pairs
    ]
    return _whole(variables, tensors)


def _tangents(model: Problem, q: Any) -> Any:
    units = [[1.0 if k == j else 0.0 for k in range(model.nv)] for j in range(model.nv)]
    rates = [configuration_rate(model, _scalars(q), unit) for unit in units]
    return ca.horzcat(*(ca.sparsify(ca.vertcat(*(expression(x) for x in rate))) for rate in rates))


def casadi_files(functions: Sequence[ca.Function], calls: Sequence[str]) -> dict[str, str]:
    """Return CasADi's own C of functions with equal numbers of inputs and outputs, and C statements that call
    them.

    The arrays of arguments have room for each of the functions.
    """
    generator = ca.CodeGenerator("casadi_function.c")
    for function in functions:
        generator.add(function)
    inputs = ", ".join(f"in[{k}]" for k in range(functions[0].n_in()))
    outputs = ", ".join(f"out[{k}]" for k in range(functions[0].n_out()))
    arrays = [
        f"const double *arg[{max(f.sz_arg() for f in functions)}] = {{{inputs}}};",
        f"double *res[{max(f.sz_res() for f in functions)}] = {{{outputs}}};",
        f"long long iw[{max(1, *(f.sz_iw() for f in functions))}];",
        f"double w[{max(1, *(f.sz_w() for f in functions))}];",
    ]
    parameters = "const double **arg, double **res, long long *iw, double *w, int mem"
    return {
        "casadi_function.c": generator.dump(),
        f"{ROBOT}.h": "".join(f"int {f.name()}({parameters});\n" for f in functions),
        ADAPTER: entry_point([*arrays, *calls]),
    }


def modes_of(function: Function) -> dict[str, str]:
    """Return the modes in which CasADi differentiates another function to obtain this one, by the name of the
    method that turns the derivatives into rbdc's C. Second derivatives are forward-mode derivatives of first
    derivatives.
    """
    if function.second_order is not None:
        return {"ad": "forward"}
    return {} if function.comparison.derivative_of is None else {f"ad-{mode}": mode for mode in MODES}


def _base(model: Problem, function: Function) -> Function:
    second = function.second_order
    return functions_of(model)[str(function.comparison.derivative_of) if second is None else second.of]


def of_casadi(model: Problem, function: Function, method: str) -> tuple[ca.Function, str]:
    """Return the CasADi function that a method of `ad_methods` writes as C, and the name of the recursion.

    The methods are casadi, ad-<mode>-casadi and ad-casadi. Among the papers' recursions, the one with the
    fewest final operations is used, so that a peer gets the recursion that is cheapest for it.
    """
    mode = modes_of(function).get(method.removesuffix("-casadi"))
    base, how = (function, "") if mode is None else (_base(model, function), f"{MODES[mode]} of ")
    candidates = {
        name: traced(model, function, evaluate)
        if mode is None
        else derivatives(model, function, mode, evaluate)
        for name, evaluate in by_the_papers(model, base).items()
    }
    counts = {name: _cost(one).operations for name, one in candidates.items()}
    best, *others = sorted(counts, key=lambda name: counts[name])
    beside = f" (operations: {', '.join(f'{name} {counts[name]}' for name in (best, *others))})"
    return candidates[best], f"{how}{base.name} by {best}{beside if others else ''}"


def _cost(function: ca.Function) -> Cost:
    codes = [function.instruction_id(k) for k in range(function.n_instructions())]
    return counted({one: sum(code in kinds for code in codes) for one, kinds in _COUNTED.items()})


def ad_methods(model: Problem, function: Function, *, large: bool = False) -> list[Method]:
    """Return the methods of this module for one function. `large`: without a limit of size."""
    if function.declaration.framed:
        return []
    modes = modes_of(function)
    theirs = ["casadi", *(f"{name}-casadi" for name in modes)]
    return [
        *(Method(name, "ad", partial(_through_casadi, model, function, name, large)) for name in theirs),
        *(
            Method(name, "ad", partial(_through_ours, model, function, mode, large))
            for name, mode in modes.items()
        ),
    ]


def _through_casadi(model: Problem, function: Function, method: str, large: bool) -> Implementation:
    if not large:
        refuse_large(model, function)
    whole, algorithm = of_casadi(model, function, method)
    instructions = whole.n_instructions()
    if instructions > CASADI_LIMIT and not large:
        raise NotTried(f"{instructions} instructions in one C function; the limit is {CASADI_LIMIT}")
    files = casadi_files([whole], [f"{ROBOT}(arg, res, iw, w, 0);"])
    return Implementation(algorithm, files, _cost(whole), statements_of(files["casadi_function.c"]))


def _through_ours(model: Problem, function: Function, mode: str, large: bool) -> Implementation:
    if not large:
        refuse_large(model, function)
    base = _base(model, function)
    whole = derivatives(model, function, mode, base.methods[chosen(model, base)[0]])
    instructions = whole.n_instructions()
    if instructions > LIMIT and not large:
        raise NotTried(f"{instructions} instructions; the limit is {LIMIT}")
    declaration, symbols = without_optional(function.declaration), whole.sx_in()
    inputs, outputs = (
        [(p.name, _scalars(x)) for p, x in zip(parameters, columns, strict=True)]
        for parameters, columns in ((declaration.inputs, symbols), (declaration.outputs, whole.call(symbols)))
    )
    program = recorded(declaration.name, inputs, outputs)
    source = windows_source(ROBOT, declaration, program)
    headers = {f"{ROBOT}.h": header([declaration.prototype(ROBOT)])}
    files = {**source.files, **headers, ADAPTER: entry_point([call_of(declaration)])}
    algorithm = f"{MODES[mode]} of the generated {base.name}"
    return Implementation(algorithm, files, source.cost, source.statements)

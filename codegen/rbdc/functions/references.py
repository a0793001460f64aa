"""Reference methods from the literature. The record of a function lists their names. Verification and
comparisons use them; generating does not.

A method takes the model as read from the description, and the function's inputs in order, each a list of
scalars. External forces are a keyword argument, a list of `Force` in the bodies' frames. Methods of functions
of a frame take the inputs, the frame's index and "LOCAL", "WORLD" or "LOCAL_WORLD_ALIGNED". The result is a
vector, a matrix by rows, or a tuple of vectors and matrices, like the function's outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from rbdc.algorithms.tools.linear import dot
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import EXTERNAL_FORCES
from rbdc.functions.evaluation import NOT_IN_ORDER, arrays, called_with
from rbdc.functions.record import ChainRule, Function
from rbdc.model import Problem
from rbdc.spatial.tangent import OuterTangent, Tangent

Method: TypeAlias = Callable[..., Any]

HOME = "rbdc.algorithms.reference"
"""Package of the modules that a record names without a dot, or with a leading one: ".derivatives.idsva"."""


_DUAL = "dual_numbers:"
_KINDS = (Tangent, OuterTangent)
"""Dual numbers for derivatives, and for derivatives of derivatives."""


def references_of(function: Function, depth: int = 0) -> dict[str, Method]:
    """Return the reference methods of a function by name. depth: number of times that the function's results
    are differentiated.
    """
    chain = function.chain
    if function.references or chain is None:
        bound = _loaded("couplings:bound")
        return {method: bound(_loaded(place)) for method, place in function.references.items()}
    known = references_of(chain.function, depth + 1)
    return {method: _by_chain_rule(function, chain, value, _KINDS[depth]) for method, value in known.items()}


def _by_chain_rule(function: Function, chain: ChainRule, value: Method, kind: type[Tangent]) -> Method:
    """Return the reference of derivatives: the reference of the differentiated function, evaluated with dual
    numbers.
    """
    names = [p.name for p in function.declaration.inputs if p.name not in NOT_IN_ORDER]
    variables = {p.name for p in chain.function.declaration.inputs}
    configurations = [p.configuration for p in function.declaration.inputs if p.name in chain.by]
    by_forces = EXTERNAL_FORCES in chain.by  # parameters are the last input
    differentiated, along = _loaded(f"{_DUAL}differentiated"), _loaded(f"{_DUAL}along")

    def evaluated(model: Problem, *values_in_order: Any, **named: Any) -> Any:
        inputs = dict(zip(names, values_in_order, strict=False))
        weights = [w for name in chain.weights for w in inputs.pop(name)]
        directions = [inputs[name] for name in chain.directions]
        inputs = {name: x for name, x in inputs.items() if name in variables or name not in chain.directions}
        rest = values_in_order[len(names) :]  # a frame and its reference
        if by_forces:
            inputs[EXTERNAL_FORCES] = [x for force in named.pop(EXTERNAL_FORCES) for x in force.scalars()]

        def values(*arguments: Any, **options: Any) -> Any:
            if by_forces:
                *arguments, entries = arguments  # type: ignore[assignment]
                options |= called_with({EXTERNAL_FORCES: entries})[1]
            results = value(*arguments, **options)
            return [dot(weights, [x for y in arrays(results) for x in y])] if chain.weights else results

        arguments = (model, *inputs.values(), *rest)
        shared: dict[str, Any] = {"method": values, "configurations": configurations, "kind": kind, **named}
        if directions:
            return along(*arguments, directions=directions, **shared)
        results = differentiated(*arguments, **shared)
        return results if chain.kept is None else tuple(results[k] for k in chain.kept)

    return evaluated


def reference_of(function: Function) -> Method:
    """Return the oracle. Raises UnsupportedError if the record names none."""
    return references_of(function)[_oracle_of(function)]


def _oracle_of(function: Function) -> str:
    if function.references:
        return function.oracle or next(iter(function.references))
    if function.chain is not None:
        return _oracle_of(function.chain.function)
    raise UnsupportedError(
        f"{function.name}: its record names no reference; name one there, or build without verification"
    )


def _loaded(place: str) -> Method:
    module, name = place.split(":")
    method: Method = getattr(import_module(module if "." in module else f".{module}", HOME), name)
    return method

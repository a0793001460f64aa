"""The functions of a generated module: the families of records, and the presets.

To add a function, write its record, and its algorithm under `rbdc.algorithms`. A new family of records needs
a line in `FAMILIES`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from rbdc.errors import OptionError
from rbdc.functions.contacts import contacts
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.derivatives import derivatives, second_order
from rbdc.functions.dynamics import dynamics, time_derivatives
from rbdc.functions.evaluation import alone
from rbdc.functions.kinematics import kinematics
from rbdc.functions.manifold import manifold, steps
from rbdc.functions.momentum import identification, momentum
from rbdc.functions.record import ALONE, PRESETS, SECOND, ChainRule, Comparison, Function, Requirement
from rbdc.model import Problem
from rbdc.runtime._suggestions import suggestion

Family = Callable[[Problem], list[Function]]

FAMILIES: list[Family] = [
    dynamics,
    identification,
    derivatives,
    kinematics,
    momentum,
    manifold,
    contacts,
    steps,
    time_derivatives,
    second_order,
]
"""Families, in the order of the documentation."""


ANY = Problem("any", (), (), 0, 0)
"""A model without joints."""


def functions_of(model: Problem) -> Mapping[str, Function]:
    """Return every function that can be built for the model by name, in the order of the documentation."""
    return _functions_of(model, tuple(FAMILIES))


@lru_cache(maxsize=4)
def _functions_of(model: Problem, families: Sequence[Family]) -> Mapping[str, Function]:
    functions = (_as_far_as_in_loops(model, function) for family in families for function in family(model))
    chained = _chained(model, {function.name: function for function in functions})
    firsts = {f.differential.first: f for f in chained.values() if f.differential}
    more = {name: _derivatives_of(model, f, name) for name, f in firsts.items() if name not in chained}
    return MappingProxyType(chained | more)


def _chained(model: Problem, functions: Mapping[str, Function]) -> dict[str, Function]:
    """Return the functions; each chain rule gets the record of the function that it differentiates. If joints
    follow others along curves, all records are those for curves.
    """
    resolved: dict[str, Function] = {}

    def one(name: str) -> Function:
        if name not in resolved:
            function = functions[name]
            if function.chain is not None:
                source_function = function.chain.source
                source = one(function.chain.of) if source_function is None else along(source_function)
                chain = replace(function.chain, source=source)
                requires = function.requires | chain.function.requires
                function = replace(function, chain=chain, requires=requires)
                if not (function.methods or function.declaration.framed):
                    function = replace(function, methods=chain.methods())
            resolved[name] = along(function)
        return resolved[name]

    def along(function: Function) -> Function:
        return _along_curves(function) if model.curves else function

    return {name: one(name) for name in functions}


def _as_far_as_in_loops(model: Problem, function: Function) -> Function:
    """Return the function without rolled code and window kernels (`rbdc.planning`) if the model does not
    allow them: they need constant inertias, forces in the bodies' frames, and linear mimic joints.
    """
    kinds = {p.kind for p in function.declaration.inputs}
    in_loops = Kind.PARAMETERS not in kinds and not (model.world_forces and Kind.WRENCHES in kinds)
    if in_loops and not model.curves:
        return function
    return replace(function, policy=replace(function.policy, rolled={}, windows=""))


def _along_curves(function: Function) -> Function:
    """Return the function for joints that follow others along curves: straight-line code, without identical
    limbs in vector lanes.
    """
    methods, references, oracle = function.methods, function.references, function.oracle
    if function.chain is not None:
        references, oracle = {}, ""
        methods = methods if function.along_curves or not methods else function.chain.methods()
    return replace(
        function,
        methods={name: alone(evaluate) for name, evaluate in methods.items()},
        references=references,
        oracle=oracle,
        to_solve=None,
        with_values=None,
        paths=None,
    )


def _derivatives_of(model: Problem, function: Function, name: str) -> Function:
    declaration = function.declaration
    by = tuple(p for p in declaration.required if p.kind is not Kind.PARAMETERS)
    words = " and ".join(", ".join(_in_words(p) for p in part) for part in (by[:-1], by[-1:]) if part)
    chain = ChainRule(function.name, tuple(p.name for p in by), source=function)
    return Function(
        FunctionDeclaration(
            name,
            f"Derivatives of {function.name} with respect to {words}.",
            declaration.inputs,
            tuple(_output(model, y, p) for y in declaration.outputs for p in by),
        ),
        chain.methods(),
        preset=ALONE,
        requires=function.requires,
        comparison=Comparison(checks_only=True),
        chain=chain,
    )


def _in_words(p: Parameter) -> str:
    return f"{p.name} (in the tangent space)" if p.configuration else p.name


def _output(model: Problem, y: Parameter, by: Parameter) -> Parameter:
    """Return the declaration of an output's derivative. Its last, additional dimension has the directions of
    `by`.
    """
    size = model.nv if by.configuration else by.size
    name = f"d{y.name}_d{by.name}"
    if y.name.startswith("d") and "_d" in y.name:
        name = f"d2{y.name.removeprefix('d')}d{by.name}"
    meaning = f"derivative of {y.name}; last index: direction of {by.name}"
    return Parameter(name, (*y.shape, size), meaning, y.kind)


def known() -> Mapping[str, Function]:
    """Return every function by name, for uses that do not depend on a model; shapes are those of a model
    without joints.
    """
    return functions_of(ANY)


def fingerprint() -> str:
    """Return a text that changes with records that other packages add, for keys in the cache. The hash of
    rbdc's code covers rbdc's records.
    """
    outside = [family for family in FAMILIES if not family.__module__.startswith("rbdc.")]
    return "\n".join(text for family in outside for text in _sources(family))


def _sources(family: Family) -> list[str]:
    module = inspect.getmodule(family)
    return [inspect.getsource(family), "" if module is None else inspect.getsource(module)]


def presets() -> dict[str, tuple[str, ...]]:
    """Return the functions of each preset, smallest preset first. Each preset includes the preset before it;
    the preset of second derivatives comes last and includes no other.
    """
    return _presets(known())


def _presets(catalogue: Mapping[str, Function]) -> dict[str, tuple[str, ...]]:
    functions = [function for function in catalogue.values() if function.preset not in (SECOND, ALONE)]
    nested = {
        preset: tuple(function.name for function in functions if PRESETS.index(function.preset) <= size)
        for size, preset in enumerate(PRESETS)
    }
    return {**nested, SECOND: tuple(name for name, f in catalogue.items() if f.preset == SECOND)}


def without_preset() -> tuple[str, ...]:
    """Return the functions that are built only if they are named."""
    return tuple(name for name, function in known().items() if function.preset == ALONE)


def requiring(requirement: Requirement, model: Problem = ANY) -> tuple[str, ...]:
    """Return the functions of a model that have this requirement."""
    return tuple(name for name, function in functions_of(model).items() if requirement in function.requires)


def rollable() -> tuple[str, ...]:
    """Return the functions that have a rolled form."""
    return tuple(name for name, function in known().items() if function.policy.rolled)


def select(model: Problem, functions: Sequence[str] | None, preset: str) -> list[str]:
    """Return the names to build, in the order of the documentation.

    Raises OptionError for an unknown name, with similar names.
    """
    catalogue = functions_of(model)
    there, own_presets = list(catalogue), _presets(catalogue)
    if functions is None:
        if preset not in own_presets:
            raise OptionError(f"no preset {preset!a}; {suggestion(preset, own_presets)}")
        functions = own_presets[preset]
    functions = [each for name in functions for each in (own_presets[name] if name == SECOND else [name])]
    for name in functions:
        if name not in there:
            raise OptionError(f"no function {name!a}; {suggestion(name, there)}")
    if not functions:
        raise OptionError(f"no function asked for; {suggestion('', there)}")
    return [name for name in there if name in functions]

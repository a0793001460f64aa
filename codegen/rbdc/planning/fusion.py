"""Fused functions (option `fuse`): several functions behind one entry point. They are traced together, so
their common parts are computed once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from rbdc.algorithms.trace import Trace
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Parameter
from rbdc.functions.evaluation import EntryPart, Evaluate, InLanes, Inputs, alone, for_one_frame
from rbdc.functions.record import Function, Policy, Requirement
from rbdc.model import WORLD, Problem
from rbdc.model.xml import shown
from rbdc.option_fields import asked
from rbdc.runtime._suggestions import suggestion
from rbdc.spatial import Scalar


def _one_after_the_other(takes: Sequence[Sequence[str]], evaluates: Sequence[Evaluate]) -> Evaluate:
    """Return a function that evaluates several functions in order, each with inputs that `takes` names."""
    scalar, in_lanes = [*map(alone, evaluates)], [e.for_lanes for e in evaluates if isinstance(e, InLanes)]
    if len(in_lanes) == len(evaluates):
        return InLanes(_one_after_the_other(takes, scalar), _one_after_the_other(takes, in_lanes))

    def evaluate(model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        shares = [{name: inputs[name] for name in names if name in inputs} for names in takes]
        return [x for share, part in zip(shares, evaluates, strict=True) for x in part(model, share, trace)]

    return evaluate


def fused(model: Problem, names: Sequence[str]) -> Function:
    """Return the function `a_and_b` that computes all outputs of functions `a`, `b`, ... of the catalogue. It
    takes all their inputs, each once.

    names: functions; a function of a frame as `function@frame` or `function@frame@reference` (default LOCAL).

    The methods of the fused function are all combinations of the methods of its parts. If several outputs, or
    an output and an input, have the same name, these outputs are prefixed with the names of their functions.

    Raises OptionError for fewer than two functions, for unknown or repeated functions, and for frames that
    are missing or unknown.
    """
    parts = [_part(model, name) for name in names]
    plain = [part.declaration.name for part in parts]
    if len(parts) < 2 or len(set(plain)) < len(plain):
        raise OptionError(f"{asked('fuse', ','.join(names))}: name two or more functions, each once")
    declaration = FunctionDeclaration(
        "_and_".join(plain),
        " ".join(part.declaration.summary for part in parts),
        _inputs([part.declaration for part in parts]),
        _outputs([part.declaration for part in parts]),
    )
    takes = [tuple(p.name for p in part.declaration.inputs) for part in parts]
    methods = {
        " + ".join(method for method, _ in chosen): _one_after_the_other(takes, [each for _, each in chosen])
        for chosen in itertools.product(*(part.methods.items() for part in parts))
    }
    # Other fields of a part's policy do not apply: its loops and kernels return only the part's outputs.
    policy = Policy(dense_right_sides=parts[-1].policy.dense_right_sides)
    return Function(declaration, methods, to_solve=_left_to_solve(parts), policy=policy)


def fused_functions(model: Problem, groups: Sequence[Sequence[str]]) -> dict[str, Function]:
    """Return the fused functions, by name, of all groups of functions that option `fuse` names.

    Raises OptionError for two fused functions with the same name, and the errors of `fused`.
    """
    functions = [fused(model, group) for group in groups]
    by_name = {function.name: function for function in functions}
    if len(by_name) < len(functions):
        problem = "two groups have the same functions (frames do not count)"
        raise OptionError(f"`fuse`: {problem}; give each of {', '.join(by_name)} once")
    return by_name


def _left_to_solve(parts: Sequence[Function]) -> Evaluate | None:
    """Return `with_values` of the derivatives if the parts are a function and then its derivatives."""
    values, *others = parts
    if len(others) == 1 and others[0].comparison.derivative_of == values.name:
        return others[0].with_values
    return None


def _asked(model: Problem, text: str) -> EntryPart:
    """Return the function that a part of option `fuse` names, with frame and reference frame for a function
    of a frame.

    Raises OptionError for an unknown name, for a missing or unexpected frame, for a function of two frames,
    and for a frame fixed to the world if the function needs a moving frame.
    """
    catalogue, (name, *at) = functions_of(model), text.split("@")
    if name not in catalogue:
        raise OptionError(f"`fuse`: no function {name!a}; {suggestion(name, catalogue)}")
    function = catalogue[name]
    if not function.declaration.framed:
        if at:
            raise OptionError(f"{asked('fuse', text)}: {name} takes no frame")
        return EntryPart(name)
    if function.declaration.pair:
        problem = f"{name} takes two frames, and is not fused"
        raise OptionError(f"{asked('fuse', text)}: {problem}; fuse the Jacobians of these frames")
    reference = at.pop() if at and at[-1] in REFERENCES else REFERENCES[0]
    frame = _frame(model, text, "@".join(at))
    if Requirement.INDEPENDENT_TASK in function.requires and model.frames[frame].body == WORLD:
        raise OptionError(f"{asked('fuse', text)}: no joint moves this frame, so {name} is undefined there")
    return EntryPart(name, frame, reference)


def parts_of(model: Problem, groups: Sequence[Sequence[str]]) -> dict[str, tuple[EntryPart, ...]]:
    """Return the catalogue functions behind every entry point of a package, by name of the entry point.
    `groups`: the functions of each fused function.
    """
    parts: dict[str, tuple[EntryPart, ...]] = {name: (EntryPart(name),) for name in functions_of(model)}
    for group in groups:
        parts_of_group = tuple(_asked(model, text) for text in group)
        parts["_and_".join(part.name for part in parts_of_group)] = parts_of_group
    return parts


def _part(model: Problem, text: str) -> Function:
    part = _asked(model, text)
    function = functions_of(model)[part.name]
    if part.frame is None or function.at_frame is None:
        return function
    summary = (
        f"{function.declaration.summary[:-1]}, {shown(model.frames[part.frame].name)}, {part.reference}."
    )
    declaration = replace(function.declaration, summary=summary, framed=False)
    return Function(declaration, {"climb": for_one_frame(function.at_frame, *part.place)})


def _frame(model: Problem, text: str, name: str) -> int:
    indices = [index for index, frame in enumerate(model.frames) if frame.name == name]
    if not indices:
        example = f"{text.split('@')[0]}@{shown(model.frames[-1].name)}"
        there = suggestion(shown(name), (shown(frame.name) for frame in model.frames))
        raise OptionError(f"{asked('fuse', text)}: name the frame, as in {example}; {there}")
    return indices[0]


def _inputs(declarations: Sequence[FunctionDeclaration]) -> tuple[Parameter, ...]:
    every = {p.name: p for declaration in declarations for p in declaration.inputs}
    return tuple(sorted(every.values(), key=lambda p: p.optional))


def _outputs(declarations: Sequence[FunctionDeclaration]) -> tuple[Parameter, ...]:
    every = [(d.name, p) for d in declarations for p in d.outputs]
    names = [p.name for p in (*_inputs(declarations), *(p for _, p in every))]
    return tuple(replace(p, name=f"{name}_{p.name}") if names.count(p.name) > 1 else p for name, p in every)

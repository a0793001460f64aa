"""Views of the header for C++: the C functions in a namespace, and overloads for Eigen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from rbdc.emit.names import comment
from rbdc.functions.declarations import FunctionDeclaration, Parameter


def cpp_function(d: FunctionDeclaration) -> dict[str, Any]:
    """A function: parameters and their names with pointers; the parameters of overloads that fill matrices,
    with the arguments of the C function; and of one that gives its only result by value the same, with the
    type and the name of the result.
    """
    without = [p for p in d.inputs if not p.optional]
    inputs = [without] if not d.optional else [without, list(d.inputs)]
    return {
        "name": d.name,
        "summary": comment(d.summary),
        "pointers": ", ".join(d.parameters(d.scalar.name, restrict="")),
        "names": ", ".join(d.arguments(lambda p: p.name)),
        "forms": [(_filling(d, given), _passed(d, given)) for given in inputs],
        "giving": [_giving(d, p, without) for p in d.outputs if len(d.outputs) == 1],
    }


def _filling(d: FunctionDeclaration, given: Sequence[Parameter]) -> str:
    frame = [f"int {name}" for name in d.place]
    outputs = [f"{_kind(p, 'Out', d)} {'' if p.shape else '&'}{p.name}" for p in d.outputs]
    return _joined([*_taken(d, given), *frame, *outputs])


def _giving(
    d: FunctionDeclaration, output: Parameter, given: Sequence[Parameter]
) -> tuple[str, str, str, str]:
    frame = [f"int {name}" + (" = LOCAL" if name == "reference" else "") for name in d.place]
    return _joined([*_taken(d, given), *frame]), _passed(d, given), _kind(output, "Matrix", d), output.name


def _taken(d: FunctionDeclaration, given: Iterable[Parameter]) -> list[str]:
    return [f"{_kind(p, 'In', d)} {p.name}" for p in given]


def _passed(d: FunctionDeclaration, given: Sequence[Parameter]) -> str:
    """The arguments of the C function."""

    def place(p: Parameter) -> str:
        if p.optional and p not in given:
            return "nullptr"
        return f"{p.name}.data()" if p.shape else f"&{p.name}"

    return _joined(d.arguments(place))


def _kind(p: Parameter, template: str, d: FunctionDeclaration) -> str:
    """An array as a matrix: a tensor has the matrices of its last two indices one below the other."""
    if not p.shape:
        return d.scalar.name
    columns = p.shape[-1] if len(p.shape) > 1 else 1
    return f"{template}<{prod(p.shape) // columns if columns else p.shape[0]}, {columns}>"


def _joined(words: Iterable[str]) -> str:
    return ", ".join(words)

"""The header for C++: the C functions in a namespace, and overloads for Eigen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.model import Model


def render_cpp(
    model: Model, robot: str, declarations: Sequence[FunctionDeclaration], version: str
) -> dict[str, str]:
    """The header, by its name."""
    text = render(
        "header.hpp.jinja",
        title=comment(robot),
        robot=robot,
        upper=robot.upper(),
        version=version,
        nq=model.nq,
        nv=model.nv,
        njoints=model.njoints,
        nframes=len(model.frames),
        framed=any(d.framed for d in declarations),
        scalar=declarations[0].scalar.name,
        functions=[_function(d) for d in declarations],
    )
    return {f"{robot}.hpp": text}


@dataclass(frozen=True)
class _Overload:
    """An overload: its parameters, and the arguments of the C function; for one that gives its result by
    value the result's type and name.
    """

    parameters: str
    arguments: str
    kind: str = ""
    result: str = ""


@dataclass(frozen=True)
class _CppFunction:
    """A function: parameters and their names with pointers, overloads that fill matrices, and the one that
    gives its only result by value.
    """

    name: str
    summary: str
    pointers: str
    names: str
    forms: list[_Overload]
    value: _Overload | None


def _function(d: FunctionDeclaration) -> _CppFunction:
    scalar = d.scalar.name
    without = [p for p in d.inputs if not p.optional]
    inputs = [without] if not d.optional else [without, list(d.inputs)]
    return _CppFunction(
        name=d.name,
        summary=comment(d.summary),
        pointers=", ".join(d.parameters(scalar, restrict="")),
        names=", ".join(d.arguments(lambda p: p.name)),
        forms=[_filling(d, given) for given in inputs],
        value=_giving(d, without) if len(d.outputs) == 1 else None,
    )


def _filling(d: FunctionDeclaration, given: Sequence[Parameter]) -> _Overload:
    frame = [f"int {name}" for name in d.place]
    outputs = [f"{_kind(p, 'Out', d)} {'' if p.shape else '&'}{p.name}" for p in d.outputs]
    return _Overload(_joined([*_taken(d, given), *frame, *outputs]), _passed(d, given))


def _giving(d: FunctionDeclaration, given: Sequence[Parameter]) -> _Overload:
    (output,) = d.outputs
    frame = [f"int {name}" + (" = LOCAL" if name == "reference" else "") for name in d.place]
    kind = _kind(output, "Matrix", d)
    return _Overload(_joined([*_taken(d, given), *frame]), _passed(d, given), kind, output.name)


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

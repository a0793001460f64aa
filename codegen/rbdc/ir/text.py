"""A program as text for people: what a failing test prints."""

from __future__ import annotations

from rbdc.ir.nodes import Program, Value

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "less": "<"}


def text(program: Program) -> str:
    """One line a value, then the outputs; deterministic."""
    lines = [f"program {program.name}({', '.join(f'{a.name}[{a.size}]' for a in program.inputs)})"]
    section = -1
    for index, value in enumerate(program.values):
        if value.section != section:
            section = value.section
            lines.append(f"  # {program.sections[section].title}: {program.sections[section].formula}")
        symbol = f"  # {program.symbols[index]}" if index in program.symbols else ""
        lines.append(f"  %{index} = {_right_hand_side(value)}{symbol}")
    for array, result in zip(program.outputs, program.results, strict=True):
        lines.append(f"  {array.name} = [{', '.join(f'%{k}' for k in result)}]")
    return "\n".join(lines) + "\n"


def _right_hand_side(value: Value) -> str:
    if value.constant is not None:
        return repr(value.constant)
    if value.source is not None:
        return f"{value.source[0]}[{value.source[1]}]"
    if value.operation == "lanes":
        return f"lanes{value.numbers}"
    names = [f"%{k}" for k in value.arguments]
    if value.operation == "extract":
        return f"extract({names[0]}, {value.lane})"
    if value.operation == "rotate":
        return f"rotate({names[0]}, {value.lane}) to {value.width} lanes"
    if value.operation in _INFIX:
        return f" {_INFIX[value.operation]} ".join(names)
    return f"{value.operation}({', '.join(names)})"

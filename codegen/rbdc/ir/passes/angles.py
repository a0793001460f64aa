"""Gathered angles: the sines and cosines of all joint angles are computed first, side by side.

Before: sin and cos of joint angles where they are first used. After: a section at the beginning that computes all of them, which the
emitter writes as one call over vectors. Only arguments that are an input, or one plus a constant, are joint angles.
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.ir.nodes import Program, Section, Value

JOINT_ANGLES = Section("joint angles", "sines and cosines of all of them, side by side")


def gather_angles(program: Program) -> Program:
    """See the module's docstring."""
    gathered = [k for k, value in enumerate(program.values) if _is_of_angle(program, value)]
    if not gathered:
        return program
    arguments = {program.values[k].arguments[0] for k in gathered}
    needed = arguments | {k for argument in arguments for k in program.values[argument].arguments}
    first = [*sorted(needed), *sorted(gathered, key=lambda k: program.values[k].arguments[0])]
    chosen = set(first)
    order = first + [k for k in range(len(program.values)) if k not in chosen]
    new = {old: k for k, old in enumerate(order)}

    def moved(old: int) -> Value:
        value = program.values[old]
        section = 0 if old in chosen else value.section + 1
        return replace(value, arguments=tuple(new[k] for k in value.arguments), section=section)

    return replace(
        program,
        values=tuple(moved(old) for old in order),
        results=tuple(tuple(new[k] for k in result) for result in program.results),
        sections=(JOINT_ANGLES, *program.sections),
        symbols={new[k]: symbol for k, symbol in program.symbols.items()},
    )


def _is_of_angle(program: Program, value: Value) -> bool:
    if value.operation not in ("sin", "cos"):
        return False
    argument = program.values[value.arguments[0]]
    if argument.operation in ("add", "sub"):
        kinds = sorted(program.values[k].operation for k in argument.arguments)
        return kinds == ["constant", "input"]
    return argument.operation == "input"

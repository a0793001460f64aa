"""Selects the values without a name in C: they are written inside the expression that uses them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import EXCHANGE, EXTRACT, GATHER, LANES, REDUCE, ROTATE, Form
from rbdc.ir.passes.function_splitting import Chunks

MAXIMUM_INLINED = 8
"""Largest number of operations of a nested expression; longer ones would not fit a line."""


def inlined(
    program: Program, chunks: Chunks, gathered: Collection[int], users: Sequence[Sequence[int]]
) -> list[bool]:
    """Return for each value whether it is written where it is used. Arithmetic is inlined if it has one user
    nearby and the expression stays short. `gathered`: sines and cosines of joint angles, which one call
    computes. `users`: result of `Program.users`.
    """
    answers = list[bool]()
    weights = [0] * len(program.values)
    for index, value in enumerate(program.values):
        known = _is_known(program, chunks, gathered, index, users[index])
        if known is None:
            weight = 1 + sum(weights[k] for k in value.arguments)
            known = weight <= MAXIMUM_INLINED and _has_one_user_nearby(program, chunks, index, users[index])
            weights[index] = weight if known else 0
        answers.append(known)
    return answers


def is_function_of_vectors(value: Value) -> bool:
    """Return whether a generated C function with pointers computes the vector: ABIs differ in how they pass
    vectors.
    """
    alone = value.operation.form is Form.FUNCTION and not value.operation.is_trigonometric
    return value.width > 1 and alone


def _is_known(
    program: Program, chunks: Chunks, gathered: Collection[int], index: int, users: Sequence[int]
) -> bool | None:
    """Return the answer for values without arithmetic and vectors that must have a name; None for others."""
    value = program.values[index]
    operation = value.operation
    if operation.is_leaf or operation.is_condition:
        return True
    if operation is EXTRACT:
        return index not in chunks.slot_of
    if operation in (GATHER, LANES) and all(user in gathered for user in users):
        return True  # only the lists of angles and offsets use them, one by one
    if is_function_of_vectors(value):
        return False
    using = [program.values[user].operation for user in users if user >= 0]
    needed = any(one.is_elementary or one in (EXTRACT, ROTATE, REDUCE, EXCHANGE) for one in using)
    return False if value.width > 1 and (operation.form is Form.LANES or needed) else None


def _has_one_user_nearby(program: Program, chunks: Chunks, index: int, users: Sequence[int]) -> bool:
    value = program.values[index]
    if len(users) != 1 or index in program.symbols or value.operation.is_elementary:
        return False
    if users[0] < 0:
        return True
    user, chunk_of = program.values[users[0]], chunks.chunk_of
    near = user.section == value.section and chunk_of[users[0]] == chunk_of[index]
    return near and not user.operation.is_condition

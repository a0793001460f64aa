"""Conversion of CasADi expressions to a program.

CasADi evaluates the entries of an output in order. One long output therefore holds the labelled quantities
first and then the results, and every instruction belongs to the first label that needs it. The entries of
labelled quantities are dropped afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from rbdc.algorithms.trace import components
from rbdc.errors import UnsupportedError
from rbdc.ir.builder import Builder
from rbdc.ir.nodes import ArgumentArray, Program, Section
from rbdc.ir.operations import ADD, DIV, JOINT_CALLS, MUL, OPERATIONS, WHERE
from rbdc.ir.symbolic import Symbolic, expression
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_number

_OF_CASADI = {
    getattr(ca, f"OP_{name.upper()}"): operation
    for name, operation in OPERATIONS.items()
    if hasattr(ca, f"OP_{name.upper()}")
}
_CALLS = {operations[0].arity: operations for operations in JOINT_CALLS.values()}
"""Operations that a call computes, by its number of arguments: CasADi does not say which function it is."""


@dataclass
class Recorder:
    """A trace that keeps every label: pass `record` to an algorithm."""

    labels: list[tuple[Section, str, list[Scalar]]] = field(default_factory=list)

    def record(self, section: str, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        """Keep one labelled quantity; if the symbol is "", the values get no names."""
        self.labels.append((Section(section, formula), symbol, list(values)))


def symbols(name: str, size: int) -> list[Scalar]:
    """Return symbolic scalars for the entries of an input array."""
    vector = ca.SX.sym(name, size)
    return [Symbolic(vector[k]) for k in range(size)]


def masked(x: Scalar, mask: Scalar) -> Scalar:
    """Return x if `mask`, an entry of a table of masks, is not zero; otherwise return zero."""
    return Symbolic(ca.if_else(expression(mask), expression(x), ca.SX(0.0)))


def names_in(values: Sequence[Scalar]) -> set[str]:
    """Return the names of the symbols in scalars."""
    return {symbol.name() for symbol in ca.symvar(_column(values))}


def from_casadi(
    name: str,
    inputs: Sequence[tuple[str, Sequence[Scalar]]],
    outputs: Sequence[tuple[str, Sequence[Scalar]]],
    recorder: Recorder | None = None,
) -> Program:
    """Return the program of `outputs` (scalars row by row) over the symbols of `inputs`.

    The recorder provides the sections and the names of values. Raises UnsupportedError for a CasADi operation
    without counterpart in the IR.
    """
    labels = [] if recorder is None else recorder.labels
    groups = [values for _, _, values in labels] + [values for _, values in outputs]
    everything = _column([value for values in groups for value in values])
    function = ca.Function(
        name, [_column(values) for _, values in inputs], [everything], {"allow_free": False}
    )
    builder, stored = _replay(
        function, [key for key, _ in inputs], [len(values) for values in groups], len(labels)
    )
    sections = [section for section, _, _ in labels] + [Section("results", "")]
    names: dict[int, str] = {}
    for (_, symbol, _), entries in zip(labels, stored, strict=False):
        if not symbol:
            continue
        for index, name_of_value in zip(entries, components(symbol, len(entries)), strict=True):
            if not builder.values[index].operation.is_leaf:
                names.setdefault(index, name_of_value)
    takes, gives = (
        tuple(ArgumentArray(key, len(values)) for key, values in group) for group in (inputs, outputs)
    )
    results = tuple(map(tuple, stored[len(labels) :]))
    return Program(name, takes, gives, tuple(builder.values), results, tuple(sections), names)


def _column(values: Sequence[Scalar]) -> Any:
    return ca.densify(ca.vertcat(*(expression(x) for x in values))) if values else ca.SX(0, 1)


def _replay(
    function: ca.Function, names: Sequence[str], sizes: Sequence[int], last: int
) -> tuple[Builder, list[list[int]]]:
    """Replay the instructions in a builder; return the builder and the values of each group of entries.

    CasADi reuses its work slots; each new content of a slot becomes a value. `sizes`: sizes of the groups.
    Each group is a section; all groups from `last` on share one section.
    """
    builder = Builder()
    slot: dict[int, int] = {}
    groups = [group for group, size in enumerate(sizes) for _ in range(size)]
    stored: list[list[int]] = [[] for _ in sizes]
    for k in range(function.n_instructions()):
        operation, target = function.instruction_id(k), function.instruction_output(k)
        if operation == ca.OP_OUTPUT:
            group = groups[target[1]]
            stored[group].append(slot[function.instruction_input(k)[0]])
            builder.section = min(group + (len(stored[group]) == sizes[group]), last)
        elif operation == ca.OP_INPUT:
            argument, entry = function.instruction_input(k)
            slot[target[0]] = builder.input(names[argument], entry)
        elif operation == ca.OP_CONST:
            slot[target[0]] = builder.constant(function.instruction_constant(k))
        elif operation == ca.OP_CALL:
            arguments = tuple(slot[i] for i in function.instruction_input(k))
            for result, call in zip(target, _CALLS[len(arguments)], strict=True):
                slot[result] = builder.apply(call, arguments)
        else:
            slot[target[0]] = _operation(builder, operation, [slot[i] for i in function.instruction_input(k)])
    return builder, stored


def _operation(builder: Builder, operation: int, arguments: list[int]) -> int:
    known = _OF_CASADI.get(operation)
    if known is not None:
        return builder.apply(known, tuple(arguments[: known.arity or 1]))
    if operation == ca.OP_SQ:
        return builder.apply(MUL, (arguments[0], arguments[0]))
    if operation == ca.OP_TWICE:
        return builder.apply(ADD, (arguments[0], arguments[0]))
    if operation == ca.OP_IF_ELSE_ZERO:
        return builder.apply(WHERE, (arguments[0], arguments[1], builder.constant(0.0)))
    if operation == ca.OP_INV:
        return builder.apply(DIV, (builder.constant(1.0), arguments[0]))
    raise UnsupportedError(
        f"CasADi operation {operation} has no counterpart in the intermediate representation"
    )


def jacobian(
    values: Sequence[Scalar], by: Sequence[Scalar], rates: Sequence[Sequence[Scalar]] | None = None
) -> list[list[Scalar]]:
    """Return the derivatives of values with respect to the symbols `by` (len(values), len(by)). Constant
    entries are numbers.

    rates: rates of the symbols, one vector for each direction. With rates, return the derivatives along these
        directions (len(values), len(rates)).
    """
    if not by or not values:
        return [[] for _ in values]
    J = ca.jacobian(ca.vertcat(*map(expression, values)), ca.vertcat(*map(expression, by)))
    if rates is not None:
        J = ca.mtimes(J, ca.horzcat(*(ca.sparsify(_column(rate)) for rate in rates)))
    rows: list[list[Scalar]] = [[0.0] * J.shape[1] for _ in values]
    for row, column, x in zip(*J.sparsity().get_triplet(), J.nonzeros(), strict=True):
        rows[row][column] = float(x) if x.is_constant() else Symbolic(x)
    return rows


def derivative_along(values: Sequence[Scalar], by: Sequence[Scalar], rate: Sequence[Scalar]) -> list[Scalar]:
    """Return the derivatives of values along `rate`, a direction of the symbols `by`."""
    product = ca.jtimes(_column(values), _column(by), _column(rate))
    return [Symbolic(product[k]) for k in range(len(values))]


def substituted(
    rows: Sequence[Sequence[Scalar]], symbols: Sequence[Scalar], by: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Return rows of scalars in which symbols are replaced by the scalars `by`."""
    entries = [x for row in rows for x in row]
    (column,) = ca.substitute([_column(entries)], [_column(symbols)], [_column(by)])
    scalars = iter([x if is_number(x) else Symbolic(column[k]) for k, x in enumerate(entries)])
    return [[next(scalars) for _ in row] for row in rows]

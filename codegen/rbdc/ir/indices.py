"""Indices of loops as expressions: a number, a variable, an entry of a table, a sum, a multiple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Variable:
    """The variable of a loop."""

    name: str


@dataclass(frozen=True)
class Entry:
    """An integer of a table, counted through its rows."""

    table: str
    row: Index


@dataclass(frozen=True)
class Sum:
    """An index and a number, or another index."""

    index: Index
    number: Index


@dataclass(frozen=True)
class Multiple:
    """A number of times an index."""

    number: int
    index: Index


Index: TypeAlias = int | Variable | Entry | Sum | Multiple


def plus(index: Index, number: int) -> Index:
    """Return an index so many further on."""
    match index:
        case int():
            return index + number
        case Sum(inner, int() as already):
            return plus(inner, already + number)
        case _:
            return Sum(index, number) if number else index


def value_of(index: Index, variables: Mapping[str, int], columns: Mapping[str, Sequence[int]]) -> int:
    """Return the value of an index at these values of the variables, with the tables' integers by name."""
    match index:
        case Variable(name):
            return variables[name]
        case Entry(table, row):
            return columns[table][value_of(row, variables, columns)]
        case Sum(inner, number):
            return value_of(inner, variables, columns) + value_of(number, variables, columns)
        case Multiple(number, inner):
            return number * value_of(inner, variables, columns)
        case _:
            return index


def tables_in(index: Index) -> Iterator[str]:
    """Yield the tables that an index is looked up in, the last one first."""
    match index:
        case Entry(table, row):
            yield table
            yield from tables_in(row)
        case Sum(inner, number):
            yield from tables_in(inner)
            yield from tables_in(number)
        case Multiple(_, inner):
            yield from tables_in(inner)

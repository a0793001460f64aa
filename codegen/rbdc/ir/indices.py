"""Index expressions of loops: a number, a variable, an entry of a table, a sum, a multiple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Variable:
    """The variable of a loop."""

    name: str


@dataclass(frozen=True)
class TableEntry:
    """An entry of a table of integers; `row` is the index of the entry."""

    table: str
    row: Index


@dataclass(frozen=True)
class Sum:
    """The sum of an index and a number or another index."""

    index: Index
    number: Index


@dataclass(frozen=True)
class Multiple:
    """A multiple of an index."""

    number: int
    index: Index


Index: TypeAlias = int | Variable | TableEntry | Sum | Multiple


def plus(index: Index, number: int) -> Index:
    """Return an index plus a number."""
    match index:
        case int():
            return index + number
        case Sum(inner, int() as already):
            return plus(inner, already + number)
        case _:
            return Sum(index, number) if number else index


def value_of(index: Index, variables: Mapping[str, int], columns: Mapping[str, Sequence[int]]) -> int:
    """Return the value of an index for given variables and tables of integers."""
    match index:
        case Variable(name):
            return variables[name]
        case TableEntry(table, row):
            return columns[table][value_of(row, variables, columns)]
        case Sum(inner, number):
            return value_of(inner, variables, columns) + value_of(number, variables, columns)
        case Multiple(number, inner):
            return number * value_of(inner, variables, columns)
        case _:
            return index


def tables_in(index: Index) -> Iterator[str]:
    """Yield the tables from which an index is read."""
    match index:
        case TableEntry(table, row):
            yield table
            yield from tables_in(row)
        case Sum(inner, number):
            yield from tables_in(inner)
            yield from tables_in(number)
        case Multiple(_, inner):
            yield from tables_in(inner)

"""Indices of loops: their values, and the tables that they are looked up in."""

from __future__ import annotations

from rbdc.ir.indices import Sum, TableEntry, Variable, plus, tables_in, value_of

COLUMNS = {"parent": [-1, 0, 0, 2], "up": [3, 1]}
K = Variable("k")


def test_values() -> None:
    index = plus(TableEntry("parent", TableEntry("up", plus(K, -1))), 5)
    assert value_of(index, {"k": 1}, COLUMNS) == COLUMNS["parent"][COLUMNS["up"][0]] + 5 == 7
    assert value_of(K, {"k": 4}, {}) == 4 and value_of(9, {}, {}) == 9


def test_sums_are_one_number_at_most() -> None:
    assert plus(3, -1) == 2 and plus(K, 0) == K
    assert plus(plus(K, 1), 2) == Sum(K, 3)
    assert plus(plus(K, 1), -1) == K


def test_tables_of_an_index() -> None:
    assert list(tables_in(plus(TableEntry("parent", TableEntry("up", K)), 1))) == ["parent", "up"]
    assert list(tables_in(K)) == list(tables_in(2)) == []

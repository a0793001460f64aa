"""Base inertial parameters in symbols: the combinations of masses, first moments and inertias on which the
equations of motion of a small robot depend, with lengths as named constants.

M and dV/dq are linear in the ten parameters of each body. Written out over sines, cosines and positions,
each parameter is a column of polynomials in the lengths; columns that depend on others are told by exact
elimination.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy import QQ
from sympy.polys.matrices import DomainMatrix

from rbdc.analysis.constants import Constant, NamedModel
from rbdc.analysis.lagrange import Derivation, Polynomial, Pose, Vector

Column = dict[tuple[int, ...], Polynomial]
Combinations = list[tuple[int, list[tuple[int, Any]]]]
"""For each base parameter the number of the parameter that leads, and the others with their factors."""


def combinations(named: NamedModel) -> tuple[Combinations, list[Constant]] | None:
    """The base parameters, and the constants in their factors; None for a model with oblique constant angles
    or axes, whose sines and cosines the elimination would take for independent.
    """
    if named.angles or named.axes:
        return None
    derivation = Derivation(named)
    columns = [column for k in range(len(named.bodies)) for column in _columns(derivation, k)]
    rows = sorted({row for column in columns for row in column})
    lengths = [c for c in named.constants if any(c.name in body.offset for body in named.bodies)]
    field = QQ.frac_field(*(c.name for c in lengths)) if lengths else QQ
    matrix = [[_in_field(column.get(row), derivation, field) for column in columns] for row in rows]
    reduced, pivots = DomainMatrix(matrix, (len(rows), len(columns)), field).rref()
    entries = reduced.to_Matrix()
    found: Combinations = []
    for row, pivot in enumerate(pivots):
        others = [(k, sympy.factor(entries[row, k])) for k in range(len(columns)) if k != pivot]
        found.append((int(pivot), [(k, factor) for k, factor in others if factor != 0]))
    used = {str(s) for _, terms in found for _, factor in terms for s in factor.free_symbols}
    return found, [c for c in lengths if c.name in used]


def _in_field(x: Polynomial | None, derivation: Derivation, field: Any) -> Any:
    """A polynomial in lengths as an element of their field."""
    return field.zero if x is None else field.from_sympy(x.as_expr())


def _columns(derivation: Derivation, k: int) -> list[Column]:
    """The ten columns of body k: what each parameter alone adds to M and to dV/dq."""
    pose = derivation.poses()[k]
    slopes = {i: _slopes(derivation, pose, i) for i in derivation.carrying(k)}
    field = [derivation.atom(_direction(x)) for x in derivation.named.gravity]
    found = []
    for moments in _moments():
        column: Column = {}
        for i in slopes:
            for j in (j for j in slopes if j <= i):
                terms = [
                    derivation.dot(slopes[i][x], slopes[j][y]) * factor for (x, y), factor in moments.items()
                ]
                _add(derivation, column, (0, i, j), sum(terms, derivation.ring(0)))
            weight = [derivation.dot(field, slopes[i][x]) * moments.get((x, 3), 0) for x in range(4)]
            _add(derivation, column, (1, i, 0), sum(weight, derivation.ring(0)))
        found.append(column)
    return found


def _direction(atom: int | str) -> int | str:
    """Gravity's strength multiplies all of dV/dq, and so tells no columns apart."""
    return atom if isinstance(atom, int) else -1 if atom == "-g" else 1 if atom == "g" else atom


def _slopes(derivation: Derivation, pose: Pose, i: int) -> list[Vector]:
    """By q_i the derivatives of the three axes and of the origin of a body's frame."""
    q = derivation.coordinates[i]
    columns = [*(list(column) for column in zip(*pose.rotation, strict=True)), pose.origin]
    return [[derivation.by(q, x) for x in column] for column in columns]


def _moments() -> list[dict[tuple[int, int], Any]]:
    """Entries of each of the ten parameters in the matrix of moments, [sum m r r^T, m c; m c^T, m]."""
    found: list[dict[tuple[int, int], Any]] = [{(3, 3): QQ(1)}]
    found += [{(x, 3): QQ(1), (3, x): QQ(1)} for x in range(3)]
    for x, y in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        if x == y:
            found.append({(z, z): QQ(-1 if z == x else 1, 2) for z in range(3)})
        else:
            found.append({(x, y): QQ(-1), (y, x): QQ(-1)})
    return found


def _add(derivation: Derivation, column: Column, entry: tuple[int, int, int], x: Polynomial) -> None:
    """Take an entry apart by its sines, cosines and positions: a row of the column for each of their
    monomials.
    """
    varying = {name for pair in derivation.turning.values() for name in pair} | set(derivation.coordinates)
    names = [str(symbol) for symbol in derivation.ring.symbols]
    for monomial, coefficient in derivation.reduced(x).terms():
        row = (*entry, *(n if name in varying else 0 for name, n in zip(names, monomial, strict=True)))
        rest = tuple(0 if name in varying else n for name, n in zip(names, monomial, strict=True))
        column[row] = column.get(row, derivation.ring(0)) + derivation.ring({rest: coefficient})

"""Sparsity of a robot's matrices as figures: which joints move which link, and which entries of M, its
inverse and the derivatives are zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.trace import silent
from rbdc.emit.render import part
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import PRESETS, Function
from rbdc.model import Problem
from rbdc.planning.availability import buildable, random_configurations

STATES = 2
"""Number of random states at which an entry must vanish to count as zero."""
ZERO = 1e-10
"""Share of the largest entry of a matrix below which an entry vanishes."""
_OF_PRESETS = PRESETS[:2]

Entries = NDArray[np.bool_]


class Pattern(NamedTuple):
    """The nonzero entries of a matrix, and the names of the matrices with this pattern."""

    names: tuple[str, ...]
    entries: Entries


def patterns(model: Problem) -> list[Pattern]:
    """Return the pattern of moving links (rows) over directions of v (columns), and the patterns of all
    matrices (nv, nv) of control functions and first derivatives.

    Matrices with nonzero entries at the same places share one `Pattern`.
    """
    by_entries: dict[bytes, Pattern] = {}
    for name, entries in _matrices(model):
        before = by_entries.get(entries.tobytes())
        names = (name,) if before is None else (*before.names, name)
        by_entries[entries.tobytes()] = Pattern(names, entries)
    return [Pattern(("Jacobians: links over directions of v",), moved_links(model)), *by_entries.values()]


def moved_links(model: Problem) -> Entries:
    """Return for each moving link (row) which directions of v move it (njoints, nv)."""
    entries = np.zeros((model.njoints, model.nv), dtype=bool)
    for index in range(model.njoints):
        for carrier in model.support(index):
            entries[index, model.v_slice(carrier)] = True
    return entries


def _matrices(model: Problem) -> Iterator[tuple[str, Entries]]:
    """Yield the nonzero entries of the catalogue's outputs (nv, nv), named by function and output."""
    catalogue = functions_of(model)
    names = [name for name, f in catalogue.items() if f.preset in _OF_PRESETS and f.methods]
    for name in buildable(model, names, None)[0]:
        numbers = [
            (number, output.name)
            for number, output in enumerate(catalogue[name].declaration.outputs)
            if output.shape == (model.nv, model.nv)
        ]
        if numbers:
            results = _at_random(model, catalogue[name])
            yield from (
                (f"{name}: {output}", _pattern([result[number] for result in results]).reshape(model.nv, -1))
                for number, output in numbers
            )


def _at_random(model: Problem, function: Function) -> list[list[list[float]]]:
    rng, evaluate = np.random.default_rng(0), next(iter(function.methods.values()))
    outputs = []
    for q in random_configurations(model, rng, STATES):
        inputs = {
            p.name: (q if p.configuration else rng.normal(size=p.size)).tolist()
            for p in function.declaration.required
        }
        outputs.append(evaluate(model, inputs, silent))
    return outputs


def _pattern(results: list[list[float]]) -> Entries:
    sizes = np.abs(np.array(results, dtype=float))
    entries: Entries = np.any(sizes > ZERO * sizes.max(axis=1, keepdims=True), axis=0)
    return entries


def pattern_figures(matrices: list[Pattern]) -> str:
    """Return patterns as HTML, one SVG each."""
    return part("patterns.html.jinja", patterns=[_view(one) for one in matrices])


def _view(one: Pattern) -> dict[str, object]:
    rows, columns = one.entries.shape
    runs = [(k, *run) for k, row in enumerate(one.entries) for run in _runs(row.tolist())]
    return {
        "names": one.names,
        "rows": rows,
        "columns": columns,
        "cells": "".join(f"M{start} {k}h{length}v1h-{length}z" for k, start, length in runs),
        "words": f"{int(one.entries.sum())} of {one.entries.size} entries are not zero",
    }


def _runs(row: list[bool]) -> Iterator[tuple[int, int]]:
    start = None
    for k, filled in enumerate([*row, False]):
        if filled and start is None:
            start = k
        elif not filled and start is not None:
            yield start, k - start
            start = None

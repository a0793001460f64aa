"""The terms of FDSVA-SO by themselves: each way gives the products of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import minverse
from rbdc.algorithms.reference.derivatives.idsva_so import second_derivatives
from rbdc.model.families import BINARY, tree
from rbdc.native.toolchain import toolchain
from rbdc.report.measure.loops import LoadedMethod, pointers_to
from rbdc.report.methods.contenders import library_of
from rbdc.report.methods.implementation import ENTRY
from rbdc.report.methods.records import Contender
from rbdc.report.studies.methods.forward_terms import INNER, WAYS, term_as_loops, times_of_terms
from tests.support import Array, assert_close

MODEL = tree(4, BINARY)
TOOLS = toolchain(None, ["-O0"])


def inputs() -> tuple[list[float], Array, Array]:
    """Return q, a matrix and a tensor."""
    rng, n = np.random.default_rng(0), MODEL.nv
    return rng.standard_normal(n).tolist(), rng.standard_normal((n, n)), rng.standard_normal((n, n, n))


@pytest.mark.parametrize(("term", "way"), [(term, way) for term, ways in WAYS.items() for way in ways])
def test_terms(term: str, way: str) -> None:
    q, matrix, tensor = inputs()
    rest, n = [0.0] * MODEL.nv, MODEL.nv
    if term == INNER:
        by_q = np.array(second_derivatives(MODEL, q, rest, rest, None)[3], dtype=np.float64)
        factors, expected = [by_q, matrix], by_q.transpose(0, 2, 1) @ matrix
    else:
        inverse = np.array(minverse(MODEL, q), dtype=np.float64)
        factors, expected = [inverse, tensor], -np.tensordot(inverse, tensor, 1)
    _, code = term_as_loops(MODEL, term, way)
    library = library_of(code.files, TOOLS, flags=code.flags)
    method = LoadedMethod(Contender(way, "", "", library.path, ENTRY), [n**3])
    (found,) = method.results(pointers_to([np.array(q), *map(np.ascontiguousarray, factors)]))
    assert_close(found.reshape(n, n, n), expected, 1e-12)


def test_times_are_in_the_form_of_entries() -> None:
    report: dict[str, Any] = times_of_terms(MODEL, TOOLS, 0.01)
    assert {term: list(of["methods"]) for term, of in report.items()} == {t: list(x) for t, x in WAYS.items()}
    assert all(way["nanoseconds"] > 0.0 for of in report.values() for way in of["methods"].values())

"""The inner and the outer term of equation (46) of Singh, Russell and Wensing (FDSVA-SO) apart from the rest,
as loops in C: by tensor products (DTM), by first derivatives of inverse dynamics (IDFOZA), and by forward
dynamics (AZA).

The functions that compute the terms are those of the whole FDSVA-SO. Their inputs are random tensors and
matrices, and a random q.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rbdc.algorithms.reference.derivatives.fdsva_so import inner_term, outer_term
from rbdc.algorithms.tools.machine import Array
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.ir.loops import Sines
from rbdc.model import Problem
from rbdc.native.toolchain import Toolchain
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import TreeTables
from rbdc.report.accuracy import draw
from rbdc.report.measure.loops import LoadedMethod, Timer, interleaved
from rbdc.report.measure.timing import measuring
from rbdc.report.methods.contenders import library_of, of_nest
from rbdc.report.methods.implementation import ENTRY, Implementation
from rbdc.report.methods.records import Contender
from rbdc.spatial import Scalar

INNER, OUTER = "inner term", "outer term"
DTM, IDFOZA, AZA = "DTM", "IDFOZA", "AZA"
WAYS: Mapping[str, Mapping[str, Callable[..., Array[Scalar]]]] = {
    INNER: {DTM: partial(inner_term, by_derivatives=False), IDFOZA: partial(inner_term, by_derivatives=True)},
    OUTER: {
        DTM: partial(outer_term, name="outer", by_dynamics=False),
        AZA: partial(outer_term, name="outer", by_dynamics=True),
    },
}
"""By term, the function of each way to compute it."""
INPUTS = {INNER: {"dM_dq": 3, "matrix": 2}, OUTER: {"inverse": 2, "tensor": 3}}
"""Inputs of each term beside q, with the number of their dimensions. The matrix of the inner term is FD_q,
FD_v or M^-1.
"""


def term_as_loops(model: Problem, term: str, way: str) -> tuple[FunctionDeclaration, Implementation]:
    """Return the declaration and the C of a term computed in one way: DTM, AZA or IDFOZA."""
    n, inputs = model.nv, INPUTS[term]
    given = (Parameter(name, (n,) * rank, "") for name, rank in inputs.items())
    q, output = Parameter("q", (model.nq,), "", Kind.CONFIGURATION), Parameter("result", (n, n, n), "")
    declaration = FunctionDeclaration("term", f"The {term} by {way}.", (q, *given), (output,))

    def text(m: Loops, result: str) -> None:
        m.names |= {"inner": result, "outer": result, "rest_dtau_dv": "", "rest_dtau_da": ""}
        WAYS[term][way](m, *map(m.result, inputs))

    loops = nest(TreeTables(model), text, declaration)
    if way == DTM:  # DTM needs no angles
        loops = replace(loops, statements=tuple(x for x in loops.statements if not isinstance(x, Sines)))
    return declaration, of_nest(model, declaration, loops, f"{term} by {way}")


def times_of_terms(model: Problem, tools: Toolchain, seconds: float) -> dict[str, Any]:
    """Return the least time of a call (ns) of each term computed in each way, in the form of a report's
    functions. seconds: duration of the measurement of a term (s).
    """
    rng, timing = np.random.default_rng(1), str(measuring(tools.compiler, tools.flags))
    q = draw(model, 1)["q"]
    report: dict[str, Any] = {}
    for term, ways in WAYS.items():
        given = [rng.standard_normal((1, model.nv**rank)) for rank in INPUTS[term].values()]
        timer, methods = Timer(timing, [q, *given]), []
        for way in ways:
            declaration, code = term_as_loops(model, term, way)
            library = library_of(code.files, tools, flags=code.flags)
            contender = Contender(way, "analytical", code.algorithm, library.path, ENTRY)
            methods.append(LoadedMethod(contender, [p.size for p in declaration.outputs]))
        _, passes = interleaved([partial(timer.hot, method) for method in methods], 1, seconds)
        times = zip(ways, map(min, passes), strict=True)
        report[term] = {"methods": {way: {"nanoseconds": time} for way, time in times}}
    return report

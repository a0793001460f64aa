"""The recursions of the literature in the form of the catalogue's methods, to be compiled and compared."""

from __future__ import annotations

from rbdc.algorithms.reference.table import FRAMED, METHODS
from rbdc.functions.catalogue import Function
from rbdc.functions.evaluation import Evaluate, on_model

CHECKS_ONLY = (*FRAMED, "forward_kinematics", "integrate", "difference")
"""Functions whose generated method is the textbook's too: their reference checks results and is not timed."""

PAPERS: dict[str, dict[str, Evaluate]] = {
    name: {method: on_model(algorithm) for method, algorithm in methods.items()}
    for name, methods in METHODS.items()
    if name not in CHECKS_ONLY
}
"""The papers' recursions by function and method, on the model with the links' frames of the description."""


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """The papers' recursions for a function; for one of `CHECKS_ONLY` its generated methods."""
    return PAPERS.get(function.declaration.name, dict(function.methods))

"""The recursions of the literature in the form of the catalogue's methods, to be compiled and compared."""

from __future__ import annotations

from rbdc.functions.evaluation import Evaluate, on_model
from rbdc.functions.record import Function
from rbdc.functions.references import references_of


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """The papers' recursions for a function, on the model with the links' frames of the description.

    The generated methods where these are the textbook's too: references check their results and are not
    timed.
    """
    if function.comparison.checks_only:
        return dict(function.methods)
    return {method: on_model(algorithm) for method, algorithm in references_of(function).items()}

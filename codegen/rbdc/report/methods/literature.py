"""The recursions of the literature in the form of the catalogue's methods, to be compiled and compared."""

from __future__ import annotations

from rbdc.functions.evaluation import Evaluate, on_model
from rbdc.functions.record import Function
from rbdc.functions.references import references_of


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """The papers' recursions for a function, on the model with the links' frames of the description; the generated methods where
    these are the textbook's too: the reference's form of them checks results and is not timed.
    """
    if function.generated_as_in_textbooks:
        return dict(function.methods)
    return {name: on_model(algorithm) for name, algorithm in references_of(function).items()}

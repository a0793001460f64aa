"""The recursions of the literature in the form of the catalogue's methods, to be compiled and compared."""

from __future__ import annotations

from rbdc.functions.evaluation import Evaluate, JointSpace, on_model
from rbdc.functions.record import Function
from rbdc.functions.references import reference_of, references_of


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """The papers' recursions for a function, on the model with the links' frames of the description, and,
    where its record names that, the deciding one on the joint-space model.

    The generated methods where these are the textbook's too: references check their results and are not
    timed.
    """
    if function.comparison.checks_only:
        return dict(function.methods)
    made: dict[str, Evaluate] = {name: on_model(each) for name, each in references_of(function).items()}
    through_passes = function.comparison.through_passes
    return {**made, through_passes: JointSpace(reference_of(function))} if through_passes else made

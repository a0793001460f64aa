"""The papers' own recursions, in the form of the catalogue's methods: what `compare` compiles, and what it takes for true."""

from __future__ import annotations

from rbdc.algorithms.trace import Trace
from rbdc.functions.evaluation import Evaluate, Inputs, arrays, on_model
from rbdc.functions.record import Function
from rbdc.functions.references import reference_of, references_of
from rbdc.model import Model
from rbdc.spatial import Scalar


def deepest_frame(model: Model) -> int:
    """The frame that most joints carry: what the framed functions are measured with; the first of equals."""
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return depth.index(max(depth))


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """The papers' own recursions for a function, on the model with the links' frames as the description has them; the generated methods
    where these are the textbook's too.
    """
    if function.generated_as_in_textbooks:
        return dict(function.methods)
    return {name: on_model(algorithm) for name, algorithm in references_of(function).items()}


def true_method(function: Function) -> Evaluate:
    """The reference for a function; of a framed one for `deepest_frame` in LOCAL coordinates."""
    algorithm = reference_of(function)
    if not function.declaration.framed:
        return on_model(algorithm)

    def evaluate(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        del trace  # frames have no sections of their own
        return arrays(algorithm(model, *inputs.values(), deepest_frame(model), "LOCAL"))

    return evaluate

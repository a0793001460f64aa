"""The papers' own recursions, in the form of the catalogue's methods: what `compare` compiles, and what it takes for true."""

from __future__ import annotations

from rbdc.algorithms.reference.table import FRAMED, METHODS, reference_of
from rbdc.algorithms.trace import Trace
from rbdc.functions.catalogue import Function
from rbdc.functions.evaluation import Evaluate, Inputs, arrays, on_model
from rbdc.model import Model
from rbdc.spatial import Scalar

CHECKS_ONLY = (*FRAMED, "forward_kinematics", "integrate", "difference")
"""Functions of which the generated method is the textbook's too: the reference's form of them checks results and is not timed."""

PAPERS: dict[str, dict[str, Evaluate]] = {
    name: {method: on_model(algorithm) for method, algorithm in methods.items()}
    for name, methods in METHODS.items()
    if name not in CHECKS_ONLY
}
"""By function the papers' own recursions, on the model with the links' frames as the description has them."""


def deepest_frame(model: Model) -> int:
    """The frame that most joints carry: what the framed functions are measured with; the first of equals."""
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return depth.index(max(depth))


def by_the_papers(function: Function) -> dict[str, Evaluate]:
    """Those of a function; for one of `CHECKS_ONLY` the generated methods."""
    return PAPERS.get(function.declaration.name, dict(function.methods))


def true_method(function: Function) -> Evaluate:
    """The reference for a function; of a framed one for `deepest_frame` in LOCAL coordinates."""
    algorithm = reference_of(function.declaration.name)
    if not function.declaration.framed:
        return on_model(algorithm)

    def evaluate(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        del trace  # frames have no sections of their own
        return arrays(algorithm(model, *inputs.values(), deepest_frame(model), "LOCAL"))

    return evaluate

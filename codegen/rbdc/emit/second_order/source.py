"""The C of functions as loops along the paths of the tree."""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.second_order.forward import forward_source, vector_source
from rbdc.emit.second_order.inverse import inverse_source
from rbdc.emit.second_order.loops import LoopsAlongPaths, is_weighted
from rbdc.model import Model


def loops_source(robot: str, loops: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of the function: of a Hessian of weighted sums, of tensors of forward dynamics, which call
    others, or of inverse dynamics.
    """
    if is_weighted(loops.declaration):
        return vector_source(robot, loops, model, version)
    return (forward_source if loops.uses else inverse_source)(robot, loops, model, version)

"""Which entries of tensors over the degrees of freedom are zero whatever the inputs, and functions whose
outputs hold the others alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdc.algorithms.trace import Trace
from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import Parameter
from rbdc.functions.evaluation import Evaluate, Inputs
from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.spatial import Scalar

LAYOUTS = ("dense", "sparse")
"""Every entry; those that are not zero whatever the inputs."""


def on_one_path(model: Model) -> list[list[int]]:
    """For each degree of freedom those on a path from the root with it: of its own joint, of joints above and
    of joints below.
    """
    rows = []
    for index, body in enumerate(model.bodies):
        own = [k for k in range(model.njoints) if k in model.support(index) or index in model.support(k)]
        dofs = [d for k in own for d in range(model.nv)[model.v_slice(k)]]
        rows += [sorted(dofs)] * body.joint.nv
    return rows


def chains(model: Model, outputs: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Of each output the entries whose three indices are on one path, as numbers of a dense tensor: second
    derivatives of inverse dynamics.
    """
    rows, n = on_one_path(model), model.nv
    sets = [set(row) for row in rows]
    entries = tuple((i * n + j) * n + k for i in range(n) for j in rows[i] for k in rows[j] if k in sets[i])
    return dict.fromkeys(outputs, entries)


def pairs(model: Model, outputs: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Of each output the entries whose last two indices are on one path: second derivatives of forward
    dynamics by two velocities.
    """
    rows, n = on_one_path(model), model.nv
    entries = tuple((i * n + j) * n + k for i in range(n) for j in range(n) for k in rows[j])
    return dict.fromkeys(outputs, entries)


def in_layout(model: Model, function: Function, layout: str) -> Function:
    """The function with its tensors in that layout.

    Raises UnsupportedError where it has a sparse one that the model has not.
    """
    if layout == LAYOUTS[0] or function.sparse is None:
        return function
    if model.coupled:
        raise UnsupportedError(
            f"{function.name}: --tensor-layout sparse is for joints that are not coupled; build with "
            "--mimic independent, or dense"
        )
    held = function.sparse(model)
    outputs = tuple(_holding(p, held[p.name]) if p.name in held else p for p in function.declaration.outputs)
    methods = {name: _picking(evaluate, outputs) for name, evaluate in function.methods.items()}
    return replace(function, declaration=replace(function.declaration, outputs=outputs), methods=methods)


def _holding(parameter: Parameter, entries: tuple[int, ...]) -> Parameter:
    return replace(parameter, shape=(len(entries),), entries=entries, whole=parameter.shape)


def _picking(evaluate: Evaluate, outputs: Sequence[Parameter]) -> Evaluate:
    """The evaluation of dense outputs, of which those entries are kept that are held."""

    def picked(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        found = evaluate(model, inputs, trace)
        return [p.held(x) for p, x in zip(outputs, found, strict=True)]

    return picked


def entries_by_index(outputs: Sequence[Parameter]) -> Mapping[str, list[tuple[int, ...]]]:
    """The indices of what each output holds of a tensor, of those that do not hold all."""
    return {p.name: [_indices(entry, p.whole) for entry in p.entries] for p in outputs if p.entries}


def _indices(entry: int, shape: Sequence[int]) -> tuple[int, ...]:
    found: list[int] = []
    for size in reversed(shape):
        entry, last = divmod(entry, size)
        found.insert(0, last)
    return tuple(found)

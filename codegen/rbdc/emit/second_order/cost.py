"""Operations of the loops along paths, on vectors: what the templates say, times how often they run."""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.emit.second_order.loops import LoopsAlongPaths
from rbdc.emit.second_order.paths import Layout, layout
from rbdc.functions.declarations import Kind
from rbdc.ir.cost import Cost
from rbdc.model import Model

OPERATORS_OF = 496
"""Operations on the vectors of some degrees of freedom in `operators` of paths.h."""
COLUMNS_OF = 265
"""Operations that `deepest` of second_inverse.c makes for the directions of a vector."""
ABOVE = 60
"""A row of torques above."""
OWN = 47
"""A row of the own torque."""


PAIRS_OF = 96
"""The blocks of the Hessian for one degree of freedom and a vector of those above it."""
WEIGHTS_OF = 140
"""Operations for a vector of rows of M^-1 and one degree of freedom."""


def loop_cost(planned: LoopsAlongPaths, model: Model) -> Cost:
    """Cost of a function of form PATHS, without the straight-line code before and the functions that it
    calls.
    """
    made, forward = layout(model, planned.declaration.scalar), bool(planned.uses)
    if any(p.kind is Kind.WEIGHTS for p in planned.declaration.inputs):
        return vector_cost(made, forward=forward)
    return forward_cost(made) if forward else inverse_cost(made)


def inverse_cost(layout: Layout) -> Cost:
    """Cost of the tensors of inverse dynamics, without the straight-line code before."""
    operations = OPERATORS_OF * (layout.columns // layout.lanes)
    for length, above in _deepest(layout):
        vectors = -(-length // layout.lanes)
        own = sum(length - min(k, length) for k in range(0, vectors * layout.lanes, layout.lanes))
        operations += vectors * (COLUMNS_OF + ABOVE * above) + OWN * own
    return Cost(vectors=operations, lane_flops=layout.lanes * operations)


def solve_cost(layout: Layout, sides: int) -> int:
    """Operations on vectors of solves with M for so many square right sides: two passes over the factors."""
    return sum(4 * length * sides * layout.columns // layout.lanes for length, _ in _deepest(layout))


def forward_cost(layout: Layout) -> Cost:
    """Cost of the tensors of forward dynamics: first derivatives, the products of weights and terms, and what
    makes these.
    """
    vectors, size = layout.columns // layout.lanes, layout.size
    operations = (
        OPERATORS_OF * vectors + len(layout.joints) * WEIGHTS_OF * 3 * vectors + solve_cost(layout, 3)
    )
    moving = -(-(size - layout.root) // layout.lanes)
    for length, above in _deepest(layout):
        if above == 0:  # M does not depend on its q
            continue
        products = 2 * (12 * (2 * vectors + moving) + 6 * vectors) * size
        operations += products + 2 * WEIGHTS_OF * vectors + 36 * size * -(-length // layout.lanes)
    return Cost(divisions=size, vectors=operations, lane_flops=layout.lanes * operations)


def vector_cost(layout: Layout, *, forward: bool) -> Cost:
    """Cost of the Hessian of weighted sums: the entries of each pair on a path; a solve with
    M, and products with what is on one path."""
    operations = OPERATORS_OF * (layout.columns // layout.lanes)
    operations += sum(PAIRS_OF * -(-length // layout.lanes) for length, _ in _deepest(layout))
    if forward:
        operations += 3 * solve_cost(layout, 1)
    divisions = layout.size if forward else 0
    return Cost(divisions=divisions, vectors=operations, lane_flops=layout.lanes * operations)


def _deepest(layout: Layout) -> Iterator[tuple[int, int]]:
    """For each degree of freedom the length of its path and how much of it is above its joint."""
    for joint in layout.joints:
        yield from ((joint.position + joint.size, joint.position) for _ in range(joint.size))

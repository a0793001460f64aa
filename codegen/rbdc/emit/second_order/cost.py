"""Operations of the loops along paths, on vectors: those of their bodies, and the products of rows and
columns around them, times how often they run.
"""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.emit.second_order.loops import LoopsAlongPaths, is_weighted
from rbdc.emit.second_order.paths import Layout, layout
from rbdc.ir.cost import Cost
from rbdc.model import Model


def _sum_of(*products: int) -> int:
    """Operations of sums of so many products each."""
    return sum(2 * count - 1 for count in products)


ABOVE = _sum_of(6, 6, 6, 3) + 6 + 6 + 1
"""A row of torques above: qq, crossed and moved, and the two halves of vv, which share a linear part."""
ROOT_ABOVE = _sum_of(6, 6, 6, 3) + 1
"""A row of torques above for directions of a free root: both halves of vv, moved and qq."""
OWN = _sum_of(9, 9, 3, 3)
"""A row of the own torque: qq, moved, vv and crossed."""
PAIRS = _sum_of(15, 9, 9, 6, 6, 3)
"""The blocks of the Hessian for one degree of freedom and a vector of those above it."""
VELOCITIES = _sum_of(9, 9) + 1
"""A row of M^-1 by two velocities, and by q and v."""


def loop_cost(planned: LoopsAlongPaths, model: Model) -> Cost:
    """Cost of a function of form PATHS, without the straight-line code before and the functions that it
    calls.
    """
    made, forward = layout(model, planned.declaration.scalar), bool(planned.uses)
    count = _weighted if is_weighted(planned.declaration) else _forward if forward else _inverse
    operations = planned.operations("operators") * _vectors(made, made.size) + count(planned, made)
    return Cost(divisions=made.size if forward else 0, vectors=operations, lane_flops=made.lanes * operations)


def _inverse(planned: LoopsAlongPaths, made: Layout) -> int:
    """The tensors of inverse dynamics."""
    columns = sum(map(planned.operations, ("columns", "columns_of_several")))
    total = 0
    for length, above in _deepest(made):
        vectors, root = _vectors(made, length - made.root), len(made.root_parts)
        own = sum(length - min(k, length) for k in range(made.root, length, made.lanes))
        total += vectors * (columns + ABOVE * above) + OWN * (own + root * length)
        total += root * (planned.operations("columns_of_root") + ROOT_ABOVE * above)
    return total


def _solved(made: Layout, sides: int) -> int:
    """Solves with M for so many square right sides: two passes over the factors."""
    return sum(4 * length * sides * _vectors(made, made.size) for length, _ in _deepest(made))


def _forward(planned: LoopsAlongPaths, made: Layout) -> int:
    """The tensors of forward dynamics: first derivatives, sums over paths and subtrees, the products of
    weights and terms, and what makes these.
    """
    vectors, size = _vectors(made, made.size), made.size
    moving = _vectors(made, size - made.root)
    total = _solved(made, 3) + 2 * (3 * 12 + 9) * size * vectors
    for joint in made.joints:
        if joint.position == 0:  # M does not depend on its q
            continue
        blocks, below = _vectors(made, joint.position + joint.size), _vectors(made, joint.end - joint.dof)
        terms = planned.operations("terms_above") * blocks + 2 * planned.operations("turned") * below
        terms += (planned.operations("weigh") + 3 * planned.operations("terms_of_columns")) * vectors
        products = 2 * (12 * (2 * vectors + moving) + 6 * vectors) * size
        velocities = (planned.operations("by_velocities") + VELOCITIES * size) * blocks
        total += joint.size * (terms + products + velocities)
    return total


def _weighted(planned: LoopsAlongPaths, made: Layout) -> int:
    """The Hessian of weighted sums: the entries of each pair on a path; a solve with M, and products with
    what is on one path.
    """
    pairs = sum(PAIRS * _vectors(made, length) for length, _ in _deepest(made))
    total = planned.operations("rows_of") * _vectors(made, made.size) + pairs
    return total + (3 * _solved(made, 1) if planned.uses else 0)


def _vectors(made: Layout, count: int) -> int:
    return -(-count // made.lanes)


def _deepest(made: Layout) -> Iterator[tuple[int, int]]:
    """For each degree of freedom the length of its path and how much of it is above its joint."""
    for joint in made.joints:
        yield from ((joint.position + joint.size, joint.position) for _ in range(joint.size))

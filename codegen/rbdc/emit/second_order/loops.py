"""Functions as loops along the paths of the tree, and their operations on vectors: those of their bodies, and
the products of rows and columns around them, times how often they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.second_order.paths import Layout
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.ir.cost import Cost, cost
from rbdc.ir.lanes import LaneProgram
from rbdc.ir.nodes import Program


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


@dataclass(frozen=True)
class Called:
    """A function that loops call, under a name of its own: its operations, and its C by the robot's name."""

    declaration: FunctionDeclaration
    cost: Cost
    printed: Callable[[str], FunctionSource]


@dataclass(frozen=True)
class LoopsAlongPaths:
    """A function as loops along the paths of the tree.

    programs: the straight-line code that the loops start from; of two the first goes without the optional
    input. bodies: of the loops, `operators` first, which all share. uses: functions that this one calls.
    """

    declaration: FunctionDeclaration
    programs: tuple[Program, ...]
    bodies: tuple[LaneProgram, ...]
    uses: tuple[Called, ...] = ()

    def operations(self, name: str) -> int:
        """Operations of a body, 0 of one that the function does without."""
        return sum(body.cost.operations for body in self.bodies if body.program.name == name)

    def cost(self, made: Layout) -> Cost:
        """Operations of the loops, the straight-line code before, and the functions that they call."""
        count = _weighted if is_weighted(self.declaration) else _forward if self.uses else _inverse
        operations = self.operations("operators") * _vectors(made, made.size) + count(self, made)
        loops = Cost(vectors=operations, lane_flops=made.lanes * operations)
        return sum((use.cost for use in self.uses), cost(self.programs[0]) + loops)


def is_weighted(declaration: FunctionDeclaration) -> bool:
    """Whether it is the Hessian of weighted sums."""
    return any(p.kind is Kind.WEIGHTS for p in declaration.inputs)


def body_names(declaration: FunctionDeclaration, made: Layout, *, forward: bool) -> tuple[str, ...]:
    """The bodies of a function's loops (`rbdc.planning.loops.path_bodies`): of a Hessian of weighted sums,
    of tensors of forward dynamics, or of inverse dynamics.
    """
    if is_weighted(declaration):
        return ("operators", "rows_of", *(("pair",) if made.pairs else ()))
    if forward:
        own = ("weigh", "terms_of_columns", "terms_above", "own_terms", "turned", "by_velocities")
        return ("operators", *own, *(("pair_of_sums",) if made.same else ()))
    columns = ("columns_of_several", "of_one_joint") if made.several else ("columns",)
    return ("operators", *columns, *(("columns_of_root",) if made.free else ()))


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


def _forward(planned: LoopsAlongPaths, made: Layout) -> int:
    """The tensors of forward dynamics: products of M^-1 and slopes, sums over paths and subtrees, products of
    weights and terms, and what makes these.
    """
    vectors, size = _vectors(made, made.size), made.size
    moving = _vectors(made, size - made.root)
    total = (2 * (3 * 12 + 9) + 4 * size) * size * vectors
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
    """The Hessian of weighted sums: the entries of each pair on a path; products of its block by q and a with
    M^-1, and of these with slopes.
    """
    vectors = _vectors(made, made.size)
    pairs = sum(PAIRS * _vectors(made, length) for length, _ in _deepest(made))
    products = 6 * made.size**2 * vectors if planned.uses else 0
    return planned.operations("rows_of") * vectors + pairs + products


def _vectors(made: Layout, count: int) -> int:
    return -(-count // made.lanes)


def _deepest(made: Layout) -> Iterator[tuple[int, int]]:
    """For each degree of freedom the length of its path and how much of it is above its joint."""
    for joint in made.joints:
        yield from ((joint.position + joint.size, joint.position) for _ in range(joint.size))

"""How degrees of freedom lie on the paths of the tree, and the operations of loops over these on vectors:
those of the loops' bodies, and the products of rows and columns around them, times how often they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, cost, counted
from rbdc.ir.operations import MUL
from rbdc.model import WORLD, Problem
from rbdc.planning.plans import Paths

STATE = 52
"""Rows of what straight-line code gives for each degree of freedom
(`rbdc.algorithms.derivatives.second_order.path_quantities`).
"""
BYTES = 32
"""Bytes of a vector: half of the longest registers wastes fewer lanes on paths of a few degrees of freedom,
and processors that compute with the longest ones in two halves take no longer.
"""


@dataclass(frozen=True)
class JointOnPath:
    """A joint: its first degree of freedom, how many come before it on its path, and how many it has.

    above: the number of the joint above, of a root its own. end: the first degree of freedom after all
    that it carries.
    """

    dof: int
    position: int
    size: int
    above: int
    end: int


@dataclass(frozen=True)
class Layout:
    """Joints, degrees of freedom, and how many of these fill a vector. free: the tree hangs on one free body,
    in whose frame all is.
    """

    joints: tuple[JointOnPath, ...]
    size: int
    lanes: int
    free: bool

    @property
    def pitch(self) -> int:
        """From one row of quantities along a path to the next: a vector may begin at any of them."""
        longest = max(joint.position + joint.size for joint in self.joints)
        return -(-(longest + self.lanes - 1) // self.lanes) * self.lanes

    @property
    def columns(self) -> int:
        """From one row of operators to the next."""
        return -(-self.size // self.lanes) * self.lanes

    @property
    def root(self) -> int:
        """Degrees of freedom of a free root that stand apart."""
        return 6 if self.free else 0

    @property
    def root_parts(self) -> tuple[tuple[int, int], ...]:
        """Blocks of the degrees of freedom of a free root: the first, and how many."""
        return tuple((k, min(self.lanes, self.root - k)) for k in range(0, self.root, self.lanes))

    @property
    def pairs(self) -> bool:
        """Whether a joint has several degrees of freedom."""
        return any(joint.size > 1 for joint in self.joints)

    @property
    def widest(self) -> int:
        """The most degrees of freedom of a joint, but for a free root, which stands apart."""
        return max((joint.size for joint in self.joints if joint.position >= self.root), default=1)

    @property
    def several(self) -> bool:
        """Whether a joint has several."""
        return self.widest > 1

    @property
    def same(self) -> bool:
        """Whether two directions of one joint, or of a root, stand apart in forward dynamics."""
        return self.several or not self.free


def layout(model: Problem, scalar: ScalarType) -> Layout:
    """The layout of a model whose joints are not coupled."""
    joints, paths = list[JointOnPath](), [model.support(index) for index in range(model.njoints)]
    for index, (body, (*above, _)) in enumerate(zip(model.bodies, paths, strict=True)):
        position = sum(model.bodies[k].joint.nv for k in above)
        end = max(model.v_slice(k).stop for k, path in enumerate(paths) if index in path)
        parent = above[-1] if above else index
        joints.append(JointOnPath(body.index_v, position, body.joint.nv, parent, end))
    free = len(model.children(WORLD)) == 1 and model.bodies[0].joint.free
    return Layout(tuple(joints), model.nv, BYTES // scalar.size, free)


def preparation(declaration: FunctionDeclaration, size: int) -> FunctionDeclaration:
    """The straight-line code that the loops start from: of accelerations, whatever the function is given. It
    is the same for all of them.
    """
    acceleration = Parameter("a", (size,), "", Kind.ACCELERATION)
    given = (p for p in declaration.inputs if p.kind is not Kind.WEIGHTS)
    inputs = tuple(acceleration if p.kind is Kind.FORCE else p for p in given)
    return replace(
        declaration,
        name="paths_start",
        summary="What second derivatives start from.",
        inputs=inputs,
        outputs=(Parameter("state", (STATE, size), ""),),
    )


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


def paths_cost(loops: Paths, declaration: FunctionDeclaration) -> Cost:
    """Operations of the loops, the straight-line code before, and the functions that they call."""
    made = layout(loops.model, declaration.scalar)
    count = _weighted if is_weighted(declaration) else _forward if loops.uses else _inverse
    operations = loops.operations("operators") * _vectors(made, made.size) + count(loops, made)
    own = counted({MUL: operations}, made.lanes)  # which sums count as, too
    return sum((use.cost for use in loops.uses), cost(loops.programs[0]) + own)


def is_weighted(declaration: FunctionDeclaration) -> bool:
    """Whether it is the Hessian of weighted sums."""
    return any(p.kind is Kind.WEIGHTS for p in declaration.inputs)


def body_names(declaration: FunctionDeclaration, made: Layout, *, forward: bool) -> tuple[str, ...]:
    """The bodies of a function's loops (`rbdc.planning.paths.bodies`): of a Hessian of weighted sums,
    of tensors of forward dynamics, or of inverse dynamics.
    """
    if is_weighted(declaration):
        return ("operators", "rows_of", *(("pair",) if made.pairs else ()))
    if forward:
        own = ("weigh", "terms_of_columns", "terms_above", "own_terms", "turned", "by_velocities")
        return ("operators", *own, *(("pair_of_sums",) if made.same else ()))
    columns = ("columns_of_several", "of_one_joint") if made.several else ("columns",)
    return ("operators", *columns, *(("columns_of_root",) if made.free else ()))


def _inverse(loops: Paths, made: Layout) -> int:
    """The tensors of inverse dynamics."""
    columns = sum(map(loops.operations, ("columns", "columns_of_several")))
    total = 0
    for length, above in _deepest(made):
        vectors, root = _vectors(made, length - made.root), len(made.root_parts)
        own = sum(length - min(k, length) for k in range(made.root, length, made.lanes))
        total += vectors * (columns + ABOVE * above) + OWN * (own + root * length)
        total += root * (loops.operations("columns_of_root") + ROOT_ABOVE * above)
    return total


def _forward(loops: Paths, made: Layout) -> int:
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
        terms = loops.operations("terms_above") * blocks + 2 * loops.operations("turned") * below
        terms += (loops.operations("weigh") + 3 * loops.operations("terms_of_columns")) * vectors
        products = 2 * (12 * (2 * vectors + moving) + 6 * vectors) * size
        velocities = (loops.operations("by_velocities") + VELOCITIES * size) * blocks
        total += joint.size * (terms + products + velocities)
    return total


def _weighted(loops: Paths, made: Layout) -> int:
    """The Hessian of weighted sums: the entries of each pair on a path; products of its block by q and a with
    M^-1, and of these with slopes.
    """
    vectors = _vectors(made, made.size)
    pairs = sum(PAIRS * _vectors(made, length) for length, _ in _deepest(made))
    products = 6 * made.size**2 * vectors if loops.uses else 0
    return loops.operations("rows_of") * vectors + pairs + products


def _vectors(made: Layout, count: int) -> int:
    return -(-count // made.lanes)


def _deepest(made: Layout) -> Iterator[tuple[int, int]]:
    """For each degree of freedom the length of its path and how much of it is above its joint."""
    for joint in made.joints:
        yield from ((joint.position + joint.size, joint.position) for _ in range(joint.size))

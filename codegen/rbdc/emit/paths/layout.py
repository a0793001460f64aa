"""Where bodies and degrees of freedom lie in kernels along paths: rows of limbs, windows of columns.

A joint with several degrees of freedom is a chain of nodes in one lane, all of which stand where the body
stands; the last one is the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.model import WORLD, Body, Model
from rbdc.spatial.scalars import is_number

LIMBS = 4
"""Limbs side by side: of eight most lanes stay empty on robots with two arms and two legs."""

FEWEST = 8
"""Degrees of freedom of joints that a model must have for its windows to fill registers."""


def goes_along_paths(model: Model) -> bool:
    """Whether kernels along paths know the joints of the model: those whose degrees of freedom are each about
    or along a fixed axis, enough of them, in one tree below the world or below a free root; parameters are
    numbers.
    """
    moving, free = moving_bodies(model), is_free_root(model)
    if sum(b.joint.nv for b in moving) < FEWEST or (free and any(b.parent == WORLD for b in moving)):
        return False
    friction = (x for terms in model.friction for term in terms for x in term)
    numbers = (*model.armature, *model.damping, *model.stiffness, *friction)
    known = all(b.joint.in_lanes or b.joint.axis_by_axis for b in moving)
    return known and all(map(is_number, numbers))


def is_free_root(model: Model) -> bool:
    """Whether the first body moves in the world with six degrees of freedom."""
    return model.bodies[0].joint.free and model.bodies[0].parent == WORLD


def moving_bodies(model: Model) -> tuple[Body, ...]:
    """The bodies but for a free root."""
    return model.bodies[is_free_root(model) :]


@dataclass(frozen=True)
class Node:
    """A degree of freedom: that of number `part` of the `count` of the joint of a body; a free root is one
    node. parent: the node that carries it, WORLD for none.
    """

    body: int
    part: int
    count: int
    parent: int

    @property
    def alone(self) -> bool:
        """Whether the joint has no other."""
        return self.count == 1


def nodes_of(model: Model) -> tuple[Node, ...]:
    """The nodes in the order of the degrees of freedom; of joints with one they are the bodies."""
    nodes: list[Node] = []
    last = {WORLD: WORLD}
    for index, body in enumerate(model.bodies):
        count = 1 if index == 0 and is_free_root(model) else body.joint.nv
        for part in range(count):
            nodes.append(Node(index, part, count, len(nodes) - 1 if part else last[body.parent]))
        last[index] = len(nodes) - 1
    return tuple(nodes)


@dataclass(frozen=True)
class Place:
    """Where a node stands: its row, from 1 (0 is what carries all), and its lane."""

    row: int
    lane: int


@dataclass(frozen=True)
class Schedule:
    """Rows of nodes, leaves after what carries them: the place of each that is no free root."""

    model: Model
    nodes: tuple[Node, ...]
    places: dict[int, Place]

    @cached_property
    def rows(self) -> int:
        """How many, without row 0."""
        return max(place.row for place in self.places.values())

    @cached_property
    def free(self) -> bool:
        """Whether row 0 is a body of six degrees of freedom."""
        return is_free_root(self.model)

    @cached_property
    def grid(self) -> tuple[tuple[int | None, ...], ...]:
        """The node of each row and lane."""
        found: list[list[int | None]] = [[None] * LIMBS for _ in range(self.rows)]
        for node, place in self.places.items():
            found[place.row - 1][place.lane] = node
        return tuple(map(tuple, found))

    @cached_property
    def parents(self) -> tuple[tuple[Place, ...], ...]:
        """For each row and lane the place of the node above, of an empty lane that in row 0."""
        found = [[Place(0, lane) for lane in range(LIMBS)] for _ in range(self.rows)]
        for node, place in self.places.items():
            above = self.places.get(self.nodes[node].parent)
            found[place.row - 1][place.lane] = above or Place(0, place.lane)
        return tuple(map(tuple, found))

    @cached_property
    def above(self) -> tuple[int | None, ...]:
        """For each row from 1 the row of the nodes that carry it where each is in its own lane; None where
        these come from several rows or lanes.
        """
        found: list[int | None] = []
        for nodes, parents in zip(self.grid, self.parents, strict=True):
            rows = {place.row for node, place in zip(nodes, parents, strict=True) if node is not None}
            own = all(place.lane == lane for lane, place in enumerate(parents))
            found.append(rows.pop() if own and len(rows) == 1 else None)
        return tuple(found)

    @cached_property
    def first(self) -> int:
        """Columns of the free root."""
        return 6 if self.free else 0

    @cached_property
    def columns(self) -> int:
        """Degrees of freedom of all joints, followers as well."""
        return self.first + len(self.places)

    def column(self, node: int) -> int:
        """The column of a node that is no free root."""
        return node - 1 + self.first if self.free else node

    @cached_property
    def filled_in(self) -> list[int]:
        """The nodes whose frame depends on several coordinates."""
        return [k for k in self.places if self.nodes[k].part == 0 and not self.nodes[k].alone]

    @cached_property
    def column_parents(self) -> tuple[int, ...]:
        """For each column of a joint that of the joint above; -1 for none but a free root."""
        parents = [-1] * self.columns
        for node in self.places:
            above = self.nodes[node].parent
            if above in self.places:
                parents[self.column(node)] = self.column(above)
        return tuple(parents)

    @cached_property
    def above_columns(self) -> list[set[int]]:
        """For each column those strictly above, without a free root's."""
        above: list[set[int]] = []
        for parent in self.column_parents:
            above.append(set() if parent < 0 else above[parent] | {parent})
        return above


def scheduled(model: Model) -> Schedule:
    """List scheduling by height: each chain of first-born nodes keeps its lane, the highest that may begin
    goes first.
    """
    nodes = nodes_of(model)
    moving = range(int(is_free_root(model)), len(nodes))
    children = [[c for c, node in enumerate(nodes) if node.parent == k] for k in range(len(nodes))]
    heights = [1] * len(nodes)
    for k in reversed(moving):
        heights[k] += max((heights[child] for child in children[k]), default=0)
    heirs = {k: max(children[k], key=heights.__getitem__, default=None) for k in moving}
    waiting = [k for k in moving if nodes[k].parent not in moving]
    lanes: list[int | None] = [None] * LIMBS
    places: dict[int, Place] = {}
    row = 0
    while len(places) < len(moving):
        row += 1
        waiting.sort(key=lambda k: (-heights[k], k))
        for lane, node in enumerate(lanes):
            if node is None and waiting:
                lanes[lane] = waiting.pop(0)
        for lane, node in enumerate(lanes):
            if node is not None:
                places[node] = Place(row, lane)
                waiting += [c for c in children[node] if c != heirs[node]]
                lanes[lane] = heirs[node]
    return Schedule(model, nodes, places)


@dataclass(frozen=True)
class Tile:
    """One row of the matrices in a window: bits of the lanes whose columns are in the subtree of the row or
    the row itself, and of those that are strictly above it.
    """

    row: int
    below: int
    above: int


@dataclass(frozen=True)
class Window:
    """Consecutive columns side by side, the rows with entries there that are not zero, and those without."""

    column: int
    tiles: tuple[Tile, ...]
    empty: tuple[int, ...]


def windows(schedule: Schedule, width: int) -> tuple[Window, ...]:
    """Windows side by side over all columns of joints, the last ending with the matrix.

    Windows that begin where limbs do, in the split of least cost, took 0.97 to 1.01 of the time (Unitree G1
    and the simple humanoid, clang 19 and gcc 12, registers of 64 and of 32 bytes).
    """
    rows, above = range(schedule.first, schedule.columns), schedule.above_columns
    starts = (min(column, rows.stop - width) for column in rows[::width])
    return tuple(_window(rows, above, range(start, start + width)) for start in starts)


def _window(rows: range, above: Sequence[set[int]], lanes: range) -> Window:
    tiles, empty = [], []
    for row in rows:
        below = sum(1 << k for k, c in enumerate(lanes) if c == row or row in above[c])
        higher = sum(1 << k for k, c in enumerate(lanes) if c in above[row])
        if below or higher:
            tiles.append(Tile(row, below, higher))
        else:
            empty.append(row)
    return Window(lanes.start, tuple(tiles), tuple(empty))

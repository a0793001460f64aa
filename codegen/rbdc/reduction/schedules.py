"""Schedule of the code form `windows`. A row holds bodies of several limbs, one in each SIMD lane. A window
is a register of consecutive columns (degrees of freedom).

A joint with several degrees of freedom is a chain of nodes in one lane. The frames of these nodes coincide;
the last node has the body's inertia.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.model import WORLD, Body, Problem

LIMBS = 4
"""Number of lanes. With eight lanes, most would be empty on robots with two arms and two legs."""

FEWEST = 8
"""Smallest number of degrees of freedom for which windows fill registers."""


def suits_windows(model: Problem) -> bool:
    """Return whether the form `windows` supports the model: apart from a free root, each degree of freedom is
    about or along a fixed axis, and there are at least `FEWEST` of them. A free root must carry all bodies.
    """
    moving, free = moving_bodies(model), is_free_root(model)
    if sum(b.joint.nv for b in moving) < FEWEST or (free and any(b.parent == WORLD for b in moving)):
        return False
    return all(b.joint.in_lanes or b.joint.axis_by_axis for b in moving)


def is_free_root(model: Problem) -> bool:
    """Return whether the first body moves in the world with six degrees of freedom."""
    return model.bodies[0].joint.free and model.bodies[0].parent == WORLD


def moving_bodies(model: Problem) -> tuple[Body, ...]:
    """Return all bodies except a free root."""
    return model.bodies[is_free_root(model) :]


@dataclass(frozen=True, eq=False)
class Node:
    """A degree of freedom of a joint other than a free root.

    body: index of the body.
    part: index of the degree of freedom in its joint.
    count: number of degrees of freedom of the joint.
    column: index of the degree of freedom in the model.
    parent: node that carries it; None if the world or a free root does.
    """

    body: int
    part: int
    count: int
    column: int
    parent: Node | None

    @property
    def alone(self) -> bool:
        """Whether the joint has only this degree of freedom."""
        return self.count == 1


def nodes_of(model: Problem, *, free: bool = False) -> tuple[Node, ...]:
    """Return the nodes by column. If the first body is a `free` root, it has no nodes."""
    nodes: list[Node] = []
    last: dict[int, Node | None] = dict.fromkeys((WORLD, 0) if free else (WORLD,))
    for index, body in enumerate(model.bodies):
        for part in range(0 if index in last else body.joint.nv):
            above = last[index if part else body.parent]
            nodes.append(Node(index, part, body.joint.nv, len(nodes) + 6 * free, above))
            last[index] = nodes[-1]
    return tuple(nodes)


def parent_columns(nodes: Sequence[Node]) -> list[int]:
    """Return for each node the column of the node that carries it, -1 if no node does."""
    parents = (node.parent for node in nodes)
    return [-1 if parent is None else parent.column for parent in parents]


@dataclass(frozen=True)
class Schedule:
    """Rows of nodes, one per lane. A node is in a later row than its carrier. Row 0 is the world or a free
    root.

    model: the robot.
    nodes: all nodes, by column.
    slots: slot of each node, `LIMBS` * (row - 1) + lane.
    """

    model: Problem
    nodes: tuple[Node, ...]
    slots: Mapping[Node, int]

    @cached_property
    def rows(self) -> int:
        """Number of rows without row 0."""
        return max(self.slots.values()) // LIMBS + 1

    @cached_property
    def free(self) -> bool:
        """Whether row 0 is a body of six degrees of freedom."""
        return is_free_root(self.model)

    @cached_property
    def grid(self) -> list[list[Node | None]]:
        """The node of each lane of each row from 1 on."""
        at = {slot: node for node, slot in self.slots.items()}
        return [[at.get(LIMBS * row + lane) for lane in range(LIMBS)] for row in range(self.rows)]

    @cached_property
    def carriers(self) -> list[list[int]]:
        """For each lane of each row from 1 on, the slot of the carrying node; negative for row 0."""
        parents = ((node and node.parent for node in row) for row in self.grid)
        return [
            [lane - LIMBS if node is None else self.slots[node] for lane, node in enumerate(row)]
            for row in parents
        ]

    @cached_property
    def above(self) -> list[int]:
        """For each row from 1 on, the row of the carrying nodes if each is in the lane of its child; -1 if
        they are in several rows or other lanes.
        """
        rows_above = []
        for nodes, carriers in zip(self.grid, self.carriers, strict=True):
            rows = {slot // LIMBS + 1 for node, slot in zip(nodes, carriers, strict=True) if node is not None}
            in_lane = all(slot % LIMBS == lane for lane, slot in enumerate(carriers))
            rows_above.append(rows.pop() if in_lane and len(rows) == 1 else -1)
        return rows_above

    @cached_property
    def first(self) -> int:
        """Number of columns of a free root: 6 or 0."""
        return 6 if self.free else 0

    @cached_property
    def columns(self) -> int:
        """Number of degrees of freedom of all joints, including mimic joints."""
        return self.first + len(self.nodes)

    @cached_property
    def filled_in(self) -> dict[str, Node]:
        """The nodes whose frame depends on several coordinates, by name of the program that computes the
        frame.
        """
        several = (node for node in self.slots if node.part == 0 and not node.alone)
        return {f"pose{node.column}": node for node in several}

    @cached_property
    def column_parents(self) -> list[int]:
        """For each column the column that carries it; -1 at the world or a free root."""
        return [-1] * self.first + parent_columns(self.nodes)

    @cached_property
    def above_columns(self) -> list[set[int]]:
        """For each column its strict ancestors, without a free root's columns."""
        above: list[set[int]] = []
        for parent in self.column_parents:
            above.append(set() if parent < 0 else above[parent] | {parent})
        return above


def scheduled(model: Problem) -> Schedule:
    """Return a schedule by height above the leaves (list scheduling). The highest ready node comes first. A
    node's highest child stays in the node's lane.
    """
    nodes = nodes_of(model, free=is_free_root(model))
    children: dict[Node | None, list[Node]] = {node: [] for node in (None, *nodes)}
    for node in nodes:
        children[node.parent].append(node)
    heights: dict[Node, int] = {}
    for node in reversed(nodes):
        heights[node] = 1 + max((heights[child] for child in children[node]), default=0)
    heirs = {node: max(children[node], key=heights.__getitem__, default=None) for node in nodes}
    waiting, lanes = children[None], list[Node | None]([None] * LIMBS)
    slots: dict[Node, int] = {}
    row = 0
    while len(slots) < len(nodes):
        waiting.sort(key=lambda node: (-heights[node], node.column))
        for lane, ready in enumerate(lanes):
            if ready is None and waiting:
                lanes[lane] = waiting.pop(0)
        for lane, ready in enumerate(lanes):
            if ready is not None:
                slots[ready] = LIMBS * row + lane
                waiting += [child for child in children[ready] if child is not heirs[ready]]
                lanes[lane] = heirs[ready]
        row += 1
    return Schedule(model, nodes, slots)


@dataclass(frozen=True)
class Tile:
    """One row of a matrix over the degrees of freedom, in the columns of a window.

    row: index of the row.
    below: bits of the lanes whose columns are the row's own or in its subtree.
    above: bits of the lanes whose columns are strict ancestors of the row.
    """

    row: int
    below: int
    above: int


@dataclass(frozen=True)
class Window:
    """Consecutive columns in one register.

    column: the first column.
    tiles: rows with nonzero entries.
    empty: indices of the other rows.
    """

    column: int
    tiles: tuple[Tile, ...]
    empty: tuple[int, ...]


def windows(schedule: Schedule, width: int) -> tuple[Window, ...]:
    """Return windows of `width` columns over all columns except a free root's. The last window ends at the
    last column.

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

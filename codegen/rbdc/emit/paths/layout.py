"""Where bodies and degrees of freedom lie in kernels along paths: rows of limbs, windows of columns.

A joint with several degrees of freedom is a chain of nodes in one lane, each about or along one of its axes,
which are fixed in the body: all stand where the body stands, the last one is the body. What differs from a
chain of joints is that v x s and the like have the velocity of what carries the joint in psidot, that of the
body in the derivative of s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.model import WORLD, Model
from rbdc.model.joints import JointType
from rbdc.spatial import Rotation
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
    first, *others = model.bodies
    joints = [b.joint for b in (others if is_free_root(model) else [first, *others])]
    if sum(j.nv for j in joints) < FEWEST or (is_free_root(model) and any(b.parent == WORLD for b in others)):
        return False
    friction = (x for terms in model.friction for term in terms for x in term)
    numbers = (*model.armature, *model.damping, *model.stiffness, *friction)
    known = all((j.nv == 1 and j.in_lanes) or j.axis_by_axis for j in joints)
    return known and all(map(is_number, numbers))


@dataclass(frozen=True)
class Node:
    """A degree of freedom: that of number `part` of the joint of a body; a free root is one node.

    parent: the node that carries it, WORLD for none. carrier: what carries the joint. first, last: the nodes
    of the joint.
    """

    body: int
    part: int
    parent: int
    carrier: int
    first: int
    last: int

    @property
    def alone(self) -> bool:
        """Whether the joint has no other."""
        return self.first == self.last


def nodes_of(model: Model) -> tuple[Node, ...]:
    """The nodes in the order of the degrees of freedom; of joints with one they are the bodies."""
    nodes: list[Node] = []
    last = {WORLD: WORLD}
    for index, body in enumerate(model.bodies):
        first, carrier = len(nodes), last[body.parent]
        count = 1 if index == 0 and is_free_root(model) else body.joint.nv
        last[index] = first + count - 1
        for part in range(count):
            parent = carrier if part == 0 else len(nodes) - 1
            nodes.append(Node(index, part, parent, carrier, first, last[index]))
    return tuple(nodes)


def is_free_root(model: Model) -> bool:
    """Whether the first body moves in the world with six degrees of freedom."""
    return model.bodies[0].joint.free and model.bodies[0].parent == WORLD


def turning_and_sliding(joint: JointType, part: int) -> tuple[float, float]:
    """1 for the one and 0 for the other of being about and along an axis."""
    if joint.nv == 1:
        return (1.0, 0.0) if joint.rotation == "angle" else (0.0, 1.0)
    linear = joint.subspace()[part].linear.scalars()
    return (0.0, 1.0) if any(x != 0.0 for x in linear) else (1.0, 0.0)


def frame_of(joint: JointType, part: int) -> Rotation:
    """The axes of a node's frame in that of its body, z that of the degree of freedom."""
    if joint.nv == 1:
        return Rotation.identity()
    column = joint.subspace()[part]
    _, slides = turning_and_sliding(joint, part)
    return Rotation.from_z_to(column.linear if slides else column.angular)


@dataclass(frozen=True)
class Place:
    """Where a body stands: its row, from 1 (0 is what carries all), and its lane."""

    row: int
    lane: int


@dataclass(frozen=True)
class Schedule:
    """Rows of bodies, leaves after what carries them.

    nodes: bodies, or of joints with several degrees of freedom these. places: of each that is no free root.
    above: for each row from 1 the row of the nodes that carry it where each is in its own lane; None where
    nodes come from several rows or lanes. parents: for each row and lane the place of the node above, of an
    empty lane that in row 0.
    """

    model: Model
    nodes: tuple[Node, ...]
    places: dict[int, Place]
    above: tuple[int | None, ...]
    parents: tuple[tuple[Place, ...], ...]

    @cached_property
    def rows(self) -> int:
        """How many, without row 0."""
        return len(self.above)

    @cached_property
    def free(self) -> bool:
        """Whether row 0 is a body of six degrees of freedom."""
        return is_free_root(self.model)

    @cached_property
    def several(self) -> bool:
        """Whether joints have several degrees of freedom, but for a free root."""
        return not all(node.alone for node in self.nodes)

    @cached_property
    def grid(self) -> tuple[tuple[int | None, ...], ...]:
        """The node of each row and lane."""
        found: list[list[int | None]] = [[None] * LIMBS for _ in range(self.rows)]
        for node, place in self.places.items():
            found[place.row - 1][place.lane] = node
        return tuple(map(tuple, found))

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
    def first_of_several(self) -> list[int]:
        """The first node of each joint with several degrees of freedom."""
        return [k for k in self.places if k == self.nodes[k].first and not self.nodes[k].alone]

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
    def column_joints(self) -> tuple[int, ...]:
        """For each column the first one of its joint, of a free root's itself."""
        firsts = list(range(self.columns))
        for node in self.places:
            firsts[self.column(node)] = self.column(self.nodes[node].first)
        return tuple(firsts)


def scheduled(model: Model) -> Schedule:
    """List scheduling by height: each chain of first-born bodies keeps its lane, the highest that may begin
    goes first.
    """
    free, nodes = is_free_root(model), nodes_of(model)
    moving = range(1 if free else 0, len(nodes))
    heights, children = _heights(nodes), _children(nodes)
    heirs = {k: max(children[k], key=lambda c: heights[c], default=None) for k in moving}
    waiting = [k for k in moving if nodes[k].parent == (0 if free else WORLD)]
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
    return Schedule(model, nodes, places, *_parents(nodes, places, row))


def _children(nodes: Sequence[Node]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in nodes]
    for k, node in enumerate(nodes):
        if node.parent != WORLD:
            children[node.parent].append(k)
    return children


def _heights(nodes: Sequence[Node]) -> list[int]:
    heights = [1] * len(nodes)
    for k in reversed(range(len(nodes))):
        above = nodes[k].parent
        if above != WORLD:
            heights[above] = max(heights[above], heights[k] + 1)
    return heights


def _parents(
    nodes: Sequence[Node], places: dict[int, Place], rows: int
) -> tuple[tuple[int | None, ...], tuple[tuple[Place, ...], ...]]:
    parents = [[Place(0, lane) for lane in range(LIMBS)] for _ in range(rows)]
    used: list[set[int]] = [set() for _ in range(rows)]
    for node, place in places.items():
        parents[place.row - 1][place.lane] = places.get(nodes[node].parent, Place(0, place.lane))
        used[place.row - 1].add(place.lane)
    above: list[int | None] = []
    for row, lanes in zip(parents, used, strict=True):
        sources = {row[lane].row for lane in lanes}
        own = all(row[lane].lane == lane for lane in lanes)
        above.append(sources.pop() if own and len(sources) == 1 else None)
    return tuple(above), tuple(map(tuple, parents))


@dataclass(frozen=True)
class Tile:
    """One row of the matrices in a window: bits of the lanes whose columns are in the subtree of the row or
    the row itself, and of those that are strictly above it or others of its joint.
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
    rows, above = range(schedule.first, schedule.columns), _ancestors(schedule.column_parents)
    starts = (min(column, rows.stop - width) for column in rows[::width])
    return tuple(
        _window(rows, above, schedule.column_joints, range(start, start + width)) for start in starts
    )


def _ancestors(parents: Sequence[int]) -> list[set[int]]:
    """For each column those strictly above, without a free root's."""
    above: list[set[int]] = []
    for parent in parents:
        above.append(set() if parent < 0 else above[parent] | {parent})
    return above


def _window(rows: range, above: Sequence[set[int]], joints: Sequence[int], lanes: range) -> Window:
    tiles, empty = [], []
    for row in rows:
        own = [c != row and joints[c] == joints[row] for c in lanes]
        below = sum(1 << k for k, c in enumerate(lanes) if c == row or (row in above[c] and not own[k]))
        higher = sum(1 << k for k, c in enumerate(lanes) if c in above[row] or own[k])
        if below or higher:
            tiles.append(Tile(row, below, higher))
        else:
            empty.append(row)
    return Window(lanes.start, tuple(tiles), tuple(empty))

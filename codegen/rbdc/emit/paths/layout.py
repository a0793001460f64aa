"""Where bodies and degrees of freedom lie in kernels along paths: rows of limbs, windows of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rbdc.model import WORLD, Model
from rbdc.spatial.scalars import is_number

LIMBS = 4
"""Limbs side by side: of eight most lanes stay empty on robots with two arms and two legs."""

FEWEST = 8
"""Joints that a model must have for its windows to fill registers."""


def goes_along_paths(model: Model) -> bool:
    """Whether kernels along paths know the joints of the model: those with one degree of freedom about or
    along a fixed axis, enough of them, in one tree below the world or below a free root; parameters are
    numbers.
    """
    first, *others = model.bodies
    joints = others if _is_free_root(model) else [first, *others]
    if len(joints) < FEWEST or (_is_free_root(model) and any(b.parent == WORLD for b in others)):
        return False
    numbers = (*model.armature, *model.damping)
    return all(b.joint.nv == 1 and b.joint.in_lanes for b in joints) and all(map(is_number, numbers))


def _is_free_root(model: Model) -> bool:
    return model.bodies[0].joint.free and model.bodies[0].parent == WORLD


@dataclass(frozen=True)
class Place:
    """Where a body stands: its row, from 1 (0 is what carries all), and its lane."""

    row: int
    lane: int


@dataclass(frozen=True)
class Schedule:
    """Rows of bodies, leaves after what carries them.

    places: of each body that is not a free root. above: for each row from 1 the row of the bodies that carry
    it where each is in its own lane; None where bodies come from several rows or lanes. parents: for each row
    and lane the place of the body above, of an empty lane that in row 0.
    """

    model: Model
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
        return _is_free_root(self.model)

    @cached_property
    def bodies(self) -> tuple[tuple[int | None, ...], ...]:
        """The body of each row and lane."""
        found: list[list[int | None]] = [[None] * LIMBS for _ in range(self.rows)]
        for body, place in self.places.items():
            found[place.row - 1][place.lane] = body
        return tuple(map(tuple, found))

    @cached_property
    def first(self) -> int:
        """Columns of the free root."""
        return 6 if self.free else 0

    @cached_property
    def columns(self) -> int:
        """Degrees of freedom of all joints, followers as well."""
        return self.first + len(self.places)

    def column(self, body: int) -> int:
        """The column of a joint with one degree of freedom."""
        return body - 1 + self.first if self.free else body

    @cached_property
    def column_parents(self) -> tuple[int, ...]:
        """For each column of a joint that of the joint above; -1 for none but a free root."""
        parents = [-1] * self.columns
        for body in self.places:
            above = self.model.bodies[body].parent
            if above in self.places:
                parents[self.column(body)] = self.column(above)
        return tuple(parents)


def scheduled(model: Model) -> Schedule:
    """List scheduling by height: each chain of first-born bodies keeps its lane, the highest that may begin
    goes first.
    """
    free = _is_free_root(model)
    bodies = range(1 if free else 0, model.njoints)
    heights = _heights(model)
    heirs = {k: max(model.children(k), key=lambda c: heights[c], default=None) for k in bodies}
    waiting = [k for k in bodies if model.bodies[k].parent == (0 if free else WORLD)]
    lanes: list[int | None] = [None] * LIMBS
    places: dict[int, Place] = {}
    row = 0
    while len(places) < len(bodies):
        row += 1
        waiting.sort(key=lambda k: (-heights[k], k))
        for lane in _preferred(lanes, waiting, places, model):
            lanes[lane] = waiting.pop(0)
        for lane, body in enumerate(lanes):
            if body is not None:
                places[body] = Place(row, lane)
                waiting += [c for c in model.children(body) if c != heirs[body]]
                lanes[lane] = heirs[body]
    return Schedule(model, places, *_parents(model, places, row))


def _preferred(
    lanes: Sequence[int | None], waiting: Sequence[int], places: dict[int, Place], model: Model
) -> list[int]:
    """Empty lanes for the bodies that wait, in their order."""
    empty = [lane for lane, body in enumerate(lanes) if body is None]
    chosen = []
    for body in waiting[: len(empty)]:
        above = places.get(model.bodies[body].parent)
        lane = above.lane if above is not None and above.lane in empty else empty[0]
        empty.remove(lane)
        chosen.append(lane)
    return chosen


def _heights(model: Model) -> list[int]:
    heights = [1] * model.njoints
    for k in reversed(range(model.njoints)):
        above = model.bodies[k].parent
        if above != WORLD:
            heights[above] = max(heights[above], heights[k] + 1)
    return heights


def _parents(
    model: Model, places: dict[int, Place], rows: int
) -> tuple[tuple[int | None, ...], tuple[tuple[Place, ...], ...]]:
    parents = [[Place(0, lane) for lane in range(LIMBS)] for _ in range(rows)]
    used: list[set[int]] = [set() for _ in range(rows)]
    for body, place in places.items():
        parents[place.row - 1][place.lane] = places.get(model.bodies[body].parent, Place(0, place.lane))
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
    """Windows over all columns of joints, the last ending with the matrix, in the split that costs least."""
    return _windows(schedule.column_parents, schedule.first, width)


@lru_cache(maxsize=4)
def _windows(parents: tuple[int, ...], start: int, width: int) -> tuple[Window, ...]:
    above, end = _ancestors(parents), len(parents)
    last = end - width
    made: dict[int, Window] = {}

    def at(column: int) -> Window:
        if column not in made:
            made[column] = _window(range(start, end), above, column, width)
        return made[column]

    best: dict[int, tuple[float, tuple[int, ...]]] = {end: (0.0, ())}
    for column in reversed(range(start, end)):
        place = min(column, last)
        options = []
        for following in range(column + 1, place + width + 1):
            cost, places = best[following]
            options.append((cost + _cost(at(place)), (place, *places)))
        best[column] = min(options)
    return tuple(at(column) for column in best[start][1])


def _cost(window: Window) -> float:
    """In multiplications and additions of a register, a store of three registers of zeros taken as three."""
    total = 30.0 + 3.0 * len(window.empty)
    for tile in window.tiles:
        total += 4.0 + (18.0 if tile.below else 0.0) + (24.0 if tile.above else 0.0)
    return total


def _ancestors(parents: Sequence[int]) -> list[set[int]]:
    """For each column those strictly above, without a free root's."""
    above: list[set[int]] = []
    for parent in parents:
        above.append(set() if parent < 0 else above[parent] | {parent})
    return above


def _window(rows: range, above: Sequence[set[int]], column: int, width: int) -> Window:
    tiles, empty = [], []
    for row in rows:
        lanes = range(column, column + width)
        below = sum(1 << k for k, c in enumerate(lanes) if c == row or row in above[c])
        higher = sum(1 << k for k, c in enumerate(lanes) if c in above[row])
        if below or higher:
            tiles.append(Tile(row, below, higher))
        else:
            empty.append(row)
    return Window(column, tuple(tiles), tuple(empty))

"""Derivatives of inverse dynamics, by loops over windows of columns.

If j is i or a descendant of i, entry (i, j) is s_i . F_j, with F = F_q, F_v, F_a for the derivatives by q, v,
a. If j is an ancestor of i, entry (i, j) is

    by q:  w(psidot_j) . t_i + psiddot_j . F_a,i
    by v:  w(s_j) . t_i + sigma_j . F_a,i
    by a:  s_j . F_a,i

with sigma_j = 2 psidot_j and the angular part w. A tile is one row of the matrices in a window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.dynamics.coriolis import ClimbingForces, CoriolisEntries, Direction
from rbdc.ir.from_casadi import masked
from rbdc.ir.indices import Index, Multiple, TableEntry, Variable, plus
from rbdc.ir.loops import ConstantTable, Loop, Place, Routine, Statement, Step
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import WindowLayout, integers
from rbdc.reduction.schedules import Tile
from rbdc.spatial import Force, Motion, Scalar, Vector3

W, T, E = map(Variable, "wte")
COLUMN: Index = TableEntry("window_column", W)
_ROW: Index = TableEntry("tile_row", T)


@dataclass(frozen=True)
class Matrices:
    """Where rows of a window are written.

    arrays: name of the array, by the letter of the derivative (q, v, a).
    pitch: distance between rows.
    column: strides of the window's first column.
    """

    arrays: dict[str, str]
    pitch: int
    column: tuple[tuple[Index, int], ...]

    def row(self, x: str, row: Index) -> Place:
        """Return the place of a row of a window in the matrix of derivatives by `x`."""
        return Place(self.arrays[x], ((row, self.pitch), *self.column))


def tile_tables(layout: WindowLayout) -> Iterator[ConstantTable]:
    """Yield tables of windows, their tiles, rows without entries, and masks. Tiles of a window are in three
    lists: with columns only in the row's subtree, both there and above the row, only above the row.
    """
    masks: dict[int, int] = {}
    tiles, ends, empty, ends_of_empty = list[Tile](), list[int](), list[int](), [0]
    for window in layout.width.windows:
        kinds: list[list[Tile]] = [[], [], []]
        for tile in window.tiles:
            kinds[0 if not tile.above else 1 if tile.below else 2].append(tile)
        for kind in kinds:
            ends.append(len(tiles))
            tiles += kind
        empty += window.empty
        ends_of_empty.append(len(empty))
    below, above = ([masks.setdefault(bits, len(masks)) for bits in of_tile] for of_tile in _bits(tiles))
    lanes = range(layout.lanes)
    yield integers("window_column", (window.column for window in layout.width.windows))
    yield integers("kinds", [*ends, len(tiles)])
    yield integers("tile_row", (tile.row for tile in tiles))
    yield integers("below", below)
    yield integers("above_of", above)
    yield integers("empty_row", empty)
    yield integers("empties", ends_of_empty)
    rows = tuple(tuple(float(-(bits >> lane & 1)) for lane in lanes) for bits in masks)
    yield ConstantTable("masks", rows, integer=True, mask=True)


def _bits(tiles: Sequence[Tile]) -> tuple[list[int], list[int]]:
    return [tile.below for tile in tiles], [tile.above for tile in tiles]


ABOVE, BELOW = "held_above", "held_below"
"""Arrays of vectors over a window's columns: s, 2 psidot and psiddot for rows below the columns (`ABOVE`);
F_q, F_v and F_a for rows above the columns (`BELOW`).
"""


def held_arrays(layout: WindowLayout) -> dict[str, int]:
    """Return the sizes of the arrays that are kept for a window."""
    return {ABOVE: 18 * layout.lanes, BELOW: 18 * layout.lanes}


def filled(layout: WindowLayout, to: Matrices) -> list[Statement]:
    """Return the statements that fill those rows of window w that have entries."""
    first, both, last, end = (TableEntry("kinds", plus(Multiple(3, W), k)) for k in range(4))
    root = [_root_rows(layout, to)] if layout.schedule.free else []
    return [
        _hold(layout, ABOVE, at.AXIS, 18),
        Loop("t", both, end, (_above(layout, to),)),
        _hold(layout, BELOW, at.BY_Q, 6 * len(to.arrays)),
        *root,
        Loop("t", first, both, (_below(layout, to, adds=False),)),
        Loop("t", both, last, (_below(layout, to, adds=True),)),
    ]


def _hold(layout: WindowLayout, array: str, begin: int, size: int) -> Step:
    m = PlaceRecorder(layout.lanes)
    m.put(m.vectors(size, layout.entries(begin, COLUMN)), Place(array))
    return m.step()


class _Half(Motion):
    """The stored 2 psidot in place of psidot: dot products are halved."""

    def dot(self, force: Force) -> Scalar:
        return 0.5 * super().dot(force)


def _above(layout: WindowLayout, to: Matrices) -> Step:
    """Store the entries of a row in the columns strictly above it."""
    m = PlaceRecorder(layout.lanes)
    column, f = m.vectors(18, Place(ABOVE)), m.numbers(9, layout.own("owns", _ROW))
    s, rate, second = (Motion.of(column[k : k + 6]) for k in (at.AXIS, at.RATE, at.SECOND_RATE))
    none, turning = Force.zero(), Vector3.of(f[at.TRANSPOSED :])
    row = ClimbingForces(none, none, Force(none.linear, turning), Force.of(f[:6]))
    entries = row.itself(Direction(s, _Half.of(rate.scalars()), second, rate))
    _store(m, layout, "above_of", to, entries, adds=False)
    return m.step()


def _store(
    m: PlaceRecorder, layout: WindowLayout, masks: str, to: Matrices, entries: CoriolisEntries, *, adds: bool
) -> None:
    mask = m.vector(Place("masks", ((TableEntry(masks, T), layout.lanes),)))
    for x, entry in zip(to.arrays, entries, strict=False):
        m.put([masked(entry, mask)], to.row(x, _ROW), adds=adds)


def _below(layout: WindowLayout, to: Matrices, *, adds: bool) -> Step:
    """Store the entries of a row in the columns of its subtree."""
    m = PlaceRecorder(layout.lanes)
    s, vectors = m.numbers(6, layout.entries(at.AXIS, _ROW)), m.vectors(6 * len(to.arrays), Place(BELOW))
    none, forces = Force.zero(), (Force.of(vectors[k : k + 6]) for k in range(0, len(vectors), 6))
    by_q, by_v, by_a, *_ = *forces, none
    _store(m, layout, "below", to, ClimbingForces(by_q, by_v, none, by_a).above(Motion.of(s)), adds=adds)
    return m.step()


def _root_rows(layout: WindowLayout, to: Matrices) -> Step:
    """Store F_q, F_v and F_a in the rows of a free root, whose s are unit vectors."""
    m = PlaceRecorder(layout.lanes)
    vectors = m.vectors(6 * len(to.arrays), Place(BELOW))
    for k, x in enumerate(to.arrays):
        m.put(vectors[6 * k : 6 * k + 6], replace(to.row(x, 0), pitch=to.pitch))
    return m.step()


def derivatives(layout: WindowLayout, arrays: dict[str, str]) -> Routine:
    """Return the routine that stores derivatives of inverse dynamics, window by window, including zeros."""
    to = Matrices(arrays, layout.columns, ((COLUMN, 1),))
    m = PlaceRecorder(layout.lanes)
    for x in arrays:
        m.put([0.0], to.row(x, TableEntry("empty_row", E)))
    empty = Loop("e", TableEntry("empties", W), TableEntry("empties", plus(W, 1)), (m.step(),))
    loop = Loop("w", 0, len(layout.width.windows), (*filled(layout, to), empty))
    widths = dict.fromkeys((ABOVE, BELOW), layout.lanes)
    about = "derivatives of inverse dynamics, window by window of columns, including zeros"
    arguments = ("by", "owns", *arrays.values())
    return Routine("windows", about, arguments, (loop,), (), held_arrays(layout), widths)

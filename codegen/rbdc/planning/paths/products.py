"""Products of a row and a matrix, and products of the weights and terms of forward dynamics, in tiles of rows
and columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rbdc.ir.indices import Index, Sum, TableEntry, Variable
from rbdc.ir.loops import Clear, Loop, Place, Routine, Statement
from rbdc.planning.paths.layout import PathLayout
from rbdc.planning.paths.steps import DofRecorder, once

WIDTHS = (6, 4, 2, 1)
"""Numbers of vectors that a product of a row and a matrix sums at once, largest first."""
HEIGHTS = (6, 5, 4)
"""Numbers of rows of a tile two vectors wide, best first: registers hold all sums of a tile."""
C, R, T, DEEP = map(Variable, ("c", "r", "t", "deep"))


def product(
    layout: PathLayout, row: Place, matrix: Place, to: Place, columns: int, rows: tuple[str, Index, Index]
) -> Iterator[Statement]:
    """Yield the statements of a row times a matrix of `columns` columns, in whole vectors.

    row, matrix: place of an entry of the row, and of the matrix row that the entry multiplies.
    rows: variable, start and stop of the loop over the entries.
    """

    def part(begin: int, width: int) -> Iterator[Statement]:
        def add(m: DofRecorder) -> None:
            (x,) = m.numbers(1, row)
            values = m.vectors(width, replace(matrix, offset=matrix.offset + begin))
            m.put([x * value for value in values], Place("total"), adds=True)

        def store(m: DofRecorder) -> None:
            m.put(m.vectors(width, Place("total")), replace(to, offset=to.offset + begin))

        yield Clear("total", width * layout.lanes)
        yield Loop(*rows, (once(layout, add),))
        yield once(layout, store)

    begin = 0
    while begin < columns:
        width = next(width for width in WIDTHS if begin + width * layout.lanes <= columns)
        yield from part(begin, width)
        begin += width * layout.lanes


def tile_height(layout: PathLayout) -> int:
    """Return the number of rows of a tile for which the last tile lacks the fewest rows."""
    return min(HEIGHTS, key=lambda height: -layout.size % height)


class TiledProduct:
    """The product weights^T terms, with a row for each acceleration, from column `begin` on, in tiles of
    `tile_height` rows and two vectors of columns.

    An entry in the t-th tile of a row of tiles is a sum of depths[deep + t] products, three at a time.
    pitches: distances between rows of weights, and between rows of terms.
    """

    def __init__(self, layout: PathLayout, begin: int, pitches: tuple[int, int]) -> None:
        self.layout, self.begin, self.pitches, self.height = layout, begin, pitches, tile_height(layout)

    def routine(self) -> Routine:
        """Return the loops over tiles; tiles with fewer rows or columns come last."""
        n, height, wide = self.layout.size, self.height, 2 * self.layout.lanes
        whole, rest = divmod(n - self.begin, wide)

        def strip(r: Index, rows: int) -> Iterator[Statement]:
            if whole:
                yield Loop("t", 0, whole, tuple(self._tile(r, T, rows, wide)))
            if rest:
                yield from self._tile(r, whole, rows, rest)

        rows = n % height
        strips = [Loop("r", 0, n - rows, tuple(strip(R, height)), step=height)] if n >= height else []
        return Routine(
            f"product_from_{self.begin}",
            f"weights^T terms, columns from {self.begin} on; entries of tile t sum depths[deep + t] products",
            ("to", "weights", "terms"),
            (*strips, *(strip(n - rows, rows) if rows else ())),
            ("deep",),
            {"tile": height * wide},
            {"tile": self.layout.lanes},
        )

    def _tile(self, r: Index, t: Index, rows: int, columns: int) -> Iterator[Statement]:
        lanes, n = self.layout.lanes, self.layout.size
        two = 2 if columns > lanes else 1
        tile, wide = Place("tile"), 2 * lanes

        def add(term: int) -> Statement:
            def text(m: DofRecorder) -> None:
                row, column = (term * pitch for pitch in self.pitches)
                w = m.numbers(rows, Place("weights", ((C, self.pitches[0]), (r, 1)), row))
                x = m.vectors(two, Place("terms", ((C, self.pitches[1]), (t, wide)), self.begin + column))
                m.put([weight * value for weight in w for value in x], tile, adds=True)

            return once(self.layout, text)

        def store(m: DofRecorder) -> None:
            for k, vector in enumerate(m.vectors(two * rows, tile)):
                row, column = k // two, k % two * lanes
                count = None if columns - column >= lanes else columns - column
                m.put(
                    [vector],
                    Place("to", ((r, n * n), (t, wide)), row * n * n + self.begin + column, count=count),
                )

        yield Clear("tile", two * rows * lanes)
        yield Loop("c", 0, TableEntry("depths", Sum(DEEP, t)), tuple(map(add, range(3))), step=3)
        yield once(self.layout, store)

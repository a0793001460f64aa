"""M^-1 from the articulated-body factors M = L^T D L, one supernode (a small dense block of L) at a time.

`rbdc.planning.windows` defines s, K and D, `rbdc.planning.windows.widths` defines T and a.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rbdc.ir.indices import Index, TableEntry, Variable, plus
from rbdc.ir.loops import Call, ConstantTable, Loop, Place, Routine, Statement, Step, names_in
from rbdc.ir.moves import joined, transposition
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import WindowLayout, dot, ends_of, integers, numbers, over
from rbdc.planning.windows.widths import Shape, SupernodeRow
from rbdc.reduction.schedules import Schedule
from rbdc.spatial import Scalar

NODE, BLOCK, ABOVE, AT = map(Variable, ("node", "b", "e", "at"))
_START: Index = TableEntry("start_of", NODE)


def inverse_tables(layout: WindowLayout) -> Iterator[ConstantTable]:
    """Yield the tables of supernodes.

    start_of: first column of each supernode.
    first_of: first column of the register that holds the supernode.
    up, from `ups_of` on: columns of the joints above the supernode.
    block, from `blocks_of` on: first columns of the registers that cover the columns before the supernode.
    unit: a 1 among zeros; each unit vector begins in it.
    """
    lanes, nodes = layout.lanes, layout.width.nodes
    ups = [list(_above(layout.schedule, node.carrier)) for node in nodes]
    blocks = [_blocks(node.start, lanes) for node in nodes]
    yield integers("start_of", [*(node.start for node in nodes), layout.columns])
    yield integers("first_of", (node.start - node.shape.lane for node in nodes))
    yield integers("ups_of", ends_of(ups))
    yield integers("up", (k for of_supernode in ups for k in of_supernode))
    yield integers("blocks_of", ends_of(blocks))
    yield integers("block", (k for of_supernode in blocks for k in of_supernode))
    yield numbers("unit", [float(k == lanes) for k in range(3 * lanes)])


def _above(schedule: Schedule, column: int) -> Iterator[int]:
    while column >= 0:
        yield column
        column = schedule.column_parents[column]


def _blocks(start: int, lanes: int) -> list[int]:
    return [n if n + lanes <= start else max(start - lanes, 0) for n in range(0, start, lanes)]


def invert(layout: WindowLayout) -> Routine:
    """Return the routine that computes M^-1."""
    routines: dict[tuple[Shape, int], Routine] = {}
    mirror = _mirror(layout)
    statements: list[Statement] = []
    for number, node in enumerate(layout.width.nodes):
        key = (node.shape, node.start if node.shape.rooted else layout.first)
        if key not in routines:
            routines[key] = _SupernodeLoops(layout, *key).routine(f"invert_{len(routines)}")
        for routine in (routines[key], mirror):
            places = {name: Place(name) for name in routine.arguments}
            statements.append(Call(routine, places, {"node": number}))
    return Routine("invert", "M^-1 from the root to the leaves", ("factors", "inverse"), tuple(statements))


def _mirror(layout: WindowLayout) -> Routine:
    """Return the routine that copies entry (j, i) to (i, j) for each column i of a supernode and each earlier
    column j of its register.
    """
    m, i, j = PlaceRecorder(), Variable("i"), Variable("j")
    m.store([m.number(layout.matrix("inverse", j, i))], layout.matrix("inverse", i, j))
    inner = Loop("j", TableEntry("first_of", NODE), i, (m.step(),))
    loop = Loop("i", _START, TableEntry("start_of", plus(NODE, 1)), (inner,))
    about = "copy the upper triangle of M^-1 to the lower one, because their rounding may differ"
    return Routine("mirror", about, ("inverse",), (loop,), ("node",))


class _SupernodeLoops:
    """The statements for supernodes of one shape. rooted: number of a free root's columns before the
    supernode.
    """

    def __init__(self, layout: WindowLayout, shape: Shape, rooted: int) -> None:
        self.layout, self.shape, self.rooted = layout, shape, rooted
        self.lanes, self.size = layout.lanes, shape.size
        self.pitch = -(-6 // layout.lanes) * layout.lanes

    def routine(self, name: str) -> Routine:
        """Return the routine that computes a supernode's rows of M^-1, and copies them to columns."""
        lanes, size, shape = self.lanes, self.size, self.shape
        statements: list[Statement] = [*(self._within() if shape.inner else ()), self._inner()]
        if not shape.top:
            block = TableEntry("block", BLOCK)
            before = "columns before the supernode: -T K a, with the acceleration a of the body carrying it"
            body = (*self._accelerations(block), self._rows(block), self._columns(block))
            statements += [self._outer(), over("b", "blocks_of", NODE, *body, about=before)]
            statements += self._accelerations(TableEntry("first_of", NODE))
        parents = ", ".join(map(str, shape.parents))
        kind = ", free root" if shape.rooted else ""
        about = f"M^-1 for a supernode (size {size}{kind}); parent of each column: {parents} (-1: outside)"
        statements.append(self._itself())
        names = set(names_in(statements))
        sizes = {"within": size * lanes, "inner": size * lanes, "outer": size * self.pitch}
        sizes |= {"s": 6 * lanes, "a": 6 * lanes, "square": lanes * lanes}
        arrays = {array: count for array, count in sizes.items() if array in names}
        widths = dict.fromkeys(("s", "a", "square"), lanes)
        return Routine(name, about, ("factors", "inverse"), tuple(statements), ("node",), arrays, widths)

    def _factor(self, row: SupernodeRow, offset: int = 0) -> Place:
        return self.layout.own("factors", plus(_START, row.number), offset)

    def _row(self, row: SupernodeRow, column: Index) -> Place:
        columns = self.layout.columns
        return Place("inverse", ((_START, columns), (column, 1)), columns * row.number)

    def _vector(self, array: str, row: SupernodeRow) -> Place:
        return Place(array, (), self.lanes * row.number)

    def _number(self, m: PlaceRecorder, array: str, row: SupernodeRow, lane: SupernodeRow) -> Scalar:
        """Return the number in the lane of column `lane` from a row's register."""
        return m.numbers(self.size * self.lanes, Place(array))[self.lanes * row.number + lane.lane]

    def _within(self) -> list[Statement]:
        """Compute L within the supernode: for each column, K . s for the columns above it."""
        begin, m = self.shape.lane, PlaceRecorder(self.lanes)
        program = joined("side_by_side", self.lanes, 6, range(begin, begin + self.size))
        places = {f"lane{row.lane}": self._factor(row) for row in self.shape.rows} | {"vector": Place("s")}
        s = m.vectors(6, Place("s"))
        for row in self.shape.inner:
            k = m.numbers(6, self._factor(row, at.TRANSPOSED))
            m.put([dot(k[:3], s[:3]) + dot(k[3:], s[3:])], self._vector("within", row))
        return [Step(program, places), m.step()]

    def _inner(self) -> Step:
        """Compute T^T: each row is a unit vector minus multiples of the rows of its descendants."""
        m, rows = PlaceRecorder(self.lanes), self.shape.rows
        done: dict[int, Scalar] = {}
        for row in reversed(rows):
            vector = m.vector(Place("unit", (), self.lanes - row.lane))
            for below in row.below:
                vector = vector - self._number(m, "within", rows[below], row) * done[below]
            done[row.number] = vector
            m.put([vector], self._vector("inner", row))
        return m.step()

    def _outer(self) -> Loop:
        m, done = PlaceRecorder(self.lanes), list[Scalar]()
        for row in self.shape.rows:
            record = self._factor(row, at.TRANSPOSED)
            vector: Scalar = -m.vector(replace(record, strides=(*record.strides, (AT, 1))))
            for above in row.above:
                vector = vector - self._number(m, "within", row, above) * done[above.number]
            done.append(vector)
            m.put([vector], Place("outer", ((AT, 1),), self.pitch * row.number))
        return Loop("at", 0, 6, (m.step(),), "-T K, with T = L^-1 within the supernode", step=self.lanes)

    def _accelerations(self, column: Index) -> list[Statement]:
        """Compute the acceleration a of the body that carries the supernode, for the columns of M^-1 from
        `column` on: the sum, over the joints from this body to the root, of s times the joint's row of M^-1.
        The s of a free root are unit vectors.
        """
        root, m = PlaceRecorder(self.lanes), PlaceRecorder(self.lanes)
        rows = root.vectors(self.rooted, self.layout.of_columns("inverse", column)) if self.rooted else []
        root.put([*rows, *[0.0] * (6 - self.rooted)], Place("a"))
        up: Index = TableEntry("up", ABOVE)
        s, x = (
            m.numbers(6, self.layout.own("factors", up)),
            m.vector(self.layout.matrix("inverse", up, column)),
        )
        m.put([k * x for k in s], Place("a"), adds=True)
        return [root.step(), over("e", "ups_of", NODE, m.step())]

    def _carried(self, m: PlaceRecorder, row: SupernodeRow) -> Scalar:
        """Return -T K a of a row."""
        factors = m.numbers(6, Place("outer", (), self.pitch * row.number))
        return dot(factors, m.vectors(6, Place("a")))

    def _rows(self, column: Index) -> Step:
        """Store -T K a in the supernode's rows of M^-1, in the columns from `column` on, and in `square`."""
        m, shape, columns = PlaceRecorder(self.lanes), self.shape, self.layout.columns
        rows = replace(self.layout.matrix("inverse", TableEntry("first_of", NODE), column), pitch=columns)
        square = m.vectors(shape.lane, rows)[:] if shape.lane else []
        for row in shape.rows:
            square.append(self._carried(m, row))
            m.put([square[-1]], self._row(row, column))
        m.put([*square, *[0.0] * (self.lanes - len(square))], Place("square"))
        return m.step()

    def _columns(self, column: Index) -> Step:
        to = self.layout.matrix("inverse", column, TableEntry("first_of", NODE))
        places = {"row": Place("square"), "column": replace(to, pitch=self.layout.columns)}
        return Step(transposition("columns", self.lanes), places)

    def _itself(self) -> Step:
        """Store the diagonal block T D^-1 T^T - T K a."""
        m, scaled = PlaceRecorder(self.lanes), list[Scalar]()
        for row in self.shape.rows:
            vector = m.number(self._factor(row, at.PIVOT)) * m.vector(self._vector("inner", row))
            scaled.append(vector)
            for above in row.above:
                vector = vector + self._number(m, "inner", above, row) * scaled[above.number]
            whole = vector if self.shape.top else vector + self._carried(m, row)
            m.put([whole], self._row(row, TableEntry("first_of", NODE)))
        return m.step()

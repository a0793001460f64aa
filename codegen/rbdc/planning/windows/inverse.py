"""M^-1 from the factors of articulated bodies, by the rows of a supernode of L at a time
(`rbdc.planning.windows.widths`).

T is the inverse of L within a supernode: of K_i, the forces of its joints, L has s_j . K_i for j above i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rbdc.ir.indices import Entry, Index, Variable, plus
from rbdc.ir.loops import Call, Loop, Place, Routine, Statement, Step, Table, names_in
from rbdc.ir.moves import joined, transposition
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import Layout, dot, integers, numbers, step_at
from rbdc.planning.windows.widths import Row, Shape
from rbdc.reduction.schedules import Schedule
from rbdc.spatial import Scalar

NODE, BLOCK, ABOVE, AT = map(Variable, ("node", "b", "e", "at"))
_START: Index = Entry("start_of", NODE)


def inverse_tables(layout: Layout) -> Iterator[Table]:
    """By supernode its first column, that of its register, columns of joints above it, blocks before it."""
    lanes, nodes = layout.lanes, layout.width.nodes
    ups = [list(_above(layout.schedule, node.carrier)) for node in nodes]
    blocks = [_blocks(node.start, lanes) for node in nodes]
    yield integers("start_of", [*(node.start for node in nodes), layout.columns])
    yield integers("first_of", (node.start - node.shape.lane for node in nodes))
    yield integers("ups_of", _ends(ups))
    yield integers("up", (k for own in ups for k in own))
    yield integers("blocks_of", _ends(blocks))
    yield integers("block", (k for own in blocks for k in own))
    yield numbers("unit", [float(k == lanes) for k in range(3 * lanes)])


def _above(schedule: Schedule, column: int) -> Iterator[int]:
    while column >= 0:
        yield column
        column = schedule.column_parents[column]


def _blocks(start: int, lanes: int) -> list[int]:
    """First columns of registers over those before a supernode."""
    return [n if n + lanes <= start else max(start - lanes, 0) for n in range(0, start, lanes)]


def _ends(lists: list[list[int]]) -> list[int]:
    """Where each of some lists begins, and where the last ends."""
    found = [0]
    for own in lists:
        found.append(found[-1] + len(own))
    return found


def invert(layout: Layout) -> Routine:
    """All of M^-1, from the root to the leaves."""
    made: dict[tuple[Shape, int], Routine] = {}
    mirror = _mirror(layout)
    statements: list[Statement] = []
    for number, node in enumerate(layout.width.nodes):
        key = (node.shape, node.start if node.shape.rooted else layout.first)
        if key not in made:
            made[key] = _SupernodeLoops(layout, *key).routine(f"invert_{len(made)}")
        for routine in (made[key], mirror):
            places = {name: Place(name) for name in routine.arguments}
            statements.append(Call(routine, places, {"node": number}))
    return Routine("invert", "M^-1 from the root to the leaves", ("factors", "inverse"), tuple(statements))


def _mirror(layout: Layout) -> Routine:
    """The rows of a supernode from its register on as columns."""
    i, j = Variable("i"), Variable("j")
    trace = LaneRecorder("mirror", ("x", "y"))
    trace.store("y", 0, [trace.read("x")])
    row = {
        "x": Place("inverse", ((j, layout.columns), (i, 1))),
        "y": Place("inverse", ((i, layout.columns), (j, 1))),
    }
    inner = Loop("j", Entry("first_of", NODE), i, (Step(trace.program(), row),))
    loop = Loop("i", _START, Entry("start_of", plus(NODE, 1)), (inner,))
    about = "rounding may differ from one triangle to the other: the upper one is written to both"
    return Routine("mirror", about, ("inverse",), (loop,), ("node",))


class _SupernodeLoops:
    """The statements for supernodes of one shape, of which so many columns of a free root are above."""

    def __init__(self, layout: Layout, shape: Shape, rooted: int) -> None:
        self.layout, self.shape, self.rooted = layout, shape, rooted
        self.lanes, self.size = layout.lanes, shape.size
        self.pitch = -(-6 // layout.lanes) * layout.lanes

    def routine(self, name: str) -> Routine:
        """Rows of M^-1, and what they are as columns."""
        lanes, size, shape = self.lanes, self.size, self.shape
        statements: list[Statement] = [*(self._within() if shape.inner else ()), self._inner()]
        if not shape.top:
            block = Entry("block", BLOCK)
            body = (*self._accelerations(block), self._rows(block), self._columns(block))
            blocks = (Entry("blocks_of", NODE), Entry("blocks_of", plus(NODE, 1)))
            statements += [self._outer(), Loop("b", *blocks, body, "-T K a before it")]
            statements += self._accelerations(Entry("first_of", NODE))
        parents = ", ".join(map(str, shape.parents))
        kind = " of a free root" if shape.rooted else ""
        about = f"{size} columns{kind}, on {parents} of these, -1 for what is above: rows and columns of M^-1"
        statements.append(self._itself())
        names = set(names_in(statements))
        sizes = {"within": size * lanes, "inner": size * lanes, "outer": size * self.pitch}
        sizes |= {"s": 6 * lanes, "a": 6 * lanes, "square": lanes * lanes}
        arrays = {array: count for array, count in sizes.items() if array in names}
        widths = dict.fromkeys(("s", "a", "square"), lanes)
        return Routine(name, about, ("factors", "inverse"), tuple(statements), ("node",), arrays, widths)

    def _own(self, row: Row, offset: int = 0) -> Place:
        """In the record of a column."""
        return self.layout.own("factors", plus(_START, row.number), offset)

    def _row(self, row: Row, column: Index) -> Place:
        """From a column on in a row of the inverse."""
        columns = self.layout.columns
        return Place("inverse", ((_START, columns), (column, 1)), columns * row.number)

    def _trace(self, name: str, *numbers: str) -> LaneRecorder:
        return LaneRecorder(name, numbers, self.lanes)

    def _within(self) -> list[Statement]:
        """L within: of each column its K . s of those above."""
        begin, rows = self.shape.lane, self.shape.rows
        program = joined("side_by_side", self.lanes, 6, range(begin, begin + self.size))
        places = {f"lane{row.lane}": self._own(row) for row in rows} | {"vector": Place("s")}
        trace = self._trace("within", *(f"k{row.number}" for row in rows))
        found = {"s": Place("s")}
        s = trace.entries("s", 0, 6)
        for row in self.shape.inner:
            k = trace.entries(f"k{row.number}", 0, 6)
            trace.store(f"l{row.number}", 0, [dot(k[:3], s[:3]) + dot(k[3:], s[3:])])
            found[f"k{row.number}"] = self._own(row, at.TRANSPOSED)
            found[f"l{row.number}"] = Place("within", (), self.lanes * row.number)
        return [Step(program, places), Step(trace.program(), found)]

    def _inner(self) -> Step:
        """T^T: unit vectors less those of columns below."""
        rows, lanes = self.shape.rows, self.lanes
        trace = self._trace("inner", "within")
        made: dict[int, Scalar] = {}
        for row in reversed(rows):
            made[row.number] = trace.read(f"unit{row.number}")
            for below in row.below:
                made[row.number] -= trace.read("within", lanes * below + row.lane) * made[below]
            trace.store(f"y{row.number}", 0, [made[row.number]])
        found = {f"unit{row.number}": Place("unit", (), lanes - row.lane) for row in rows}
        found |= {f"y{row.number}": Place("inner", (), lanes * row.number) for row in rows}
        return step_at(trace.program(), found | {"within": Place("within")})

    def _outer(self) -> Loop:
        """-T K."""
        rows = self.shape.rows
        trace = self._trace("outer", "within")
        made: list[Scalar] = []
        for row in rows:
            made.append(-trace.read(f"k{row.number}"))
            for above in row.above:
                factor = trace.read("within", self.lanes * row.number + above.lane)
                made[row.number] -= factor * made[above.number]
            trace.store(f"less{row.number}", 0, [made[row.number]])
        found = {"within": Place("within")}
        for row in rows:
            own = self._own(row, at.TRANSPOSED)
            found[f"k{row.number}"] = replace(own, strides=(*own.strides, (AT, 1)))
            found[f"less{row.number}"] = Place("outer", ((AT, 1),), self.pitch * row.number)
        return Loop("at", 0, 6, (step_at(trace.program(), found),), "-T K", step=self.lanes)

    def _accelerations(self, column: Index) -> list[Statement]:
        """How the joint above accelerates in columns of M^-1 from one on: the sum of s times the rows of it
        and of what carries it, s of a root being unit vectors.
        """
        columns = self.layout.columns
        root = self._trace("root")
        root.store("a", 0, [*root.entries("x", 0, self.rooted), *[0.0] * (6 - self.rooted)])
        rows = Place("inverse", ((column, 1),), pitch=columns)
        joint = LaneRecorder("joint", ("s",), self.lanes, ("a",))
        joint.store("a", 0, [s * joint.read("x") for s in joint.entries("s", 0, 6)])
        up: Index = Entry("up", ABOVE)
        places = {
            "s": self.layout.own("factors", up),
            "x": Place("inverse", ((up, columns), (column, 1))),
            "a": Place("a"),
        }
        ends = (Entry("ups_of", NODE), Entry("ups_of", plus(NODE, 1)))
        return [
            step_at(root.program(), {"x": rows, "a": Place("a")}),
            Loop("e", *ends, (Step(joint.program(), places),)),
        ]

    def _carried(self, trace: LaneRecorder, row: Row) -> Scalar:
        """-T K a of a row."""
        factors = trace.entries("outer", self.pitch * row.number, 6)
        return dot(factors, trace.entries("a", 0, 6))

    def _rows(self, column: Index) -> Step:
        """Rows of M^-1 in columns before the supernode, and the square in which these are."""
        shape, columns = self.shape, self.layout.columns
        trace = self._trace("rows", "outer")
        square: list[Scalar] = [trace.read("x", k) for k in shape.before]
        found = {"outer": Place("outer"), "a": Place("a"), "square": Place("square")}
        found["x"] = Place("inverse", ((Entry("first_of", NODE), columns), (column, 1)), pitch=columns)
        for row in shape.rows:
            square.append(self._carried(trace, row))
            trace.store(f"x{row.number}", 0, [square[-1]])
            found[f"x{row.number}"] = self._row(row, column)
        trace.store("square", 0, [*square, *[0.0] * (self.lanes - len(square))])
        return step_at(trace.program(), found)

    def _columns(self, column: Index) -> Step:
        """The square as columns."""
        columns = self.layout.columns
        to = Place("inverse", ((column, columns), (Entry("first_of", NODE), 1)), pitch=columns)
        return Step(transposition("columns", self.lanes), {"row": Place("square"), "column": to})

    def _itself(self) -> Step:
        """T D^-1 T^T - T K a where the supernode meets itself."""
        shape, lanes = self.shape, self.lanes
        trace = self._trace("itself", "within", "outer", *(f"pivot{k}" for k in range(self.size)), "inner")
        found = {"outer": Place("outer"), "a": Place("a"), "inner": Place("inner")}
        scaled: list[Scalar] = []
        for row in shape.rows:
            scaled.append(trace.read(f"pivot{row.number}") * trace.read(f"y{row.number}"))
            own = scaled[-1]
            for above in row.above:
                own = own + trace.read("inner", lanes * above.number + row.lane) * scaled[above.number]
            trace.store(f"x{row.number}", 0, [own if shape.top else own + self._carried(trace, row)])
            found[f"pivot{row.number}"] = self._own(row, at.PIVOT)
            found[f"y{row.number}"] = Place("inner", (), lanes * row.number)
            found[f"x{row.number}"] = self._row(row, Entry("first_of", NODE))
        return step_at(trace.program(), found)

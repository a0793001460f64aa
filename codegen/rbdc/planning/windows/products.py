"""Products with M^-1: accelerations, and by windows -M^-1 times derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.ir.indices import Entry, Index, Multiple, Variable, plus
from rbdc.ir.loops import Clear, Loop, LoopNest, Place, Routine, Statement, Step, Table
from rbdc.ir.moves import parted
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import B, J, K, Layout, integers, numbers
from rbdc.planning.windows.tiles import COLUMN, Matrices, W, filled, held_arrays, tile_tables
from rbdc.planning.windows.widths import PRODUCT_ROWS
from rbdc.spatial import Scalar

_GROUP, _FILLED = Variable("g"), Variable("n")
_COLUMN: Index = Entry("column_of", B)


def product_tables(layout: Layout) -> Iterator[Table]:
    """First columns of registers; by window the rows with entries, and groups of rows of a product: those
    that hang on these, and those that do by a free root alone, if at all.
    """
    last = layout.columns - PRODUCT_ROWS
    starts = [min(row, last) for row in range(0, layout.columns, PRODUCT_ROWS)]
    rows, groups = list[list[int]](), list[list[int]]()
    for window, apart in zip(layout.width.windows, layout.width.apart, strict=True):
        kinds = [tile.row for tile in window.tiles]
        rows.append([*range(layout.first), *kinds])
        for kind in (False, True):
            groups.append([start for start, alone in zip(starts, apart, strict=True) if alone == kind])
    yield integers("column_of", layout.blocks)
    yield integers("rows_of", _ends(rows))
    yield integers("row_of", (row for own in rows for row in own))
    yield integers("groups_of", _ends(groups))
    yield integers("group", (start for own in groups for start in own))
    if any(layout.model.damping):
        yield numbers("damping", map(float, layout.model.damping))


def driving(layout: Layout) -> list[Statement]:
    """Torques less viscous damping."""
    trace = LaneRecorder("driving", ("tau", "v", "damping", "driving"))
    taken = trace.read("damping") * trace.read("v") if any(layout.model.damping) else 0.0
    trace.store("driving", 0, [trace.read("tau") - taken])
    names = ("tau", "v", "damping", "driving") if any(layout.model.damping) else ("tau", "driving")
    return [Loop("k", 0, layout.columns, (Step(trace.program(), {x: Place(x, ((K, 1),)) for x in names}),))]


def accelerated(layout: Layout) -> Routine:
    """M^-1 times what is left of the torques."""
    lanes = layout.lanes
    slot = Entry("slot_of", J)
    trace = LaneRecorder("product", ("x",), lanes, ("sum",))
    trace.store("sum", 0, [trace.read("x") * trace.read("row")])
    row = Place("inverse", ((J, layout.columns), (_COLUMN, 1)))
    places = {"x": Place("rests", ((slot, 1),)), "row": row, "sum": Place("sum")}
    to = {f"lane{m}": Place("seconds", ((Entry("slot_of", plus(_COLUMN, m)), 1),)) for m in range(lanes)}
    body = (
        Clear("sum", lanes),
        Loop("j", 0, layout.columns, (Step(trace.program(), places),)),
        Step(parted("parted", lanes, 1), {"vector": Place("sum"), **to}),
    )
    return Routine(
        "accelerated",
        "accelerations: M^-1 times what is left of the torques",
        ("inverse", "rests", "seconds"),
        (Loop("b", 0, len(layout.blocks), body),),
        (),
        {"sum": lanes},
        {"sum": lanes},
    )


def root_response(layout: Layout) -> Routine:
    """How joints accelerate with a free root while they have no torques: M^-1 of joints and root times what
    the root carries, with the sign of the products.
    """
    lanes, first = layout.lanes, layout.first
    trace = LaneRecorder("response", ("whole",), lanes)
    rows = trace.entries("row", 0, first)
    total: Scalar = 0.0
    for x, row in zip(trace.entries("whole", 0, first), rows, strict=True):
        total = total - x * row
    trace.store("response", 0, [total])
    held = LaneRecorder("held", lanes=lanes)
    held.store("y", 0, held.entries("x", 0, first))
    column = Place("inverse", ((_COLUMN, 1),), pitch=layout.columns)
    places = {
        "whole": Place("whole", ((K, first),)),
        "row": Place("rows"),
        "response": Place("response", ((K, layout.columns), (_COLUMN, 1))),
    }
    body = (
        Step(held.program(), {"x": column, "y": Place("rows")}),
        Loop("k", 0, first, (Step(trace.program(), places),)),
    )
    about = "how joints accelerate with a free root: M^-1 times what the root carries"
    loop = Loop("b", 0, len(layout.blocks), body)
    sizes = {"rows": first * lanes}
    return Routine(
        "root_response", about, ("whole", "inverse", "response"), (loop,), (), sizes, {"rows": lanes}
    )


def operations_by_inverse(layout: Layout) -> int:
    """Operations of the products of M^-1 and right-hand sides, where there are both."""
    if not layout.kernel.solved:
        return 0
    products = _products(layout, *layout.outputs[:2])
    loop = Loop("w", 0, len(layout.width.windows), tuple(products))
    return LoopNest((*tile_tables(layout), *product_tables(layout)), {}, (loop,)).cost().operations


def columns(layout: Layout, by_q: str, by_v: str) -> Routine:
    """By windows the derivatives of inverse dynamics, and -M^-1 times them."""
    lanes, first = layout.lanes, layout.first
    matrices = {"q": "bq", "v": "bv"}
    statements = filled(layout, Matrices(matrices, lanes, ()))
    if any(layout.model.damping):
        trace = LaneRecorder("damped", ("damping", "bv"), adds=("bv",))
        trace.store("bv", 0, [trace.read("damping")])
        diagonal = Place("bv", ((COLUMN, lanes), (K, lanes + 1)))
        places = {"damping": Place("damping", ((COLUMN, 1), (K, 1))), "bv": diagonal}
        statements.append(Loop("k", 0, lanes, (Step(trace.program(), places),)))
    statements += _products(layout, by_q, by_v)
    arguments = ("by", "owns", "inverse", *(("response",) if layout.schedule.free else ()), by_q, by_v)
    vectors = {"sums": 2 * PRODUCT_ROWS * lanes, **held_arrays(layout)}
    arrays = {"bq": layout.columns * lanes, "bv": layout.columns * lanes, **vectors}
    if layout.schedule.free:
        arrays |= {"rq": first * lanes, "rv": first * lanes}
    loop = Loop("w", 0, len(layout.width.windows), tuple(statements))
    about = "by windows the derivatives of inverse dynamics, and -M^-1 times them"
    return Routine("columns", about, arguments, (loop,), (), arrays, dict.fromkeys(vectors, lanes))


def _products(layout: Layout, by_q: str, by_v: str) -> list[Statement]:
    """-M^-1 times the right-hand sides of window w."""
    lanes, first, to = layout.lanes, layout.first, (by_q, by_v)
    whole = _groups(layout, 0, "inverse", {"q": "bq", "v": "bv"}, to)
    if not layout.schedule.free:
        return [whole, _nothing(layout, to)]
    copied = LaneRecorder("copied", lanes=lanes)
    found = dict[str, Place]()
    for x, matrix in (("q", by_q), ("v", by_v)):
        copied.store(f"r{x}", 0, copied.entries(x, 0, first))
        found |= {x: Place(matrix, ((COLUMN, 1),), pitch=layout.columns), f"r{x}": Place(f"r{x}")}
    kept = Step(copied.program(), found)
    return [whole, kept, _groups(layout, 1, "response", {"q": "rq", "v": "rv"}, to)]


def _groups(layout: Layout, kind: int, matrix: str, sources: dict[str, str], to: tuple[str, str]) -> Loop:
    """Rows of results: a matrix, of which -1 is taken, times right-hand sides by q and v with entries in some
    rows alone; those of a root alone for rows that hang on these by it (kind 1).
    """
    lanes, size = layout.lanes, PRODUCT_ROWS
    start: Index = Entry("group", _GROUP)
    row: Index = J if kind else Entry("row_of", _FILLED)
    trace = LaneRecorder("products", ("m",), lanes, ("sums",))
    m, sides = trace.entries("m", 0, size), [trace.read(x) for x in sources]
    trace.store("sums", 0, [-(x * side) for x in m for side in sides])
    places = {"m": Place(matrix, ((row, layout.columns), (start, 1))), "sums": Place("sums")}
    places |= {x: Place(source, ((row, lanes),)) for x, source in sources.items()}
    step = Step(trace.program(), places)
    inner = Loop("j", 0, layout.first, (step,)) if kind else _over("n", "rows_of", W, step)
    body = (Clear("sums", 2 * size * lanes), inner, _stored(layout, "sums", to))
    return _over("g", "groups_of", plus(Multiple(2, W), kind), *body)


def _nothing(layout: Layout, to: tuple[str, str]) -> Loop:
    """Rows of results that nothing with entries hangs on."""
    body = (Clear("sums", 2 * PRODUCT_ROWS * layout.lanes), _stored(layout, "sums", to))
    return _over("g", "groups_of", plus(Multiple(2, W), 1), *body)


def _over(variable: str, ends: str, of: Index, *body: Statement) -> Loop:
    """A loop over the entries of one of several lists."""
    return Loop(variable, Entry(ends, of), Entry(ends, plus(of, 1)), body)


def _stored(layout: Layout, sums: str, to: tuple[str, str]) -> Step:
    """Sums to rows of results."""
    trace = LaneRecorder("stored", lanes=layout.lanes)
    start: Index = Entry("group", _GROUP)
    places = {sums: Place(sums)}
    for number, matrix in enumerate(to):
        own = trace.entries(sums, 0, len(to) * PRODUCT_ROWS)[number :: len(to)]
        trace.store(f"x{number}", 0, own)
        places[f"x{number}"] = Place(matrix, ((start, layout.columns), (COLUMN, 1)), pitch=layout.columns)
    return Step(trace.program(), places)


def root_columns(layout: Layout, by_q: str, by_v: str) -> Routine:
    """The columns of a free root without what it does by itself, of its angular velocity -M^-1 B^T, and what
    damping takes; what is written beyond them is overwritten.
    """
    lanes, size, first = layout.lanes, layout.columns, layout.first
    zeros = LaneRecorder("zeros", lanes=lanes)
    for x in "qv":
        zeros.store(x, 0, [0.0])
    row = {x: Place(matrix, ((J, size), (B, 1))) for x, matrix in (("q", by_q), ("v", by_v))}
    none = Loop("b", 0, first, (Step(zeros.program(), row),), step=lanes)
    pairs = Loop("j", 0, size // 2, (_turning(layout, [Multiple(2, J), plus(Multiple(2, J), 1)]),))
    odd = [_turning(layout, [size - 1])] if size % 2 else []
    both = LaneRecorder("both", lanes=lanes)
    sums = both.entries("sums", 0, 6)
    both.store("x", 0, [x + y for x, y in zip(sums[:3], sums[3:], strict=True)])
    to = Place(by_v, ((_COLUMN, size),), 3, pitch=1, apart=size)
    put = Step(both.program(), {"sums": Place("sums"), "x": to})
    statements: list[Statement] = [
        Loop("j", 0, size, (none,)),
        Loop("b", 0, len(layout.blocks), (Clear("sums", 6 * lanes), pairs, *odd, put)),
    ]
    if any(layout.model.damping):
        taken = LaneRecorder("damped", ("damping", "x", "v"), adds=("v",))
        products = zip(taken.entries("damping", 0, first), taken.entries("x", 0, first), strict=True)
        taken.store("v", 0, [-(d * x) for d, x in products])
        places = {x: Place(name, ((J, size),)) for x, name in (("x", "inverse"), ("v", by_v))}
        step = Step(taken.program(), {"damping": Place("damping"), **places})
        statements.append(Loop("j", 0, size, (step,)))
    about = "the columns of a free root without what it does by itself; others are overwritten"
    arguments = ("owns", "inverse", by_q, by_v)
    return Routine(
        "root_columns", about, arguments, tuple(statements), (), {"sums": 6 * lanes}, {"sums": lanes}
    )


def _turning(layout: Layout, joints: list[Index]) -> Step:
    """Less t of joints times their rows of M^-1, in sums of their own."""
    names = [f"t{k}" for k in range(len(joints))]
    trace = LaneRecorder("turning", tuple(names), layout.lanes, ("sums",))
    places = {"sums": Place("sums")}
    made: list[Scalar] = []
    for name, joint in zip(names, joints, strict=True):
        row = f"row_{name}"
        x = trace.read(row)
        made += [-(t * x) for t in trace.entries(name, 0, 3)]
        places[name] = layout.own("owns", joint, at.TRANSPOSED)
        places[row] = Place("inverse", ((joint, layout.columns), (_COLUMN, 1)))
    trace.store("sums", 0, made)
    return Step(trace.program(), places)


def _ends(lists: list[list[int]]) -> list[int]:
    """Where each of some lists begins, and where the last ends."""
    found = [0]
    for own in lists:
        found.append(found[-1] + len(own))
    return found

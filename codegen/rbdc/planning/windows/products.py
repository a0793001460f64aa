"""Products with M^-1: accelerations, and for each window -M^-1 times the derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from rbdc.ir.indices import Index, Multiple, TableEntry, Variable, plus
from rbdc.ir.loops import Clear, ConstantTable, Loop, LoopNest, Place, Routine, Statement, Step
from rbdc.ir.moves import parted
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import B, J, K, WindowLayout, dot, ends_of, integers, numbers, over
from rbdc.planning.windows.tiles import COLUMN, Matrices, W, filled, held_arrays, tile_tables
from rbdc.planning.windows.widths import PRODUCT_ROWS
from rbdc.spatial import Scalar

_GROUP, _FILLED = Variable("g"), Variable("n")
_COLUMN: Index = TableEntry("column_of", B)


def product_tables(layout: WindowLayout) -> Iterator[ConstantTable]:
    """Yield the tables of products with M^-1. A group is `PRODUCT_ROWS` consecutive rows of the product.

    column_of: first column of each register.
    row_of, from `rows_of` on: for each window, the rows with entries.
    group, from `groups_of` on: for each window, the first rows of its groups of kind 0, then of kind 1.

    A group of kind 0 has a row on a branch with entries in the window. A group of kind 1 is connected to the
    entries only through a free root, or not at all.
    """
    last = layout.columns - PRODUCT_ROWS
    starts = [min(row, last) for row in range(0, layout.columns, PRODUCT_ROWS)]
    rows, groups = list[list[int]](), list[list[int]]()
    for window, unattached in zip(layout.width.windows, layout.width.unattached, strict=True):
        kinds = [tile.row for tile in window.tiles]
        rows.append([*range(layout.first), *kinds])
        for kind in (False, True):
            groups.append([start for start, alone in zip(starts, unattached, strict=True) if alone == kind])
    yield integers("column_of", layout.blocks)
    yield integers("rows_of", ends_of(rows))
    yield integers("row_of", (row for of_window in rows for row in of_window))
    yield integers("groups_of", ends_of(groups))
    yield integers("group", (start for of_window in groups for start in of_window))
    if any(layout.model.damping):
        yield numbers("damping", map(float, layout.model.damping))


def driving(layout: WindowLayout) -> Loop:
    """Return the loop that computes torques minus viscous damping."""
    m, damped = PlaceRecorder(), any(layout.model.damping)
    tau, *others = (m.number(Place(x, ((K, 1),))) for x in ("tau", *(("damping", "v") if damped else ())))
    m.store([tau - prod(others) if damped else tau], Place("driving", ((K, 1),)))
    return Loop("k", 0, layout.columns, (m.step(),))


def accelerated(layout: WindowLayout) -> Routine:
    """Return the routine that computes joint accelerations: M^-1 times the torques `rests`."""
    lanes, m = layout.lanes, PlaceRecorder(layout.lanes)
    rest = m.number(Place("rests", ((TableEntry("slot_of", J), 1),)))
    m.put([rest * m.vector(layout.matrix("inverse", J, _COLUMN))], Place("sum"), adds=True)
    to = {f"lane{k}": Place("seconds", ((TableEntry("slot_of", plus(_COLUMN, k)), 1),)) for k in range(lanes)}
    parts = Step(parted("parted", lanes, 1), {"vector": Place("sum"), **to})
    loop = _over_blocks(layout, Clear("sum", lanes), Loop("j", 0, layout.columns, (m.step(),)), parts)
    about = "joint accelerations: M^-1 (torques - torques at zero joint accelerations)"
    sizes = {"sum": lanes}
    return Routine("accelerated", about, ("inverse", "rests", "seconds"), (loop,), (), sizes, sizes)


def _over_blocks(layout: WindowLayout, *body: Statement) -> Loop:
    return Loop("b", 0, len(layout.blocks), body)


def root_response(layout: WindowLayout) -> Routine:
    """Return the routine that computes `response`: joint accelerations without torques for unit accelerations
    of the free root, negated because `_groups` subtracts products.

    The accelerations are the block of M^-1 of joints and root times `whole`, the root's articulated inertia.
    """
    first, response, m = layout.first, PlaceRecorder(layout.lanes), PlaceRecorder(layout.lanes)
    response.put(response.vectors(first, layout.of_columns("inverse", _COLUMN)), Place("rows"))
    whole, rows = m.numbers(first, Place("whole", ((K, first),))), m.vectors(first, Place("rows"))
    m.put([-dot(whole, rows)], layout.matrix("response", K, _COLUMN))
    loop = _over_blocks(layout, response.step(), Loop("k", 0, first, (m.step(),)))
    about = "negated joint accelerations, without torques, for unit accelerations of the free root"
    arguments, widths = ("whole", "inverse", "response"), {"rows": layout.lanes}
    return Routine("root_response", about, arguments, (loop,), (), {"rows": first * layout.lanes}, widths)


def operations_by_inverse(layout: WindowLayout) -> int:
    """Return the number of operations of the products of M^-1 and right-hand sides, without rows of zeros."""
    if not layout.kernel.solved:
        return 0
    products = _products(layout, *layout.outputs[:2])
    loop = Loop("w", 0, len(layout.width.windows), tuple(products))
    return LoopNest((*tile_tables(layout), *product_tables(layout)), {}, (loop,)).cost().operations


def columns(layout: WindowLayout, by_q: str, by_v: str) -> Routine:
    """Return the routine that computes, window by window, derivatives of inverse dynamics and -M^-1 times
    them.
    """
    lanes, first = layout.lanes, layout.first
    matrices = {"q": "bq", "v": "bv"}
    statements = filled(layout, Matrices(matrices, lanes, ()))
    if any(layout.model.damping):
        m = PlaceRecorder()
        damping = m.number(Place("damping", ((COLUMN, 1), (K, 1))))
        m.store([damping], Place("bv", ((COLUMN, lanes), (K, lanes + 1))), adds=True)
        statements.append(Loop("k", 0, lanes, (m.step(),)))
    statements += _products(layout, by_q, by_v)
    arguments = ("by", "owns", "inverse", *(("response",) if layout.schedule.free else ()), by_q, by_v)
    vectors = {"sums": 2 * PRODUCT_ROWS * lanes, **held_arrays(layout)}
    arrays = {"bq": layout.columns * lanes, "bv": layout.columns * lanes, **vectors}
    if layout.schedule.free:
        arrays |= {"rq": first * lanes, "rv": first * lanes}
    loop = Loop("w", 0, len(layout.width.windows), tuple(statements))
    about = "window by window of columns: derivatives of inverse dynamics, then -M^-1 times them"
    return Routine("columns", about, arguments, (loop,), (), arrays, dict.fromkeys(vectors, lanes))


def _products(layout: WindowLayout, by_q: str, by_v: str) -> list[Statement]:
    lanes, first, to = layout.lanes, layout.first, (by_q, by_v)
    whole = _groups(layout, 0, "inverse", ("bq", "bv"), to)
    if not layout.schedule.free:
        return [whole, _groups(layout, 1, "", (), to)]
    m = PlaceRecorder(lanes)
    for place, matrix in zip(("rq", "rv"), to, strict=True):
        m.put(m.vectors(first, layout.of_columns(matrix, COLUMN)), Place(place))
    return [whole, m.step(), _groups(layout, 1, "response", ("rq", "rv"), to)]


def _groups(layout: WindowLayout, kind: int, matrix: str, sides: Sequence[str], to: Sequence[str]) -> Loop:
    """Compute the rows of results in the groups of one kind (`product_tables`): minus `matrix` times the
    right-hand sides by q and by v.

    Kind 0 sums over rows with entries. Kind 1 sums over a free root's rows; `sides` then name the root's
    accelerations. Without a free root, kind 1 stores zeros.
    """
    size, count = PRODUCT_ROWS, 2 * PRODUCT_ROWS
    start: Index = TableEntry("group", _GROUP)
    body: list[Statement] = [Clear("sums", count * layout.lanes)]
    if sides:
        row: Index = J if kind else TableEntry("row_of", _FILLED)
        m = PlaceRecorder(layout.lanes)
        of_matrix, sides_of_row = (
            m.numbers(size, layout.matrix(matrix, row, start)),
            [m.vector(Place(x, ((row, layout.lanes),))) for x in sides],
        )
        m.put([-(x * side) for x in of_matrix for side in sides_of_row], Place("sums"), adds=True)
        body.append(Loop("j", 0, layout.first, (m.step(),)) if kind else over("n", "rows_of", W, m.step()))
    stored = PlaceRecorder(layout.lanes)
    sums = stored.vectors(count, Place("sums"))
    for k, result in enumerate(to):
        stored.put(sums[k::2], replace(layout.matrix(result, start, COLUMN), pitch=layout.columns))
    return over("g", "groups_of", plus(Multiple(2, W), kind), *body, stored.step())


def root_columns(layout: WindowLayout, by_q: str, by_v: str) -> Routine:
    """Return the routine that computes a free root's columns without the terms of `root.root_itself`: -M^-1 t
    in the columns of the root's angular velocity, and -M^-1 times damping.
    """
    lanes, size, first = layout.lanes, layout.columns, layout.first
    zeros, both = PlaceRecorder(lanes), PlaceRecorder(lanes)
    for matrix in (by_q, by_v):
        zeros.put([0.0], layout.matrix(matrix, J, B))
    none = Loop("b", 0, first, (zeros.step(),), step=lanes)
    pairs = Loop("j", 0, size // 2, (_turning(layout, Multiple(2, J), plus(Multiple(2, J), 1)),))
    odd = [_turning(layout, size - 1)] if size % 2 else []
    sums = both.vectors(6, Place("sums"))
    to = Place(by_v, ((_COLUMN, size),), 3, pitch=1, lane_stride=size)
    both.put([x + y for x, y in zip(sums[:3], sums[3:], strict=True)], to)
    statements: list[Statement] = [
        Loop("j", 0, size, (none,)),
        _over_blocks(layout, Clear("sums", 6 * lanes), pairs, *odd, both.step()),
    ]
    if any(layout.model.damping):
        m = PlaceRecorder()
        damping, row = m.numbers(first, Place("damping")), m.numbers(first, layout.matrix("inverse", J, 0))
        damped = [-(d * x) for d, x in zip(damping, row, strict=True)]
        m.store(damped, layout.matrix(by_v, J, 0), adds=True)
        statements.append(Loop("j", 0, size, (m.step(),)))
    about = "columns of the free root: terms with M^-1; entries beyond these columns are overwritten later"
    arguments, widths = ("owns", "inverse", by_q, by_v), {"sums": lanes}
    return Routine("root_columns", about, arguments, tuple(statements), (), {"sums": 6 * lanes}, widths)


def _turning(layout: WindowLayout, *joints: Index) -> Step:
    """Subtract t of each joint times the joint's row of M^-1: one sum for each entry of t of each joint."""
    m = PlaceRecorder(layout.lanes)
    products: list[Scalar] = []
    for joint in joints:
        t, row = (
            m.numbers(3, layout.own("owns", joint, at.TRANSPOSED)),
            layout.matrix("inverse", joint, _COLUMN),
        )
        products += [-(x * m.vector(row)) for x in t]
    m.put(products, Place("sums"), adds=True)
    return m.step()

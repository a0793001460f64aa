"""The loops of operational-space dynamics of a frame, after straight-line code for the factors of M.

M = L^T D L, Lambda is the operational-space inertia, and Jbar the dynamically consistent inverse of J.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.algorithms.derivatives.frame_derivatives import turning
from rbdc.algorithms.operational_space import SIZE, lower_triangle, rows_above, switched
from rbdc.algorithms.tools.linear import Factorisation, Matrix, dot, flat, plus_diagonal
from rbdc.ir.indices import Index, TableEntry, Variable, plus
from rbdc.ir.loops import Clear, ConstantTable, Loop, Statement, WhereGiven
from rbdc.model import Problem
from rbdc.planning.climb import motions
from rbdc.planning.climb.steps import OWN, PathStep, by_reference, down, of_joint, once, up
from rbdc.spatial import Motion, Scalar

FELT = 21
"""Number of entries in a triangle of a symmetric matrix (6, 6)."""


def tables(model: Problem) -> list[ConstantTable]:
    """Return `row_up`, lists of the ancestors of each row of M, and `row_first`, where each list begins."""
    above = rows_above(model)
    starts = [sum(map(len, above[:k])) for k in range(len(above) + 1)]
    entries = [j for rows in above for j in rows] or [0]
    return [
        ConstantTable("row_first", tuple((k,) for k in starts), integer=True),
        ConstantTable("row_up", tuple((j,) for j in entries), integer=True),
    ]


def inertia(model: Problem) -> list[Statement]:
    """Return the loops of Lambda = (Y^T D^-1 Y + mu 1)^-1, with L^T Y = J^T."""

    def column(m: PathStep) -> None:
        m.add("y", [m.factor() * x for x in m.seen(m.column).scalars()], column=SIZE)

    def raised(m: PathStep, row: str) -> None:
        y, entry = m.read("y", SIZE, **{row: SIZE}), m.read("lower", 1, e=1)[0]
        m.add("y", [-(entry * x) for x in y], above=SIZE)

    def products(m: PathStep, row: str) -> None:
        y, pivot = m.read("y", SIZE, **{row: SIZE}), m.read("pivots", 1, **{row: 1})[0]
        m.add("felt", [pivot * y[i] * y[j] for i in range(SIZE) for j in range(i + 1)])

    def result(m: PathStep) -> None:
        m.write("inertia", flat(lower_triangle(m.read("felt", FELT))))

    return [
        Clear("y", SIZE * model.nv),
        up(of_joint(model, by_reference(model, column)), about="right-hand sides J^T"),
        Clear("felt", FELT),
        _along_path(model, "solve L^T Y = J^T, and add up Y^T D^-1 Y", products, raised),
        WhereGiven(("mu",), (_changed(model, _regularised),)),
        WhereGiven(("rows",), (_changed(model, _kept),)),
        _changed(model, lambda m, felt: Factorisation(felt).inverse()),
        WhereGiven(("rows",), (_changed(model, lambda m, felt: switched(felt, m.read("rows", SIZE))),)),
        once(model, result),
    ]


def consistent_inverse(model: Problem, inside: Callable[[PathStep], None] | None = None) -> list[Statement]:
    """Return the loops of Lambda and Jbar. inside: further work for each row of Jbar."""

    def spread(m: PathStep, row: str) -> None:
        y, pivot = m.read("y", SIZE, **{row: SIZE}), m.read("pivots", 1, **{row: 1})[0]
        scaled = [pivot * x for x in y]
        m.write("inverse", [dot(x, scaled) for x in lower_triangle(m.read("felt", FELT))], **{row: SIZE})

    def lowered(m: PathStep) -> None:
        column, entry = m.read("inverse", SIZE, above=SIZE), m.read("lower", 1, e=1)[0]
        m.add("inverse", [-(entry * x) for x in column], r=SIZE)

    more = () if inside is None else (once(model, inside),)
    return [
        *inertia(model),
        _along_path(model, "right-hand sides D^-1 Y Lambda", spread),
        Loop(
            "r",
            0,
            model.nv,
            (_above(Variable("r"), once(model, lowered)), *more),
            "solve L Jbar = D^-1 Y Lambda",
        ),
    ]


def whole(model: Problem) -> list[Statement]:
    """Return the loops of Lambda, Jbar, and the bias and gravity forces."""

    def forces(m: PathStep) -> None:
        column = m.read("inverse", SIZE, r=SIZE)
        moving, resting = (m.read(name, 1, r=1)[0] for name in ("velocity_forces", "gravity_forces"))
        m.add("bias", [x * moving for x in column])
        m.add("gravity", [x * resting for x in column])

    def drift(m: PathStep) -> None:
        entries = m.read("drift", SIZE)
        m.add("bias", [-dot(row, entries) for row in lower_triangle(m.read("felt", FELT))])

    return [*consistent_inverse(model, forces), *motions.drift(model), once(model, drift)]


def inertia_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of Lambda and dLambda/dq. dLambda/dq follows from the derivatives of M and of the
    frame's velocity, with each column of Jbar taken as joint velocities.
    """

    def steps(total: str) -> Loop:
        def step(m: PathStep) -> None:
            for a, x in enumerate(m.read("inverse", SIZE, column=SIZE)):
                m.add(total, m.column.scaled(m.factor() * x).scalars(), SIZE * a)

        return of_joint(model, once(model, step))

    def pushed(m: PathStep, moved: Sequence[Motion]) -> list[Scalar]:
        rows = lower_triangle(m.read("felt", FELT))
        seen = [m.seen(x, symbol=f"dv{b}").scalars() for b, x in enumerate(moved)]
        change = [[dot(row, x) for row in rows] for x in seen]
        return [-(change[b][a] + change[a][b]) for a in range(SIZE) for b in range(SIZE)]

    def column(m: PathStep) -> None:
        s, places = m.column, range(0, SIZE * SIZE, SIZE)
        moved = [
            m.motion("carried", k).cross(s) + turning(s, m.motion("moved", k), m.reference) for k in places
        ]
        m.put("dinertia_dq", pushed(m, moved))

    def bend(m: PathStep) -> None:
        bent = [m.column.scaled(x) for x in m.read("inverse", SIZE, column=SIZE)]
        m.put_plain("dinertia_dq", pushed(m, bent))

    def change(m: PathStep) -> None:
        entries = flat(lower_triangle(m.read("changes", FELT, r=FELT)))
        m.add_scattered("dinertia_dq", {k * model.nv: x for k, x in enumerate(entries)}, r=1)

    columns = of_joint(model, by_reference(model, column), by_reference(model, bend))
    turned = "root to frame: subtract Lambda dJ/dq Jbar and its transpose"
    return [
        Clear("inverse", SIZE * model.nv),
        *consistent_inverse(model),
        Clear("moved", SIZE * SIZE),
        up(steps("moved"), about="velocities of the frame for the columns of Jbar as joint velocities"),
        Clear("carried", SIZE * SIZE),
        down(columns, steps("carried"), about=turned),
        Loop("r", 0, model.nv, (once(model, change),), "add Jbar^T dM/dq Jbar"),
    ]


def _changed(model: Problem, change: Callable[[PathStep, Matrix], Matrix]) -> Statement:

    def text(m: PathStep) -> None:
        changed = change(m, lower_triangle(m.read("felt", FELT)))
        m.write("felt", [x for i, row in enumerate(changed) for x in row[: i + 1]])

    return once(model, text)


def _regularised(m: PathStep, felt: Matrix) -> Matrix:
    return plus_diagonal(felt, m.read("mu", 1) * SIZE)


def _kept(m: PathStep, felt: Matrix) -> Matrix:
    rows = m.read("rows", SIZE)
    return plus_diagonal(switched(felt, rows), [1.0 - x for x in rows])


def _above(row: Index, step: Statement) -> Loop:
    return Loop("e", TableEntry("row_first", row), TableEntry("row_first", plus(row, 1)), (step,))


def _along_path(
    model: Problem,
    about: str,
    text: Callable[[PathStep, str], None],
    above: Callable[[PathStep, str], None] | None = None,
) -> Loop:
    """Return a loop over the rows of M along the path, from the frame on, or over all rows if joints are
    coupled.

    text, above: the work for a row, and for each row above it.
    """

    def body(row: str, index: Index) -> Sequence[Statement]:
        step = once(model, lambda m: text(m, row))
        return (step,) if above is None else (_above(index, once(model, lambda m: above(m, row))), step)

    if model.coupled:
        return Loop("r", 0, model.nv, tuple(body("r", Variable("r"))), about, backward=True)
    dofs = TableEntry("first_of", OWN), TableEntry("first_of", plus(OWN, 1))
    inner = Loop("k", *dofs, tuple(body("column", TableEntry("column_of", Variable("k")))), backward=True)
    return up(inner, about=about)

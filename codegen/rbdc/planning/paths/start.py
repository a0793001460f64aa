"""The first loops of all second derivatives: operators of each degree of freedom, and first derivatives."""

from __future__ import annotations

from collections.abc import Iterator

from rbdc.algorithms.derivatives.second_order import Operators
from rbdc.algorithms.derivatives.world_forces import TurnedForce
from rbdc.ir.indices import Index
from rbdc.ir.loops import Clear, ConstantTable, Loop, Place, Statement
from rbdc.model import Problem
from rbdc.planning.loops.places import Named
from rbdc.planning.paths.layout import PathLayout
from rbdc.planning.paths.steps import DofRecorder, once
from rbdc.planning.paths.tables import ABOVE, COUNT, FIRST, D, blocks_of


def operators(layout: PathLayout) -> list[Statement]:
    """Return the step that stores zeros after the last entries, where the last vectors end, and the loop that
    computes the operators.
    """

    def text(m: DofRecorder) -> None:
        d = m.direction(D, wide=True)
        o = Operators.of(d, m.subtree(D, wide=True))
        loaded: list[Named] = []
        if layout.loaded:
            turned = TurnedForce.of_direction(d.s, m.load(D, wide=True))
            loaded = [("the map of a motion x to (x x s) x* F", "t", turned.scalars())]
        m.give(
            m.rows("op", D),
            ("(f, n) = I s", "f", o.i_s.scalars()),
            ("L = [w]J - J[w] + 2 (u.h) 1 - h u^T - u h^T", "l", o.symmetric.scalars()),
            ("b = p x u + N^T w", "b", o.b.scalars()),
            ("A3 x = (-p' x w(x), N' w(x)): p' = w x p + 2 f', f' = f of psidot", "p", o.p3.scalars()),
            ("N' = [w]N - N[w] - [u][p] + L' - [n'], L' and n' of psidot", "n", o.n3.scalars()),
            ("fq = B psidot + I psiddot + s x* force of the subtree", "fq", o.by_q.scalars()),
            ("fv = B s + I sigma, sigma = psidot + ds/dt", "fv", o.by_v.scalars()),
            *loaded,
        )

    def ends(m: DofRecorder) -> None:
        for array, size in (("state", layout.state * layout.size), ("op", layout.operators * layout.columns)):
            m.put([0.0], Place(array, offset=size))

    return [
        once(layout, ends),
        Loop(
            "d",
            0,
            layout.size,
            (once(layout, text),),
            "operators of each degree of freedom; its subtree has inertia (m, h, J), Coriolis factor (p, N)",
            step=layout.lanes,
        ),
    ]


def drive_tables(model: Problem) -> list[ConstantTable]:
    """Return tables of stiffness and damping by degree of freedom, or none if all are zero."""
    terms = {"stiffness": model.stiffness, "damping": model.damping}
    driven = any(map(any, terms.values()))
    return [
        ConstantTable(name, tuple((float(x),) for x in values)) for name, values in terms.items() if driven
    ]


def slopes(layout: PathLayout, *, driven: bool) -> Iterator[Statement]:
    """Yield the loops that compute the right-hand sides [-dtau_dq | -dtau_dv], row by row.

    Let k be at or above d, and b, (f, n), fq and fv operators of d. The torque of d has the derivatives
    b . w(psidot_k) + (f, n) . psiddot_k by q_k and b . w_k + (f, n) . sigma_k by v_k. The torque of k has the
    derivatives s_k . fq by q_d and s_k . fv by v_d. A free root moves along unit vectors: its q turns only
    gravity, and the entries by its q are not used. A world-fixed force F subtracts s_k . (s_d x* F) from the
    derivative of the torque of d by q_k.
    """
    row, by_v = 2 * layout.columns, layout.columns

    def rates(m: DofRecorder, at: Index, count: Index) -> None:
        o, k = m.operators(D), m.direction(at, wide=True)
        m.put(
            [-(o.b.dot(k.s.angular) + k.sigma.dot(o.i_s))],
            Place("sides", ((D, row), (at, 1)), by_v, count=count),
        )

    def root_rates(m: DofRecorder) -> None:
        for begin, count in layout.root_parts:
            rates(m, begin, count)

    def root(m: DofRecorder) -> None:
        o = m.operators(D)
        for force, side in ((o.by_q, 0), (o.by_v, by_v)):
            m.store((-force).scalars(), Place("sides", ((D, 1),), side, pitch=row))

    def block(m: DofRecorder) -> None:
        o, k = m.operators(D), m.direction(FIRST, wide=True)
        by_q = -(o.b.dot(k.psi_rate.angular) + k.psi_second.dot(o.i_s))
        if layout.loaded:
            by_q = by_q + k.s.dot(m.direction(D).s.cross_force(m.load(D)))
        m.put([by_q], Place("sides", ((D, row), (FIRST, 1)), count=COUNT))
        rates(m, FIRST, COUNT)
        for force, side in ((o.by_q, 0), (o.by_v, by_v)):
            m.put(
                [-k.s.dot(force)], Place("sides", ((FIRST, row), (D, 1)), side, lane_stride=row, count=ABOVE)
            )

    def drive(m: DofRecorder) -> None:
        for name, side in (("stiffness", 0), ("damping", by_v)):
            (term,) = m.numbers(1, Place(name, ((D, 1),)))
            m.store([-term], Place("sides", ((D, row + 1),), side), adds=True)

    yield Clear("sides", layout.size * row)
    if layout.free:
        yield Loop(
            "d",
            layout.root,
            layout.size,
            (once(layout, root),),
            "negated derivatives of torques of the free root by q and v",
        )
    yield Loop(
        "d",
        0,
        layout.size,
        (once(layout, root_rates), blocks_of(once(layout, block))),
        "negated derivatives of torques by q and v",
    )
    if driven:
        yield Loop("d", 0, layout.size, (once(layout, drive),), "subtract stiffness and damping")

"""Hessians of weighted sums: w^T tau of torques, and w^T ddq of accelerations. For accelerations, the weights
of torques are -M^-1 w.

For each joint, y is the weighted sum of s_i over the degrees of freedom i strictly above. H, L and b
are the weighted sums of (f, n)_i, L_i and b_i over its subtree; with world-fixed forces, `TurnedForce` is
summed likewise. Q1, Q2 and R are u8, s x* H and u11 with these sums in place of (f, n), L and b. From the
sums, each degree of freedom gets a row of factors. Products of this row with the motions of the path are the
entries of the Hessian.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdc.algorithms.derivatives.world_forces import TurnedForce
from rbdc.algorithms.dynamics.coriolis import Direction
from rbdc.ir.indices import Index, Multiple, Sum, TableEntry, plus
from rbdc.ir.loops import Clear, Loop, Place, Statement
from rbdc.planning.paths.layout import LOAD, OPERATORS, TURNED_LOAD, PathLayout
from rbdc.planning.paths.products import product
from rbdc.planning.paths.steps import DofRecorder, once, operators_of, over
from rbdc.planning.paths.tables import ABOVE, COUNT, FIRST, D, E, JointIndices, PathTables, X, Y, blocks_of
from rbdc.spatial import Force, Motion, Scalar, Vector3

DOWN, SUMS = 6, 21
"""The row of `sums` at which the sums over a joint's subtree begin, and the number of rows: y (6); H (6), L
(6), b (3). The rows of `TurnedForce` follow.
"""
SECOND, MOTION, TURNED, ROWS = 3, 9, 12, 18
"""Rows of the array `rows`: A3^T y + Q1 (3), A1 y + Q2 (6), B(I, s)^T y - R (3); y x s (6); then the summed
`TurnedForce` of s (6).
"""


def arrays(layout: PathLayout) -> dict[str, int]:
    """Return the sizes of the arrays of these loops."""
    columns, loaded = layout.columns, layout.loaded
    sizes = {
        "weights": columns,
        "motion": 6 * columns,
        "sums": (SUMS + TURNED_LOAD * loaded) * columns,
        "rows": (ROWS + LOAD * loaded) * columns + layout.lanes,
    }
    return sizes | {"by_a": layout.size**2, "solved": columns, "change": 2 * columns}


def hessian(path: PathTables, weight: str, outputs: Sequence[str], *, solved: bool) -> Iterator[Statement]:
    """Yield the statements of the Hessian for weights of torques or, if `solved`, of accelerations."""
    if solved:
        yield from accelerations(path, weight)
        yield from Hessian(path, [*outputs[:3], "by_a"], with_root=False).statements()
        yield from changed(path, outputs)
    else:
        yield from torques(path.layout, weight)
        yield from Hessian(path, outputs, with_root=True).statements()


def torques(layout: PathLayout, weight: str) -> list[Statement]:
    """Return the loop that copies the input `weight` to `weights`."""

    def copy(m: DofRecorder) -> None:
        m.store(m.numbers(1, Place(weight, ((D, 1),))), Place("weights", ((D, 1),)))

    return [
        Clear("weights", layout.columns),
        Loop("d", 0, layout.size, (once(layout, copy),), "the weights of torques"),
    ]


def accelerations(path: PathTables, weight: str) -> list[Statement]:
    """Return the loops that compute the weights -M^-1 w of torques."""
    layout, n, rows = path.layout, path.layout.size, ("y", 0, path.layout.size)

    def negated(m: DofRecorder) -> None:
        m.store([-x for x in m.numbers(1, Place("solved", ((D, 1),)))], Place("weights", ((D, 1),)))

    return [
        *product(
            layout,
            Place(weight, ((Y, 1),)),
            Place("inverse", ((Y, n),)),
            Place("solved"),
            layout.columns,
            rows,
        ),
        Clear("weights", layout.columns),
        Loop("d", 0, n, (once(layout, negated),), "the weights -M^-1 w of torques"),
    ]


def changed(path: PathTables, outputs: Sequence[str]) -> list[Statement]:
    """Return the loop that adds the terms of accelerations to the Hessian: K M^-1, K ddq_dq and its
    transpose, and K ddq_dv, where K is the block by q and a.

    The rows of K by q of a free root are zero.
    """
    layout, n, columns, (qq, _, qv, qx) = path.layout, path.layout.size, path.layout.columns, outputs

    def add(m: DofRecorder, at: Index, count: int | None) -> None:
        by_q, by_v = (m.vectors(1, Place("change", ((at, 1),), offset)) for offset in (0, columns))
        for values, place in (
            (by_q, Place(qq, ((D, n), (at, 1)), count=count)),
            (by_q, Place(qq, ((at, n), (D, 1)), lane_stride=n, count=count)),
            (by_v, Place(qv, ((D, n), (at, 1)), count=count)),
        ):
            m.put(values, place, adds=True)
        m.put(m.vectors(1, Place("solved", ((at, 1),))), Place(qx, ((D, n), (at, 1)), count=count))

    related, (y, tree) = TableEntry("related", Y), path.tree_rows(D)
    rows = ("y", TableEntry("related_of", D), TableEntry("related_of", plus(D, 1)))
    block, solved = Place("by_a", ((D, n), (related, 1))), Place("solved", ((y, 1),))
    body = [
        *product(layout, block, Place("inverse", ((related, n),)), Place("solved"), columns, rows),
        *product(layout, solved, Place("sides", ((y, 2 * columns),)), Place("change"), 2 * columns, tree),
        *over(layout, n, add),
    ]
    about = "add K M^-1, K ddq_dq, its transpose and K ddq_dv, where K is the Hessian's block by q and a"
    return [Clear(qx, layout.root * n), Loop("d", layout.root, n, tuple(body), about)]


class Hessian:
    """The loops over `weights` of torques that compute qq, vv, qv and the block by q and a.

    with_root: also compute the entries by q of a free root and q of another joint. For accelerations these
        entries are zero.
    """

    def __init__(self, path: PathTables, outputs: Sequence[str], *, with_root: bool) -> None:
        self.path, self.layout, self.n, self.with_root = path, path.layout, path.layout.size, with_root
        self.outputs = self.qq, self.vv, self.qv, self.qa = tuple(outputs)

    def statements(self) -> Iterator[Statement]:
        """Yield all statements of the loops."""
        layout = self.layout
        yield from (Clear(name, self.n**2) for name in self.outputs)
        yield from self._sums()
        yield Loop(
            "d",
            0,
            self.n,
            (once(layout, self._row),),
            "for each degree of freedom, the factors of the motions of its path",
            step=layout.lanes,
        )
        about = "entries (d, k) and (k, d) for all k at or above d"
        yield Loop("d", 0, self.n, (blocks_of(once(layout, self._block)),), about)
        if layout.free:
            yield from self._root()
        if layout.pairs:
            yield self._pairs()

    def _sums(self) -> Iterator[Statement]:
        layout, columns, count = self.layout, self.layout.columns, len(self.path.columns["lower_of"])
        rows = SUMS + TURNED_LOAD * layout.loaded
        joint, above = (
            JointIndices(TableEntry("lower_of", E)),
            JointIndices(TableEntry("joint_above", TableEntry("lower_of", E))),
        )

        def weighted(m: DofRecorder) -> None:
            (w,) = m.vectors(1, Place("weights", ((D, 1),)))
            m.put([w * x for x in m.direction(D, wide=True).s.scalars()], m.rows("motion", D))
            m.put([w * x for x in m.vectors(SUMS - DOWN, m.rows("op", D))], m.rows("sums", D, DOWN))
            if layout.loaded:
                turned = m.vectors(TURNED_LOAD, m.rows("op", D, OPERATORS))
                m.put([w * x for x in turned], m.rows("sums", D, SUMS))

        def up(m: DofRecorder, source: Index, to: Index) -> None:
            terms = m.numbers(rows - DOWN, m.rows("sums", source, DOWN))
            m.store(terms, m.rows("sums", to, DOWN), adds=True)

        def down(m: DofRecorder) -> None:
            sums, motion = (Motion.of(m.numbers(6, m.rows(x, above.dof))) for x in ("sums", "motion"))
            m.store((sums + motion).scalars(), m.rows("sums", joint.dof))

        def further(m: DofRecorder) -> None:
            m.store(m.numbers(6, m.rows("motion", X)), m.rows("sums", joint.dof), adds=True)

        def copy(m: DofRecorder) -> None:
            m.store(m.numbers(rows, m.rows("sums", several.dof)), m.rows("sums", X))

        several, number = JointIndices(TableEntry("several_of", E)), len(self.path.columns["several_of"])
        several_sums = several.loop(once(layout, lambda m: up(m, X, several.dof)), variable="x", further=1)
        copies = several.loop(once(layout, copy), variable="x", further=1)
        more = [above.loop(once(layout, further), variable="x", further=1)] if layout.pairs else []
        yield Clear("sums", DOWN * columns)
        yield Loop(
            "d", 0, columns, (once(layout, weighted),), "weighted motions and operators", step=layout.lanes
        )
        if layout.pairs:
            yield Loop("e", 0, number, (several_sums,), "sums over the directions of each joint")
        carried = once(layout, lambda m: up(m, joint.dof, above.dof))
        yield Loop("e", 0, count, (carried,), "sums over subtrees", backward=True)
        yield Loop("e", 0, count, (once(layout, down), *more), "sums over the joints above")
        if layout.pairs:
            yield Loop("e", 0, number, (copies,), "copy the sums of each joint to all its directions")

    def _row(self, m: DofRecorder) -> None:
        d, o, x = m.direction(D, wide=True), m.operators(D, wide=True), m.vectors(SUMS, m.rows("sums", D))
        y, sums = Motion.of(x[:DOWN]), operators_of(x[DOWN:])
        rate = o.p3.cross(y.linear) + o.n3.apply_transposed(y.angular) + sums.u8(d)
        m.give(
            m.rows("rows", D),
            ("A3^T y + Q1, with Q1 = u8 computed from the sums", "rate", rate.scalars()),
            ("A1 y + s x* H, with the sum H of (f, n)", "second", (o.a1(y) + sums.a0(d.s)).scalars()),
            (
                "B(I, s)^T y - R, with R = u11 computed from the sums",
                "motion",
                (o.u11(y) - sums.u11(d.s)).scalars(),
            ),
            ("y x s", "turned", y.cross(d.s).scalars()),
        )
        if self.layout.loaded:
            turned = TurnedForce.of(m.vectors(TURNED_LOAD, m.rows("sums", D, SUMS)))
            load = "weighted sum over i of (s x s_i) x* F_i", "load", turned(d.s).scalars()
            m.give(m.rows("rows", D, ROWS), load)

    def _with_load(self, m: DofRecorder, qq: Scalar, k: Direction) -> Scalar:
        if not self.layout.loaded:
            return qq
        return qq - k.s.dot(Force.of(m.numbers(LOAD, m.rows("rows", D, ROWS))))

    def _row_of(self, array: str, at: Index, count: Index) -> Place:
        return Place(array, ((D, self.n), (at, 1)), count=count)

    def _column_of(self, array: str, at: Index, count: Index) -> Place:
        return Place(array, ((at, self.n), (D, 1)), lane_stride=self.n, count=count)

    def _block(self, m: DofRecorder) -> None:
        numbers, o, k = m.numbers(TURNED, m.rows("rows", D)), m.operators(D), m.direction(FIRST, wide=True)
        rate, second, motion = (
            Vector3.of(numbers[:SECOND]),
            Force.of(numbers[SECOND:MOTION]),
            Vector3.of(numbers[MOTION:]),
        )
        g, w, turning = (
            Motion.of(m.vectors(6, m.rows("rows", FIRST, TURNED))),
            k.s.angular,
            k.psi_rate.angular,
        )
        qq, vv = rate.dot(turning) + k.psi_second.dot(second) + g.dot(o.by_q), motion.dot(w)
        qq = self._with_load(m, qq, k)
        below, above = rate.dot(w) + k.sigma.dot(second), motion.dot(turning) + g.dot(o.by_v)
        for array, row, rows, column, columns in (
            (self.qq, qq, COUNT, qq, ABOVE),
            (self.vv, vv, COUNT, vv, ABOVE),
            (self.qv, below, ABOVE, above, COUNT),
            (self.qa, k.s.dot(second), ABOVE, g.dot(o.i_s), COUNT),
        ):
            m.put([row], self._row_of(array, FIRST, rows))
            m.put([column], self._column_of(array, FIRST, columns))

    def _root(self) -> Iterator[Statement]:
        """Yield entries along d and a free root's directions k, whose motions are the unit vectors with
        psidot zero.

        All entries by q of the root and v or a of another joint are zero. If d belongs to the root, only
        entries by q twice are stored.
        """

        def gravity(m: DofRecorder, *, column: bool) -> None:
            second = Vector3.of(m.numbers(3, m.rows("rows", D, SECOND)))
            for begin, count in self.layout.root_parts:
                k = m.direction(begin, wide=True)
                qq = self._with_load(m, second.dot(k.psi_second.linear), k)
                m.put([qq], self._row_of(self.qq, begin, count))
                if column:
                    m.put([qq], self._column_of(self.qq, begin, count))

        def others(m: DofRecorder) -> None:
            numbers = m.numbers(TURNED, m.rows("rows", D))
            rate, second = Vector3.of(numbers[:SECOND]), Force.of(numbers[SECOND:MOTION])
            m.store(numbers[MOTION:], Place(self.vv, ((D, self.n),), 3))
            m.store(numbers[MOTION:], Place(self.vv, ((D, 1),), 3 * self.n, pitch=self.n))
            m.store(second.scalars(), Place(self.qa, ((D, self.n),)))
            for begin, count in self.layout.root_parts:
                k = m.direction(begin, wide=True)
                m.put([rate.dot(k.s.angular) + k.sigma.dot(second)], self._row_of(self.qv, begin, count))
            if self.with_root:
                gravity(m, column=True)

        of_root = once(self.layout, lambda m: gravity(m, column=False))
        yield Loop("d", 0, self.layout.root, (of_root,), "entries by q along two directions of the free root")
        yield Loop(
            "d",
            self.layout.root,
            self.n,
            (once(self.layout, others),),
            "entries along directions of the free root and of another joint",
        )

    def _pairs(self) -> Statement:
        """Store vv of two directions d and x of one joint, with A1 computed from the sums:
        (y x s_d) . I s_x + (y x s_x) . I s_d - s_d . A1 s_x.
        """
        joint, count = JointIndices(TableEntry("several_of", E)), len(self.path.columns["several_of"])

        def pair(m: DofRecorder) -> None:
            sums = operators_of(m.numbers(12, m.rows("sums", joint.dof, DOWN)))
            s, s_x = m.direction(D).s, m.direction(X, wide=True).s
            g = Motion.of(m.numbers(6, m.rows("rows", D, TURNED)))
            g_x = Motion.of(m.vectors(6, m.rows("rows", X, TURNED)))
            both = g.dot(m.operators(X, wide=True).i_s) + g_x.dot(m.operators(D).i_s)
            m.put([both - s.dot(sums.a1(s_x))], self._row_of(self.vv, X, Sum(joint.after, Multiple(-1, X))))

        each = Loop("x", joint.dof, joint.after, (once(self.layout, pair),), step=self.layout.lanes)
        return Loop(
            "e", 0, count, (joint.loop(each),), "entries by velocities of two directions of one joint"
        )

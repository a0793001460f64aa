"""Second derivatives of forward dynamics (tensors) in O(n^3), from sums over paths and subtrees, without the
tensors of inverse dynamics that `rbdc.algorithms.derivatives.second_order_forward` multiplies by M^-1.

X = [M^-1 | ddq_dq | ddq_dv] has a row X_i for each degree of freedom i. For each column of X, each joint has
Y, the sum of s_i X_i over the degrees of freedom i above it, and H, the sum of (f, n)_i X_i over its subtree.
For the columns of M^-1, each joint also has the sums of L_i X_i and b_i X_i over its subtree. Q1, Q2 and R
are u8, s x* H and u11 with these sums in place of (f, n), L and b. Each degree of freedom has weights -Y,
-Q2, -Q1 for every row of M^-1, and terms for every column of X; a tensor is the product of weights and terms.
World-fixed forces add s_k . W s_d, where W is the sum of `TurnedForce` times a column of M^-1 over the
subtree of d.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rbdc.algorithms.derivatives.second_order import Operators
from rbdc.algorithms.dynamics.coriolis import Direction
from rbdc.ir.indices import Index, Multiple, Sum, TableEntry
from rbdc.ir.loops import Call, Loop, Place, Statement, Switch
from rbdc.planning.paths.layout import LOAD, OPERATORS, TURNED_LOAD, PathLayout
from rbdc.planning.paths.loads import loads
from rbdc.planning.paths.products import DEEP, R, TiledProduct, product
from rbdc.planning.paths.steps import DofRecorder, Text, once, operators_of, over
from rbdc.planning.paths.tables import (
    ABOVE,
    COUNT,
    DEPTH,
    FIRST,
    B,
    D,
    E,
    JointIndices,
    K,
    PathTables,
    X,
    blocks_of,
)
from rbdc.spatial import Force, Motion, Scalar, Vector3

TERMS = DEPTH
"""Number of rows of weights: -Y (6), -Q2 (6), -Q1 (3). Terms have as many rows."""
FQ, FV = 27, 33
"""Rows of operators where fq and fv begin."""


def arrays(layout: PathLayout) -> dict[str, int]:
    """Return the sizes of the arrays of these loops."""
    n, columns = layout.size, layout.columns
    sizes = {
        "x": 3 * columns * n,
        "sums": sums_of_joint(layout) * len(layout.joints),
        "turned": 12 * layout.lanes,
        "load": LOAD * columns,
    }
    sizes |= {"weights": layout.widest * TERMS * columns, "r_of": layout.widest * 3 * columns, "own": TERMS}
    return sizes | {"terms": 3 * TERMS * columns + layout.lanes}


def sums_of_joint(layout: PathLayout) -> int:
    """Return the size of the sums of a joint: Y and H for all columns of X; L, b and, with world-fixed
    forces, `TurnedForce` for the columns of M^-1.
    """
    return (12 * 3 + 9 + TURNED_LOAD * layout.loaded) * layout.columns


class AccelerationTensors:
    """The loops that fill the second derivatives of accelerations: qq by q twice, vv by v twice, qv by q and
    v, qt by q and torque.
    """

    def __init__(self, path: PathTables, outputs: Sequence[str]) -> None:
        self.path, self.layout = path, path.layout
        self.qq, self.vv, self.qv, self.qt = outputs
        self.n, self.columns = self.layout.size, self.layout.columns
        self.row = 3 * self.columns  # numbers in a row of X, and of arrays with the columns of X

    def statements(self) -> Iterator[Statement]:
        """Yield all statements of the loops."""
        layout, joints = self.layout, len(self.layout.joints)
        yield Loop("d", 0, self.n, tuple(self._x()), "X = [M^-1 | ddq_dq | ddq_dv], row by row")
        about = "leaves to root: sums of (f, n), L and b times rows of X over subtrees"
        yield Loop("e", 0, joints, tuple(self._down()), about, backward=True)
        yield Loop("e", 0, joints, tuple(self._up()), "root to leaves: Y, the sum of s times rows of X")
        about = "zeros by q of root joints, as M does not depend on it; terms by q twice are added below"
        yield self._listed("rooted", self._rooted(), about=about)
        about = "rows by q and v of each joint that is not a root"
        yield self._listed("lower_of", *self._by_joint(), about=about)
        about = "each derivative by q twice is a sum of two terms, of which one is stored: add the transpose"
        yield Loop("r", 0, self.n, (self._symmetrised(),), about)
        if layout.free:
            about = "derivatives along two directions of the free root"
            yield Loop("r", 0, self.n, (self._step(self._root_pair),), about)
        if layout.same:
            about = "derivatives along two directions of one joint"
            yield self._listed("apart_of", self._same_joint(), about=about)
        if layout.loaded:
            yield loads(layout, self._sums(E, 21, R), self.qq)

    def _step(self, text: Text) -> Statement:
        return once(self.layout, text)

    def _listed(self, table: str, *body: Statement, about: str) -> Loop:
        return Loop("e", 0, len(self.path.columns[table]), body, about)

    def _across(self, text: Text, begin: int, end: Index) -> Loop:
        return Loop("k", begin, end, (self._step(text),), step=self.layout.lanes)

    def _sums(self, joint: Index, row: int, at: Index = K) -> Place:
        """Return the place of a joint's sums from `row` on, for a column of X: Y (6), H (6), and for columns
        of M^-1 L (6), b (3) and `TurnedForce` (18).
        """
        strides = (joint, sums_of_joint(self.layout)), (at, 1)
        pitch, offset = (self.row if row < 12 else self.columns), min(row, 12) * self.row
        return Place("sums", strides, offset + max(row - 12, 0) * self.columns, pitch=pitch)

    def _sums_of(self, m: DofRecorder, joint: Index, at: Index, others: int) -> tuple[Motion, Operators]:
        """Return Y of a joint, and its H, L and b as operators. others: number of entries of L and b that are
        read.
        """
        y, h = (m.vectors(6, self._sums(joint, row, at)) for row in (0, 6))
        return Motion.of(y), operators_of([*h, *m.vectors(others, self._sums(joint, 12, at))])

    def _x(self) -> Iterator[Statement]:
        def copy(m: DofRecorder, at: Index, count: int | None) -> None:
            values = m.vectors(1, Place("inverse", ((D, self.n), (at, 1))))
            m.put(values, Place("x", ((D, self.row), (at, 1)), count=count))

        def zeros(m: DofRecorder) -> None:
            m.store([0.0] * (self.columns - self.n), Place("x", ((D, self.row),), self.n))

        yield from over(self.layout, self.n, copy)
        if self.columns > self.n:
            yield self._step(zeros)
        y, rows = self.path.tree_rows(D)
        row, matrix = Place("inverse", ((D, self.n), (y, 1))), Place("sides", ((y, 2 * self.columns),))
        yield from product(
            self.layout, row, matrix, Place("x", ((D, self.row),), self.columns), 2 * self.columns, rows
        )

    def _down(self) -> Iterator[Statement]:
        joint, above, loaded = JointIndices(E), TableEntry("joint_above", E), self.layout.loaded

        def of_dof(dof: Index, *, adds: bool) -> tuple[Statement, ...]:
            def text(m: DofRecorder, rows: int) -> None:
                op = m.numbers(rows, m.rows("op", dof))
                (x,) = m.vectors(1, Place("x", ((dof, self.row), (K, 1))))
                m.put([value * x for value in op[:6]], self._sums(E, 6), adds=adds)
                if rows > 6:
                    turned = m.numbers(TURNED_LOAD, m.rows("op", dof, OPERATORS)) if loaded else []
                    m.put([value * x for value in (*op[6:], *turned)], self._sums(E, 12), adds=adds)

            whole = self._across(lambda m: text(m, 15), 0, self.columns)
            return whole, self._across(lambda m: text(m, 6), self.columns, self.row)

        def merged(*, adds: bool) -> tuple[Statement, ...]:
            def text(m: DofRecorder) -> None:
                m.put(m.vectors(1, self._sums(E, 6)), self._sums(above, 6), adds=adds)

            return (self._across(text, 0, sums_of_joint(self.layout) - 6 * self.row),)

        leaf = (
            ("not a leaf: add to the sums of the children", of_dof(joint.dof, adds=True)),
            ("a leaf: set its sums", of_dof(joint.dof, adds=False)),
        )
        yield Switch(TableEntry("is_leaf", E), leaf)
        if self.layout.pairs:
            yield joint.loop(*of_dof(D, adds=True), further=1)
        cases = (
            ("a root", ()),
            ("last child, which comes first: set the sums of the parent", merged(adds=False)),
            ("other child: add to the sums of the parent", merged(adds=True)),
        )
        yield Switch(TableEntry("merge_of", E), cases)

    def _up(self) -> Iterator[Statement]:
        above, total = TableEntry("joint_above", E), Place("total")

        def load(m: DofRecorder) -> None:
            m.put(m.vectors(6, self._sums(above, 0)), total)

        def add(m: DofRecorder) -> None:
            (x,) = m.vectors(1, Place("x", ((D, self.row), (K, 1))))
            m.put([value * x for value in m.direction(D).s.scalars()], total, adds=True)

        def store(m: DofRecorder) -> None:
            m.put(m.vectors(6, total), self._sums(E, 0))

        sums = (self._step(load), JointIndices(above).loop(self._step(add)), self._step(store))
        lower = Loop("k", 0, self.row, sums, step=self.layout.lanes)
        root = self._across(lambda m: m.put([0.0] * 6, self._sums(E, 0)), 0, self.row)
        yield Switch(TableEntry("is_root", E), (("below another joint", (lower,)), ("a root", (root,))))

    def _rooted(self) -> Statement:
        def zeros(m: DofRecorder, at: Index, count: int | None) -> None:
            strides = (R, self.n**2), (TableEntry("rooted", E), self.n), (at, 1)
            for array in (self.qq, self.qv, self.qt):
                m.put([0.0], Place(array, strides, count=count))

        return Loop("r", 0, self.n, tuple(over(self.layout, max(self.layout.root, 1) * self.n, zeros)))

    def _by_joint(self) -> Iterator[Statement]:
        joint = TableEntry("lower_of", E)
        yield JointIndices(joint).loop(self._weigh(joint), *self._multiply(joint), *self._products())
        yield JointIndices(joint).loop(*self._velocities())  # after the products of all directions

    def _weights(self, at: Index, array: str = "weights", rows: int = TERMS) -> Place:
        nth = ((TableEntry("nth_of", D), rows * self.columns),) if self.layout.several else ()
        return Place(array, (*nth, (at, 1)), pitch=self.columns)

    def _weigh(self, joint: Index) -> Loop:
        """Store the weights -Y, -Q2, -Q1 of degree of freedom d, and R, for every row of M^-1."""

        def text(m: DofRecorder) -> None:
            d, (y, sums) = m.direction(D), self._sums_of(m, joint, R, 9)
            q2 = "-Q2 = -s x* (f, n); f, n, L, b: sums over the subtree, times rows of M^-1"
            q1 = "-Q1 = 2 f x u(psidot) + L w(psidot) + n x w(psidot) - w x b"
            weights = ("-Y", "y", -y), (q2, "q2", -sums.a0(d.s)), (q1, "q1", -sums.u8(d))
            m.give(self._weights(R), *((formula, name, x.scalars()) for formula, name, x in weights))
            rates = ("R = 2 f x u + L w + n x w", "r", sums.u11(d.s).scalars())
            m.give(self._weights(R, "r_of", 3), rates)

        return Loop("r", 0, self.columns, (self._step(text),), step=self.layout.lanes)

    def _multiply(self, joint: Index) -> Iterator[Statement]:
        """Yield the statements that store the terms of degree of freedom d. The weights multiply:

                                     -Y                          -Q2        -Q1
            each column of X         A1 Y + s_d x* H             Y          0
            by q of k above d        A3 psidot_k + A1 psiddot_k  psiddot_k  w(psidot_k)
            by v of k above d        A3 s_k + A1 sigma_k         sigma_k    w_k
            by q of k below d        s_d x* fq_k                 0          0
            by v of k at or below d  s_d x* fv_k                 0          0

        A1 and A3 are operators of d. If the joint of d has one direction, the term by its q twice is
        halved, because qq is symmetrised.
        """
        by_q, by_v, of_joint = self.columns, 2 * self.columns, JointIndices(joint)

        def place(at: Index, offset: int, count: Index | None = None) -> Place:
            return Place("terms", ((at, 1),), offset, pitch=self.row, count=count)

        def columns(m: DofRecorder) -> None:
            y, sums = self._sums_of(m, joint, K, 0)
            turned = m.operators(D).a1(y) + m.direction(D).s.cross_force(sums.i_s)
            m.put([*turned.scalars(), *y.scalars(), *[0.0] * 3], place(K, 0))

        def above(m: DofRecorder, at: Index, count: Index) -> None:
            o, k = m.operators(D), m.direction(at, wide=True)
            moved = (o.a3(k.s) + o.a1(k.sigma)).scalars()
            m.put(_by_q(o, k), place(at, by_q, count), adds=True)
            m.put([*moved, *k.sigma.scalars(), *k.s.angular.scalars()], place(at, by_v, count), adds=True)

        def roots(m: DofRecorder) -> None:
            for begin, count in self.layout.root_parts:
                above(m, begin, count)

        def below(force: int, offset: int, start: Index) -> Loop:
            def text(m: DofRecorder) -> None:
                turned = m.direction(D).s.cross_force(Force.of(m.vectors(6, m.rows("op", K, force))))
                m.put(turned.scalars(), place(K, offset, Sum(of_joint.end, Multiple(-1, K))), adds=True)

            return Loop("k", start, of_joint.end, (self._step(text),), step=self.layout.lanes)

        def twice(m: DofRecorder) -> None:
            m.store([0.5 * x for x in _by_own(m.operators(D), m.direction(D))], place(D, by_q), adds=True)

        yield self._across(columns, 0, self.row)
        if self.layout.free:
            yield self._step(roots)
        yield blocks_of(self._step(lambda m: above(m, FIRST, ABOVE)), stop="above_end")
        yield below(FV, by_v, of_joint.dof)
        once_more = (self._step(twice),)
        cases = ("joint with several directions", ()), ("joint with one direction", once_more)
        yield from (Switch(TableEntry("is_single", joint), cases),) if self.layout.several else once_more
        yield below(FQ, by_q, of_joint.after)

    def _products(self) -> Iterator[Statement]:
        tiles = self.path.tiles
        place = Multiple(2 * tiles, D)
        products = (
            (self.qt, 0, 0, 2 * tiles * self.n),
            (self.qq, self.layout.root, 1, place),
            (self.qv, 0, 2, Sum(place, tiles)),
        )
        for array, begin, block, deep in products:
            routine = TiledProduct(self.layout, begin, (self.columns, self.row)).routine()
            weights = Place("weights", self._weights(0).strides[:-1])
            places = {"to": Place(array, ((D, self.n),)), "weights": weights}
            yield Call(
                routine, {**places, "terms": Place("terms", offset=block * self.columns)}, {DEEP.name: deep}
            )

    def _velocities(self) -> Iterator[Statement]:
        """Add R . w_k - Y . B(I, s_d) s_k to the derivatives by v of d and v of k, for every row of M^-1.

        Derivatives by q of k above d and v of d have psidot_k in place of s_k.
        """

        def turned(m: DofRecorder, at: Index) -> None:
            o, k = m.operators(D), m.direction(at, wide=True)
            vv, qv = (o.b_s(x).scalars() for x in (k.s, k.psi_rate))
            m.give(Place("turned"), ("B(I, s_d) s_k", "vv", vv), ("B(I, s_d) psidot_k", "qv", qv))

        def row(m: DofRecorder, at: Index, count: Index, *, moving: bool) -> None:
            f, k = m.vectors(12, Place("turned")), m.direction(at, wide=True)
            y = Motion.of(m.numbers(6, self._weights(R)))
            r = Vector3.of(m.numbers(3, self._weights(R, "r_of", 3)))
            column = Place("", ((R, self.n**2), (at, self.n), (D, 1)), lane_stride=self.n, count=count)
            vv = y.dot(Force.of(f[:6])) + r.dot(k.s.angular)
            qv = y.dot(Force.of(f[6:])) + r.dot(k.psi_rate.angular)
            m.put([vv], Place(self.vv, ((R, self.n**2), (D, self.n), (at, 1)), count=count))
            m.put([vv], replace(column, array=self.vv))
            if moving:
                m.put([qv], replace(column, array=self.qv), adds=True)

        def rows(at: Index, count: Index, *, moving: bool) -> Statement:
            return Loop("r", 0, self.n, (self._step(lambda m: row(m, at, count, moving=moving)),))

        moves = rows(FIRST, COUNT, moving=True)
        if self.layout.free:  # only directions that turn the root: w of other directions is zero
            yield self._step(lambda m: turned(m, 3))
            yield rows(3, 3, moving=False)
        else:
            cases = (
                ("directions of a root, whose psidot is zero", (rows(FIRST, COUNT, moving=False),)),
                ("directions of other joints", (moves,)),
            )
            moves = Switch(TableEntry("moving_of", B), cases)
        yield blocks_of(self._step(lambda m: turned(m, FIRST)), moves)

    def _symmetrised(self) -> Statement:
        """Symmetrise qq. Entries by q of a free root and q of another joint are zero."""
        n, root = self.n, self.layout.root

        def entry(m: DofRecorder) -> None:
            places = [Place(self.qq, ((R, n * n), (one, n), (other, 1))) for one, other in ((D, X), (X, D))]
            (one,), (other,) = (m.numbers(1, place) for place in places)
            for place in places:
                m.store([one + other], place)

        def zeros(m: DofRecorder) -> None:
            m.store([0.0] * root, Place(self.qq, ((R, n * n), (D, n))))

        cleared = [self._step(zeros)] if root else []
        return Loop("d", root, n, (*cleared, Loop("x", root, Sum(D, 1), (self._step(entry),))))

    def _root_pair(self, m: DofRecorder) -> None:
        """Add entries along two directions of the free root, whose motions are the unit vectors e. By two
        velocities they are A1 e, with A1 = [0, -[f]; [f], L] of the sums; by two q they are psiddot x f.
        """
        h, others = m.numbers(6, self._sums(0, 6, R)), m.numbers(6, self._sums(0, 12, R))
        sums = operators_of([*h, *others])
        for d in range(6):
            unit = Motion.of([float(k == d) for k in range(6)])
            m.store(sums.a1(unit).scalars(), Place(self.vv, ((R, self.n**2),), d * self.n))
        for k in range(3, 6):
            turned = m.direction(k).psi_second.linear.cross(sums.i_s.linear)
            m.store(turned.scalars(), Place(self.qq, ((R, self.n**2),), 3 * self.n + k, pitch=self.n))

    def _same_joint(self) -> Statement:
        """Add the terms of entries along two directions d and x of one joint that the tiled products lack."""
        joint, count = TableEntry("apart_of", E), Sum(self.n, Multiple(-1, R))

        def terms_of_joint(m: DofRecorder) -> None:
            m.store(_by_own(m.operators(D), m.direction(X)), Place("own"))

        def row(m: DofRecorder) -> None:
            terms, weights = m.numbers(TERMS, Place("own")), m.vectors(TERMS, self._weights(R))
            first, *others = (term * weight for term, weight in zip(terms, weights, strict=True))
            s, s_x, inertia = m.direction(D).s, m.direction(X).s, m.subtree(D).inertia
            y, sums = self._sums_of(m, joint, R, 6)
            both = s.cross_force(inertia @ s_x) + s_x.cross_force(inertia @ s)
            place = Place("", ((R, self.n**2), (D, self.n), (X, 1)), lane_stride=self.n**2, count=count)
            m.put([sum(others, first)], replace(place, array=self.qq), adds=True)
            m.put([s_x.dot(sums.a1(s)) - y.dot(both)], replace(place, array=self.vv))

        rows = Loop("r", 0, self.columns, (self._step(row),), step=self.layout.lanes)
        return JointIndices(joint).loop(
            self._weigh(joint), JointIndices(joint).loop(self._step(terms_of_joint), rows, variable="x")
        )


def _by_q(o: Operators, k: Direction) -> list[Scalar]:
    force = o.a3(k.psi_rate) + o.a1(k.psi_second)
    return [*force.scalars(), *k.psi_second.scalars(), *k.psi_rate.angular.scalars()]


def _by_own(o: Operators, k: Direction) -> list[Scalar]:
    """Return the terms by q of a direction k of the same joint: `_by_q`, plus s_k x* fq."""
    by_q = _by_q(o, k)
    return [*(Force.of(by_q[:6]) + k.s.cross_force(o.by_q)).scalars(), *by_q[6:]]

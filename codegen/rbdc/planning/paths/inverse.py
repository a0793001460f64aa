"""Second derivatives of inverse dynamics (tensors). Entry (i, j, k) is torque i differentiated along j and k.
For each degree of freedom d, the loops compute all entries whose deepest index (farthest from the root) is d.

In the row of a torque i above the joint of d, entries are products of s_i with forces, which depend on d and
a direction k of the path to d. In the row of d itself, entries are products of u8, u9 and u11, which depend
on d and a direction j of the path, with psidot, psiddot, s and sigma of a direction k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rbdc.ir.indices import Index, TableEntry, Variable, plus
from rbdc.ir.loops import Call, Loop, Place, Routine, Statement, Switch
from rbdc.planning.loops.places import Named
from rbdc.planning.paths.layout import LOAD, PathLayout
from rbdc.planning.paths.steps import DofRecorder, Text, once
from rbdc.planning.paths.tables import COUNT, FIRST, B, D, E, JointIndices, K, PathTables, X, Y, blocks_of
from rbdc.spatial import Force, Scalar, Vector3
from rbdc.spatial.scalars import is_zero

QQ, QQ_ABOVE, MOVED, CROSSED, CROSSED_ABOVE, A1, A0, FORCES = (6 * k for k in range(8))
"""Offsets in `forces`, which depend on d and directions k; entries of torque i are s_i times these forces."""
ROOT_A1, ROOT_A0, ROOT_MOVED, ROOT_QQ, ROOT_FORCES = 0, 6, 12, 18, 21
"""Offsets in `root`, the same forces for directions k of a free root."""
U9, U11, SAME, BESIDE = 3, 9, 12, 18
"""Rows of `beside`, which has a column for each direction of the path: u8 (3), then u9 (6), u11 (3), A1 s (6)
and, for a world-fixed force F, (s x s_d) x* F (6).
"""
J, FROM, GIVEN, STRICTLY = map(Variable, ("j", "from", "count", "above"))
UP, POSITION, PARTIAL = TableEntry("up", E), TableEntry("position_of", B), TableEntry("partial_row", E)


def arrays(layout: PathLayout) -> dict[str, int]:
    """Return the sizes of the arrays of these loops."""
    sizes = {"forces": FORCES * layout.lanes, "root": ROOT_FORCES * layout.lanes}
    return sizes | {"beside": (BESIDE + LOAD * layout.loaded) * layout.pitch, "pair": 6}


class TorqueEntries(NamedTuple):
    """Entries of a torque i above d, along d and a direction k.

    qq: by q of d and q of k.
    moved: by q of d and v of k.
    crossed: by v of d and q of k.
    a1: s_i . A1 s_k.
    a0: s_i . A0 s_k.
    """

    qq: Scalar
    moved: Scalar
    crossed: Scalar
    a1: Scalar
    a0: Scalar


class Torques:
    """The loops that fill the second derivatives of torques: qq by q twice, vv by v twice, qv by q and v; and
    the derivatives mq of M (row of M, column of M, q).
    """

    def __init__(self, path: PathTables, outputs: Sequence[str]) -> None:
        self.path, self.layout = path, path.layout
        self.outputs = self.qq, self.vv, self.qv, self.mq = tuple(outputs)

    def statements(self) -> Iterator[Statement]:
        """Yield all statements of the loops."""
        root, size = self.layout.root, self.layout.size
        if root:
            all_parts = (part for parts in self.layout.root_parts for part in self._root(*parts, alone=True))
            yield Loop("d", 0, root, tuple(all_parts), "derivatives along two directions of the free root")
        others = (part for parts in self.layout.root_parts for part in self._root(*parts, alone=False))
        body = (blocks_of(self._step(self._columns), self._by_shape()), *others, blocks_of(*self._own_rows()))
        about = "entries (i, j, k), derivatives of torque i along j and k, whose deepest index is d"
        yield Loop("d", root, size, body, about)
        if self.layout.several:
            yield self._of_one_joint()

    def _step(self, text: Text) -> Statement:
        return once(self.layout, text)

    def _put(
        self, m: DofRecorder, array: str, value: Scalar, *at: Index, count: Index, down: bool = False
    ) -> None:
        """Store entries (i, j, k) for consecutive k, or with `down` for consecutive j."""
        n = self.layout.size
        strides = tuple(zip(at, (n * n, n, 1), strict=True))
        m.put([value], Place(array, strides, lane_stride=n if down else 1, count=count))

    def _beside(self, at: Index, row: int = 0) -> Place:
        return Place("beside", ((at, 1),), row * self.layout.pitch, pitch=self.layout.pitch)

    def _columns(self, m: DofRecorder) -> None:
        o, at = m.operators(D), m.direction(FIRST, wide=True)
        if not self.layout.several:  # avoids a load: sigma = 2 psidot
            at = replace(at, sigma=at.psi_rate + at.psi_rate)
        forces = o.above(at)
        formulas = (
            "A3 psidot_k + A1 psiddot_k",
            "A3 psidot_k + A1 psiddot_k + s_k x* fq",
            "A3 s_k + A1 sigma_k",
            "B(I, s_d) psidot_k, with B(I, s) = A0 + A1",
            "B(I, s_d) psidot_k + s_k x* fv",
        )
        above: list[Named] = [
            (formula, name, force.scalars())
            for formula, (name, force) in zip(
                (*formulas, "A1 s_k = (-f x w_k, f x u_k + L w_k)", "A0 s_k = (w_k x f, u_k x f + w_k x n)"),
                forces._asdict().items(),
                strict=True,
            )
        ]
        m.give(Place("forces"), *above)
        m.give(
            self._beside(POSITION),
            ("u8 = w x b - u11(psidot)", "u8", o.u8(at).scalars()),
            ("u9 = s x* (f, n)", "u9", forces.a0.scalars()),
            ("u11 = 2 f x u + L w + n x w", "u11", o.u11(at.s).scalars()),
            *([("A1 s", "a1", forces.a1.scalars())] if self.layout.several else []),
        )
        if self.layout.loaded:
            turned = at.s.cross(m.direction(D).s).cross_force(m.load(D))
            m.give(self._beside(POSITION, BESIDE), ("(s x s_d) x* F", "turned", turned.scalars()))

    def _by_shape(self) -> Statement:
        cases = [
            (
                f"directions in the block: {count}; above the joint of d: {above}",
                tuple(self._rows(count, above)),
            )
            for count, above in self.path.shapes
        ]
        return Switch(TableEntry("shape_of", B), tuple(cases))

    def _rows(self, count: int, above: int) -> Iterator[Statement]:
        """Yield the rows of torques above all directions of a block, above some, and above none."""
        e = "e"
        about = (
            "entries (i, d, k), (i, k, d), (d, i, k) for `count` directions k; `above` of them are above d"
        )
        path, partial, end = (
            TableEntry("path_of", D),
            TableEntry("partial_of", B),
            TableEntry("partial_of", plus(B, 1)),
        )
        below, partly, beside = map(self._step, (self._row_below, self._row_partly, self._row_beside))
        loops = {
            "rows_below": Loop(e, path, TableEntry("all_of", B), (below,)),
            "rows_partly": Loop(e, partial, end, (partly,)),
            "rows_beside": Loop(e, TableEntry("some_of", B), TableEntry("joint_of", D), (beside,)),
        }
        indices: dict[str, Index] = {"d": D, "k": FIRST, "count": count, "above": above}
        for name, loop in loops.items():
            yield self._call(name, about, ("state", "forces", *self.outputs), loop, {**indices, "b": B})
        if self.layout.free:  # the motions of a root are the unit vectors
            loop = Loop("x", 0, 6, (self._step(self._unit_row),))
            yield self._call("rows_of_root", about, ("forces", *self.outputs), loop, indices)

    def _call(
        self, name: str, about: str, arrays: Sequence[str], body: Statement, indices: Mapping[str, Index]
    ) -> Call:
        widths = {"forces": self.layout.lanes}
        routine = Routine(name, about, tuple(arrays), (body,), tuple(indices), widths=widths, inlined=True)
        return Call(routine, {array: Place(array) for array in arrays}, indices)

    def _unit_row(self, m: DofRecorder) -> None:
        lanes, entries = self.layout.lanes, (QQ_ABOVE, MOVED, CROSSED_ABOVE, A1, A0)
        values = (m.vectors(1, Place("forces", ((X, lanes),), entry * lanes))[0] for entry in entries)
        self._put_rows(m, X, TorqueEntries(*values))

    def _powers(self, m: DofRecorder, i: Index, *entries: int) -> Iterator[Scalar]:
        """Yield the dot products of s_i with the `forces` at `entries`, then with A1 s and A0 s, which differ
        in the angular part only.
        """
        s, f = m.direction(i).s, m.vectors(FORCES, Place("forces"))
        yield from (s.dot(Force.of(f[entry : entry + 6])) for entry in entries)
        linear = s.linear.dot(Vector3.of(f[A0 : A0 + 3]))
        yield from (linear + s.angular.dot(Vector3.of(f[entry + 3 : entry + 6])) for entry in (A1, A0))

    def _row_below(self, m: DofRecorder) -> None:
        self._put_rows(m, UP, TorqueEntries(*self._powers(m, UP, QQ_ABOVE, MOVED, CROSSED_ABOVE)))

    def _row_partly(self, m: DofRecorder) -> None:
        entries = (QQ, QQ_ABOVE, MOVED, CROSSED, CROSSED_ABOVE)
        qq, qq_above, moved, crossed, crossed_above, a1, a0 = self._powers(m, PARTIAL, *entries)
        (below,) = m.vectors(1, Place("partial_lanes", ((E, self.layout.lanes),)))
        qq, crossed = qq + below * (qq_above - qq), crossed + below * (crossed_above - crossed)
        self._put_rows(m, PARTIAL, TorqueEntries(qq, moved, crossed, a1, a0), mass=below * a0)

    def _row_beside(self, m: DofRecorder) -> None:
        self._put_rows(m, UP, TorqueEntries(*self._powers(m, UP, QQ, MOVED, CROSSED)), mass=0.0)

    def _put_rows(self, m: DofRecorder, i: Index, row: TorqueEntries, mass: Scalar | None = None) -> None:
        """Store entries of torque i. mass: entry of mq, if it is not `row.a0`."""
        vv, mass = row.a1 + row.a0, row.a0 if mass is None else mass
        for array, one, rows, other, columns in (
            (self.qq, row.qq, GIVEN, row.qq, STRICTLY),
            (self.vv, vv, GIVEN, vv, STRICTLY),
            (self.qv, row.moved, STRICTLY, row.crossed, GIVEN),
        ):
            self._put(m, array, one, i, D, K, count=rows)
            self._put(m, array, other, i, K, D, count=columns, down=True)
        if not is_zero(mass):
            self._put(m, self.mq, mass, i, D, K, count=GIVEN)
            self._put(m, self.mq, mass, D, i, K, count=GIVEN)
        self._put(m, self.mq, row.a1, i, K, D, count=STRICTLY, down=True)

    def _own_rows(self) -> Iterator[Statement]:
        """Yield the row of the torque of d, for a block of directions k and all directions j not above the
        block.
        """
        several = self.layout.several
        if several:
            j, dof, count, above = (TableEntry(f"own_{name}", E) for name in ("at", "dof", "count", "above"))
            row = self._own_row("own_row_of_several", j, dof, FIRST, count, above)
            yield Loop("e", TableEntry("own_of", B), TableEntry("own_of", plus(B, 1)), (row,))
        cases = []
        for size in range(1, self.layout.lanes + 1):
            body: list[Statement] = [
                self._own_row(
                    "own_row" if x else "own_row_of_one", plus(POSITION, x), plus(FIRST, x), FIRST, x + 1, x
                )
                for x in range(0 if several else size)
            ]
            body.append(self._rows_from(TableEntry("tail_of", B), FIRST, size))
            cases.append((f"directions in the block: {size}", tuple(body)))
        yield Switch(plus(COUNT, -1), tuple(cases))

    def _rows_from(self, start: Index, k: Index, count: int) -> Loop:
        """Return the loop over the directions j below `count` directions from k on: entries of `up` from
        `start` on.
        """
        row = self._own_row("own_row", TableEntry("position_up", E), UP, k, count, count)
        return Loop("e", start, TableEntry("end_of", D), (row,))

    def _own_row(self, name: str, j: Index, dof: Index, k: Index, count: Index, above: Index) -> Call:
        """Return the call for the direction at position j and the directions from k on. Of these directions,
        `count` are not below j, and `above` are above j.
        """
        rows, same = name != "own_row_of_one", name == "own_row_of_several"
        step = self._step(lambda m: self._row_of_d(m, rows=rows, same=same))
        which = "`above` of them are above j" if rows else "none is above j"
        about = f"entries (d, j, k) and (d, k, j) for `count` directions k; {which}"
        indices = {"d": D, "j": j, "from": dof, "k": k, "count": count, **({"above": above} if rows else {})}
        return self._call(name, about, ("state", "beside", *self.outputs[:3]), step, indices)

    def _row_of_d(self, m: DofRecorder, *, rows: bool, same: bool) -> None:
        """Store entries of the row of d. rows: whether some k are above the joint of j. same: whether some k
        belong to the joint of j; their entries by two velocities use A1 s in place of u11.
        """
        x = m.numbers(BESIDE if same else SAME, self._beside(J))
        u8, u9, u11, k = (
            Vector3.of(x[:U9]),
            Force.of(x[U9:U11]),
            Vector3.of(x[U11:SAME]),
            m.direction(K, wide=True),
        )
        w, rate = k.s.angular, k.psi_rate.angular
        qq, vv = u8.dot(rate) + k.psi_second.dot(u9), -u11.dot(w)
        if self.layout.loaded:
            qq = qq - k.s.dot(Force.of(m.numbers(LOAD, self._beside(J, BESIDE))))
        if same:
            (strict,) = m.vectors(1, Place("first_lanes", ((STRICTLY, self.layout.lanes),)))
            met = k.s.dot(Force.of(x[SAME:]))
            vv = strict * (vv + met) - met
        for array, row in ((self.qq, qq), (self.vv, vv)):
            self._put(m, array, row, D, FROM, K, count=GIVEN)
            if rows:
                self._put(m, array, row, D, K, FROM, count=STRICTLY, down=True)
        if rows:
            self._put(m, self.qv, u8.dot(w) + k.sigma.dot(u9), D, FROM, K, count=STRICTLY)
        self._put(m, self.qv, -u11.dot(rate), D, K, FROM, count=GIVEN, down=True)

    def _root(self, begin: int, count: int, *, alone: bool) -> Iterator[Statement]:
        """Yield entries along `count` directions of a free root, from `begin` on. alone: whether d belongs to
        the root.

        The root moves along the unit vectors s of the common frame, with psidot = 0, psiddot = (G x w, 0) and
        G = -R^T g. So all entries by q of the root and v of another joint are zero.
        """
        lanes = self.layout.lanes

        def columns(m: DofRecorder) -> None:
            o, k = m.operators(D), m.direction(begin, wide=True)
            m.give(
                Place("root"),
                ("A1 s_k = (-f x w_k, f x u_k + L w_k)", "a1", o.a1(k.s).scalars()),
                ("A0 s_k = (w_k x f, u_k x f + w_k x n)", "a0", o.a0(k.s).scalars()),
                ("A3 s_k + A1 sigma_k", "moved", (o.a3(k.s) + o.a1(k.sigma)).scalars()),
                (
                    "A1 psiddot_k, with psiddot_k = (G x w_k, 0), G = -R^T g (orientation R, gravity g)",
                    "qq",
                    o.i_s.linear.cross(k.psi_second.linear).scalars(),
                ),
            )

        def put(m: DofRecorder, i: Index, a1: Scalar, a0: Scalar, moved: Scalar, *qq: Scalar) -> None:
            for array, row in zip((self.vv, self.qq), (a1 + a0, *qq), strict=False):
                self._put(m, array, row, i, D, begin, count=count)
                self._put(m, array, row, i, begin, D, count=count, down=True)
            self._put(m, self.mq, a1, i, begin, D, count=count, down=True)
            self._put(m, self.qv, moved, i, D, begin, count=count)

        def unit(m: DofRecorder, *entries: int) -> list[Scalar]:
            return [m.vectors(1, Place("root", ((X, lanes),), entry * lanes))[0] for entry in entries]

        def other(m: DofRecorder) -> None:
            s, f = m.direction(UP).s, m.vectors(ROOT_FORCES, Place("root"))
            powers = (s.dot(Force.of(f[entry : entry + 6])) for entry in (ROOT_A1, ROOT_A0, ROOT_MOVED))
            put(m, UP, *powers, s.angular.dot(Vector3.of(f[ROOT_QQ:])))

        def row_of_root(m: DofRecorder, *qq: int) -> None:
            a1, *turned = unit(m, ROOT_A1, *qq)
            if self.layout.loaded:
                load = m.direction(X).s.cross(m.direction(D).s).cross_force(m.load(D))
                turned = [sum(turned, -m.direction(begin, wide=True).s.dot(load))]
            for array, value in zip((self.vv, self.qq), (-a1, *turned), strict=False):
                self._put(m, array, value, D, X, begin, count=count)

        def units(start: int, *qq: int) -> Loop:
            rows = [] if alone else [lambda m: put(m, X, *unit(m, ROOT_A1, ROOT_A0, ROOT_MOVED, *qq))]
            return Loop("x", start, start + 3, tuple(map(self._step, (*rows, lambda m: row_of_root(m, *qq)))))

        yield self._step(columns)
        yield units(0)
        yield units(3, ROOT_QQ - 3)
        if not alone:
            yield Loop("e", TableEntry("path_of", D), TableEntry("joint_of", D), (self._step(other),))
            yield self._rows_from(TableEntry("path_of", D), begin, count)

    def _of_one_joint(self) -> Statement:
        """For each torque i above a joint, add s_i . I (s_d x s_x) to its derivative by the velocities of two
        directions d and x of the joint.
        """
        n, joint = self.layout.size, JointIndices(TableEntry("apart_of", Y))

        def force(m: DofRecorder) -> None:
            turned = m.subtree(D).inertia @ m.direction(D).s.cross(m.direction(X).s)
            m.store(turned.scalars(), Place("pair"))

        def row(m: DofRecorder) -> None:
            power = m.direction(UP).s.dot(Force.of(m.numbers(6, Place("pair"))))
            m.store([power], Place(self.vv, ((UP, n * n), (D, n), (X, 1))), adds=True)

        above = Loop(
            "e",
            plus(TableEntry("path_of", D), -self.layout.root),
            TableEntry("joint_of", D),
            (self._step(row),),
        )
        each = joint.loop(joint.loop(self._step(force), above, variable="x"))
        return Loop(
            "y",
            0,
            len(self.path.columns["apart_of"]),
            (each,),
            "derivatives of torques above a joint by the velocities of two of its directions",
        )

"""The recursions in one frame, the axes of the world about the origin of the root body: nothing is carried
from frame to frame, a joint is its columns, and a subtree's inertias, Coriolis factors and forces are sums.
"""

from __future__ import annotations

from rbdc.algorithms.derivatives.rnea_derivatives import doubled
from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.ir.indices import Entry, Index
from rbdc.ir.loops import Clear, Loop, Statement, WhereGiven
from rbdc.model import WORLD
from rbdc.planning.loops.recording import DOF, Record, StepRecorder, each, recorded
from rbdc.planning.loops.tree import ARTICULATED, FACTOR, INERTIA, BodyStep, Tree
from rbdc.spatial import ArticulatedInertia, Force, MomentInertia, Motion, Placement, Scalar, Vector3
from rbdc.spatial.vectors import motion_sum


def world(tree: Tree) -> Loop:
    """Placements X, columns S and inertias I of all bodies in the one frame.

    With S times the multiplier of a joint that follows another, velocities of leaders move followers.
    """

    def record(body: BodyStep) -> None:
        placement = body.placement()
        if body.rooted:
            placement = Placement(placement.rotation, Vector3.zero())
        else:
            placement = Placement.of(body.above("X", 12)).compose(placement)
        columns = [placement.act(s).scaled(body.multiplier) for s in body.joint.subspace()]
        body.keep("X", placement.scalars())
        body.write("S", [x for column in columns for x in column.scalars()], dof=6)
        body.keep("I", body.inertia().moved(placement).scalars())

    return tree.bodies(record, "X = X_parent X_J(q), S, and I in the one frame")


def forces(tree: Tree, *, accelerating: str = "") -> list[Statement]:
    """Velocities V, accelerations A, the world's being -g, and the forces F that move the bodies alone."""

    def record(body: BodyStep) -> None:
        s = [Motion.of(column) for column in body.columns("S")]
        above = Motion.zero() if body.rooted else Motion.of(body.above("V", 6))
        before = Motion(-tree.model.gravity, Vector3.zero()) if body.rooted else Motion.of(body.above("A", 6))
        velocity = above + motion_sum(s, body.read("v", body.joint.nv, at_v=1))
        acceleration = before + above.cross(velocity)
        if accelerating:
            acceleration = acceleration + motion_sum(s, body.read(accelerating, body.joint.nv, at_v=1))
        inertia = MomentInertia.of(body.own("I", INERTIA))
        force = inertia @ acceleration + velocity.cross_force(inertia @ velocity)
        body.keep("V", velocity.scalars())
        body.keep("A", acceleration.scalars())
        body.keep("F", force.scalars())

    def less(body: BodyStep) -> None:
        force = Placement.of(body.own("X", 12)).act_force(body.external_force())
        body.add("F", (-force).scalars(), i=6)

    about = "v = v_parent + S qdot, a = a_parent + S qddot + v x S qdot"
    return [tree.bodies(record, about), WhereGiven("fext", (tree.bodies(less, "f -= fext"),))]


def torque(tree: Tree, out: str) -> list[Statement]:
    """S^T f of the subtrees, whose forces F becomes."""

    def record(body: BodyStep) -> None:
        force = Force.of(body.own("F", 6))
        torques = [Motion.of(column).dot(force) for column in body.columns("S")]
        (body.add if tree.coupled else body.write)(out, torques, at_v=1)
        body.carry("F", force.scalars())

    clear: list[Statement] = [Clear(out, tree.nv)] if tree.coupled else []
    return [*clear, tree.bodies(record, "tau = S^T f, f_parent += f", backward=True)]


def composites(tree: Tree, *arrays: tuple[str, int]) -> Loop:
    """Sums over bodies become sums over their subtrees."""

    def record(body: BodyStep) -> None:
        for array, size in arrays:
            body.carry(array, body.own(array, size))

    return tree.bodies(record, "sums over subtrees", backward=True)


def mass(tree: Tree, out: str) -> list[Statement]:
    """M, both triangles, zero between branches, from the inertias of subtrees."""

    def force(step: StepRecorder) -> None:
        s = Motion.of(step.read("S", 6, k=6))
        f = MomentInertia.of(step.read("I", INERTIA, b=INERTIA)) @ s
        step.write("r", f.scalars())
        step.add(out, [s.dot(f)], column=tree.nv + 1)

    def entry(step: StepRecorder) -> None:
        value = Motion.of(step.read("S", 6, up=6)).dot(Force.of(step.read("r", 6)))
        step.add(out, [value], column=tree.nv, up_column=1)
        step.add(out, [value], up_column=tree.nv, column=1)

    above = _path(Entry("up_own", DOF), entry, "M_jk = S_j^T I S_k for each j above k")
    rows = Loop("k", 0, len(tree.dofs), (recorded(force), above), "r = I S_k, M_kk = S_k^T r")
    return [Clear(out, tree.nv**2), rows, *diagonal(tree, out, "armature")]


def _path(stop: Index, record: Record, about: str) -> Loop:
    """For the degrees of freedom up[d] above k, from the root to before a place of their list."""
    return Loop("d", Entry("up_start", DOF), stop, (recorded(record),), about)


def diagonal(tree: Tree, out: str, table: str) -> list[Statement]:
    """A table of the drives along a diagonal."""

    def record(step: StepRecorder) -> None:
        step.add(out, step.read(table, 1, at=1), at=tree.nv + 1)

    return [each("at", tree.nv, record, table)] if any(getattr(tree.model, table)) else []


def directions(tree: Tree) -> list[Statement]:
    """psidot, psiddot and psidot + sdot of each degree of freedom, and twice the Coriolis factor B of each
    body: `rbdc.algorithms.derivatives.rnea_derivatives`.
    """

    def record(body: BodyStep) -> None:
        own = Motion.of(body.own("V", 6))
        above = Motion.zero() if body.rooted else Motion.of(body.above("V", 6))
        second = Motion(-tree.model.gravity, Vector3.zero()) if body.rooted else Motion.of(body.above("A", 6))
        found: list[Scalar] = []
        for column in body.columns("S"):
            s = Motion.of(column)
            rate = above.cross(s)
            both = rate + rate
            if body.joint.nv > 1:
                both = both + (own - above).cross(s)
            found += [*rate.scalars(), *(second.cross(s) + above.cross(rate)).scalars(), *both.scalars()]
        body.write("psi", found, dof=18)
        inertia = MomentInertia.of(body.own("I", INERTIA))
        factor = CoriolisFactor.of_body(doubled(inertia), own)
        body.keep("B", factor.scalars())

    return [tree.bodies(record, "psidot = v x S, psiddot = a x S + v x psidot; p and N of B")]


def derivatives(tree: Tree, by_q: str, by_v: str, by_a: str = "") -> list[Statement]:
    """Derivatives of inverse dynamics from sums over subtrees: rows of the same joint, then rows and columns
    of those above.
    """
    n, outputs = tree.nv, [name for name in (by_q, by_v, by_a) if name]

    def row(step: StepRecorder) -> None:
        s, (rate, second, both) = Motion.of(step.read("S", 6, k=6)), _psi(step, "k")
        factor = CoriolisFactor.of(step.read("B", FACTOR, b=FACTOR))
        inertia = MomentInertia.of(step.read("I", INERTIA, b=INERTIA))
        c_q = factor.apply(rate) + inertia @ second
        c_v = factor.apply(s) + inertia @ both
        turned = c_q + s.cross_force(Force.of(step.read("F", 6, b=6)))
        r_b, r = factor.apply_transposed(s).angular, inertia @ s
        parts = [c_q.scalars(), c_v.scalars(), turned.scalars(), r.scalars(), r_b.scalars()]
        step.write("row", [x for part in parts for x in part])

    def same(step: StepRecorder) -> None:
        s, entries = Motion.of(step.read("S", 6, j=6)), step.read("row", 24)
        for name, at in zip(outputs, (0, 6, 18), strict=False):
            step.add(name, [s.dot(Force.of(entries[at : at + 6]))], j_column=n, column=1)

    def above(step: StepRecorder) -> None:
        s, entries = Motion.of(step.read("S", 6, up=6)), step.read("row", 27)
        (rate, second, both), r = _psi(step, "up"), Force.of(entries[18:24])
        r_b, inertial = Vector3.of(entries[24:27]), s.dot(r)
        step.add(by_q, [s.dot(Force.of(entries[12:18]))], up_column=n, column=1)
        step.add(by_v, [s.dot(Force.of(entries[6:12]))], up_column=n, column=1)
        step.add(by_q, [rate.angular.dot(r_b) + second.dot(r)], column=n, up_column=1)
        step.add(by_v, [s.angular.dot(r_b) + both.dot(r)], column=n, up_column=1)
        if by_a:
            step.add(by_a, [inertial], up_column=n, column=1)
            step.add(by_a, [inertial], column=n, up_column=1)

    first, end = (Entry(table, Entry("body_of", DOF)) for table in ("dof_of", "dof_end"))
    own = Loop("j", first, end, (recorded(same),), "rows of the same joint")
    others = _path(Entry("up_own", first), above, "rows and columns of the joints above")
    about = "c_q = 2 B psidot + I psiddot, c_v = 2 B s + I (psidot + sdot), r_b = 2 B^T s, r = I s"
    nested = any(body.parent != WORLD for body in tree.model.bodies)
    inner = (own, others) if nested else (own,)  # gcc 12 warns of a loop that never runs
    rows = Loop("k", 0, len(tree.dofs), (recorded(row), *inner), about)
    made = [*(Clear(name, n * n) for name in outputs), rows, *diagonal(tree, by_v, "damping")]
    return [*made, *(diagonal(tree, by_a, "armature") if by_a else [])]


def articulated_bodies(tree: Tree, ddq: str) -> list[Statement]:
    """ddq by articulated bodies, axis by axis, from I and the forces F at rest: U = IA s, D = s^T U +
    armature, u = tau - s^T P; IA -= U D^-1 U^T, P += U D^-1 u.
    """

    def start(body: BodyStep) -> None:
        inertia = ArticulatedInertia.from_inertia(MomentInertia.of(body.own("I", INERTIA)))
        body.keep("IA", inertia.scalars())

    def up(body: BodyStep) -> None:
        inertia, force = ArticulatedInertia.of(body.own("IA", ARTICULATED)), Force.of(body.own("F", 6))
        torques, count = body.read("tau", body.joint.nv, at_v=1), body.joint.nv
        scaled: list[Force] = [Force.zero()] * count
        solved: list[Scalar] = [0.0] * count
        for k in reversed(range(count)):
            s = Motion.of(body.columns("S")[k])
            u, driving = inertia @ s, torques[k]
            pivot = s.dot(u)
            if any(tree.model.armature):
                pivot = pivot + body.read("armature", count, at_v=1)[k]
            if any(tree.model.damping):
                driving = driving - body.read("damping", count, at_v=1)[k] * body.read("v", count, at_v=1)[k]
            inverse = 1.0 / pivot
            scaled[k] = u.scaled(inverse)
            solved[k] = (driving - s.dot(force)) * inverse
            inertia = inertia.minus_product([scaled[k]], [u])
            force = force + u.scaled(solved[k])
        body.write("U", [x for f in scaled for x in f.scalars()], dof=6)
        body.write(ddq, solved, at_v=1)
        body.carry("IA", inertia.scalars())
        body.carry("F", force.scalars())

    def down(body: BodyStep) -> None:
        acceleration = Motion.zero() if body.rooted else Motion.of(body.above("A", 6))
        found = list(body.read(ddq, body.joint.nv, at_v=1))
        for k, (u, s) in enumerate(zip(body.columns("U"), body.columns("S"), strict=True)):
            found[k] = found[k] - acceleration.dot(Force.of(u))
            acceleration = acceleration + Motion.of(s).scaled(found[k])
        body.write(ddq, found, at_v=1)
        body.keep("A", acceleration.scalars())

    return [
        tree.bodies(start, "IA = I"),
        tree.bodies(up, "U = IA s, D = s^T U, IA_parent += IA - U D^-1 U^T", backward=True),
        tree.bodies(down, "qddot = D^-1 (u - U^T a), a += s qddot"),
    ]


def _psi(step: StepRecorder, index: str) -> tuple[Motion, Motion, Motion]:
    """psidot, psiddot and psidot + sdot of a degree of freedom."""
    entries = step.read("psi", 18, **{index: 18})
    return Motion.of(entries[:6]), Motion.of(entries[6:12]), Motion.of(entries[12:])

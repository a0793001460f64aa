"""The recursions in one frame, the axes of the world about the origin of the root body: nothing is carried
from frame to frame, a joint is its columns, and a subtree's inertias, Coriolis factors and forces are sums.
"""

from __future__ import annotations

from rbdc.ir.loops import Loop, Statement, WhereGiven
from rbdc.planning.loops.tree import ARTICULATED, INERTIA, BodyStep, Tree
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

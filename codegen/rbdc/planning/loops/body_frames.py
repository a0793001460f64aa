"""Inverse dynamics as two loops over bodies, in the frames of the bodies: Newton and Euler's recursion of
`rbdc.algorithms.dynamics.newton_euler`.
"""

from __future__ import annotations

from rbdc.algorithms.dynamics.newton_euler import BodyMotion, Spin, carried_motion, moved_by_joint, wrench
from rbdc.ir.loops import Clear, Sines, Statement, WhereGiven
from rbdc.planning.loops.recording import StepRecorder, each
from rbdc.planning.loops.tree import BodyStep, Tree
from rbdc.spatial import Force, Motion, Placement, Vector3

MOTION = 18
"""Numbers of a motion: w, alpha, a, and the rows of U."""


def sines(tree: Tree, lanes: int) -> list[Statement]:
    """The angles of all turning joints, then their sines and cosines, so many side by side."""
    count = len(tree.turning)
    if not count:
        return []
    made = Sines("angle", "sine", "cosine", count, lanes)

    def gather(step: StepRecorder) -> None:
        """The angle of a joint, or of the leader that it follows."""
        angle = step.read("q", 1, entry=1)
        if tree.coupled:
            multiplier, offset = step.read("turning_coupling", 2, n=2)
            angle = [multiplier * angle[0] + offset]
        step.write("angle", angle, n=1)

    clear: list[Statement] = [Clear("angle", made.whole)] if made.whole > count else []
    return [*clear, each("n", count, gather, "joint angles"), made]


def inverse_dynamics(
    tree: Tree, tau: str, *, moving: bool = False, accelerating: bool = False, external: bool = False
) -> list[Statement]:
    """tau = S^T f of the subtrees; without `moving` at rest, without `accelerating` at zero acceleration."""

    def down(body: BodyStep) -> None:
        """The motion of a body, and the force that it takes."""
        placement, parent = body.placement(), None if body.rooted else _motion(body, moving)
        rate = body.joint.motion(body.rates("v")) if moving else Motion.zero()
        second = body.joint.motion(body.rates("a")) if accelerating else Motion.zero()
        motion = moved_by_joint(carried_motion(placement, parent, tree.model.gravity), rate, second)
        force = wrench(body.inertia(), motion)
        turning = [*motion.w.scalars(), *motion.alpha.scalars()] if moving else []
        rows = [x for row in motion.spin.rows for x in row.scalars()] if moving else []
        body.label("a = R^T (a_parent + U_parent P)", "a", motion.a.scalars())
        body.label("F = m a + U h, N = h x a + n(U, K)", "f", force.scalars())
        body.keep("X", placement.scalars())
        body.keep("motion", [*turning, *motion.a.scalars(), *rows])
        body.keep("f", force.scalars())

    def up(body: BodyStep) -> None:
        """The torque of a joint; the force goes to the parent."""
        force = Force.of(body.own("f", 6))
        torques = [body.multiplier * x for x in body.joint.project(force)]
        (body.add if tree.coupled else body.write)(tau, torques, at_v=1)
        body.carry("f", Placement.of(body.own("X", 12)).act_force(force).scalars())

    def less(body: BodyStep) -> None:
        """The force that the joint has to give, without the external one."""
        body.add("f", (-body.external_force()).scalars(), i=6)

    made: list[Statement] = [tree.bodies(down, "from the root to the leaves")]
    if external:
        made.append(WhereGiven("fext", (tree.bodies(less, "f -= fext"),)))
    if tree.coupled:
        made.append(Clear(tau, tree.nv))
    made.append(tree.bodies(up, "tau = S^T f, f_parent += X* f", backward=True))
    return [*made, *(drives(tree, tau, accelerating=accelerating) if moving else [])]


def _motion(body: BodyStep, moving: bool) -> BodyMotion:
    """The motion of the parent."""
    zero = Vector3.zero()
    if not moving:
        return BodyMotion.of(zero, zero, Vector3.of(body.above("motion", 3)))
    entries = body.above("motion", MOTION)
    w, alpha, a, *rows = (Vector3.of(entries[k : k + 3]) for k in range(0, MOTION, 3))
    return BodyMotion(w, alpha, a, Spin((rows[0], rows[1], rows[2]), zero))


def drives(tree: Tree, out: str, *, accelerating: bool = False) -> list[Statement]:
    """Damping times v, and armature times a where joints accelerate, added to the entries of an array."""
    terms = [("damping", "v"), *([("armature", "a")] if accelerating else [])]
    terms = [(table, name) for table, name in terms if any(getattr(tree.model, table))]

    def record(step: StepRecorder) -> None:
        """One entry of v."""
        products = [step.read(table, 1, at=1)[0] * step.read(name, 1, at=1)[0] for table, name in terms]
        step.add(out, [sum(products)], at=1)

    return [each("at", tree.nv, record, "motors and damping")] if terms else []

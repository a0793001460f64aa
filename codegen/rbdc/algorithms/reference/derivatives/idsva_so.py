"""Second derivatives of inverse dynamics: Singh, Russell and Wensing, On Second-Order Derivatives of
Rigid-Body Dynamics, Algorithm 1 (IDSVA-SO).

Names and line numbers are the paper's; B has no factor 1/2, and f_i of line 22 is that of the subtree.
For joints k above j above i (each may be the same) with directions r, t and p, the algorithm forms what
depends on i alone (A0 .. A7), then on i and j (u1 .. u12), and takes every entry by one or two products
with what belongs to k.

All is in one frame: the paper's ground frame, or that of the root body where the tree hangs on one free
body, which the tensors do not depend on, and where that body's distance from the world's origin costs no
digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.coriolis import CoriolisFactor
from rbdc.algorithms.reference.derivatives.tensors import Tensor, reduce_tensor, rows_of, zero_tensor
from rbdc.algorithms.reference.joint_coordinates import Matrix, first_dofs, full_size, joint_velocities
from rbdc.algorithms.reference.kinematics import world_placements
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, RigidInertia, Scalar, Vector3


@dataclass(frozen=True)
class Direction:
    """A column of S, Psidot, Psiddot and Psidot + Sdot (lines 5-7, 14)."""

    joint: int
    dof: int
    s: Motion
    psi_rate: Motion
    psi_second: Motion
    both_rates: Motion


@dataclass(frozen=True)
class Subtrees:
    """By body, in the one frame: its directions, and composite inertia, B (without the doubling) and
    force of its subtree.
    """

    directions: list[list[Direction]]
    inertias: list[RigidInertia]
    factors: list[CoriolisFactor]
    forces: list[Force]


class Operators:
    """The operators of one degree of freedom p of joint i (lines 15-24), as functions of motions."""

    def __init__(self, tree: Subtrees, d: Direction) -> None:
        self.inertia, self.factor, self.d = tree.inertias[d.joint], tree.factors[d.joint], d
        self.a0 = self.inertia @ d.s  # A0 x = x x* (I s)
        self.a4 = self._b_transposed(d.s)
        self.a5 = self._b(d.psi_rate) + self.inertia @ d.psi_second + d.s.cross_force(tree.forces[d.joint])
        self.a7 = self._b(d.s) + self.inertia @ d.both_rates

    def _b(self, x: Motion) -> Force:
        return self.factor.apply(x).scaled(2.0)

    def _b_transposed(self, x: Motion) -> Force:
        return self.factor.apply_transposed(x).scaled(2.0)

    def b_s(self, x: Motion) -> Force:
        """B(I, s) x (line 15)."""
        return _coriolis(self.inertia, self.d.s, x)

    def b_s_transposed(self, x: Motion) -> Force:
        """B(I, s)^T x."""
        return _coriolis_transposed(self.inertia, self.d.s, x)

    def a1(self, x: Motion) -> Force:
        """A1 x = s x* I x - I (s x x); A1 is symmetric (line 18)."""
        return self.d.s.cross_force(self.inertia @ x) - self.inertia @ self.d.s.cross(x)

    def a2(self, x: Motion) -> Force:
        """A2 x = 2 A0 x - B(I, s) x (line 19)."""
        return x.cross_force(self.a0).scaled(2.0) - self.b_s(x)

    def a3(self, x: Motion) -> Force:
        """A3 x = B(I, psidot) x + s x* B x - B (s x x) (line 20)."""
        return (
            _coriolis(self.inertia, self.d.psi_rate, x)
            + self.d.s.cross_force(self._b(x))
            - self._b(self.d.s.cross(x))
        )

    def a3_transposed(self, x: Motion) -> Force:
        """A3^T x, with (s x*)^T = -(s x)."""
        own = _coriolis_transposed(self.inertia, self.d.psi_rate, x)
        return own - self._b_transposed(self.d.s.cross(x)) + self.d.s.cross_force(self._b_transposed(x))

    def a6(self, x: Motion) -> Force:
        """A6 x = s x* I x + A0 x (line 23)."""
        return self.d.s.cross_force(self.inertia @ x) + x.cross_force(self.a0)


@dataclass(frozen=True)
class Pair:
    """What belongs to i and j (lines 29-36)."""

    u1: Force
    u2: Force
    u3: Force
    u4: Force
    u5: Force
    u6: Force
    u7: Force
    u8: Force
    u9: Force
    u10: Force
    u11: Force
    u12: Force

    @staticmethod
    def of(i: Operators, t: Direction) -> Pair:
        """For the operators of i and a direction t of j."""
        a4 = t.s.cross_force(i.a4)
        u12 = i.a1(t.s)
        return Pair(
            i.a3_transposed(t.s),
            u12,
            i.a3(t.psi_rate) + i.a1(t.psi_second) + t.s.cross_force(i.a5),
            i.a6(t.s),
            i.a2(t.psi_rate) + a4,
            i.b_s(t.psi_rate) + t.s.cross_force(i.a7),
            i.a3(t.s) + i.a1(t.both_rates),
            a4 - i.b_s_transposed(t.psi_rate),
            t.s.cross_force(i.a0),
            i.b_s(t.s),
            i.b_s_transposed(t.s),
            u12,
        )


def _coriolis(inertia: RigidInertia, v: Motion, x: Motion) -> Force:
    """B(I, v) x = v x* I x - I (v x x) + x x* I v (lines 9, 15, 16)."""
    return v.cross_force(inertia @ x) - inertia @ v.cross(x) + x.cross_force(inertia @ v)


def _coriolis_transposed(inertia: RigidInertia, v: Motion, x: Motion) -> Force:
    """B(I, v)^T x: the first two terms are symmetric together, the third turns its sign but for the one
    of f and the linear part.
    """
    momentum = inertia @ v
    f, n = momentum.linear, momentum.angular
    turned = Force(f.cross(x.angular), f.cross(x.linear) + n.cross(x.angular))
    return v.cross_force(inertia @ x) - inertia @ v.cross(x) + turned


def rnea_second_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv nv, nv each; row nv i + j, column k).

    Entry i, j, k is L_k (L_j tau_i), the paper's equation (17). External forces are constant in their
    bodies' frames. Tests: complex-step of `idsva.rnea_derivatives`, Pinocchio.
    """
    tensors = second_derivatives(model, q, v, a, fext, trace)
    qq, vv, qv, mq = (rows_of(reduce_tensor(model, tensor)) for tensor in tensors)
    return qq, vv, qv, mq


def second_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None,
    trace: Trace,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The tensors over all degrees of freedom of the tree."""
    tree = _subtrees(model, q, v, a, fext, trace)
    qq, vv, qv, mq = (zero_tensor(full_size(model)) for _ in range(4))
    for i in (d for own in tree.directions for d in own):
        operators = Operators(tree, i)
        for j in _at_or_above(model, tree, i):
            pair = Pair.of(operators, j)
            for k in _at_or_above(model, tree, j):
                _entries(pair, i, j, k, (qq, vv, qv, mq))
    return qq, vv, qv, mq


def _entries(
    u: Pair, i: Direction, j: Direction, k: Direction, tensors: tuple[Tensor, Tensor, Tensor, Tensor]
) -> None:
    """Lines 40-67."""
    qq, vv, qv, mq = tensors
    ip, jt, kr = i.dof, j.dof, k.dof
    p1 = k.psi_rate.dot(u.u11)
    p2 = k.psi_rate.dot(u.u8) + k.psi_second.dot(u.u9)
    qq[ip][jt][kr], qv[ip][kr][jt] = p2, -p1
    if j.joint != i.joint:
        qq[jt][kr][ip] = qq[jt][ip][kr] = k.psi_rate.dot(u.u1) + k.psi_second.dot(u.u2)
        qv[jt][ip][kr] = k.s.dot(u.u1) + k.both_rates.dot(u.u2)
        qv[jt][kr][ip] = p1
        vv[jt][kr][ip] = vv[jt][ip][kr] = k.s.dot(u.u11)
        mq[kr][jt][ip] = mq[jt][kr][ip] = k.s.dot(u.u12)
    if k.joint == j.joint:
        vv[ip][jt][kr] = -k.s.dot(u.u2)
        return
    qq[ip][kr][jt] = p2
    qq[kr][ip][jt] = k.s.dot(u.u3)
    vv[ip][jt][kr] = vv[ip][kr][jt] = -k.s.dot(u.u11)
    qv[ip][jt][kr] = k.s.dot(u.u5) + k.both_rates.dot(u.u9)
    qv[kr][jt][ip] = k.s.dot(u.u6)
    mq[kr][ip][jt] = mq[ip][kr][jt] = k.s.dot(u.u9)
    if j.joint != i.joint:
        qq[kr][jt][ip] = qq[kr][ip][jt]
        qv[kr][ip][jt] = k.s.dot(u.u7)
        vv[kr][ip][jt] = vv[kr][jt][ip] = k.s.dot(u.u10)
    else:
        vv[kr][jt][ip] = k.s.dot(u.u4)


def _at_or_above(model: Model, tree: Subtrees, of: Direction) -> Iterator[Direction]:
    """All directions of the joint, then of those above it."""
    joint = of.joint
    while joint != WORLD:
        yield from tree.directions[joint]
        joint = model.bodies[joint].parent


def frame_of(model: Model, q: Sequence[Scalar]) -> tuple[list[Placement], Vector3]:
    """The placements of the bodies in the one frame, and gravity there."""
    world = world_placements(model, q)
    roots = model.children(WORLD)
    if len(roots) == 1 and model.bodies[roots[0]].joint.free:
        root = world[roots[0]]
        inverse = root.inverse()
        return [inverse.compose(placement) for placement in world], root.rotation.apply_transposed(
            model.gravity
        )
    return world, model.gravity


def _subtrees(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None,
    trace: Trace,
) -> Subtrees:
    """Lines 1-11 and 75-78."""
    placements, gravity = frame_of(model, q)
    rates, seconds, starts = joint_velocities(model, v), joint_velocities(model, a), first_dofs(model)
    velocities: list[Motion] = []
    accelerations: list[Motion] = []
    tree = Subtrees([], [], [], [])
    for index, body in enumerate(model.bodies):
        top = body.parent == WORLD
        v_parent = Motion.zero() if top else velocities[body.parent]
        a_parent = Motion(-gravity, Vector3.zero()) if top else accelerations[body.parent]
        here = placements[index]
        rate = here.act(body.joint.motion(rates[index]))
        velocities.append(v_parent + rate)
        accelerations.append(
            a_parent + here.act(body.joint.motion(seconds[index])) + velocities[index].cross(rate)
        )
        own = []
        for k, column in enumerate(body.joint.subspace()):
            s = here.act(column)
            psi_rate = v_parent.cross(s)
            psi_second = a_parent.cross(s) + v_parent.cross(psi_rate)
            own.append(
                Direction(
                    index, starts[index] + k, s, psi_rate, psi_second, psi_rate + velocities[index].cross(s)
                )
            )
        tree.directions.append(own)
        inertia: RigidInertia = body.inertia.moved(here)
        force = inertia @ accelerations[index] + velocities[index].cross_force(inertia @ velocities[index])
        tree.inertias.append(inertia)
        tree.factors.append(CoriolisFactor.of_body(inertia, velocities[index]))
        tree.forces.append(force if fext is None else force - here.act_force(fext[index]))
        values = [*velocities[index].scalars(), *accelerations[index].scalars(), *force.scalars()]
        trace(body.name, "v, a, f in the one frame", f"m{index}", values)
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent != WORLD:
            tree.inertias[parent] = tree.inertias[parent] + tree.inertias[index]
            tree.factors[parent] = tree.factors[parent] + tree.factors[index]
            tree.forces[parent] = tree.forces[parent] + tree.forces[index]
    return tree

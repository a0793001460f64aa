"""Second derivatives of inverse dynamics by compact operators: IDSVA-SO of Singh, Russell and Wensing, in
the common frame of `RootFrame`.

Derivation. Vectors are [linear; angular]. A degree of freedom i has the direction s = (u, w), and its subtree
the inertia I with the mass m, the first moment h and the rotational inertia J. Let (f, n) = I s. With the
symmetric matrix

    L = [w]J - J[w] + 2 (u.h) 1 - h u^T - u h^T

the operators of the paper's Algorithm 1 (`rbdc.algorithms.reference.derivatives.idsva_so`) map a motion z =
(u_z, w_z) to

    A1 z      = s x* I z - I (s x z)              = (-f x w_z,  f x u_z + L w_z)
    A0 z      = z x* I s                          = (w_z x f,   u_z x f + w_z x n)
    B(I, s) z = A0 z + A1 z                       = (-2 f x w_z,  L w_z - n x w_z)

B of the subtree, doubled as in the paper, is a pair (p, N) with B z = (-p x w_z, N w_z). The operator A3 is a
pair (p', N') of the same form. With f', n' and L' computed from psidot instead of s,

    A3 = B(I, psidot) + s x* B - B s x:  p' = w x p + 2 f',  N' = [w]N - N[w] - [u][p] + L' - [n']

Let b = p x u + N^T w be the angular part of B^T s, and let psidot_j = (u'_j, w'_j). For a direction j of the
joint of i or of an ancestor, the vectors u8, u9 and u11 of the paper (only the angular parts of u8 and u11)
are

    u9 = s_j x* (f, n),   u11 = 2 f x u_j + L w_j + n x w_j
    u8 = w_j x b - (2 f x u'_j + L w'_j + n x w'_j)

An entry is nonzero only if its three indices are degrees of freedom on one path to the root. Let d be the
deepest. If the row x (the index of the torque) belongs to an ancestor of d, the entry is s_x times a force
that depends on d and the third index y. If the row is d, the entry is a motion of one other index times u8,
u9 or u11, which depend on d and the third index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rbdc.algorithms.derivatives.rnea_derivatives import Sweeping, moving_bodies
from rbdc.algorithms.derivatives.world_forces import add_second_terms
from rbdc.algorithms.dynamics.coriolis import (
    ClimbingForces,
    CoriolisFactor,
    Direction,
    OneFrameFactor,
    row_of,
)
from rbdc.algorithms.dynamics.drives import resistance_by_vv
from rbdc.algorithms.dynamics.external_forces import of_subtrees, take_external_forces
from rbdc.algorithms.tools.joint_coordinates import first_dofs, reduce_tensor
from rbdc.algorithms.tools.linear import Matrix, flat, transposed, zeros
from rbdc.algorithms.tools.one_frame import RootFrame
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Matrix3, Motion, RigidInertia, Scalar, Scalars, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES

Tensor = list[Matrix]


@dataclass(frozen=True)
class Subtree:
    """Sums over a body's subtree.

    inertia: inertia of the subtree.
    p, n: p and N of the doubled B.
    force: force on the subtree.
    """

    inertia: RigidInertia
    p: Vector3
    n: Matrix3
    force: Force

    @staticmethod
    def of_body(inertia: RigidInertia, half: CoriolisFactor, force: Force) -> Subtree:
        """Return the sums of a single body. half: its B, not doubled."""
        return Subtree(inertia, half.momentum + half.momentum, half.n + half.n, force)

    def __add__(self, other: Subtree) -> Subtree:
        inertia, force = self.inertia + other.inertia, self.force + other.force
        return Subtree(inertia, self.p + other.p, self.n + other.n, force)

    def row(self, d: Direction) -> ClimbingForces:
        """Return the four forces of a degree of freedom d that moves this subtree."""
        return row_of(OneFrameFactor(self.p, self.n), self.inertia, d)

    def scalars(self) -> list[Scalar]:
        """Return m, h (3), J (xx, xy, yy, xz, yz, zz), p (3), N (9), force (6)."""
        inertia = [self.inertia.mass, *self.inertia.first_moment.scalars()]
        inertia += self.inertia.about_origin.scalars()
        return [*inertia, *self.p.scalars(), *self.n.scalars(), *self.force.scalars()]


@dataclass(frozen=True)
class TreeInMotion:
    """The directions of all joints and the subtrees of all bodies, in one frame.

    directions: direction of each degree of freedom.
    subtrees: sums over the subtree of each body.
    joints: index of the joint of each degree of freedom.
    first: for each degree of freedom, the index of the first one of its joint.
    paths: for each degree of freedom, those of its ancestors from the root down, then those of its joint.
    fixed: for each body, the external force on its subtree that is constant in the world; empty without such
        forces.
    """

    directions: list[Direction]
    subtrees: list[Subtree]
    joints: list[int]
    first: list[int]
    paths: list[list[int]]
    fixed: list[Force]


def path_quantities(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Matrix:
    """Return the input of the loops of `rbdc.planning.paths.inverse`, a column for each degree of freedom.
    The rows are s, psidot, psiddot, sigma (6 each; see `Direction`), then m, h (3), J (xx, xy, yy, xz, yz,
    zz), p (3), N (9) and force (6) of the subtree, then the external force on the subtree (6) if the model
    has `world_forces`.
    """
    tree = _tree(model, q, v, a, fext, trace)
    loads = tree.fixed or [Force.zero()] * model.njoints
    columns = []
    for d, joint in zip(tree.directions, tree.joints, strict=True):
        motions = [x for m in (d.s, d.psi_rate, d.psi_second, d.sigma) for x in m.scalars()]
        load = loads[joint].scalars() if model.world_forces else []
        columns.append([*motions, *tree.subtrees[joint].scalars(), *load])
    return transposed(columns)


def rnea_second_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv * nv, nv each; row nv * i + j, column k).
    Checked against the reference.
    """
    qq, vv, qv, mq = map(flat, second_derivatives(model, q, v, a, fext, trace))
    return qq, vv, qv, mq


def second_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None, trace: Trace
) -> list[Tensor]:
    """Return the tensors d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv, nv, nv each)."""
    tree = _tree(model, q, v, a, fext, trace)
    size, motions = len(tree.joints), list(zip(tree.first, (x.s for x in tree.directions), strict=True))
    tensors = tuple([zeros(size, size) for _ in range(size)] for _ in range(4))
    for d, joint in enumerate(tree.joints):
        operators = Operators.of(tree.directions[d], tree.subtrees[joint])
        _rows_above(tree, d, operators, *tensors)
        _own_rows(tree, d, operators, *tensors)
        if tree.fixed:
            add_second_terms(tensors[0][d], motions, tree.paths[d], d, tree.fixed[joint])
        name = model.bodies[joint].name
        for tensor, symbol in zip(tensors, ("qq", "vv", "qv", "mq"), strict=True):
            title = f"{symbol}: entries of d2tau (qq, vv, qv) or dM_dq (mq) whose deepest joint is this one"
            trace(name, title, f"{symbol}{d}", [tensor[d][d][d]])
    reduced = [reduce_tensor(model, tensor) for tensor in tensors]
    for k, x in enumerate(resistance_by_vv(model, v)):
        reduced[1][k][k][k] = reduced[1][k][k][k] + x
    return reduced


@dataclass(frozen=True)
class Operators:
    """Operators of one degree of freedom, with the symbols of the module's docstring.

    i_s: (f, n) = I s.
    symmetric: L.
    p3, n3: p' and N' of A3.
    b: angular part of B^T s.
    by_q, by_v: forces (12b) and (13b) of the paper.
    """

    i_s: Force
    symmetric: Symmetric3
    p3: Vector3
    n3: Matrix3
    b: Vector3
    by_q: Force
    by_v: Force

    @staticmethod
    def of(d: Direction, subtree: Subtree) -> Operators:
        """Return the operators of a direction and the subtree that it moves."""
        u, w, moved, row = d.s.linear, d.s.angular, subtree.inertia @ d.psi_rate, subtree.row(d)
        symmetric = symmetric_part(subtree.inertia, d.psi_rate)
        columns = (
            w.cross(subtree.n.apply(e))
            - subtree.n.apply(w.cross(e))
            - u.cross(subtree.p.cross(e))
            + symmetric @ e
            - moved.angular.cross(e)
            for e in AXES
        )
        return Operators(
            row.r,
            symmetric_part(subtree.inertia, d.s),
            w.cross(subtree.p) + (moved.linear + moved.linear),
            Matrix3(*columns),
            row.r_b.angular,
            row.c_q + d.s.cross_force(subtree.force),
            row.c_v,
        )

    def a1(self, x: Motion) -> Force:
        """Return A1 x."""
        f = self.i_s.linear
        return Force(-f.cross(x.angular), f.cross(x.linear) + self.symmetric @ x.angular)

    def a0(self, x: Motion) -> Force:
        """Return A0 x."""
        f, n = self.i_s.linear, self.i_s.angular
        return Force(-f.cross(x.angular), -(f.cross(x.linear) + n.cross(x.angular)))

    def a3(self, x: Motion) -> Force:
        """Return A3 x."""
        return Force(-self.p3.cross(x.angular), self.n3.apply(x.angular))

    def b_s(self, x: Motion) -> Force:
        """Return B(I, s) x."""
        linear = -self.i_s.linear.cross(x.angular)
        angular = self.symmetric @ x.angular - self.i_s.angular.cross(x.angular)
        return Force(linear + linear, angular)

    def u11(self, x: Motion) -> Vector3:
        """Return the angular part of u11 = B(I, s)^T x."""
        return self.a1(x).angular - self.a0(x).angular

    def u8(self, d: Direction) -> Vector3:
        """Return the angular part of u8 = A4 s_d - B(I, s)^T psidot_d, with A4 of the paper."""
        return d.s.angular.cross(self.b) - self.u11(d.psi_rate)

    def above(self, m: Direction) -> Above:
        """Return the forces for a direction m of this joint or of an ancestor."""
        second, crossed = self.a3(m.psi_rate) + self.a1(m.psi_second), self.b_s(m.psi_rate)
        return Above(
            second,
            second + m.s.cross_force(self.by_q),
            self.a3(m.s) + self.a1(m.sigma),
            crossed,
            crossed + m.s.cross_force(self.by_v),
            self.a1(m.s),
            self.a0(m.s),
        )


def symmetric_part(inertia: RigidInertia, s: Motion) -> Symmetric3:
    """Return L of a motion s."""
    u, w, h = s.linear, s.angular, inertia.first_moment
    x, y, z = (w.cross(Vector3.of(row)) for row in inertia.about_origin.rows())
    xx = x.x + (h.y * u.y + h.z * u.z)
    yy = y.y + (h.x * u.x + h.z * u.z)
    zz = z.z + (h.x * u.x + h.y * u.y)
    xy = x.y + y.x - (h.x * u.y + h.y * u.x)
    xz = x.z + z.x - (h.x * u.z + h.z * u.x)
    yz = y.z + z.y - (h.y * u.z + h.z * u.y)
    return Symmetric3(xx + xx, xy, yy + yy, xz, yz, zz + zz)


class Above(NamedTuple):
    """Forces that depend on a degree of freedom d and on a direction m of d's joint or of an ancestor. Their
    products with s_x are entries in row x of the tensors, for x of an ancestor of d.

    qq: A3 psidot_m + A1 psiddot_m.
    qq_above: qq + s_m x* by_q, for x of an ancestor of m.
    moved: A3 s_m + A1 sigma_m.
    crossed: B(I, s_d) psidot_m.
    crossed_above: crossed + s_m x* by_v, for x of an ancestor of m.
    a1, a0: A1 s_m and A0 s_m.
    """

    qq: Force
    qq_above: Force
    moved: Force
    crossed: Force
    crossed_above: Force
    a1: Force
    a0: Force


def _rows_above(
    tree: TreeInMotion, d: int, o: Operators, qq: Tensor, vv: Tensor, qv: Tensor, mq: Tensor
) -> None:
    """Set the entries whose deepest index is d, in the rows of all ancestors of the joint of d."""
    directions, first, inertia = tree.directions, tree.first[d], tree.subtrees[tree.joints[d]].inertia
    for y in tree.paths[d]:
        m = directions[y]
        forces, turned = o.above(m), o.b_s(m.s)
        if y >= first:
            turned = inertia @ directions[d].s.cross(m.s) + turned
        for x in (x for x in tree.paths[d] if x < first):
            s, above = directions[x].s, x < tree.first[y]
            qq[x][d][y] = s.dot(forces.qq_above if above else forces.qq)
            qv[x][y][d] = s.dot(forces.crossed_above if above else forces.crossed)
            vv[x][d][y] = s.dot(turned)
            if above:
                mq[x][d][y] = mq[d][x][y] = s.dot(forces.a0)
            if y < first:
                qq[x][y][d], vv[x][y][d] = qq[x][d][y], vv[x][d][y]
                qv[x][d][y] = s.dot(forces.moved)
                mq[x][y][d] = s.dot(forces.a1)


def _own_rows(
    tree: TreeInMotion, d: int, o: Operators, qq: Tensor, vv: Tensor, qv: Tensor, mq: Tensor
) -> None:
    """Set the entries whose deepest index is d, in the row d."""
    del mq
    directions = tree.directions
    for j in tree.paths[d]:
        m = directions[j]
        u8, u9, u11, a1 = o.u8(m), o.a0(m.s), o.u11(m.s), o.a1(m.s)
        for k in tree.paths[d]:
            other = directions[k]
            if tree.first[k] > tree.first[j]:
                break
            qq[d][j][k] = u8.dot(other.psi_rate.angular) + other.psi_second.dot(u9)
            qv[d][k][j] = -u11.dot(other.psi_rate.angular)
            if tree.first[k] == tree.first[j]:
                vv[d][j][k] = -other.s.dot(a1)
                continue
            qq[d][k][j] = qq[d][j][k]
            vv[d][j][k] = vv[d][k][j] = -u11.dot(other.s.angular)
            qv[d][j][k] = u8.dot(other.s.angular) + other.sigma.dot(u9)


def _tree(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None, trace: Trace
) -> TreeInMotion:
    m = RootFrame(model, q, v, a, () if fext is None or model.world_forces else fext, trace)
    bodies, starts = moving_bodies(m, Sweeping.of_world(m.gravity)), first_dofs(model)
    take_external_forces(m, bodies.force)
    subtree = m.array("c", Subtree)
    for b in m.up():
        subtree.add(b, Subtree.of_body(bodies.composite[b], bodies.factor[b], bodies.force[b]))
        b.label("inertia, Coriolis factor 2 B = (p, N) and force of the subtree", "c", subtree[b].scalars())
        b.add_to_parent(subtree, subtree[b])
    fixed: list[Force] = []
    if fext is not None and model.world_forces:
        fixed = of_subtrees(model, [m.frame.act_inverse_force(force) for force in fext])
    joints = [k for k, body in enumerate(model.bodies) for _ in range(body.joint.nv)]
    paths = [[j for j, x in enumerate(joints) if x in set(model.support(k))] for k in joints]
    return TreeInMotion(
        m.in_order(bodies.direction), m.in_order(subtree), joints, [starts[k] for k in joints], paths, fixed
    )

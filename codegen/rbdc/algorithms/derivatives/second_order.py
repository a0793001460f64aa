"""Second derivatives of inverse dynamics by compact operators: IDSVA-SO of Singh, Russell and Wensing, in
one frame.

Derivation. With [linear; angular] vectors s = (u, w), the operators of the paper's Algorithm 1
(`rbdc.algorithms.reference.derivatives.idsva_so`) all have columns of zeros where they meet linear parts. For
a degree of freedom i let (f, n) = I s with the inertia I of its subtree, and L the symmetric matrix

    L = [w]J - J[w] + 2 (u.h) 1 - h u^T - u h^T

of mass m, first moment h and rotational inertia J. Then, on x = (u_x, w_x),

    A1 x      = s x* I x - I (s x x)              = (-f x w_x,  f x u_x + L w_x)
    A0 x      = x x* I s                          = (w_x x f,   u_x x f + w_x x n)
    B(I, s) x = A0 x + A1 x                       = (-2 f x w_x,  L w_x - n x w_x)

B of the subtree, doubled as in the paper, is a pair (p, N) with B x = (-p x w_x, N w_x), and so is

    A3 = B(I, psidot) + s x* B - B s x:  p' = w x p + 2 f',  N' = [w]N - N[w] - [u][p] + L' - [n']

with (f', n') and L' those of psidot. With b = p x u + N^T w, the angular part of B^T s, u8, u9 and u11 of
the paper are, for a direction j above i,

    u9 = s_j x* (f, n),   u11 = 2 f x u_j + L w_j + n x w_j
    u8 = w_j x b - (2 f x u(psidot_j) + L w(psidot_j) + n x w(psidot_j))

where u8 and u11 have no linear parts that matter. Every entry of a tensor has a deepest index d. For x, y
at or above it, all that follows are products of s_x with what belongs to d and y, or, where the row is d
itself, of u8, u9 and u11 with what belongs to y. `rnea_second_derivatives` writes them out,
`path_quantities` gives what the rolled form (`templates/second_inverse.c.jinja`) takes from there.

All is in the frame of the root body where the tree hangs on one free body, in that of the world
otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.derivatives.rnea_derivatives import doubled
from rbdc.algorithms.derivatives.squares import (
    Square,
    cross_rows,
    negated,
    rows_cross,
    skew,
    sum_of,
    symmetric_part,
    times,
    transposed_times,
)
from rbdc.algorithms.derivatives.world_forces import add_second_terms
from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.algorithms.dynamics.drives import resistance_by_vv
from rbdc.algorithms.dynamics.external_forces import of_subtrees
from rbdc.algorithms.kinematics import tree_motion
from rbdc.algorithms.tools.joint_coordinates import (
    first_dofs,
    joint_velocities,
    reduce_columns,
    reduce_matrix,
)
from rbdc.algorithms.tools.linear import Matrix, flat, transposed, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Forces, Motion, RigidInertia, Scalars, Vector3
from rbdc.spatial.vectors import motion_sum

Tensor = list[Matrix]


@dataclass(frozen=True)
class Direction:
    """One degree of freedom, and the first of its joint: s, psidot, psiddot, and sigma = psidot + sdot."""

    joint: int
    first: int
    s: Motion
    psi_rate: Motion
    psi_second: Motion
    sigma: Motion


@dataclass(frozen=True)
class Subtree:
    """Sums over a body's subtree: its inertia, B (doubled) by its momentum p and rows of N, and force."""

    inertia: RigidInertia
    p: Vector3
    n: Square
    force: Force

    def b(self, x: Motion) -> Force:
        """B x."""
        return Force(-self.p.cross(x.angular), times(self.n, x.angular))


@dataclass(frozen=True)
class Tree:
    """The directions of all joints and the subtrees of all bodies, in one frame; the degrees of freedom
    at or above each, from the root; of each body the forces fixed in the world on its subtree, if any.
    """

    directions: list[Direction]
    subtrees: list[Subtree]
    paths: list[list[int]]
    fixed: list[Force]


def path_quantities(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Matrix:
    """Quantities from which the rolled form starts, a column for each degree of freedom: s, psidot, psiddot,
    sigma (6 each), then of the subtree m, h (3), J (xx, xy, yy, xz, yz, zz), p (3), N (9), force (6).
    """
    tree = _tree(model, q, v, a, fext, trace)
    columns = []
    for d in tree.directions:
        own, motions = tree.subtrees[d.joint], (d.s, d.psi_rate, d.psi_second, d.sigma)
        inertia = [own.inertia.mass, *own.inertia.first_moment.scalars(), *own.inertia.about_origin.scalars()]
        coriolis = [*own.p.scalars(), *(x for row in own.n for x in row.scalars())]
        columns.append(
            [*(x for m in motions for x in m.scalars()), *inertia, *coriolis, *own.force.scalars()]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def rnea_second_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv nv, nv each; row nv i + j, column k). Test: the
    reference.
    """
    tree = _tree(model, q, v, a, fext, trace)
    size, motions = len(tree.directions), [(x.first, x.s) for x in tree.directions]
    tensors = tuple([zeros(size, size) for _ in range(size)] for _ in range(4))
    for d, direction in enumerate(tree.directions):
        operators = Operators.of(direction, tree.subtrees[direction.joint])
        _rows_above(tree, d, operators, *tensors)
        _own_rows(tree, d, operators, *tensors)
        if tree.fixed:
            add_second_terms(tensors[0][d], motions, tree.paths[d], d, tree.fixed[direction.joint])
        name = model.bodies[direction.joint].name
        for tensor, symbol in zip(tensors, ("qq", "vv", "qv", "mq"), strict=True):
            trace(name, f"entries of {symbol} with this joint lowest", f"{symbol}{d}", [tensor[d][d][d]])
    qq, vv, qv, mq = (_reduced(model, tensor) for tensor in tensors)
    for k, x in enumerate(resistance_by_vv(model, v)):
        vv[model.nv * k + k][k] = vv[model.nv * k + k][k] + x
    return qq, vv, qv, mq


@dataclass(frozen=True)
class Operators:
    """Terms of one degree of freedom: (f, n) = I s, L, the pair of A3, b, and the columns (12b) and (13b) of
    the paper.
    """

    i_s: Force
    rows: Square
    p3: Vector3
    n3: Square
    b: Vector3
    by_q: Force
    by_v: Force

    @staticmethod
    def of(d: Direction, own: Subtree) -> Operators:
        """From the direction and its subtree."""
        u, w, moved = d.s.linear, d.s.angular, own.inertia @ d.psi_rate
        turned = sum_of(cross_rows(w, own.n), negated(rows_cross(own.n, w)))
        double = moved.linear + moved.linear
        n3 = sum_of(
            turned,
            negated(cross_rows(u, skew(own.p))),
            symmetric_part(own.inertia, d.psi_rate),
            negated(skew(moved.angular)),
        )
        by_q = own.b(d.psi_rate) + own.inertia @ d.psi_second + d.s.cross_force(own.force)
        return Operators(
            own.inertia @ d.s,
            symmetric_part(own.inertia, d.s),
            w.cross(own.p) + double,
            n3,
            own.p.cross(u) + transposed_times(own.n, w),
            by_q,
            own.b(d.s) + own.inertia @ d.sigma,
        )

    def a1(self, x: Motion) -> Force:
        """A1 x."""
        f = self.i_s.linear
        return Force(-f.cross(x.angular), f.cross(x.linear) + times(self.rows, x.angular))

    def a0(self, x: Motion) -> Force:
        """A0 x."""
        f, n = self.i_s.linear, self.i_s.angular
        return Force(-f.cross(x.angular), -(f.cross(x.linear) + n.cross(x.angular)))

    def a3(self, x: Motion) -> Force:
        """A3 x."""
        return Force(-self.p3.cross(x.angular), times(self.n3, x.angular))

    def b_s(self, x: Motion) -> Force:
        """B(I, s) x."""
        linear = -self.i_s.linear.cross(x.angular)
        angular = times(self.rows, x.angular) - self.i_s.angular.cross(x.angular)
        return Force(linear + linear, angular)

    def u11(self, x: Motion) -> Vector3:
        """The angular part of B(I, s)^T x."""
        return self.a1(x).angular - self.a0(x).angular

    def u8(self, d: Direction) -> Vector3:
        """The angular part of A4 s - B(I, s)^T psidot."""
        return d.s.angular.cross(self.b) - self.u11(d.psi_rate)


def _rows_above(tree: Tree, d: int, o: Operators, qq: Tensor, vv: Tensor, qv: Tensor, mq: Tensor) -> None:
    """The rows of torques x strictly above the joint of d, for all y at or above it."""
    directions, own = tree.directions, tree.directions[d].first
    for y in tree.paths[d]:
        m = directions[y]
        second, by_q = o.a3(m.psi_rate) + o.a1(m.psi_second), m.s.cross_force(o.by_q)
        crossed, by_v = o.b_s(m.psi_rate), m.s.cross_force(o.by_v)
        moved, a1, a0 = o.a3(m.s) + o.a1(m.sigma), o.a1(m.s), o.a0(m.s)
        turned = (
            o.b_s(m.s)
            if y < own
            else tree.subtrees[directions[d].joint].inertia @ directions[d].s.cross(m.s) + o.b_s(m.s)
        )
        for x in (x for x in tree.paths[d] if x < own):
            s, above = directions[x].s, x < m.first
            qq[x][d][y] = s.dot(second + by_q if above else second)
            qv[x][y][d] = s.dot(crossed + by_v if above else crossed)
            vv[x][d][y] = s.dot(turned)
            if above:
                mq[x][d][y] = mq[d][x][y] = s.dot(a0)
            if y < own:
                qq[x][y][d], vv[x][y][d] = qq[x][d][y], vv[x][d][y]
                qv[x][d][y] = s.dot(moved)
                mq[x][y][d] = s.dot(a1)


def _own_rows(tree: Tree, d: int, o: Operators, qq: Tensor, vv: Tensor, qv: Tensor, mq: Tensor) -> None:
    """The row of the torque of d itself."""
    del mq
    directions = tree.directions
    for j in tree.paths[d]:
        m = directions[j]
        u8, u9, u11, a1 = o.u8(m), o.a0(m.s), o.u11(m.s), o.a1(m.s)
        for k in tree.paths[d]:
            other = directions[k]
            if other.first > m.first:
                break
            qq[d][j][k] = u8.dot(other.psi_rate.angular) + other.psi_second.dot(u9)
            qv[d][k][j] = -u11.dot(other.psi_rate.angular)
            if other.first == m.first:
                vv[d][j][k] = -other.s.dot(a1)
                continue
            qq[d][k][j] = qq[d][j][k]
            vv[d][j][k] = vv[d][k][j] = -u11.dot(other.s.angular)
            qv[d][j][k] = u8.dot(other.s.angular) + other.sigma.dot(u9)


def _reduced(model: Model, full: Tensor) -> Matrix:
    """The rows of a tensor over the entries of v: G^T, along the first index too."""
    slabs, size = [reduce_matrix(model, slab) for slab in full], model.nv
    rows = transposed(reduce_columns(model, transposed([flat(slab) for slab in slabs])))
    return [row[k : k + size] for row in rows for k in range(0, size * size, size)]


def _tree(model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None, trace: Trace) -> Tree:
    tree = tree_motion(model, q, v, a, trace, gravity=True)
    rates, starts = joint_velocities(model, v), first_dofs(model)
    directions: list[Direction] = []
    own: list[tuple[RigidInertia, CoriolisFactor, Force]] = []
    for index, body in enumerate(model.bodies):
        here, columns = tree.placements[index], tree.columns[index]
        velocity, acceleration = tree.velocity(index), tree.acceleration(index)
        v_parent, a_parent = tree.velocity(body.parent), tree.acceleration(body.parent)
        rate = motion_sum(columns, rates[index])
        for s in columns:
            psi_rate = v_parent.cross(s)
            psi_second = a_parent.cross(s) + v_parent.cross(psi_rate)
            sigma = psi_rate + psi_rate if len(columns) == 1 else psi_rate + psi_rate + rate.cross(s)
            directions.append(Direction(index, starts[index], s, psi_rate, psi_second, sigma))
        inertia: RigidInertia = body.inertia.moved(here)
        force = inertia @ acceleration + velocity.cross_force(inertia @ velocity)
        if fext is not None and not model.world_forces:
            force = force - here.act_force(fext[index])
        own.append((inertia, CoriolisFactor.of_body(doubled(inertia), velocity), force))
        values = [
            x
            for d in directions[starts[index] :]
            for m in (d.s, d.psi_rate, d.psi_second)
            for x in m.scalars()
        ]
        formula = "s, psidot = v_parent x s, psiddot = a_parent x s + v_parent x psidot"
        trace(body.name, formula, f"s{index}", values)
        trace(body.name, "f = I a + v x* I v", f"f{index}", own[index][2].scalars())
    fixed: list[Force] = []
    if fext is not None and model.world_forces:
        fixed = of_subtrees(model, [tree.frame.act_inverse_force(force) for force in fext])
    return Tree(directions, _subtrees(model, own, trace), _paths(model, starts), fixed)


def _subtrees(
    model: Model, own: list[tuple[RigidInertia, CoriolisFactor, Force]], trace: Trace
) -> list[Subtree]:
    """Sums over all that a joint carries."""
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        inertia, factor, force = own[index]
        values = [*inertia.scalars(), *factor.scalars(), *force.scalars()]
        trace(model.bodies[index].name, "I, p, N, f of the subtree", f"c{index}", values)
        if parent != WORLD:
            above = own[parent]
            own[parent] = (above[0] + inertia, above[1] + factor, above[2] + force)
    return [Subtree(inertia, factor.momentum, _operator(factor), force) for inertia, factor, force in own]


def _operator(factor: CoriolisFactor) -> Square:
    """tr(N) 1 - N^T of the factor's N."""
    x, y, z = factor.rows
    return (Vector3(y.y + z.z, -y.x, -z.x), Vector3(-x.y, x.x + z.z, -z.y), Vector3(-x.z, -y.z, x.x + y.y))


def _paths(model: Model, starts: Sequence[int]) -> list[list[int]]:
    """For each degree of freedom all of its joint and of those above it, from the root."""
    paths: list[list[int]] = []
    for index, body in enumerate(model.bodies):
        own = [starts[k] + dof for k in model.support(index) for dof in range(model.bodies[k].joint.nv)]
        paths += [own] * body.joint.nv
    return paths

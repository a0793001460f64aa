"""Terms that external forces which are constant in the world add to the derivatives of inverse dynamics.

With all quantities in one frame, the forces add -S_i^T F_i to the torque of degree of freedom i, where F_i is
the sum of the forces on the subtree of i. F_i is constant, while a step along S_j changes S_i by S_j x S_i if
j belongs to the joint of i or to an ancestor. So with y_i = S_i x* F_i, for these j,

    dtau_i/dq_j       = -(S_j x S_i)^T F_i = -S_j^T y_i
    d2tau_i/dq_j dq_k = -S_k^T ((S_j x S_i) x* F_i),   k of the joint of j or of an ancestor

The second formula is symmetric in j and k unless j and k belong to the same joint. The entries dtau_j/dq_i
for an ancestor j of i are 0: neither S_j nor the force moves. For forces fixed in the bodies, dtau_i/dq_j is
0 instead; the recursions of inverse dynamics include those forces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.dynamics.external_forces import from_one_frame, of_subtrees
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import in_one_frame
from rbdc.spatial import Force, Matrix3, Motion, Scalar, Scalars
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class TurnedForce:
    """The linear map y -> (y x s) x* F of a direction s = (u, w) and a force F = (f, n). Maps can be added.

    k, n: matrices with K z = (z x w) x f and N z = (z x u) x f + (z x w) x n.

    A motion y = (u_y, w_y) is mapped to (K w_y, K u_y + N w_y).
    """

    k: Matrix3
    n: Matrix3

    @staticmethod
    def of_direction(s: Motion, force: Force) -> TurnedForce:
        """Return the map of a direction and a force."""
        moments = [e.cross(s.angular) for e in AXES]
        k = Matrix3(*(x.cross(force.linear) for x in moments))
        n = Matrix3(*(e.cross(s.linear).cross(force.linear) for e in AXES))
        return TurnedForce(k, n + Matrix3(*(x.cross(force.angular) for x in moments)))

    @staticmethod
    def of(entries: Scalars) -> TurnedForce:
        """Rebuild a map from its `scalars`."""
        return TurnedForce(Matrix3.of(entries[:9]), Matrix3.of(entries[9:]))

    def __call__(self, x: Motion) -> Force:
        return Force(self.k.apply(x.angular), self.k.apply(x.linear) + self.n.apply(x.angular))

    def scalars(self) -> list[Scalar]:
        """Return K and N by rows (9 each)."""
        return [*self.k.scalars(), *self.n.scalars()]


def add_world_forces(m: Numbers, fext: Sequence[Force], matrix: Matrix) -> None:
    """Add the terms dtau_dq of the world-frame forces `fext` to `matrix`, over all degrees of freedom."""
    there = in_one_frame(m.model, m.placements, m.trace)
    totals = of_subtrees(m.model, from_one_frame(m, fext))
    directions = [there[b.at].act(k.s) for b in m.bodies for k in b.columns()]
    for b in m.bodies:
        for k in b.columns():
            row, turned = matrix[k.at], directions[k.at].cross_force(totals[b.at])
            title = "S x* F with the sum F of the world-frame forces on the subtree"
            m.trace(b.own.name, title, f"y{k.at}", turned.scalars())
            for j in (*b.above(), *b.columns()):
                row[j.at] = row[j.at] - directions[j.at].dot(turned)


def add_second_terms(
    slab: Matrix, motions: Sequence[tuple[int, Motion]], path: Sequence[int], row: int, total: Force
) -> None:
    """Add the terms of world-frame forces to `slab`, the derivatives d2tau_dqdq of the torque with index
    `row`.

    motions: for each degree of freedom, the index of the first one of its joint, and its S.
    path: degrees of freedom of the joint of `row` and of its ancestors.
    total: sum of the world-frame forces on the subtree of `row`.
    """
    for j in path:
        first, s = motions[j]
        turned = s.cross(motions[row][1]).cross_force(total)
        for k in path:
            upper, other = motions[k]
            if upper > first:
                break
            entry = other.dot(turned)
            slab[j][k] = slab[j][k] - entry
            if upper != first:
                slab[k][j] = slab[k][j] - entry

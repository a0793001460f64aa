"""Terms that forces constant in the world add to the derivatives of inverse dynamics.

In one frame, the forces add -S_i^T F_i to the torque of joint i, where F_i is the sum of the forces on its
subtree. F_i is constant, while a step along S_j of joint i or of a joint above turns S_i by S_j x S_i. So
with y_i = S_i x* F_i, for j at or above i,

    dtau_i/dq_j       = -(S_j x S_i)^T F_i = -S_j^T y_i
    d2tau_i/dq_j dq_k = -S_k^T ((S_j x S_i) x* F_i),   k at or above j

The second formula is symmetric in j and k unless both are of one joint. The entries dtau_j/dq_i of j above i
are 0: neither S_j nor the force moves. For forces that are fixed in the bodies the entries
dtau_i/dq_j are 0 instead. The recursions include these forces. Weighted sums over i (`TurnedForce`) serve all
j above.
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
    """The linear map x -> (x x s) x* F of a direction s = (u, w) and a force F = (f, n). Maps add up.

    k, n: K x = (x x w) x f and N x = (x x u) x f + (x x w) x n; the result is (K w_x, K u_x + N w_x).
    """

    k: Matrix3
    n: Matrix3

    @staticmethod
    def of_direction(s: Motion, force: Force) -> TurnedForce:
        """Return the map of one direction."""
        moments = [e.cross(s.angular) for e in AXES]
        k = Matrix3(*(x.cross(force.linear) for x in moments))
        n = Matrix3(*(e.cross(s.linear).cross(force.linear) for e in AXES))
        return TurnedForce(k, n + Matrix3(*(x.cross(force.angular) for x in moments)))

    @staticmethod
    def of(entries: Scalars) -> TurnedForce:
        """Return the map of its entries."""
        return TurnedForce(Matrix3.of(entries[:9]), Matrix3.of(entries[9:]))

    def __call__(self, x: Motion) -> Force:
        return Force(self.k.apply(x.angular), self.k.apply(x.linear) + self.n.apply(x.angular))

    def scalars(self) -> list[Scalar]:
        """Return K and N by rows (9 each)."""
        return [*self.k.scalars(), *self.n.scalars()]


def add_world_forces(m: Numbers, fext: Sequence[Force], matrix: Matrix) -> None:
    """Add dtau_dq of the forces to a matrix over all degrees of freedom."""
    there = in_one_frame(m.model, m.placements, m.trace)
    totals = of_subtrees(m.model, from_one_frame(m, fext))
    directions = [there[b.at].act(k.s) for b in m.bodies for k in b.columns()]
    for b in m.bodies:
        for k in b.columns():
            row, turned = matrix[k.at], directions[k.at].cross_force(totals[b.at])
            m.trace(b.own.name, "S x* F of forces in the world", f"y{k.at}", turned.scalars())
            for j in (*b.above(), *b.columns()):
                row[j.at] = row[j.at] - directions[j.at].dot(turned)


def add_second_terms(
    slab: Matrix, motions: Sequence[tuple[int, Motion]], path: Sequence[int], row: int, total: Force
) -> None:
    """Add d2tau_dqdq of the forces to the row of direction `row`. `path`: `row` and its ancestors. `motions`:
    for each direction the first direction of its joint, and S. `total`: force on the subtree of `row`.
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

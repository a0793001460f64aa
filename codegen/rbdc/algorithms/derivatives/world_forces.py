"""Terms that forces constant in the world add to the derivatives of inverse dynamics.

In one frame, the forces add -S_i^T F_i to the torque of joint i, where F_i is the sum of the forces on its
subtree. F_i is constant, while a step along S_j of joint i or of a joint above turns S_i by S_j x S_i. So
with y_i = S_i x* F_i, for j at or above i,

    dtau_i/dq_j       = -(S_j x S_i)^T F_i = -S_j^T y_i
    d2tau_i/dq_j dq_k = -S_k^T ((S_j x S_i) x* F_i),   k at or above j

the second of these the same for k and j exchanged unless both are of one joint. The entries dtau_j/dq_i of j
above i are 0: neither S_j nor the force moves. For forces that are fixed in the bodies the entries
dtau_i/dq_j are 0 instead. The recursions include these forces.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dynamics.external_forces import from_one_frame, of_subtrees
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import in_one_frame
from rbdc.spatial import Force, Motion


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
    slab: Matrix, motions: Sequence[tuple[int, Motion]], path: Sequence[int], own: int, total: Force
) -> None:
    """Add d2tau_dqdq of the forces to the row of direction `own`. `path`: it and its ancestors. `motions`:
    for each direction the first one of its joint, and S. `total`: force on the subtree of `own`.
    """
    for j in path:
        first, s = motions[j]
        turned = s.cross(motions[own][1]).cross_force(total)
        for k in path:
            upper, other = motions[k]
            if upper > first:
                break
            entry = other.dot(turned)
            slab[j][k] = slab[j][k] - entry
            if upper != first:
                slab[k][j] = slab[k][j] - entry

"""Terms that forces constant in the world add to the derivatives of inverse dynamics.

In one frame, joint i gives -S_i^T F_i for them, F_i their sum over its subtree: constant, while a step along
S_j of a joint above, or of the same, turns S_i by S_j x S_i. So with y_i = S_i x* F_i, for j at or above i,

    dtau_i/dq_j       = -(S_j x S_i)^T F_i = -S_j^T y_i
    d2tau_i/dq_j dq_k = -S_k^T ((S_j x S_i) x* F_i),   k at or above j

the second of these the same for k and j exchanged unless both are of one joint. The entries dtau_j/dq_i of j
above i are 0: neither S_j nor the force moves. Forces that are fixed in the bodies have it the other way
round, and are part of the recursions.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dynamics.external_forces import from_one_frame, of_subtrees
from rbdc.algorithms.tools.joint_coordinates import first_dofs
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.tools.one_frame import in_one_frame
from rbdc.algorithms.trace import Trace
from rbdc.model import Problem
from rbdc.spatial import Force, Motion, Placement


def add_world_forces(
    model: Problem, placements: Sequence[Placement], fext: Sequence[Force], matrix: Matrix, trace: Trace
) -> None:
    """Add dtau_dq of the forces to a matrix over all degrees of freedom; the joints' placements."""
    there = in_one_frame(model, placements, trace)
    totals = of_subtrees(model, from_one_frame(model, placements, fext))
    columns = [[there[k].act(s) for s in body.joint.subspace()] for k, body in enumerate(model.bodies)]
    starts = first_dofs(model)
    for index, body in enumerate(model.bodies):
        for k, s in enumerate(columns[index]):
            row, turned = matrix[starts[index] + k], s.cross_force(totals[index])
            trace(body.name, "S x* F of forces in the world", f"y{starts[index] + k}", turned.scalars())
            for above in model.support(index):
                for j, other in enumerate(columns[above], starts[above]):
                    row[j] = row[j] - other.dot(turned)


def add_second_terms(
    slab: Matrix, motions: Sequence[tuple[int, Motion]], path: Sequence[int], own: int, total: Force
) -> None:
    """Add d2tau_dqdq of the forces to the row of direction `own`, on which and above which `path` is; of each
    direction the first one of its joint and S, `total` is the force on what `own` carries.
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

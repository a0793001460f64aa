"""Derivatives of the operational-space inertia Lambda = (J M^-1 J^T + mu 1)^-1 with respect to q.

With the columns x_a of Jbar = M^-1 J^T Lambda and the rows L_a of Lambda,

    dLambda_ab/dq_k = x_a^T dM/dq_k x_b - L_a (dJ/dq_k) x_b - L_b (dJ/dq_k) x_a

dM/dq and dJ/dq are not formed. (dJ/dq_k) x is the derivative, with respect to q_k, of the frame's velocity at
the joint velocities x. At the joint velocities x_a, let V_a be the velocity of the parent body of joint k,
and P_a the momentum of all bodies that joint k carries. Then

    x_a^T dM/dq_k x_b = -(S_k x V_a) . P_b - (S_k x V_b) . P_a

Other terms cancel, because a step of q_k turns motions and inertias together.
"""

from __future__ import annotations

from rbdc.algorithms.body_motion import subtree_sums
from rbdc.algorithms.derivatives.frame_derivatives import frame_velocity_derivatives
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.frames import frame_jacobian
from rbdc.algorithms.operational_space import SIZE, consistent_inverse
from rbdc.algorithms.tools.joint_coordinates import joint_velocities, reduce_columns
from rbdc.algorithms.tools.linear import Factorisation, Matrix, flat, product, transposed
from rbdc.algorithms.tools.machine import Array
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.model.joints.coupling import CouplingAt
from rbdc.spatial import Force, Motion, Scalars

PAIRS = [(a, b) for a in range(SIZE) for b in range(a + 1)]
"""Row and column of each entry of the lower triangle of Lambda, row by row."""


def operational_space_inertia_derivatives(
    model: Problem,
    q: Scalars,
    frame: int,
    reference: str = "LOCAL",
    *,
    options: ContactOptions = DEFAULTS,
    rows: Scalars | None = None,
) -> tuple[Matrix, Matrix]:
    """Return dLambda/dq in the tangent space (36, nv; row 6 * a + b for entry [a, b]), and Lambda (6, 6).
    Checked against differences and dual numbers.
    """
    factors, jacobian = Factorisation(crba(model, q)), frame_jacobian(model, q, frame, reference)
    inertia, inverse = consistent_inverse(factors, jacobian, options, rows)
    changes = transposed(inertia_changes(model, q, flat(inverse)))
    moved = (frame_velocity_derivatives(model, q, x, frame, reference)[0] for x in transposed(inverse))
    pushed = [product(inertia, by_q) for by_q in moved]
    rates = {
        (a, b): [x - y - z for x, y, z in zip(change, pushed[b][a], pushed[a][b], strict=True)]
        for (a, b), change in zip(PAIRS, changes, strict=True)
    }
    return [rates[max(a, b), min(a, b)] for a in range(SIZE) for b in range(SIZE)], inertia


def inertia_changes(model: Problem, q: Scalars, inverse: Scalars, trace: Trace = silent) -> Matrix:
    """Return x_a^T dM/dq_k x_b (nv, 21; row k, columns in the order of `PAIRS`). inverse: Jbar (nv, 6),
    row-major. Checked against the symmetric part of Christoffel symbols.
    """
    m, columns = Numbers(model, q, trace=trace), [list(inverse[k::SIZE]) for k in range(SIZE)]
    moving = [_moving(m, x) for x in columns]
    full: Matrix = []
    for k in m.columns():
        turned = [k.s.cross(above[k.body]) for above, _ in moving]
        carried = [momenta[k.body] for _, momenta in moving]
        full.append([-turned[a].dot(carried[b]) - turned[b].dot(carried[a]) for a, b in PAIRS])
    changes = transposed(reduce_columns(model, transposed(full)))
    for joint, body in zip(m.bodies, model.bodies, strict=True):
        if isinstance(body.coupling, CouplingAt):
            curve, at = body.coupling, body.index_v
            bent = [curve.curvature * x[at] for x in columns]
            forces = [
                body.joint.project(momenta[joint])[0] + body.armature * curve.multiplier * x[at]
                for x, (_, momenta) in zip(columns, moving, strict=True)
            ]
            more = [bent[a] * forces[b] + bent[b] * forces[a] for a, b in PAIRS]
            changes[at] = [x + y for x, y in zip(changes[at], more, strict=True)]
    return changes


def _moving(m: Numbers, x: Scalars) -> tuple[Array[Motion], Array[Force]]:
    """Return, for each joint, the velocity of the parent body and the momentum of all bodies that the joint
    carries, at joint velocities x (nv), in the frame of the joint's body.
    """
    above, moving = m.array("above", Motion), m.array("V", Motion, Motion.zero())
    momenta, rates = m.array("P", Force), joint_velocities(m.model, x)
    for b in m.down():
        above[b] = b.from_parent(moving[b.parent])
        moving[b] = above[b] + b.motion(rates[b.at])
        momenta[b] = b.inertia() @ moving[b]
    return above, subtree_sums(m, momenta)

"""The Coriolis matrix of Christoffel symbols, computed with dual numbers.

The torques due to velocities are a quadratic form, c_i(q, v) = sum_jk G_ijk v_j v_k, with the Christoffel
symbols of the first kind of M (Spong, Hutchinson and Vidyasagar, Robot Modeling and Control, section 7.2)

    G_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2

Since G_ijk = G_ikj, the matrix C_ij = sum_k G_ijk v_k is half the derivative of c_i with respect to v_j. The
recursive Newton-Euler algorithm over dual numbers computes this derivative exactly up to rounding. The
directions e_j of a joint that turns about three axes do not commute. For such a joint C e_j = M nabla_v e_j
with the Levi-Civita connection, which has no torsion: nabla_v e_j - nabla_e_j v = [v, e_j]. With the torques
tau(q, v, a) of inverse dynamics, the motion subspace S, and derivatives at h = 0,

    C e_j = (dc/dv e_j + M [v, e_j]) / 2 = d/dh tau(q, v + h e_j, h [v, e_j]) / 2,   S [v, e_j] = S v x S e_j
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.algorithms.reference.dual_numbers import scalars_of, side_by_side, unit_rows
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.tools.linear import Factorisation, Matrix, dot, flat, identity, transposed, zeros
from rbdc.model import Problem
from rbdc.model.joints import JointType
from rbdc.spatial import Scalars
from rbdc.spatial.tangent import rate_of, tangents


def coriolis(model: Problem, q: Scalars, v: Scalars) -> Matrix:
    """Return C(q, v) (nv, nv).

    Checked: C v + g = nle(q, v), and dM/dt - 2 C is skew-symmetric.
    """
    bodies = tuple(  # keep the armature of joints that follow curves: on the leader it depends on q
        body if k in model.curves else replace(body, armature=0.0) for k, body in enumerate(model.bodies)
    )
    alone = replace(model.of_inertia(), bodies=bodies)
    units = unit_rows(model.nv, (*q, *v))
    brackets = [side_by_side(row) + 0.0 * units[0] for row in transposed(_brackets(model, v))]
    torques = rnea(alone, q, tangents(v, units), tangents([0.0] * model.nv, brackets))
    return [[0.5 * x for x in scalars_of(rate_of(torque), model.nv)] for torque in torques]


def christoffel(model: Problem, q: Scalars) -> Matrix:
    """Return the symbols G (nv * nv, nv; row nv i + j, column k), from C, which is linear in v.
    Checked against C and dM/dq.
    """
    columns = [flat(coriolis(model, q, unit)) for unit in identity(model.nv)]
    return transposed(columns)


def _brackets(model: Problem, v: Scalars) -> Matrix:
    """Return [v, e_j] for each direction j (nv, nv)."""
    brackets = zeros(model.nv, model.nv)
    for index, body in enumerate(model.bodies):
        entries = model.v_slice(index)
        if body.joint.nv > 1:
            for j, bracket in enumerate(_brackets_of(body.joint, v[entries]), entries.start):
                brackets[j][entries] = bracket
    return brackets


def _brackets_of(joint: JointType, rate: Scalars) -> Matrix:
    """Return the coordinates of v x s in the motion subspace, for each of its columns s."""
    subspace, motion = joint.subspace(), joint.motion(rate)
    columns = [s.scalars() for s in subspace]
    gram = Factorisation([[dot(a, b) for b in columns] for a in columns])
    return [gram.solve([dot(column, motion.cross(s).scalars()) for column in columns]) for s in subspace]

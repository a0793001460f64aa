"""Forces of the drives of joints: the inertia of motors, viscous damping, springs and dry friction.

The drive force of an entry of v depends only on this entry, its coordinate and its acceleration, even if
other joints follow the joint. With the armature K, the damping D, the stiffness S, the preload p, the dry
friction F and its width w (`Problem`), and inverse dynamics ID and inertia H of the links alone,

    r(q, v) = D v + S q + p + F v / sqrt(v^2 + w^2)
    tau = ID(q, v, a) + K a + r,     M = H + K,     dtau/dq = dID/dq + S
    dtau/dv = dID/dv + D + F w^2 / (v^2 + w^2)^(3/2),     d2tau/dv2 = d2ID/dv2 - 3 F w^2 v / (v^2 + w^2)^(5/2)

If a joint with armature K follows the coordinate y of another joint along a curve f(y), its motor also
accelerates by f'' ydot^2: r then includes K f' f'' ydot^2.

Source: Featherstone, Rigid Body Dynamics Algorithms, section 9.6, without the gyroscopic effect of rotors.
Dry friction jumps at zero velocity; a square root smooths the jump. SIMD units have an instruction for
correctly rounded square roots but none for tanh(v / w), and all derivatives of the square root are algebraic.
"""

from __future__ import annotations

from rbdc.algorithms.tools.linear import Vector
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.joints.coupling import CouplingAt
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import is_zero, sqrt


def with_drives(
    model: Problem, torques: Scalars, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> Vector:
    """Return torques + K a + r(q, v) (nv). torques: inverse dynamics without drives. Checked against the
    armature of Pinocchio, and the armature, damping and springs of MuJoCo.
    """
    armature, resisting, result = model.armature, resistance(model, q, v), list(torques)
    for body in model.bodies:
        entries = range(body.index_v, body.index_v + body.joint.nv) if body.coupling is None else range(0)
        terms = {k: [*_product(armature[k], a[k]), *resisting[k]] for k in entries}
        for k, forces in terms.items():
            for force in forces:
                result[k] = result[k] + force
        if any(terms.values()):
            trace(body.name, _formula(model), f"drive{body.index_v}", [result[k] for k in entries])
    return result


def without_resistance(model: Problem, tau: Scalars, q: Scalars, v: Scalars) -> Vector:
    """Return tau - r(q, v) (nv): the torques that accelerate the bodies and the motors."""
    result = list(tau)
    for k, forces in enumerate(resistance(model, q, v)):
        for force in forces:
            result[k] = result[k] - force
    return result


def resistance(model: Problem, q: Scalars, v: Scalars) -> list[Vector]:
    """Return, for each entry of v, the terms of r(q, v) that are not structurally zero (N, N m)."""
    terms: list[Vector] = [_product(d, rate) for d, rate in zip(model.damping, v, strict=True)]
    stiffness, preload = model.stiffness, model.preload
    for body in model.bodies:
        k = body.index_v
        if body.coupling is None and not is_zero(stiffness[k]):
            terms[k].append(stiffness[k] * q[body.index_q] + preload[k])
    for k, (friction, rate) in enumerate(zip(model.friction, v, strict=True)):
        terms[k] += [] if is_zero(rate) else [term.at(rate) for term in friction]
    for body in model.bodies:
        if isinstance(body.coupling, CouplingAt) and not is_zero(body.armature):
            bent = body.armature * body.coupling.multiplier * body.coupling.curvature
            terms[body.index_v].append(bent * (v[body.index_v] * v[body.index_v]))
    return terms


def resistance_by_v(model: Problem, v: Scalars) -> Vector:
    """Return the diagonal of dr/dv (nv). The diagonal of dr/dq is `Problem.stiffness`."""
    slopes = list(model.damping)
    for k, (friction, rate) in enumerate(zip(model.friction, v, strict=True)):
        for term in friction:
            slopes[k] = slopes[k] + term.rate(rate)
    return slopes


def resistance_by_vv(model: Problem, v: Scalars) -> Vector:
    """Return the diagonal of d2r/dv2 (nv), which is zero without dry friction."""
    curvatures: Vector = [0.0] * model.nv
    for k, (friction, rate) in enumerate(zip(model.friction, v, strict=True)):
        for term in friction:
            square = term.square(rate)
            factor = -3.0 * term.force * term.width * term.width
            curvatures[k] = curvatures[k] + factor * rate * (1.0 / (square * square * sqrt(square)))
    return curvatures


def _product(factor: Scalar, rate: Scalar) -> Vector:
    return [] if is_zero(factor) or is_zero(rate) else [factor * rate]


def _formula(model: Problem) -> str:
    terms = {"damping": "damping qdot", "springs": "spring", "friction": "friction"}
    return " + ".join(["tau + armature qddot", *(terms[term] for term in model.drive_terms)])

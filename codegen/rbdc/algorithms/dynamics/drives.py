"""Terms that the drives of joints add to the dynamics of the bodies: the inertia of motors, and viscous
damping.

Both are diagonal over v (`Model.armature`, `Model.damping`), also where joints follow others: with K the
armature and D the damping

    tau = ID(q, v, a) + K a + D v,     M = H + K,     dtau/dv = dID/dv + D,     dtau/da = M

They belong to the joints' coordinates, not to links: no choice of link frames and no regrouping of inertias
sees them. Featherstone, Rigid Body Dynamics Algorithms, section 9.6, without the gyroscopic effect of rotors.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


def with_drives(
    model: Model, torques: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace = silent
) -> list[Scalar]:
    """tau + K a + D v (nv) of torques that move the bodies alone. Test: Pinocchio's armature, MuJoCo's
    armature and damping.
    """
    armature, damping, result = model.armature, model.damping, list(torques)
    for body in model.bodies:
        driven = False
        for k in range(body.index_v, body.index_v + body.joint.nv) if body.coupling is None else ():
            for factor, rate in ((armature[k], a[k]), (damping[k], v[k])):
                if not (is_zero(factor) or is_zero(rate)):
                    result[k], driven = result[k] + factor * rate, True
        if driven:
            own = result[body.index_v : body.index_v + body.joint.nv]
            trace(body.name, "tau + armature qddot + damping qdot", f"drive{body.index_v}", own)
    return result


def without_damping(model: Model, tau: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """tau - D v (nv): what is left of the torques for the bodies and the motors."""
    return [
        t if is_zero(d) or is_zero(x) else t - d * x for t, d, x in zip(tau, model.damping, v, strict=True)
    ]

"""Forces of the drives of joints, joint by joint: armature and damping of Featherstone, section 9.6, linear
springs, and dry friction by the smooth sign x / sqrt(x^2 + w^2) of a rate x.

A joint that follows another has forces by its own coordinate, which then act on its leader; the width w of
its dry friction is its leader's times the size of its multiplier. Derivatives are those of dual numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.tools.joint_coordinates import (
    dof_table,
    joint_positions,
    joint_velocities,
    reduce_vector,
)
from rbdc.model import Body, Model
from rbdc.model.description import DriveTerm
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero, sqrt
from rbdc.spatial.tangent import OuterTangent, rate_of, tangents

Vector = list[Scalar]


def with_drives(
    model: Model, torques: Sequence[Scalar], q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> Vector:
    """tau + K a + r(q, v) (nv; N, N m), with the armature K and what drives resist r."""
    inertial = (0.0 if is_zero(k) else k * x for k, x in zip(model.armature, a, strict=True))
    terms = zip(torques, inertial, resistance(model, q, v), strict=True)
    return [torque + inertia + resisting for torque, inertia, resisting in terms]


def resistance(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Vector:
    """r(q, v) (nv; N, N m): damping, springs and dry friction. Tests: MuJoCo, energies along motions."""
    forces = [own for body, x, rate in _joints(model, q, v) for own in _forces(model, body, x, rate)]
    return reduce_vector(model, forces)


def resistance_by_q(model: Model) -> Vector:
    """dr/dq along the diagonal (nv): a spring is linear."""
    included = DriveTerm.SPRINGS in model.drive_terms
    own = (body.stiffness if included else 0.0 for body in model.bodies for _ in range(body.joint.nv))
    return _along_diagonal(model, list(own))


def resistance_by_v(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Vector:
    """dr/dv along the diagonal (nv)."""
    slopes: Vector = []
    for body, x, rate in _joints(model, q, v):
        moving = tangents(rate, [1.0] * len(rate))
        slopes += [rate_of(force) for force in _forces(model, body, x, moving)]
    return _along_diagonal(model, slopes)


def resistance_by_vv(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> Vector:
    """d2r/dv2 along the diagonal of the tensor over all degrees of freedom of the tree."""
    curvatures: Vector = []
    for body, x, rate in _joints(model, q, v):
        once = tangents(rate, [1.0] * len(rate))
        twice = [OuterTangent(y, 1.0) for y in once]
        forces = _forces(model, body, x, twice)
        curvatures += [rate_of(rate_of(force, OuterTangent)) for force in forces]
    return curvatures


def _joints(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar]
) -> list[tuple[Body, Sequence[Scalar], Sequence[Scalar]]]:
    return list(zip(model.bodies, joint_positions(model, q), joint_velocities(model, v), strict=True))


def _forces(model: Model, body: Body, x: Sequence[Scalar], rates: Sequence[Scalar]) -> Vector:
    """What a joint resists along each of its directions, by its own coordinates."""
    forces: Vector = [0.0] * len(rates)
    if DriveTerm.DAMPING in model.drive_terms:
        forces = [0.0 if is_zero(body.damping) else body.damping * rate for rate in rates]
    if DriveTerm.SPRINGS in model.drive_terms and not is_zero(body.stiffness):
        forces[0] = forces[0] + body.stiffness * (x[0] - body.spring_rest)
    if DriveTerm.FRICTION in model.drive_terms and not is_zero(body.friction):
        multiplier = 1.0 if body.coupling is None else body.coupling.multiplier
        width = multiplier * model.friction_width
        signs = [0.0 if is_zero(rate) else rate / sqrt(rate * rate + width * width) for rate in rates]
        forces = [force + body.friction * sign for force, sign in zip(forces, signs, strict=True)]
    return forces


def _along_diagonal(model: Model, full: Sequence[Scalar]) -> Vector:
    """The diagonal of G^T D G, that of D being over the full tree."""
    result: Vector = [0.0] * model.nv
    for (column, factor, _), number in zip(dof_table(model), full, strict=True):
        result[column] = result[column] + (factor * factor * number if model.coupled else number)
    return result

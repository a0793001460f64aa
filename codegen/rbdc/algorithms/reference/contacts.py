"""Constrained dynamics as textbooks have it: by elimination on the whole system, dense.

    [M J^T; J -E] [qddot; -f] = [tau - h; -gamma],     E = mu + 1 - s on the diagonal

with M, h of Featherstone's recursions, J and gamma from velocities and accelerations in the world, s the
switches, and zero rows of J and gamma where they are off (Udwadia and Kalaba; Featherstone, chapter 8). Where
rows depend on others a second step has mu f more on the right. Rows and forces are along the axes of the
contacts' first frames, or along the world's where the model is `world_aligned`.

Derivatives are those of the equations of motion and of the contacts at their solution (implicit function
theorem), every term of them differentiated by arithmetic of dual numbers, and the system solved for their
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rbdc.algorithms.reference.centroidal import about_centre, total_mass
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.dual_numbers import apart, differentiated, side_by_side, unit_rows
from rbdc.algorithms.reference.frames import TreeMotions, tree_motions
from rbdc.algorithms.reference.homogeneous import of_placement
from rbdc.algorithms.reference.manifold import logarithm_of_placement
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, dot, flat, transposed
from rbdc.model import WORLD, Contact, Model
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Force, Forces, Motion, Placement, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero

Vector = list[Scalar]
Rows = list[Vector]
"""Rows of scalars."""


def ends_of(
    model: Model, motions: TreeMotions, options: ContactOptions = DEFAULTS
) -> Iterator[tuple[Contact, list[Placement], tuple[int, int]]]:
    """Each contact, both of its frames in the world, and their bodies."""
    for contact in model.contacts:
        first, second = contact.first, contact.second
        other = options.targets(model)[contact.name] if second is None else motions.placement(second)
        bodies = first.body, WORLD if second is None else second.body
        yield contact, [motions.placement(first), other], bodies


def _linear(m: Motion, point: Vector3) -> Vector3:
    return m.linear + m.angular.cross(point)


def _turned(model: Model, contact: Contact) -> bool:
    """Whether the rows of a contact are along the world's axes."""
    return model.world_aligned and contact.whole


def _held(model: Model, contact: Contact, frames: Sequence[Placement], own: Motion) -> Vector:
    """The held components of a motion that is given in the first frame."""
    if _turned(model, contact):
        rotation = frames[0].rotation
        own = Motion(rotation.apply(own.linear), rotation.apply(own.angular))
    entries = own.scalars()
    return [entries[k] for k in contact.held]


def _relative(contact: Contact, frames: Sequence[Placement], one: Motion, two: Motion) -> Motion:
    """One motion less another, both about the world's origin, in the first frame; of points what is
    linear.
    """
    first, second = frames
    if contact.kind.components == 3:
        between = _linear(one, first.translation) - _linear(two, second.translation)
        return Motion(first.rotation.apply_transposed(between), Vector3.zero())
    return first.act_inverse(one - two)


def contact_jacobian(model: Model, q: Scalars) -> Matrix:
    """J (nc, nv)."""
    motions = tree_motions(model, q, None, None)
    rows: Matrix = []
    for contact, frames, bodies in ends_of(model, motions):
        columns = zip(*(motions.jacobian(model, body, lambda s: s) for body in bodies), strict=True)
        full = [_held(model, contact, frames, _relative(contact, frames, *pair)) for pair in columns]
        rows += reduce_columns(model, transposed(full))
    return rows


def contact_velocity(model: Model, q: Scalars, v: Scalars) -> Vector:
    """J v (nc), from the velocities of the bodies."""
    motions = tree_motions(model, q, v, None)
    found: Vector = []
    for contact, frames, (one, two) in ends_of(model, motions):
        speed = _relative(contact, frames, motions.velocity(one), motions.velocity(two))
        found += _held(model, contact, frames, speed)
    return found


def contact_placements(model: Model, q: Scalars) -> Matrix:
    """The 4x4 matrices of the first frames in the world."""
    motions = tree_motions(model, q, None, None)
    return [flat(of_placement(frames[0])) for _, frames, _ in ends_of(model, motions)]


def error_of(contact: Contact, frames: Sequence[Placement]) -> Motion:
    """The error of a contact in its first frame."""
    first, second = frames
    if contact.kind.components == 3:
        between = first.translation - second.translation
        return Motion(first.rotation.apply_transposed(between), Vector3.zero())
    return logarithm_of_placement(second.inverse().compose(first))


def contact_error(model: Model, q: Scalars, options: ContactOptions = DEFAULTS) -> Vector:
    """Errors (nc)."""
    motions = tree_motions(model, q, None, None)
    found: Vector = []
    for contact, frames, _ in ends_of(model, motions, options):
        found += _held(model, contact, frames, error_of(contact, frames))
    return found


def residual(model: Model, q: Scalars, v: Scalars, a: Scalars, options: ContactOptions) -> Vector:
    """r (nc): the rate of the velocity of one frame in the other's coordinates, and Baumgarte's terms."""
    motions, found = tree_motions(model, q, v, a), list[Scalar]()
    for number, (contact, frames, (one, two)) in enumerate(ends_of(model, motions, options)):
        (v1, a1), (v2, a2) = ((motions.velocity(k), motions.acceleration(k)) for k in (one, two))
        if contact.kind.components == 3:
            pulls = [
                _linear(a, f.translation) + v.angular.cross(_linear(v, f.translation))
                for f, v, a in zip(frames, (v1, v2), (a1, a2), strict=True)
            ]
            own = Motion(frames[0].rotation.apply_transposed(pulls[0] - pulls[1]), Vector3.zero())
        else:
            own = frames[0].act_inverse(a1 - a2 + v1.cross(v2))
        error, speed = error_of(contact, frames), _relative(contact, frames, v1, v2)
        kp, kd = options.stiffness(number), options.damping(number)
        found += _held(model, contact, frames, own + speed.scaled(kd) + error.scaled(kp))
    return found


def contact_drift(model: Model, q: Scalars, v: Scalars, options: ContactOptions = DEFAULTS) -> Vector:
    """The residual (nc) without joint accelerations."""
    return residual(model, q, v, [0.0] * model.nv, options)


def external(model: Model, q: Scalars, forces: Scalars, fext: Forces | None) -> list[Force]:
    """External forces and those of the contacts on the bodies, in their own frames."""
    motions = tree_motions(model, q, None, None)
    found = [Force.zero() for _ in model.bodies] if fext is None else list(fext)
    start = 0
    for contact, (first, second), (one, two) in ends_of(model, motions):
        entries: Vector = [0.0] * 6
        for k, force in zip(contact.held, forces[start : start + contact.rows], strict=True):
            entries[k] = force
        start += contact.rows
        own = Force.of(entries)
        if _turned(model, contact):
            back = first.rotation.apply_transposed
            own = Force(back(own.linear), back(own.angular))
        there = first.act_force(own)
        if one != WORLD:
            found[one] = found[one] + motions.world[one].act_inverse_force(there)
        if two != WORLD:
            point = second.translation if contact.kind.components == 3 else None
            other = there if point is None else Force(there.linear, point.cross(there.linear))
            found[two] = found[two] - motions.world[two].act_inverse_force(other)
    return found


def eliminated(matrix: Matrix, sides: Rows) -> Rows:
    """Solutions of a system with several right-hand sides, by Gauss's elimination without pivots."""
    size = len(matrix)
    work = [list(row) for row in matrix]
    sides = [list(side) for side in sides]
    for k in range(size):
        for i in range(k + 1, size):
            if is_zero(work[i][k]):
                continue
            factor = work[i][k] / work[k][k]
            for j in range(k + 1, size):
                if not is_zero(work[k][j]):
                    work[i][j] = work[i][j] - factor * work[k][j]
            for side in sides:
                side[i] = side[i] - factor * side[k]
    for side in sides:
        for k in reversed(range(size)):
            for j in range(k + 1, size):
                if not is_zero(work[k][j]):
                    side[k] = side[k] - work[k][j] * side[j]
            side[k] = side[k] * (1.0 / work[k][k])
    return sides


def systems(
    model: Model, q: Scalars, options: ContactOptions, sides: Rows, residuals: Rows
) -> list[tuple[Vector, Vector]]:
    """Accelerations and forces for generalised forces (nv) and residuals (nc), side by side."""
    inertia, jacobian = crba(model, q), contact_jacobian(model, q)
    count, mu = len(jacobian), 0.0 if options.mu is None else options.mu[0]
    switches = options.switches(model) or [1.0] * count
    rows = [[s * x for x in row] for s, row in zip(switches, jacobian, strict=True)]
    matrix = [[*m, *column] for m, column in zip(inertia, transposed(rows), strict=True)]
    for k, row in enumerate(rows):
        matrix.append([*row, *(-(mu + 1.0 - switches[k]) if i == k else 0.0 for i in range(count))])
    wanted = [[-(s * x) for s, x in zip(switches, r, strict=True)] for r in residuals]
    found = eliminated(matrix, [[*b, *r] for b, r in zip(sides, wanted, strict=True)])
    if options.mu is not None and model.redundant:
        again = [
            [*b, *(x - mu * y for x, y in zip(r, f[model.nv :], strict=True))]
            for b, r, f in zip(sides, wanted, found, strict=True)
        ]
        found = eliminated(matrix, again)
    return [(f[: model.nv], [-x for x in f[model.nv :]]) for f in found]


def constrained_dynamics(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
) -> tuple[Vector, Vector]:
    """ddq (nv) and forces (nc). Test: Pinocchio."""
    bias = rnea(model, q, v, [0.0] * model.nv, fext)
    moving = [x - y for x, y in zip(tau, bias, strict=True)]
    ((found, forces),) = systems(model, q, options, [moving], [contact_drift(model, q, v, options)])
    return found, forces


def impulse_dynamics(
    model: Model, q: Scalars, v: Scalars, restitution: Scalars, options: ContactOptions = DEFAULTS
) -> tuple[Vector, Vector]:
    """v_after (nv), impulses (nc)."""
    factor = 1.0 + restitution[0]
    wanted = [factor * x for x in contact_velocity(model, q, v)]
    ((change, impulses),) = systems(model, q, replace(options, gains=None), [[0.0] * model.nv], [wanted])
    return [x + y for x, y in zip(v, change, strict=True)], impulses


def contact_inverse_dynamics(
    model: Model,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
) -> tuple[Vector, Vector]:
    """tau (nv), r (nc)."""
    return rnea(model, q, v, a, external(model, q, forces, fext)), residual(model, q, v, a, options)


def contact_forward_dynamics(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, forces: Scalars, fext: Forces | None = None
) -> Vector:
    """ddq (nv)."""
    bias = rnea(model, q, v, [0.0] * model.nv, external(model, q, forces, fext))
    (found,) = eliminated(crba(model, q), [[x - y for x, y in zip(tau, bias, strict=True)]])
    return found


def delassus(model: Model, q: Scalars, options: ContactOptions = DEFAULTS) -> Matrix:
    """J M^-1 J^T + mu 1 (nc, nc)."""
    jacobian, mu = contact_jacobian(model, q), 0.0 if options.mu is None else options.mu[0]
    columns = eliminated(crba(model, q), jacobian)
    return [
        [dot(row, column) + (mu if i == j else 0.0) for j, column in enumerate(columns)]
        for i, row in enumerate(jacobian)
    ]


def centroidal_contact_dynamics(model: Model, q: Scalars, forces: Scalars) -> Vector:
    """Rate of the momentum about the centre of mass (6): the wrench of all contacts on the bodies, from their
    frames, and the weight.
    """
    acting = zip(world_placements(model, q), external(model, q, forces, None), strict=True)
    weight = Force(model.gravity.scaled(total_mass(model, with_base=False)), Vector3.zero())
    return sum(about_centre(model, q, [x.act_force(force) for x, force in acting]), weight).scalars()


def _rows(
    values: Callable[..., tuple[Vector, Vector]], model: Model, q: Scalars, v: Scalars
) -> tuple[Vector, Vector, Vector, Vector]:
    """Rows of derivatives by q and by v of the first and of the second of two vectors, of (model, q, v)."""
    found = differentiated(model, list(q), list(v), method=values, configurations=(True, False))
    rows = ([side_by_side(x[k : k + model.nv]) for k in range(0, len(x), model.nv)] for x in found)
    first_by_q, first_by_v, second_by_q, second_by_v = rows
    return first_by_q, first_by_v, second_by_q, second_by_v


def _matrix_of(model: Model, rows: Scalars) -> Matrix:
    return [apart(row, model.nv) for row in rows]


def constrained_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
) -> tuple[Matrix, ...]:
    """ddq_dq, ddq_dv, ddq_dtau, forces_dq, forces_dv, forces_dtau."""
    a, forces = constrained_dynamics(model, q, v, tau, fext, options)

    def values(model: Model, q: Scalars, v: Scalars) -> tuple[Vector, Vector]:
        return rnea(model, q, v, a, external(model, q, forces, fext)), residual(model, q, v, a, options)

    torque_by_q, torque_by_v, by_q, by_v = _rows(values, model, q, v)
    sides = [[-x for x in torque_by_q], [-x for x in torque_by_v], unit_rows(model.nv, [*q, *v, *tau])]
    found = systems(model, q, options, sides, [by_q, by_v, [0.0] * len(forces)])
    return (*(_matrix_of(model, x) for x, _ in found), *(_matrix_of(model, f) for _, f in found))


def impulse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, restitution: Scalars, options: ContactOptions = DEFAULTS
) -> tuple[Matrix, ...]:
    """v_after_dq, v_after_dv, impulses_dq, impulses_dv."""
    options = replace(options, gains=None)
    after, impulses = impulse_dynamics(model, q, v, restitution, options)
    change = [x - y for x, y in zip(after, v, strict=True)]
    still, rest, factor = model.of_inertia(), [0.0] * model.nv, 1.0 + restitution[0]

    def values(model: Model, q: Scalars, v: Scalars) -> tuple[Vector, Vector]:
        sliding = [x + factor * y for x, y in zip(change, v, strict=True)]
        torque = rnea(still, q, rest, change, external(model, q, impulses, None))
        return torque, contact_velocity(model, q, sliding)

    torque_by_q, _, by_q, by_v = _rows(values, model, q, v)
    (dq, fq), (dv, fv) = systems(model, q, options, [[-x for x in torque_by_q], rest], [by_q, by_v])
    kept = [x + unit for x, unit in zip(dv, unit_rows(model.nv, [*q, *v]), strict=True)]
    return tuple(_matrix_of(model, x) for x in (dq, kept, fq, fv))

"""Constrained dynamics in textbook form, with dense matrices; J M^-1 J^T is the inverse inertia along the
contacts.

    (J M^-1 J^T + E) f = -(gamma + J M^-1 (tau - h)),     M qddot = tau - h + J^T f,     E = mu + 1 - s

f are the contact forces. The mass matrix M and the bias forces h come from Featherstone's recursions, the
Jacobian J and the drift gamma from velocities and accelerations in the world. The diagonal matrix s of the
switches is 1 for active contacts and 0 for the others, whose rows of J and gamma are zero (Udwadia and
Kalaba; Featherstone, chapter 8). The proximal parameter is mu; for redundant rows a second proximal step adds
mu f, with f of the first step, on the right. Rows and forces are along the axes of the contacts' first
frames, or along the world's axes if the model is `world_aligned`. Derivatives are computed with dual numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rbdc.algorithms.reference.centroidal import about_centre, total_mass
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.homogeneous import of_placement
from rbdc.algorithms.reference.manifold import logarithm_of_placement
from rbdc.algorithms.reference.rnea import TreeMotions, rnea, tree_motions
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import (
    Factorisation,
    Matrix,
    Vector,
    dot,
    flat,
    identity,
    plus_diagonal,
    transposed,
)
from rbdc.model import WORLD, Contact, Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions, each_row
from rbdc.spatial import Force, Forces, Motion, Placement, Scalar, Scalars, Vector3


def ends_of(
    model: Problem, motions: TreeMotions, options: ContactOptions = DEFAULTS
) -> Iterator[tuple[Contact, list[Placement], tuple[int, int]]]:
    """Yield each contact, both of its frames in the world, and the frames' bodies."""
    for contact in model.contacts:
        first, second = contact.first, contact.second
        other = options.target_of(model, contact) if second is None else motions.placement(second)
        bodies = first.body, WORLD if second is None else second.body
        yield contact, [motions.placement(first), other], bodies


def _linear(m: Motion, point: Vector3) -> Vector3:
    return m.linear + m.angular.cross(point)


def _held(model: Problem, contact: Contact, frames: Sequence[Placement], motion: Motion) -> Vector:
    """Return the held components of a motion, which is expressed in the first frame."""
    if model.world_aligned and contact.whole:
        motion = motion.turned(frames[0].rotation.apply)
    entries = motion.scalars()
    return [entries[k] for k in contact.held]


def _relative(contact: Contact, frames: Sequence[Placement], one: Motion, two: Motion) -> Motion:
    """Return one - two in the first frame, from motions about the world's origin; only the linear part for
    points.
    """
    first, second = frames
    if contact.kind.components == 3:
        between = _linear(one, first.translation) - _linear(two, second.translation)
        return Motion(first.rotation.apply_transposed(between), Vector3.zero())
    return first.act_inverse(one - two)


def _rows(model: Problem, motions: TreeMotions, moved: Callable[[int], list[Motion]]) -> Matrix:
    """Return the held components of all contacts (nc, n); `moved` returns n motions of a body about the
    world's origin.
    """
    rows: Matrix = []
    for contact, frames, bodies in ends_of(model, motions):
        pairs = zip(*map(moved, bodies), strict=True)
        columns = [_held(model, contact, frames, _relative(contact, frames, *pair)) for pair in pairs]
        rows += transposed(columns)
    return rows


def contact_jacobian(model: Problem, q: Scalars) -> Matrix:
    """Return the contact Jacobian J (nc, nv)."""
    motions = tree_motions(model, q, None, None)
    return reduce_columns(
        model, _rows(model, motions, lambda body: motions.jacobian(model, body, lambda s: s))
    )


def contact_velocity(model: Problem, q: Scalars, v: Scalars) -> Vector:
    """Return J v (nc), from the velocities of the bodies."""
    motions = tree_motions(model, q, v, None)
    return flat(_rows(model, motions, lambda body: [motions.velocities[body]]))


def contact_placements(model: Problem, q: Scalars) -> Matrix:
    """Return the placements of the contacts' first frames in the world: 4x4 matrices, row by row."""
    motions = tree_motions(model, q, None, None)
    return [flat(of_placement(frames[0])) for _, frames, _ in ends_of(model, motions)]


def error_of(contact: Contact, frames: Sequence[Placement]) -> Motion:
    """Return the error of a contact along the axes of its first frame."""
    first, second = frames
    if contact.kind.components == 3:
        between = first.translation - second.translation
        return Motion(first.rotation.apply_transposed(between), Vector3.zero())
    return logarithm_of_placement(second.inverse().compose(first))


def contact_error(model: Problem, q: Scalars, options: ContactOptions = DEFAULTS) -> Vector:
    """Return the errors of all contacts (nc; m, rad)."""
    motions = tree_motions(model, q, None, None)
    errors: Vector = []
    for contact, frames, _ in ends_of(model, motions, options):
        errors += _held(model, contact, frames, error_of(contact, frames))
    return errors


def residual(model: Problem, q: Scalars, v: Scalars, a: Scalars, options: ContactOptions) -> Vector:
    """Return r (nc): the acceleration of the first frame of each contact relative to the second, plus
    Baumgarte's terms.
    """
    motions, result = tree_motions(model, q, v, a), list[Scalar]()
    for number, (contact, frames, (one, two)) in enumerate(ends_of(model, motions, options)):
        (v1, a1), (v2, a2) = ((motions.velocities[k], motions.accelerations[k]) for k in (one, two))
        if contact.kind.components == 3:
            pulls = [
                _linear(a, f.translation) + v.angular.cross(_linear(v, f.translation))
                for f, v, a in zip(frames, (v1, v2), (a1, a2), strict=True)
            ]
            pull = Motion(frames[0].rotation.apply_transposed(pulls[0] - pulls[1]), Vector3.zero())
        else:
            pull = frames[0].act_inverse(a1 - a2 + v1.cross(v2))
        error, speed = error_of(contact, frames), _relative(contact, frames, v1, v2)
        kp, kd = options.gains_of(number)
        result += _held(model, contact, frames, pull + speed.scaled(kd) + error.scaled(kp))
    return result


def contact_drift(model: Problem, q: Scalars, v: Scalars, options: ContactOptions = DEFAULTS) -> Vector:
    """Return the residual (nc) at zero joint accelerations."""
    return residual(model, q, v, [0.0] * model.nv, options)


def _felt(inertia: Factorisation, jacobian: Matrix) -> tuple[Matrix, Matrix]:
    """Return M^-1 J^T by its columns (nc, nv), and J M^-1 J^T."""
    columns = [inertia.solve(row) for row in jacobian]
    return columns, [[dot(row, column) for column in columns] for row in jacobian]


def _solved(
    model: Problem, q: Scalars, options: ContactOptions, pushing: Scalars, residuals: Scalars
) -> tuple[Vector, Vector]:
    """Return accelerations (nv) and contact forces (nc) for `pushing` = tau - h, `residuals` = gamma."""
    inertia, mu = Factorisation(crba(model, q)), 0.0 if options.mu is None else options.mu[0]
    switches = options.switches(model)
    jacobian = [[s * x for x in row] for s, row in zip(switches, contact_jacobian(model, q), strict=True)]
    pushed, felt = _felt(inertia, jacobian)
    contacts, free = (
        Factorisation(plus_diagonal(felt, [mu + 1.0 - s for s in switches])),
        inertia.solve(pushing),
    )
    wanted = [-(s * x + dot(row, free)) for s, x, row in zip(switches, residuals, jacobian, strict=True)]
    forces = contacts.solve(wanted)
    if model.redundant:
        forces = contacts.solve([x + mu * f for x, f in zip(wanted, forces, strict=True)])
    return [x + dot(column, forces) for x, column in zip(free, transposed(pushed), strict=True)], forces


def constrained_dynamics(
    model: Problem,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
) -> tuple[Vector, Vector]:
    """Return ddq (nv) and the contact forces (nc). Checked against Pinocchio."""
    bias = rnea(model, q, v, [0.0] * model.nv, fext)
    pushing = [x - y for x, y in zip(tau, bias, strict=True)]
    return _solved(model, q, options, pushing, contact_drift(model, q, v, options))


def impulse_dynamics(
    model: Problem, q: Scalars, v: Scalars, restitution: Scalars, options: ContactOptions = DEFAULTS
) -> tuple[Vector, Vector]:
    """Return the velocity after an impact (nv) and the contact impulses (nc)."""
    bounced = each_row(model, restitution)
    wanted = [x + e * x for e, x in zip(bounced, contact_velocity(model, q, v), strict=True)]
    change, impulses = _solved(model, q, replace(options, gains=None), [0.0] * model.nv, wanted)
    return [x + y for x, y in zip(v, change, strict=True)], impulses


def contact_inverse_dynamics(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    forces: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
) -> tuple[Vector, Vector]:
    """Return tau (nv) at known contact forces, and the `residual` of the contacts (nc)."""
    columns, torque = transposed(contact_jacobian(model, q)), rnea(model, q, v, a, fext)
    tau = [x - dot(column, forces) for x, column in zip(torque, columns, strict=True)]
    return tau, residual(model, q, v, a, options)


def contact_forward_dynamics(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, forces: Scalars, fext: Forces | None = None
) -> Vector:
    """Return ddq (nv) at known contact forces."""
    bias, _ = contact_inverse_dynamics(model, q, v, [0.0] * model.nv, forces, fext)
    return Factorisation(crba(model, q)).solve([x - y for x, y in zip(tau, bias, strict=True)])


def delassus(model: Problem, q: Scalars, options: ContactOptions = DEFAULTS) -> Matrix:
    """Return J M^-1 J^T + mu 1 (nc, nc)."""
    jacobian = contact_jacobian(model, q)
    _, felt = _felt(Factorisation(crba(model, q)), jacobian)
    return felt if options.mu is None else plus_diagonal(felt, [options.mu[0]] * len(jacobian))


def contact_space_inertia(model: Problem, q: Scalars, options: ContactOptions = DEFAULTS) -> Matrix:
    """Return (s J M^-1 J^T s + E)^-1 (nc, nc) for the switches s, with zeros for inactive contacts.
    Checked against NumPy's inverse.
    """
    return _in_contact_space(model, q, options)[0]


def contact_space(
    model: Problem, q: Scalars, v: Scalars, options: ContactOptions = DEFAULTS
) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Return the inertia Lambda (nc, nc), M^-1 J^T Lambda (nv, nc), and two parts of the forces that hold the
    contacts at zero torques: those due to velocities (nc) and those due to gravity (nc).
    Checked against constrained dynamics.
    """
    inertia, inverse = _in_contact_space(model, q, options)
    still, plain = [0.0] * model.nv, replace(model, drive_terms=())
    resting = rnea(plain, q, still, still)
    moving = [x - y for x, y in zip(rnea(plain, q, v, still), resting, strict=True)]
    drift, columns = contact_drift(model, q, v), transposed(inverse)
    bias = [dot(x, moving) - dot(row, drift) for x, row in zip(columns, inertia, strict=True)]
    return inertia, inverse, bias, [dot(x, resting) for x in columns]


def _in_contact_space(model: Problem, q: Scalars, options: ContactOptions) -> tuple[Matrix, Matrix]:
    """Return Lambda (nc, nc), whose columns are the forces for unit accelerations, and M^-1 J^T Lambda (nv,
    nc).
    """
    pushed, felt = _felt(Factorisation(crba(model, q)), contact_jacobian(model, q))
    on, mu = options.switches(model), 0.0 if options.mu is None else options.mu[0]
    active = [[x * y * s for y, s in zip(row, on, strict=True)] for x, row in zip(on, felt, strict=True)]
    factors = Factorisation(plus_diagonal(active, [mu + 1.0 - s for s in on]))
    columns = [[s * x for s, x in zip(on, factors.solve(unit), strict=True)] for unit in identity(len(on))]
    inertia = [[x * s for x, s in zip(row, on, strict=True)] for row in columns]
    return inertia, [[dot(x, row) for row in inertia] for x in transposed(pushed)]


def centroidal_contact_dynamics(model: Problem, q: Scalars, forces: Scalars) -> Vector:
    """Return the rate of the momentum about the centre of mass (6; N, N m): the sum of the wrenches of all
    contacts and the weight.
    """
    units = [Motion.of(unit) for unit in identity(6)]
    whole = _rows(
        model,
        tree_motions(model, q, None, None),
        lambda body: [Motion.zero()] * 6 if body == WORLD else units,
    )
    wrench = Force.of([dot(column, forces) for column in transposed(whole)])
    weight = Force(model.gravity.scaled(total_mass(model, with_base=False)), Vector3.zero())
    return sum(about_centre(model, q, [wrench]), weight).scalars()

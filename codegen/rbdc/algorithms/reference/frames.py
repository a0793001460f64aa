"""Jacobian, velocity and acceleration of a frame, computed in world coordinates: Featherstone, Rigid Body
Dynamics Algorithms, section 2.8.

Everything is computed in the world's coordinates, with a column J_k = 0_X_i S_k for each degree of freedom
k of a body i that carries the frame. The result is then expressed at the viewpoint of `reference`: the
world's origin (WORLD), the frame (LOCAL), or the frame's origin with the world's axes (LOCAL_WORLD_ALIGNED).
Spatial vectors are [linear; angular] (m/s, rad/s).

Operational-space dynamics follow Khatib, A Unified Approach for Motion and Force Control of Robot
Manipulators (1987), and are computed with the inverse of M. Manipulability is sqrt(det(J J^T)) of Yoshikawa,
Manipulability of Robotic Mechanisms (1985), and its gradient is computed with dual numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rbdc.algorithms.reference.aba import minverse
from rbdc.algorithms.reference.couplings import bound
from rbdc.algorithms.reference.dual_numbers import along, differentiated
from rbdc.algorithms.reference.homogeneous import of_placement
from rbdc.algorithms.reference.manifold import logarithm_of_placement
from rbdc.algorithms.reference.rnea import TreeMotions, rnea, tree_motions
from rbdc.algorithms.reference.sharing import once
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Factorisation, Matrix, Vector, dot, flat, product, transposed
from rbdc.errors import OptionError
from rbdc.model import Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions, given_target, held_at
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero, sqrt, where_less

SINGULAR = 2.0**-46
"""A pivot below this fraction of its diagonal entry counts as 0, because it is only rounding error."""


def viewpoint(frame: Placement, reference: str) -> Placement:
    """Return the placement in the world at which a frame's motions are expressed. Raises OptionError for an
    unknown reference.
    """
    if reference == "WORLD":
        return Placement.identity()
    if reference == "LOCAL":
        return frame
    if reference == "LOCAL_WORLD_ALIGNED":
        return Placement(Rotation.identity(), frame.translation)
    raise OptionError(f"reference {reference!a} is none of LOCAL, WORLD, LOCAL_WORLD_ALIGNED")


def seen_from(
    model: Problem, q: Scalars, v: Scalars | None, a: Scalars | None, frame: int, reference: str
) -> tuple[TreeMotions, Placement]:
    """Return the motion of the tree (None for v or a means zero), and the viewpoint of a frame."""
    motions = once(tree_motions, model, q, v, a)
    return motions, viewpoint(motions.placement(model.frames[frame]), reference)


def matrix_of(model: Problem, columns: Sequence[Motion]) -> Matrix:
    """Return a matrix (6, nv) from columns of all joints, with coupled joints reduced (`reduce_columns`)."""
    full = [column.scalars() for column in columns]
    return reduce_columns(model, transposed(full) if full else [[] for _ in range(6)])


def frame_jacobian(model: Problem, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return J (6, nv), linear rows first. Checked: J v is the frame's spatial velocity."""
    motions, seen = seen_from(model, q, None, None, frame, reference)
    return matrix_of(model, motions.jacobian(model, model.frames[frame].body, seen.act_inverse))


def frame_position(model: Problem, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """Return the frame's origin in the world (3), the same for every reference. Checked against
    `forward_kinematics`.
    """
    return _placed(model, q, frame, reference).translation.scalars()


def frame_placement(model: Problem, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """Return the matrix [R p; 0 1] of the frame in the world (16), row by row.
    Checked against `forward_kinematics`.
    """
    return flat(of_placement(_placed(model, q, frame, reference)))


def frame_position_derivatives(model: Problem, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return dp/dq (3, nv): the velocities of the frame's origin at unit joint rates.
    Checked against finite differences.
    """
    _placed(model, q, frame, reference)
    return frame_jacobian(model, q, frame, "LOCAL_WORLD_ALIGNED")[:3]


def frame_placement_derivatives(model: Problem, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return d[R p; 0 1]/dq (16, nv): for each column [v; w] of the Jacobian in the world's coordinates,
    [w x, v; 0 0] times the placement. Checked against finite differences.
    """
    placed = of_placement(_placed(model, q, frame, reference))
    columns = transposed(frame_jacobian(model, q, frame, "WORLD"))
    rows = [flat(product(_twist(column), placed)) for column in columns]
    return transposed(rows) if rows else [[] for _ in range(16)]


def _twist(column: Scalars) -> Matrix:
    vx, vy, vz, x, y, z = column
    return [[0.0, -z, y, vx], [z, 0.0, -x, vy], [-y, x, 0.0, vz], [0.0] * 4]


def _placed(model: Problem, q: Scalars, frame: int, reference: str) -> Placement:
    """Return the placement of the frame. Raises OptionError for an unknown reference."""
    motions, _ = seen_from(model, q, None, None, frame, reference)
    return motions.placement(model.frames[frame])


def frame_velocity(
    model: Problem, q: Scalars, v: Scalars, frame: int, reference: str = "LOCAL"
) -> list[Scalar]:
    """Return the frame's spatial velocity (6).
    Checked against central differences of `forward_kinematics`.
    """
    motions, seen = seen_from(model, q, v, None, frame, reference)
    return seen.act_inverse(motions.velocities[model.frames[frame].body]).scalars()


def frame_acceleration(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> list[Scalar]:
    """Return the frame's spatial acceleration (6), without gravity: the rate of the spatial velocity in the
    world, in the coordinates of `reference`.
    """
    motions, seen = seen_from(model, q, v, a, frame, reference)
    return seen.act_inverse(motions.accelerations[model.frames[frame].body]).scalars()


def frame_classical_acceleration(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, frame: int, reference: str = "LOCAL"
) -> list[Scalar]:
    """Return the spatial acceleration (6), without gravity, with w x v of the frame's velocity added to its
    first three entries.

    These three entries are the acceleration of the body's point at the viewpoint.
    Checked against second differences of positions.
    """
    spatial = frame_acceleration(model, q, v, a, frame, reference)
    velocity = Motion.of(frame_velocity(model, q, v, frame, reference))
    return [*(Vector3.of(spatial[:3]) + velocity.angular.cross(velocity.linear)).scalars(), *spatial[3:]]


def frame_error(
    model: Problem, q: Scalars, frame: int, reference: str = "LOCAL", *, options: ContactOptions
) -> list[Scalar]:
    """Return log6(T^-1 X) (6) of the frame's placement X and the target T, the same for every reference.

    The quaternion of the target is normalised. Checked against the exponential of the error.
    """
    return _error(model, q, given_target(options), frame, reference)


def _error(
    model: Problem, q: Scalars, target: Scalars, frame: int, reference: str, moved: Placement | None = None
) -> list[Scalar]:
    """Return the error of a frame that is displaced by `moved` in its own axes."""
    length = sqrt(sum((x * x for x in target[3:]), 0.0))
    goal = held_at([*target[:3], *(x / length for x in target[3:])])
    placed = _placed(model, q, frame, reference)
    placed = placed if moved is None else placed.compose(moved)
    return logarithm_of_placement(goal.inverse().compose(placed)).scalars()


def frame_error_derivatives(
    model: Problem, q: Scalars, frame: int, reference: str = "LOCAL", *, options: ContactOptions
) -> tuple[list[Scalar], ...]:
    """Return four results: the derivatives of the error with respect to q (in the tangent space), those with
    respect to the entries of the target, the error, and its derivatives with respect to an offset of the
    frame. Derivatives are computed with dual numbers and checked against differences.
    """

    @bound
    def error(model: Problem, q: Scalars, target: Scalars, step: Scalars) -> list[Scalar]:
        moved = held_at([*step[:3], *(0.5 * x for x in step[3:]), 1.0])  # to first order
        return _error(model, q, target, frame, reference, moved)

    inputs = (list(q), list(given_target(options)), [0.0] * 6)
    by_q, by_target, by_offset = differentiated(
        model, *inputs, method=error, configurations=(True, False, False)
    )
    return by_q, by_target, error(model, *inputs), by_offset


def relative_jacobian(model: Problem, q: Scalars, frame: int, other: int, reference: str = "LOCAL") -> Matrix:
    """Return J (6, nv), linear rows first. Checked: J v is the velocity of `frame` relative to `other`, at
    the viewpoint of `frame`.
    """
    motions, seen = seen_from(model, q, None, None, frame, reference)
    first, second = (
        matrix_of(model, motions.jacobian(model, model.frames[k].body, seen.act_inverse))
        for k in (frame, other)
    )
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(first, second, strict=True)]


def manipulability_gradient(
    model: Problem, q: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the manipulability and its gradient with respect to q (nv), in the tangent space. Both results
    are zero if the rows of J are dependent.
    """
    viewpoint(Placement.identity(), reference)

    @bound
    def manipulability(model: Problem, q: Scalars) -> list[Scalar]:
        rows = frame_jacobian(model, q, frame)
        return [_root_of_determinant([[dot(one, two) for two in rows] for one in rows])]

    (gradient,) = differentiated(model, q, method=manipulability, configurations=(True,))
    return manipulability(model, q), gradient


def _root_of_determinant(a: Matrix) -> Scalar:
    """Return sqrt(det A) of a positive semi-definite matrix by Gauss's elimination, angular rows first; 0 if
    A is singular.
    """
    work, determinant = [list(row) for row in a], 1.0
    for k in reversed(range(len(a))):
        least, pivot = SINGULAR * a[k][k], work[k][k]
        determinant = where_less(least, pivot, determinant * pivot, 0.0)
        pivot = where_less(least, pivot, pivot, 1.0)
        for row in work[:k]:
            factor = row[k] / pivot
            row[:k] = [x - factor * y for x, y in zip(row[:k], work[k], strict=False)]
    regular = where_less(0.0, determinant, determinant, 1.0)
    return where_less(0.0, determinant, sqrt(regular), 0.0)


def operational_space_inertia(
    model: Problem,
    q: Scalars,
    frame: int,
    reference: str = "LOCAL",
    *,
    options: ContactOptions = DEFAULTS,
    rows: Scalars | None = None,
) -> Matrix:
    """Return (J M^-1 J^T + mu 1)^-1 (6, 6) for the active rows, with zeros elsewhere.
    Checked against KKT systems.

    rows: 1 for each active row, 0 for the others (6; default: all active).
    """
    return _inertia_of_task(model, q, frame, reference, options, rows)[0]


def operational_space_inertia_derivatives(
    model: Problem,
    q: Scalars,
    frame: int,
    reference: str = "LOCAL",
    *,
    options: ContactOptions = DEFAULTS,
    rows: Scalars | None = None,
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the derivatives of `operational_space_inertia` with respect to q in the tangent space, using
    dual numbers, and the inertia. Checked against differences.
    """

    @bound
    def inertia(model: Problem, q: Scalars) -> list[Scalar]:
        return flat(operational_space_inertia(model, q, frame, reference, options=options, rows=rows))

    (by_q,) = differentiated(model, q, method=inertia, configurations=(True,))
    return by_q, inertia(model, q)


def operational_space(
    model: Problem,
    q: Scalars,
    v: Scalars,
    frame: int,
    reference: str = "LOCAL",
    *,
    options: ContactOptions = DEFAULTS,
    rows: Scalars | None = None,
) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Return four results: the inertia of the task (6, 6), the dynamically consistent inverse of J (nv, 6),
    the forces along the task due to velocities (6), and those due to gravity (6).

    Checked: torques along the task cause no motion in its null space.
    """
    inertia, pushed = _inertia_of_task(model, q, frame, reference, options, rows)
    inverse = product(pushed, inertia)
    moving, resting = once(_forces_of_motion, model, q, v)
    (drift,) = along(
        model,
        q,
        v,
        method=bound(lambda model, q, v: frame_velocity(model, q, v, frame, reference)),
        configurations=(True,),
        directions=(v,),
    )
    columns = transposed(inverse)
    bias = [dot(x, moving) - dot(row, drift) for x, row in zip(columns, inertia, strict=True)]
    return inertia, inverse, bias, [dot(x, resting) for x in columns]


def _forces_of_motion(model: Problem, q: Scalars, v: Scalars) -> tuple[Vector, Vector]:
    """Return C v and g (nv)."""
    plain, still = replace(model, drive_terms=()), [0.0] * model.nv
    resting, both = rnea(plain, q, still, still), rnea(plain, q, v, still)
    return [x - y for x, y in zip(both, resting, strict=True)], resting


def _inertia_of_task(
    model: Problem, q: Scalars, frame: int, reference: str, options: ContactOptions, rows: Scalars | None
) -> tuple[Matrix, Matrix]:
    """Return the inertia and M^-1 J^T."""
    jacobian = frame_jacobian(model, q, frame, reference)
    pushed = product(once(minverse, model, q), transposed(jacobian))
    felt, on = product(jacobian, pushed), [1.0] * 6 if rows is None else rows
    mu: Scalar = 0.0 if options.mu is None else options.mu[0]
    for i, row in enumerate(felt):
        felt[i] = [on[i] * x * y for x, y in zip(row, on, strict=True)]
        felt[i][i] = felt[i][i] + (1.0 - on[i]) + mu
    return [
        [x * y * z for y, z in zip(on, row, strict=True)]
        for x, row in zip(on, Factorisation(felt, _defined_pivot).inverse(), strict=True)
    ], pushed


def _defined_pivot(_: int, pivot: Scalar) -> Scalar:
    """Return the pivot, or NaN for a row that no joint moves."""
    return math.nan if is_zero(pivot) else pivot

"""The error of a frame relative to a target placement, with derivatives; exponential and logarithm of SE(3).

The error is e = log6(T^-1 X) of the target T and the frame X, a motion in unit time (m, rad). The entries of
e are the same in the frame's and in the target's coordinates. A step s of the frame, in the frame's
coordinates, changes e by J(e)^-1 s. A step s of the target, in the target's coordinates, changes e by
-J(-e)^-1 s. J is the right Jacobian of SE(3) (Barfoot, State Estimation for Robotics, section 7.1). With
e = (v, w), t = |w| and the matrix [w] of w x,

    J(e)^-1 = [A B; 0 A]        A = 1 + [w]/2 + g [w]^2,    g = (1 - t/2 cot(t/2)) / t^2
                                B = [v]/2 + g ([v][w] + [w][v]) + 2 g' (w . v) [w]^2,    g' = dg/d(t^2)
                                g' = (1 - 12 g) / (8 t^2) + g^2 / 2
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rbdc.algorithms.frames import PathToRoot
from rbdc.algorithms.logarithm import logarithm_and_turn
from rbdc.algorithms.tools.linear import Matrix, identity, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.model.contacts import ContactOptions, given_target, held_at
from rbdc.spatial import Matrix3, Motion, Placement, Scalar, Scalars, Vector3
from rbdc.spatial.quaternions import (
    Logarithm,
    differentiate_translation,
    exponential,
    integrate_translation,
    logarithm,
    normalized,
)
from rbdc.spatial.scalars import polynomial, sqrt, where_less
from rbdc.spatial.vectors import AXES

SMALL = 0.1
"""Squared angle (rad^2) below which a power series replaces g'. The first omitted term is below rounding."""


@dataclass(frozen=True)
class Error:
    """The error of a placement relative to a target.

    motion: e.
    turn: logarithm of the rotation T^-1 X, with g.
    """

    motion: Motion
    turn: Logarithm

    @staticmethod
    def of(target: Placement, placement: Placement) -> Error:
        """Return the error of a placement; if it is half a turn, one of the two solutions."""
        return Error(*logarithm_and_turn(target.inverse().compose(placement)))

    def rates(self) -> InverseJacobian:
        """Return J(e)^-1: the derivative of the error with respect to a step of the placement."""
        v, w, g, t2 = (
            self.motion.linear,
            self.motion.angular,
            self.turn.cotangent_ratio,
            self.turn.squared_angle,
        )
        safe = where_less(t2, SMALL, 1.0, t2)
        series = polynomial(t2, 1 / 720, 1 / 15120, 1 / 403200, 1 / 11975040, 691 / 261534873600)
        slope = where_less(t2, SMALL, series, 0.125 * (1.0 - 12.0 * g) / safe + 0.5 * g * g)
        along = w.dot(v)
        square = Matrix3.outer(w, w) - _diagonal(t2)
        crossed = Matrix3.outer(v, w) + Matrix3.outer(w, v) - _diagonal(2.0 * along)
        unit = _diagonal(1.0)
        return InverseJacobian(
            unit + _skew(w.scaled(0.5)) + _times(square, g),
            _skew(v.scaled(0.5)) + _times(crossed, g) + _times(square, 2.0 * slope * along),
        )


@dataclass(frozen=True)
class InverseJacobian:
    """J(e)^-1 with its blocks A (`turning`) and B (`mixed`)."""

    turning: Matrix3
    mixed: Matrix3

    @staticmethod
    def of(scalars: Scalars) -> InverseJacobian:
        """Rebuild J(e)^-1 from its `scalars()`."""
        return InverseJacobian(Matrix3.of(scalars[:9]), Matrix3.of(scalars[9:]))

    def scalars(self) -> list[Scalar]:
        """Return eighteen scalars: A and B, row by row."""
        return [x for block in (self.turning, self.mixed) for row in block.rows() for x in row]

    def along(self, step: Motion) -> Motion:
        """Return the change of the error with a step of the placement in its own coordinates."""
        linear = self.turning.apply(step.linear) + self.mixed.apply(step.angular)
        return Motion(linear, self.turning.apply(step.angular))

    def along_target(self, step: Motion) -> Motion:
        """Return the change of the error with a step s of the target in its own coordinates: -J(-e)^-1 s,
        because changing the sign of e transposes A and B.
        """
        linear = self.turning.apply_transposed(step.linear) + self.mixed.apply_transposed(step.angular)
        return -Motion(linear, self.turning.apply_transposed(step.angular))

    def by_step(self) -> Matrix:
        """Return the derivatives of the error with respect to a step of the placement in its own coordinates
        (6, 6).
        """
        zero, units = Vector3.zero(), [Vector3.of(unit) for unit in identity(3)]
        steps = [*(Motion(unit, zero) for unit in units), *(Motion(zero, unit) for unit in units)]
        return transposed([self.along(step).scalars() for step in steps])

    def by_target(self, target: Scalars) -> Matrix:
        """Return the derivatives of the error with respect to the entries of the target (6, 7): a position
        and a quaternion of any length.
        """
        unit = [*target[:3], *normalized(target[3:])]
        turned, (x, y, z, w) = held_at(unit).rotation, unit[3:]
        twice = 2.0 / sqrt(sum(entry * entry for entry in target[3:]))
        steps = [Motion(turned.apply_transposed(axis), Vector3.zero()) for axis in AXES]
        turns = [[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]
        steps += [Motion(Vector3.zero(), Vector3.of(turn).scaled(twice)) for turn in turns]
        return transposed([self.along_target(step).scalars() for step in steps])


def held_at_unit(target: Scalars) -> Placement:
    """Return the target's placement with a normalised quaternion: errors do not depend on its length."""
    return held_at([*target[:3], *normalized(target[3:])])


def frame_error(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL", *, options: ContactOptions
) -> Motion:
    """Return log6(T^-1 X) of the placement X of a frame and the target T, x y z qx qy qz qw. The error is the
    same in every reference.
    """
    return Error.of(
        held_at_unit(given_target(options)), PathToRoot.of(model, q, frame, reference).world
    ).motion


def frame_error_derivatives(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL", *, options: ContactOptions
) -> tuple[Matrix, Matrix, Motion, Matrix]:
    """Return four results: the derivatives of `frame_error` with respect to q in the tangent space (6, nv),
    its derivatives with respect to the entries of the target (6, 7), the error, and its derivatives with
    respect to a step of the frame's placement on its link, in the frame's coordinates (6, 6).
    """
    climb, target = (
        replace(PathToRoot.of(model, q, frame, reference), reference="LOCAL"),
        given_target(options),
    )
    error = Error.of(held_at_unit(target), climb.world)
    rates = error.rates()
    columns = {index: [rates.along(s) for s in directions] for index, directions in climb.columns.items()}
    return climb.matrix(columns), rates.by_target(target), error.motion, rates.by_step()


def log6(model: Model, pose: Scalars, trace: Trace = silent) -> Motion:
    """Return the motion that in unit time leads from the identity to a placement, x y z qx qy qz qw. The
    motion turns by at most half a revolution. Checked against Pinocchio, at angles from 1e-12 to pi.
    """
    del model, trace
    turn = logarithm(pose[3:])
    return Motion(differentiate_translation(turn, Vector3.of(pose[:3])), turn.w)


def exp6(model: Model, twist: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return the placement x y z qx qy qz qw that a constant motion reaches from the identity in unit time.
    Checked against Pinocchio, at angles from 1e-12 to pi.
    """
    del model, trace
    motion = Motion.of(twist)
    turn = exponential(motion.angular)
    return [*integrate_translation(turn, motion.linear).scalars(), *turn.quaternion()]


def _diagonal(x: Scalar) -> Matrix3:
    return Matrix3(Vector3(x, 0.0, 0.0), Vector3(0.0, x, 0.0), Vector3(0.0, 0.0, x))


def _skew(w: Vector3) -> Matrix3:
    """Return the matrix of w x."""
    return Matrix3(Vector3(0.0, w.z, -w.y), Vector3(-w.z, 0.0, w.x), Vector3(w.y, -w.x, 0.0))


def _times(matrix: Matrix3, x: Scalar) -> Matrix3:
    return Matrix3(matrix.x.scaled(x), matrix.y.scaled(x), matrix.z.scaled(x))

"""Rigid-body and articulated-body inertias over abstract scalars."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np

from rbdc.spatial.scalars import Scalar
from rbdc.spatial.transforms import Placement
from rbdc.spatial.vectors import AXES, Force, Matrix3, Motion, Symmetric3, Vector3


@dataclass(frozen=True, slots=True)
class RigidInertia(ABC):
    """A rigid body's inertia about the origin of its frame, as one of two sets of ten parameters.

    Both sets have the mass m (kg), the first moment h = m c (kg m), and six more parameters. Inertias in the
    same frame and set can be added.
    """

    mass: Scalar
    first_moment: Vector3

    @property
    @abstractmethod
    def about_origin(self) -> Symmetric3:
        """Return the rotational inertia J about the origin (kg m^2)."""

    @abstractmethod
    def second_moments(self) -> Symmetric3:
        """Return the second moments K = sum m r r^T (kg m^2)."""

    @abstractmethod
    def moved(self, placement: Placement) -> Self:
        """Transform the inertia from the child frame of `placement` to its parent frame."""

    def about_centre(self) -> Symmetric3:
        """Return the inertia about the centre of mass (kg m^2), in the frame's axes; if the mass is 0, about
        the origin.
        """
        if self.mass == 0:
            return self.about_origin
        com = self.first_moment.scaled(1.0 / self.mass)
        return self.about_origin - Symmetric3.parallel_axis(self.first_moment, com)

    @classmethod
    def zero(cls) -> Self:
        """Return the inertia of a massless body."""
        return cls(0.0, Vector3.zero(), Symmetric3.zero())  # type: ignore[call-arg]  # subclasses add a field

    @classmethod
    def of(cls, numbers: Sequence[Scalar]) -> Self:
        """Return the inertia from the ten numbers of `scalars`."""
        return cls(numbers[0], Vector3.of(numbers[1:4]), Symmetric3(*numbers[4:]))  # type: ignore[call-arg]

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, part.name) for part in fields(self))

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in zip(self._parts(), other._parts(), strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(a - b for a, b in zip(self._parts(), other._parts(), strict=True)))

    def scaled(self, factor: Scalar) -> Self:
        """Return the inertia times a factor."""
        return self.of([factor * x for x in self.scalars()])

    def __matmul__(self, v: Motion) -> Force:
        """Return I V = (m v + w x h, J w + h x v) for the motion V = (v, w)."""
        h, w = self.first_moment, v.angular
        return Force(v.linear.scaled(self.mass) - h.cross(w), self.about_origin @ w + h.cross(v.linear))

    def scalars(self) -> list[Scalar]:
        """Return the ten parameters of the set: mass, first moment, and a symmetric matrix in Pinocchio's
        order.
        """
        mass, first_moment, matrix = self._parts()
        return [mass, *first_moment.scalars(), *matrix.scalars()]


@dataclass(frozen=True, slots=True)
class Inertia(RigidInertia):
    """A rigid body's inertia about the origin of its frame: mass m (kg), first moment h = m c (kg m),
    rotational inertia J (kg m^2).
    """

    about_origin: Symmetric3 = field()  # else the inherited property would be its default value

    @staticmethod
    def about_com(mass: Scalar, com: Vector3, inertia: Symmetric3) -> Inertia:
        """Return the inertia from mass (kg), centre of mass (m) and inertia about it (kg m^2), in the frame's
        axes.
        """
        first_moment = com.scaled(mass)
        return Inertia(mass, first_moment, inertia + Symmetric3.parallel_axis(first_moment, com))

    def check(self) -> str | None:
        """Return the reason why no rigid body has these parameters; None if they are physical.

        A body needs a positive mass, and a positive semi-definite matrix [[K, h], [h^T, m]] of the moments of
        mass (Wensing, Kim and Slotine 2018), which implies the triangle inequality of the principal moments.
        """
        numbers = [float(x) for x in self.scalars()]
        if not all(map(math.isfinite, numbers)):
            return "a parameter is not finite"
        if numbers[0] <= 0.0:
            return f"the mass {numbers[0]:.6g} is not positive"
        moments = np.linalg.eigvalsh(np.array(self.about_centre().rows(), dtype=float))
        least = 0.5 * float(moments.sum()) - float(moments[-1])
        if least < -_ROUNDING * max(abs(x) for x in numbers[4:]):
            return (
                f"the second moment of mass about the centre of mass is {least:.6g} in one direction: "
                "the principal moments of inertia break the triangle inequality"
            )
        return None

    @staticmethod
    def from_log_cholesky(parameters: Sequence[float]) -> Inertia:
        """Return the inertia from ten numbers alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3. The inertia is
        physical for all values.

        [[K, h], [h^T, m]] = U U^T with U = exp(alpha) [[exp d1, s12, s13, t1], [0, exp d2, s23, t2], [0, 0,
        exp d3, t3], [0, 0, 0, 1]] (Rucker and Wensing 2022).
        """
        alpha, d1, d2, d3, s12, s23, s13, *t = (float(x) for x in parameters)
        a, b, c = np.exp([d1, d2, d3])
        root = np.array([[a, s12, s13, t[0]], [0.0, b, s23, t[1]], [0.0, 0.0, c, t[2]], [0.0, 0.0, 0.0, 1.0]])
        moments = math.exp(2.0 * alpha) * (root @ root.T)
        xx, xy, xz, hx, _, yy, yz, hy, _, _, zz, hz, *_, mass = moments.ravel().tolist()
        second = MomentInertia(mass, Vector3(hx, hy, hz), Symmetric3(xx, xy, yy, xz, yz, zz))
        return Inertia(mass, second.first_moment, second.about_origin)

    def log_cholesky(self) -> list[float]:
        """Return the ten numbers of `from_log_cholesky`.

        Raises ValueError if `check` finds an error, and for a body without extent in some direction.
        """
        problem = self.check()
        if problem is not None:
            raise ValueError(f"no body has this inertia: {problem}")
        moments = Inertia(1.0, Vector3.zero(), self.about_centre().scaled(1.0 / self.mass))
        turned = np.array(moments.second_moments().rows(), dtype=float)[::-1, ::-1]
        try:
            root = np.linalg.cholesky(turned)[::-1, ::-1]  # upper triangular
        except np.linalg.LinAlgError:
            problem = "a body without extent in some direction has no log-Cholesky parameters"
            raise ValueError(problem) from None
        numbers = [*np.log(np.diag(root)), root[0, 1], root[1, 2], root[0, 2]]
        com = self.first_moment.scaled(1.0 / self.mass).scalars()
        return [0.5 * math.log(self.mass), *map(float, numbers), *map(float, com)]

    def moved(self, placement: Placement) -> Inertia:
        p, h = placement.translation, placement.rotation.apply(self.first_moment)
        rotated = placement.rotation.rotate_symmetric(self.about_origin)
        moment = h + p.scaled(self.mass)
        # J' = R J R^T + 2 sym([p][h]^T) + m [p][p]^T: the last two terms are one product of p and h + moment.
        return Inertia(self.mass, moment, rotated + Symmetric3.parallel_axis(h + moment, p))

    def second_moments(self) -> Symmetric3:
        """Return K = sum m r r^T = tr(J)/2 1 - J (kg m^2)."""
        j = self.about_origin
        half = 0.5 * (j.xx + j.yy + j.zz)
        return Symmetric3(half - j.xx, -j.xy, half - j.yy, -j.xz, -j.yz, half - j.zz)


@dataclass(frozen=True, slots=True)
class MomentInertia(RigidInertia):
    """A rigid body's inertia about the origin of its frame: m (kg), h (kg m) and K = sum m r r^T (kg m^2).

    [[K, h], [h^T, m]] transforms like a cloud of points, with fewer operations than J; J = tr(K) 1 - K.
    """

    second: Symmetric3

    @property
    def about_origin(self) -> Symmetric3:
        """Return J = tr(K) 1 - K."""
        k = self.second
        return Symmetric3(k.yy + k.zz, -k.xy, k.xx + k.zz, -k.xz, -k.yz, k.xx + k.yy)

    def second_moments(self) -> Symmetric3:
        """Return K."""
        return self.second

    def moved(self, placement: Placement) -> MomentInertia:
        """Return the inertia in the parent frame, for the rotation R and the translation P: h' = R h + m P,
        K' = R K R^T + P (R h)^T + h' P^T.
        """
        p, h = placement.translation, placement.rotation.apply(self.first_moment)
        k = placement.rotation.rotate_symmetric(self.second)
        moved = h + p.scaled(self.mass)
        both = h + moved
        return MomentInertia(
            self.mass,
            moved,
            Symmetric3(
                k.xx + p.x * both.x,
                k.xy + p.x * h.y + p.y * moved.x,
                k.yy + p.y * both.y,
                k.xz + p.x * h.z + p.z * moved.x,
                k.yz + p.y * h.z + p.z * moved.y,
                k.zz + p.z * both.z,
            ),
        )


_ROUNDING = 1e-12
"""Rounding error of second moments, relative to the largest moment of inertia. Second moments are differences
of moments of inertia.
"""


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric 6x6 matrix [A, B; B^T, C]: A linear-linear, B linear-angular (full), C angular-angular."""

    linear: Symmetric3
    coupling: Matrix3
    angular: Symmetric3

    @staticmethod
    def from_inertia(inertia: RigidInertia) -> ArticulatedInertia:
        """Return the articulated inertia of a rigid body: A = m 1, B = -[h], C = J."""
        m, h = inertia.mass, inertia.first_moment
        coupling = Matrix3.from_rows([[0.0, h.z, -h.y], [-h.z, 0.0, h.x], [h.y, -h.x, 0.0]])
        return ArticulatedInertia(Symmetric3.diagonal(m, m, m), coupling, inertia.about_origin)

    @staticmethod
    def of(scalars: Sequence[Scalar]) -> ArticulatedInertia:
        """Return the articulated inertia from the numbers of `scalars`."""
        coupling = Matrix3.of(scalars[6:15]).transposed()
        return ArticulatedInertia(Symmetric3(*scalars[:6]), coupling, Symmetric3(*scalars[15:]))

    def scalars(self) -> list[Scalar]:
        """Return twenty-one scalars: A, B column by column, C."""
        coupling = self.coupling.transposed()
        return [*self.linear.scalars(), *coupling.scalars(), *self.angular.scalars()]

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        coupling = self.coupling + other.coupling
        return ArticulatedInertia(self.linear + other.linear, coupling, self.angular + other.angular)

    def __matmul__(self, v: Motion) -> Force:
        """Return (A v + B w, B^T v + C w)."""
        return Force(
            self.linear @ v.linear + self.coupling.apply(v.angular),
            self.coupling.apply_transposed(v.linear) + self.angular @ v.angular,
        )

    def minus_product(self, left: Sequence[Force], right: Sequence[Force]) -> ArticulatedInertia:
        """Return self - sum_k left_k right_k^T; the sum must be symmetric."""
        a, b, c = self.linear, self.coupling, self.angular
        for u, v in zip(left, right, strict=True):
            a = a - Symmetric3.outer(u.linear, v.linear)
            b = b - Matrix3.outer(v.angular, u.linear).transposed()
            c = c - Symmetric3.outer(u.angular, v.angular)
        return ArticulatedInertia(a, b, c)

    def moved(self, placement: Placement) -> ArticulatedInertia:
        """Return X* I X^-1: the same inertia in the parent coordinates of `placement`."""
        r, p = placement.rotation, placement.translation
        a = r.rotate_symmetric(self.linear)
        b, c = r.rotate_matrix(self.coupling), r.rotate_symmetric(self.angular)
        # B' = B - A [p],  C' = C + [p] B' + ([p] B)^T; row k of M [p] is (row k of M) x p.
        moved_b = b - Matrix3.from_rows([Vector3.of(row).cross(p).scalars() for row in a.rows()])
        return ArticulatedInertia(a, moved_b, c + _levered(p, moved_b, b))


def _levered(p: Vector3, first: Matrix3, second: Matrix3) -> Symmetric3:
    """Return [p] X + ([p] Y)^T; the result must be symmetric."""
    x, y = (
        [[axis.cross(column).scalars() for column in (m.x, m.y, m.z)] for axis in AXES]
        for m in (first, second)
    )

    def entry(i: int, j: int) -> Scalar:
        a, b, c = (size * (x[k][j][i] + y[k][i][j]) for k, size in enumerate(p.scalars()))
        return a + b + c

    return Symmetric3(entry(0, 0), entry(0, 1), entry(1, 1), entry(0, 2), entry(1, 2), entry(2, 2))

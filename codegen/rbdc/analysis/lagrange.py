"""The equations of Euler and Lagrange over polynomials in sines, cosines and named constants.

With the kinetic energy T = 1/2 v^T M(q) v and the potential energy V(q),

    tau_i = sum_j M_ij a_j + sum_jk c_ijk v_j v_k + dV/dq_i,
    c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i).

M_ij is the sum of tr(T_i^T J T_j) over the bodies. The rows of T (4, 3) are a body's axes and origin, T_i is
the derivative of T with respect to q_i, and J (4, 4) holds the body's moments of mass. Polynomials are
reduced by sin^2 + cos^2 = 1, which makes them unique: terms that cancel disappear.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sympy import QQ, Expr, Symbol, lex
from sympy.polys.rings import ring

from rbdc.analysis.constants import NamedModel
from rbdc.model import WORLD
from rbdc.model.numbers import rebuilt
from rbdc.spatial import Placement, RigidInertia, Rotation, Vector3

Polynomial = Any
"""An element of a polynomial ring of SymPy, which has no type annotations."""
Polynomials = NDArray[np.object_]
"""Arrays of polynomials."""
T = TypeVar("T")


class Equations:
    """The equations of a model with named constants, as polynomials of `ring`.

    coordinates: the names q_1, ...
    turning: the names of the cosine and the sine of each angle.
    model: the model with polynomials in place of symbols.
    """

    def __init__(self, named: NamedModel) -> None:
        self.named = named
        bodies = named.model.bodies
        self.coordinates = tuple(f"q_{k}" for k in range(1, len(bodies) + 1))
        self.turning = {
            q: (f"cos_{q}", f"sin_{q}")
            for q, body in zip(self.coordinates, bodies, strict=True)
            if body.joint.rotation == "angle"
        }
        pairs = [*self.turning.values(), *named.angles.values()]
        plain = [constant.name for constant in named.constants if constant.name not in named.angles]
        axes = {name for axis in named.axes for name in axis}
        names = [
            *(sine for _, sine in pairs), *(cosine for cosine, _ in pairs), *sorted(axes, reverse=True),
            *self.coordinates, *(name for name in plain if name not in axes),
        ]  # fmt: skip
        self.ring, *generators = ring(names, QQ, lex)
        self.of: dict[str, Polynomial] = dict(zip(names, generators, strict=True))
        self.relations = [self.of[s] ** 2 + self.of[c] ** 2 - 1 for c, s in pairs]
        self.relations += [sum((self.of[x] ** 2 for x in axis), self.ring(-1)) for axis in named.axes]

        self.model = self.polynomials(named.model)

    def polynomials(self, thing: T) -> T:
        """Return the model, placement, ... with a polynomial for every expression in it."""
        converted: T = rebuilt(thing, lambda x, _: self.ring.from_expr(x) if isinstance(x, Expr) else x)
        return converted

    def reduced(self, x: Polynomial) -> Polynomial:
        return x.rem(self.relations) if self.relations else x

    def by(self, q: str, x: Polynomial) -> Polynomial:
        """Return dx/dq."""
        if q not in self.turning:
            return x.diff(self.of[q])
        c, s = (self.of[name] for name in self.turning[q])
        return self.reduced(x.diff(s) * c - x.diff(c) * s)

    def each_by(self, q: str, x: Polynomials) -> Polynomials:
        """Return dx/dq of an array."""
        return np.asarray(np.vectorize(lambda entry: self.by(q, entry), otypes=[object])(x))

    @cached_property
    def inertia(self) -> Polynomials:
        """Return M (n, n)."""
        n = len(self.coordinates)
        total = np.full((n, n), self.ring(0), dtype=object)
        for k, (body, pose) in enumerate(zip(self.model.bodies, self.poses, strict=True)):
            slopes, moments = self.slopes(pose, k), moments_of(body.inertia)
            for i in slopes:
                for j in slopes:
                    total[i, j] += kinetic(moments, slopes[i], slopes[j])
            total[k, k] += body.armature
        return np.asarray(np.vectorize(self.reduced, otypes=[object])(total))

    @cached_property
    def christoffel(self) -> Polynomials:
        """Return c (n, n, n)."""
        slopes = np.stack([self.each_by(q, self.inertia) for q in self.coordinates], axis=-1)
        return np.asarray((slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1)) * QQ(1, 2))

    @cached_property
    def potential(self) -> Polynomial:
        """Return V."""
        total, gravity = self.ring(0), np.array(self.model.gravity.scalars(), dtype=object)
        for body, pose in zip(self.model.bodies, self.poses, strict=True):
            total -= moments_of(body.inertia)[-1] @ pose @ gravity
        return self.reduced(total)

    @property
    def gravity(self) -> list[Polynomial]:
        """Return dV/dq (n)."""
        return [self.by(q, self.potential) for q in self.coordinates]

    @cached_property
    def poses(self) -> list[Polynomials]:
        """Return the axes and origins (4, 3) of all bodies in the world."""
        placements: list[Placement] = []
        for body, q in zip(self.named.model.bodies, self.coordinates, strict=True):
            (column,) = body.joint.subspace()
            if q in self.turning:
                turn = Rotation.about_axis(column.angular, *map(Symbol, self.turning[q]))
                moved = Placement(turn, Vector3.zero())
            else:
                moved = Placement(Rotation.identity(), column.linear.scaled(Symbol(q)))
            above = Placement.identity() if body.parent == WORLD else placements[body.parent]
            pose = above.compose(self.polynomials(body.placement)).compose(self.polynomials(moved))
            placements.append(Placement.of([self.reduced(self.ring(x)) for x in pose.scalars()]))
        return [
            np.array([x.scalars() for x in (p.rotation.x, p.rotation.y, p.rotation.z, p.translation)], object)
            for p in placements
        ]

    def slopes(self, pose: Polynomials, k: int) -> dict[int, Polynomials]:
        """Return the derivatives of the pose of body k with respect to each coordinate that moves it."""
        return {i: self.each_by(self.coordinates[i], pose) for i in self.model.support(k)}


def moments_of(inertia: RigidInertia) -> Polynomials:
    """Return J = [K, h; h^T, m] (4, 4) of a body: second moments K, first moment h, mass m."""
    h = inertia.first_moment.scalars()
    rows = [[*row, x] for row, x in zip(inertia.second_moments().rows(), h, strict=True)]
    return np.array([*rows, [*h, inertia.mass]], object)


def kinetic(moments: Polynomials, one: Polynomials, other: Polynomials) -> Polynomial:
    """Return tr(T_i^T J T_j), a body's part of M_ij, from T_i and T_j of `Equations.slopes`."""
    return np.sum(one * (moments @ other))

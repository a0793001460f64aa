"""The equations of Euler and Lagrange over polynomials in sines, cosines and named constants.

With the kinetic energy T = 1/2 v^T M(q) v and the potential energy V(q),

    tau_i = sum_j M_ij a_j + sum_jk c_ijk v_j v_k + dV/dq_i,
    c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i).

M is the sum over the bodies of tr(T_i J T_j^T), with the derivatives T_i of a body's axes and origin by q_i
and the matrix J of its moments of mass. Polynomials are reduced by sin^2 + cos^2 = 1, which makes them
unique: what cancels is gone.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any, TypeVar

from sympy import QQ, Expr, Symbol, lex
from sympy.polys.rings import ring

from rbdc.analysis.constants import NamedModel
from rbdc.model import WORLD
from rbdc.model.numbers import rebuilt
from rbdc.spatial import Placement, RigidInertia, Rotation, Vector3

Polynomial = Any
"""An element of SymPy's ring, which has no types."""
Row = list[Polynomial]
T = TypeVar("T")


class Equations:
    """The equations of a model by names, in polynomials of `ring`.

    `coordinates`: the names q_1, ...; `turning`: of those that are angles the names of their cosine and sine;
    `model`: that by names, with polynomials in place of symbols.
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
        """The model, placement, ... with a polynomial for every expression in it."""
        made: T = rebuilt(thing, lambda x, _: self.ring.from_expr(x) if isinstance(x, Expr) else x)
        return made

    def reduced(self, x: Polynomial) -> Polynomial:
        return x.rem(self.relations) if self.relations else x

    def by(self, q: str, x: Polynomial) -> Polynomial:
        """dx/dq."""
        if q not in self.turning:
            return x.diff(self.of[q])
        c, s = (self.of[name] for name in self.turning[q])
        return self.reduced(x.diff(s) * c - x.diff(c) * s)

    @cached_property
    def inertia(self) -> list[Row]:
        """M (n, n)."""
        n = range(len(self.coordinates))
        total = [[self.ring(0) for _ in n] for _ in n]
        for k, (body, pose) in enumerate(zip(self.model.bodies, self.poses, strict=True)):
            slopes, moments = self.slopes(pose, k), moments_of(body.inertia)
            for i in slopes:
                for j in slopes:
                    total[i][j] += kinetic(moments, slopes[i], slopes[j])
            total[k][k] += body.armature
        return [[self.reduced(x) for x in row] for row in total]

    @cached_property
    def christoffel(self) -> list[list[Row]]:
        """c (n, n, n)."""
        n = range(len(self.coordinates))
        slopes = [[[self.by(q, x) for q in self.coordinates] for x in row] for row in self.inertia]
        return [
            [[(slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * QQ(1, 2) for k in n] for j in n]
            for i in n
        ]

    @cached_property
    def potential(self) -> Polynomial:
        """V."""
        total = self.ring(0)
        for body, pose in zip(self.model.bodies, self.poses, strict=True):
            total -= self.model.gravity.dot(combined(moments_of(body.inertia)[-1], columns(pose)))
        return self.reduced(total)

    @property
    def gravity(self) -> Row:
        """dV/dq (n)."""
        return [self.by(q, self.potential) for q in self.coordinates]

    @cached_property
    def poses(self) -> list[Placement]:
        """Poses of all bodies in the world."""
        found: list[Placement] = []
        for body, q in zip(self.named.model.bodies, self.coordinates, strict=True):
            (column,) = body.joint.subspace()
            if q in self.turning:
                turn = Rotation.about_axis(column.angular, *map(Symbol, self.turning[q]))
                moved = Placement(turn, Vector3.zero())
            else:
                moved = Placement(Rotation.identity(), column.linear.scaled(Symbol(q)))
            above = Placement.identity() if body.parent == WORLD else found[body.parent]
            pose = above.compose(self.polynomials(body.placement)).compose(self.polynomials(moved))
            found.append(Placement.of([self.reduced(self.ring(x)) for x in pose.scalars()]))
        return found

    def slopes(self, pose: Placement, k: int) -> dict[int, list[Vector3]]:
        """The derivatives of the `columns` of body k by each coordinate that moves it."""
        return {
            i: [Vector3.of(self.by(self.coordinates[i], x) for x in c.scalars()) for c in columns(pose)]
            for i in self.model.support(k)
        }


def columns(pose: Placement) -> list[Vector3]:
    """The axes of a frame and its origin."""
    return [pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.translation]


def moments_of(inertia: RigidInertia) -> list[Row]:
    """The matrix [K, h; h^T, m] of a body's moments of mass."""
    h = inertia.first_moment.scalars()
    rows = [[*row, x] for row, x in zip(inertia.second_moments().rows(), h, strict=True)]
    return [*rows, [*h, inertia.mass]]


def combined(factors: Sequence[Polynomial], vectors: Sequence[Vector3]) -> Vector3:
    """The sum of factors times vectors."""
    scaled = (vector.scaled(factor) for factor, vector in zip(factors, vectors, strict=True))
    return reduce(operator.add, scaled)


def kinetic(
    moments: Sequence[Sequence[Polynomial]], one: Sequence[Vector3], other: Sequence[Vector3]
) -> Polynomial:
    """The part of a body in an entry of M, by its moments of mass and its `Equations.slopes`."""
    return sum(a.dot(combined(row, other)) for row, a in zip(moments, one, strict=True))

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
from typing import Any

from sympy import QQ, lex
from sympy.polys.rings import ring

from rbdc.analysis.constants import Atom, NamedBody, NamedModel
from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES

Polynomial = Any
"""An element of SymPy's ring, which has no types."""
Row = list[Polynomial]


class Equations:
    """The equations of a model by names, in polynomials of `ring`.

    `coordinates`: the names q_1, ...; `turning`: of those that are angles the names of their cosine and sine.
    """

    def __init__(self, named: NamedModel) -> None:
        self.named = named
        count = range(1, len(named.bodies) + 1)
        self.coordinates = tuple(f"q_{k}" for k in count)
        self.turning = {
            q: (f"cos_{q}", f"sin_{q}")
            for q, body in zip(self.coordinates, named.bodies, strict=True)
            if not body.sliding
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

    def atom(self, atom: Atom) -> Polynomial:
        if isinstance(atom, int):
            return self.ring(atom)
        return -self.of[atom[1:]] if atom.startswith("-") else self.of[atom]

    def vector(self, atoms: Sequence[Atom]) -> Vector3:
        return Vector3.of(map(self.atom, atoms))

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
        for k, (body, pose) in enumerate(zip(self.named.bodies, self.poses, strict=True)):
            slopes, moments = self.slopes(pose, k), self.moments(body)
            for i in slopes:
                for j in slopes:
                    total[i][j] += kinetic(moments, slopes[i], slopes[j])
            total[k][k] += self.atom(body.armature)
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
        total, field = self.ring(0), self.vector(self.named.gravity)
        for body, pose in zip(self.named.bodies, self.poses, strict=True):
            total -= field.dot(combined(self.moments(body)[-1], columns(pose)))
        return self.reduced(total)

    @property
    def gravity(self) -> Row:
        """dV/dq (n)."""
        return [self.by(q, self.potential) for q in self.coordinates]

    @property
    def damping(self) -> Row:
        """Damping of each joint (n)."""
        return [self.atom(body.damping) for body in self.named.bodies]

    def moments(self, body: NamedBody) -> list[Row]:
        """See `moments_of`."""
        about_com = Symmetric3(*(self.atom(x) for x in body.inertia))
        return moments_of(Inertia.about_com(self.atom(body.mass), self.vector(body.com), about_com))

    @cached_property
    def poses(self) -> list[Placement]:
        """Poses of all bodies in the world."""
        found: list[Placement] = []
        for body, q in zip(self.named.bodies, self.coordinates, strict=True):
            pose = found[body.parent] if body.parent >= 0 else Placement.identity()
            pose = pose.compose(Placement(Rotation.identity(), self.vector(body.offset)))
            for axis, (c, s) in zip(reversed(AXES), reversed(body.angles), strict=True):
                pose = self.composed(pose, turned(axis, self.atom(c), self.atom(s)))
            axis = self.vector(body.axis)
            if body.sliding:
                joint = Placement(Rotation.identity(), axis.scaled(self.of[q]))
            else:
                joint = turned(axis, *(self.of[name] for name in self.turning[q]))
            found.append(self.composed(pose, joint))
        return found

    def composed(self, pose: Placement, own: Placement) -> Placement:
        return Placement.of([self.reduced(x) for x in pose.compose(own).scalars()])

    def slopes(self, pose: Placement, k: int) -> dict[int, list[Vector3]]:
        """The derivatives of the `columns` of body k by each coordinate that moves it."""
        moving = [k]
        while self.named.bodies[moving[-1]].parent >= 0:
            moving.append(self.named.bodies[moving[-1]].parent)
        return {
            i: [Vector3.of(self.by(self.coordinates[i], x) for x in c.scalars()) for c in columns(pose)]
            for i in moving
        }


def turned(axis: Vector3, c: Polynomial, s: Polynomial) -> Placement:
    """Rodrigues' rotation c 1 + s [u] + (1 - c) u u^T about the unit vector u."""
    images = (
        unit.scaled(c) + axis.cross(unit).scaled(s) + axis.scaled((1 - c) * along)
        for unit, along in zip(AXES, axis.scalars(), strict=True)
    )
    return Placement(Rotation(*images), Vector3.zero())


def columns(pose: Placement) -> list[Vector3]:
    """The axes of a frame and its origin."""
    return [pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.translation]


def moments_of(inertia: Inertia) -> list[Row]:
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

"""The equations of Euler and Lagrange over polynomials in sines, cosines and named constants.

With the kinetic energy T = 1/2 v^T M(q) v and the potential energy V(q),

    tau_i = sum_j M_ij a_j + sum_jk c_ijk v_j v_k + dV/dq_i,
    c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i).

Polynomials are reduced by sin^2 + cos^2 = 1, which makes them unique: what cancels is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sympy import QQ, lex
from sympy.polys.rings import ring

from rbdc.analysis.constants import Atom, NamedBody, NamedModel

Polynomial = Any
"""An element of SymPy's ring, which has no types."""
Vector = list[Polynomial]


@dataclass(frozen=True)
class Equations:
    """M (n, n), c (n, n, n), g = dV/dq (n), damping (n) and V, polynomials of `ring`.

    `coordinates`: the names q_1, ...; `turning`: of those that are angles the names of their cosine and sine.
    """

    named: NamedModel
    coordinates: tuple[str, ...]
    turning: dict[str, tuple[str, str]]
    ring: Any
    inertia: list[Vector]
    christoffel: list[list[Vector]]
    gravity: Vector
    damping: Vector
    potential: Polynomial


def derive(named: NamedModel) -> Equations:
    """The equations of a model by names."""
    return Derivation(named).equations()


@dataclass
class Pose:
    """Pose of a body: the axes of its frame (columns) and its origin, in the world."""

    rotation: list[Vector]
    origin: Vector


class Derivation:
    """The ring of a model by names, the poses of its bodies, and the energies."""

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

    def reduced(self, x: Polynomial) -> Polynomial:
        return x.rem(self.relations) if self.relations else x

    def by(self, q: str, x: Polynomial) -> Polynomial:
        """dx/dq."""
        if q not in self.turning:
            return x.diff(self.of[q])
        c, s = (self.of[name] for name in self.turning[q])
        return self.reduced(x.diff(s) * c - x.diff(c) * s)

    def equations(self) -> Equations:
        poses = self.poses()
        n = range(len(self.coordinates))
        inertia = [[self.ring(0) for _ in n] for _ in n]
        potential = self.ring(0)
        field = [self.atom(x) for x in self.named.gravity]
        for k, body in enumerate(self.named.bodies):
            centre = self.moved(poses[k], [self.atom(x) for x in body.com])
            mass = self.atom(body.mass)
            potential -= mass * self.dot(field, centre)
            self.add_kinetic(inertia, poses, k, centre)
            inertia[k][k] += self.atom(body.armature)
        inertia = [[self.reduced(x) for x in row] for row in inertia]
        potential = self.reduced(potential)
        slopes = [[[self.by(q, x) for q in self.coordinates] for x in row] for row in inertia]
        christoffel = [
            [[(slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * QQ(1, 2) for k in n] for j in n]
            for i in n
        ]
        return Equations(
            self.named, self.coordinates, self.turning, self.ring, inertia, christoffel,
            [self.by(q, potential) for q in self.coordinates],
            [self.atom(body.damping) for body in self.named.bodies], potential,
        )  # fmt: skip

    def poses(self) -> list[Pose]:
        found: list[Pose] = []
        for k, body in enumerate(self.named.bodies):
            above = found[body.parent] if body.parent >= 0 else Pose(self.identity(), [self.ring(0)] * 3)
            rotation = above.rotation
            for axis, (cosine, sine) in zip((2, 1, 0), reversed(body.angles), strict=True):
                unit = [self.ring(int(x == axis)) for x in range(3)]
                rotation = self.turned(rotation, unit, self.atom(cosine), self.atom(sine))
            origin = self.moved(above, [self.atom(x) for x in body.offset])
            found.append(self.after_joint(Pose(rotation, origin), body, self.coordinates[k]))
        return found

    def after_joint(self, pose: Pose, body: NamedBody, q: str) -> Pose:
        axis = [self.atom(x) for x in body.axis]
        if body.sliding:
            return Pose(pose.rotation, self.moved(pose, [x * self.of[q] for x in axis]))
        c, s = (self.of[name] for name in self.turning[q])
        return Pose(self.turned(pose.rotation, axis, c, s), pose.origin)

    def add_kinetic(self, inertia: list[Vector], poses: list[Pose], k: int, centre: Vector) -> None:
        """m dp/dq_i . dp/dq_j + w_i . I w_j of body k, w_i being the angular velocity at unit rate of q_i."""
        body = self.named.bodies[k]
        mass = self.atom(body.mass)
        xx, xy, yy, xz, yz, zz = (self.atom(x) for x in body.inertia)
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        carrying = self.carrying(k)
        slopes = {i: [self.by(self.coordinates[i], x) for x in centre] for i in carrying}
        spins = {i: self.spin(poses, i, k) for i in carrying if not self.named.bodies[i].sliding}
        for i in carrying:
            for j in carrying:
                inertia[i][j] += mass * self.dot(slopes[i], slopes[j])
                if i in spins and j in spins:
                    turned = [self.dot(row, spins[j]) for row in tensor]
                    inertia[i][j] += self.reduced(self.dot(spins[i], turned))

    def carrying(self, k: int) -> list[int]:
        """The bodies from body k to the root, whose joints move it."""
        found = [k]
        while self.named.bodies[found[-1]].parent >= 0:
            found.append(self.named.bodies[found[-1]].parent)
        return found

    def spin(self, poses: list[Pose], i: int, k: int) -> Vector:
        """The axis of joint i in the frame of body k."""
        axis = [self.atom(x) for x in self.named.bodies[i].axis]
        world = [self.dot(row, axis) for row in poses[i].rotation]
        return [self.reduced(self.dot([row[x] for row in poses[k].rotation], world)) for x in range(3)]

    def identity(self) -> list[Vector]:
        return [[self.ring(int(i == j)) for j in range(3)] for i in range(3)]

    def turned(self, rotation: list[Vector], u: Vector, c: Polynomial, s: Polynomial) -> list[Vector]:
        """The rotation times Rodrigues' c 1 + s [u] + (1 - c) u u^T."""
        skew = [[self.ring(0), -u[2], u[1]], [u[2], self.ring(0), -u[0]], [-u[1], u[0], self.ring(0)]]
        turn = [
            [c * int(i == j) + s * skew[i][j] + (1 - c) * u[i] * u[j] for j in range(3)] for i in range(3)
        ]
        columns = list(zip(*turn, strict=True))
        return [[self.reduced(self.dot(row, list(column))) for column in columns] for row in rotation]

    def moved(self, pose: Pose, x: Vector) -> Vector:
        """A point of a frame, in the world."""
        return [p + self.reduced(self.dot(row, x)) for p, row in zip(pose.origin, pose.rotation, strict=True)]

    def dot(self, a: Vector, b: Vector) -> Polynomial:
        return sum((x * y for x, y in zip(a, b, strict=True)), self.ring(0))

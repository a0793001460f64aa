"""Inertial terms of a body or a subtree about the origin of the one frame (see `limb_bodies`)."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.spatial import Force, Motion, Scalar, Symmetric3, Vector3


@dataclass(frozen=True)
class Composite:
    """Inertial terms of a body or a subtree; see `limb_bodies`. q: columns of Q."""

    k: Symmetric3
    h: Vector3
    q: tuple[Vector3, Vector3, Vector3]
    p: Vector3
    force: Force
    mass: Scalar

    @property
    def trace_k(self) -> Scalar:
        """tr(K)."""
        return self.k.xx + self.k.yy + self.k.zz

    @property
    def trace_q(self) -> Scalar:
        """tr(Q)."""
        return self.q[0].x + self.q[1].y + self.q[2].z

    def inertia_times(self, m: Motion, trace: Scalar) -> Force:
        """I m, `trace` that of K."""
        angular = m.angular.scaled(trace) - self.k @ m.angular + self.h.cross(m.linear)
        return Force(m.angular.cross(self.h) + m.linear.scaled(self.mass), angular)

    def half_factor_times(self, w: Vector3, trace: Scalar) -> Force:
        """B m / 2, which depends on the angular part of m only; `trace` that of Q."""
        x, y, z = self.q
        qw = x.scaled(w.x) + y.scaled(w.y) + z.scaled(w.z)
        return Force(w.cross(self.p), w.scaled(trace) - qw)

    def transposed_factor_times(self, m: Motion, trace: Scalar) -> Vector3:
        """B^T m / 2, which has no linear part."""
        w = m.angular
        return w.scaled(trace) - Vector3.of(column.dot(w) for column in self.q) + self.p.cross(m.linear)

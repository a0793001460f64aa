"""The Coriolis operator B(I, v) of Singh, Russell and Wensing, without their factor 1/2, of a body or of a
subtree:

    B(I, v) x = v x* I x - I (v x x) + x x* I v

The linear part of the motion x drops out. With v = (u, w), mass m, first moment h and inertia J about the
origin, the angular part y of x gives (y x p, T y): p = 2 (m u + w x h), and by Jacobi's identity of h, u, y

    T y = w x J y - J (w x y) + y x J w + 2 ((h.u) y - (h.y) u)
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.spatial import Force, Motion, Placement, RigidInertia, Vector3
from rbdc.spatial.transforms import Rows
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class BodyCoriolis:
    """B by p and the columns of T, which add up over the bodies of one frame."""

    momentum: Vector3
    columns: Rows

    @staticmethod
    def of_body(inertia: RigidInertia, v: Motion) -> BodyCoriolis:
        """B(I, v) in the frame of both."""
        h, j, u, w = inertia.first_moment, inertia.about_origin, v.linear, v.angular
        spin, level = j @ w, h.dot(u)
        turning = (w.cross(j @ e) - j @ w.cross(e) + e.cross(spin) for e in AXES)
        sliding = (e.scaled(level) - u.scaled(h.dot(e)) for e in AXES)
        x, y, z = (t + s.scaled(2.0) for t, s in zip(turning, sliding, strict=True))
        return BodyCoriolis((inertia @ v).linear.scaled(2.0), (x, y, z))

    def __add__(self, other: BodyCoriolis) -> BodyCoriolis:
        x, y, z = (a + b for a, b in zip(self.columns, other.columns, strict=True))
        return BodyCoriolis(self.momentum + other.momentum, (x, y, z))

    def moved(self, placement: Placement) -> BodyCoriolis:
        """X* B X^-1, in the parent frame: p' = R p, T' = R T R^T + (r.p') 1 - p' r^T."""
        p, r = placement.rotation.apply(self.momentum), placement.translation
        level = r.dot(p)
        x, y, z = (
            column + e.scaled(level) - p.scaled(r.dot(e))
            for column, e in zip(placement.rotation.rotate_matrix(self.columns), AXES, strict=True)
        )
        return BodyCoriolis(p, (x, y, z))

    def apply(self, x: Motion) -> Force:
        """B x."""
        w, (a, b, c) = x.angular, self.columns
        return Force(w.cross(self.momentum), a.scaled(w.x) + b.scaled(w.y) + c.scaled(w.z))

    def apply_transposed(self, y: Motion) -> Force:
        """B^T y, whose linear part vanishes."""
        turned = Vector3.of(column.dot(y.angular) for column in self.columns)
        return Force(Vector3.zero(), self.momentum.cross(y.linear) + turned)

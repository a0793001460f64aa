"""3x3 matrices by rows over abstract scalars, and one that an inertia makes of a motion."""

from __future__ import annotations

from rbdc.spatial import Motion, RigidInertia, Vector3

Square = tuple[Vector3, Vector3, Vector3]
"""A 3x3 matrix by rows."""


def symmetric_part(inertia: RigidInertia, s: Motion) -> Square:
    """L of a motion, [w]J - J[w] + 2 (u.h) 1 - h u^T - u h^T; see `second_order`."""
    u, w, h = s.linear, s.angular, inertia.first_moment
    rows = [Vector3.of(row) for row in inertia.about_origin.rows()]
    g = cross_rows(w, (rows[0], rows[1], rows[2]))
    double = u.dot(h)
    double = double + double
    xx = g[0].x + g[0].x + double - (h.x * u.x + h.x * u.x)
    yy = g[1].y + g[1].y + double - (h.y * u.y + h.y * u.y)
    zz = g[2].z + g[2].z + double - (h.z * u.z + h.z * u.z)
    xy = g[0].y + g[1].x - (h.x * u.y + h.y * u.x)
    xz = g[0].z + g[2].x - (h.x * u.z + h.z * u.x)
    yz = g[1].z + g[2].y - (h.y * u.z + h.z * u.y)
    return (Vector3(xx, xy, xz), Vector3(xy, yy, yz), Vector3(xz, yz, zz))


def cross_rows(w: Vector3, rows: Square) -> Square:
    """[w] A."""
    x, y, z = rows
    return (y.scaled(-w.z) + z.scaled(w.y), x.scaled(w.z) + z.scaled(-w.x), x.scaled(-w.y) + y.scaled(w.x))


def rows_cross(rows: Square, w: Vector3) -> Square:
    """A [w]: each row crossed with w."""
    x, y, z = (row.cross(w) for row in rows)
    return (x, y, z)


def skew(w: Vector3) -> Square:
    """[w]: w x of a vector."""
    return (Vector3(0.0, -w.z, w.y), Vector3(w.z, 0.0, -w.x), Vector3(-w.y, w.x, 0.0))


def sum_of(*matrices: Square) -> Square:
    """The sum."""
    x, y, z = matrices[0]
    for other in matrices[1:]:
        x, y, z = x + other[0], y + other[1], z + other[2]
    return (x, y, z)


def negated(rows: Square) -> Square:
    """-A."""
    return (-rows[0], -rows[1], -rows[2])


def times(rows: Square, x: Vector3) -> Vector3:
    """A x."""
    return Vector3(rows[0].dot(x), rows[1].dot(x), rows[2].dot(x))


def transposed_times(rows: Square, x: Vector3) -> Vector3:
    """A^T x."""
    return rows[0].scaled(x.x) + rows[1].scaled(x.y) + rows[2].scaled(x.z)

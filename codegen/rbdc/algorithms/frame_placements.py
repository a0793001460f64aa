"""Position and placement of a frame, and derivatives of these and of its Jacobian by q, climbing from the
frame to the root.

With the columns s = (v, w) of the Jacobian at the frame's origin along the world's axes, a step of degree of
freedom a moves the frame's origin p by v_a, and turns its axes x by w_a x x. A further step of b carries
along all that is from its joint on:

    L_b L_a p = w_o x v_i        L_b L_a x = w_o x (w_i x x)

where o is the outer of the two, b if its joint is that of a or nearer to the root, and i the other; these are
the iterated derivatives in the tangent space, first by a (Singh et al., eq. 17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rbdc.algorithms.frames import bends_of, express, frame_columns, frame_jacobian
from rbdc.algorithms.kinematics import homogeneous
from rbdc.algorithms.tools.joint_coordinates import dof_table, first_dofs
from rbdc.algorithms.tools.linear import Matrix, transposed, zeros
from rbdc.model import Model
from rbdc.spatial import Motion, Placement, Scalar, Scalars, Vector3

ALIGNED = "LOCAL_WORLD_ALIGNED"


def frame_position(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """The origin of a frame in the world (m)."""
    return _placed(model, q, frame, reference).translation.scalars()


def frame_placement(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """The placement of a frame in the world, the 4x4 matrix [R p; 0 1] row by row (m)."""
    return homogeneous(_placed(model, q, frame, reference))


def frame_position_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """dp/dq (3, nv): the linear rows of the Jacobian at the frame's origin along the world's axes."""
    _placed(model, q, frame, reference)
    return frame_jacobian(model, q, frame, ALIGNED)[:3]


def frame_placement_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """The derivatives by q of the entries of the placement (16, nv), row by row."""
    world, columns = _placed(model, q, frame, reference), transposed(frame_jacobian(model, q, frame, ALIGNED))
    made = [_moved(world, s.linear, s.angular.cross) for s in map(_motion, columns)]
    return transposed(made) if made else [[] for _ in range(16)]


def frame_position_second_derivatives(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> Matrix:
    """L_b L_a p (3 nv, nv): entry a, b of each coordinate."""
    _placed(model, q, frame, reference)
    made = zeros(3 * model.nv, model.nv)
    for a, b, factor, outer, inner in _pairs(model, q, frame):
        _add(made, model.nv, a, b, factor, outer.angular.cross(inner.linear).scalars())
    for a, s in _bends(model, q, frame, ALIGNED):
        _add(made, model.nv, a, a, 1.0, s.linear.scalars())
    return made


def frame_placement_second_derivatives(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> Matrix:
    """L_b L_a of the entries of the placement (16 nv, nv)."""
    world, made = _placed(model, q, frame, reference), zeros(16 * model.nv, model.nv)
    for a, b, factor, outer, inner in _pairs(model, q, frame):
        turned = partial(_turned_twice, outer.angular, inner.angular)
        moved = _moved(world, outer.angular.cross(inner.linear), turned)
        _add(made, model.nv, a, b, factor, moved)
    for a, s in _bends(model, q, frame, ALIGNED):
        _add(made, model.nv, a, a, 1.0, _moved(world, s.linear, s.angular.cross))
    return made


def frame_jacobian_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """dJ/dq (6 nv, nv) of `frame_jacobian`: entry a, b of each row, the derivative of column a along b.

    In WORLD a column moves with the joints that carry its own, by s_b x s_a; in LOCAL the frame moves against
    it with the joints between, by s_a x s_b; in LOCAL_WORLD_ALIGNED each of the two without the other's
    shift.
    """
    made = zeros(6 * model.nv, model.nv)
    for a, b, factor, (s, t), above in _expressed_pairs(model, q, frame, reference):
        if reference == "LOCAL":
            change = Motion.zero() if above else s.cross(t)
        elif reference == "WORLD":
            change = t.cross(s) if above else Motion.zero()
        elif above:
            change = Motion(Vector3.zero(), t.angular).cross(s)
        else:
            change = Motion(s.angular.cross(t.linear), Vector3.zero())
        _add(made, model.nv, a, b, factor, change.scalars())
    for a, s in _bends(model, q, frame, reference):
        _add(made, model.nv, a, a, 1.0, s.scalars())
    return made


def _placed(model: Model, q: Scalars, frame: int, reference: str) -> Placement:
    """The frame in the world. Raises OptionError for a reference that there is not."""
    _, world = frame_columns(model, q, frame)
    express(Motion.zero(), world, reference)
    return world


def _motion(entries: Scalars) -> Motion:
    return Motion(Vector3.of(entries[:3]), Vector3.of(entries[3:]))


def _turned_twice(outer: Vector3, inner: Vector3, x: Vector3) -> Vector3:
    return outer.cross(inner.cross(x))


def _moved(world: Placement, step: Vector3, turned: Callable[[Vector3], Vector3]) -> list[Scalar]:
    """The change of the sixteen entries where the origin moves by a step and each axis as `turned` says."""
    axes = [turned(Vector3.of(axis)).scalars() for axis in transposed(world.rotation.rows())]
    rows = transposed([*axes, step.scalars()])
    return [entry for row in rows for entry in row] + [0.0] * 4


def _expressed_pairs(
    model: Model, q: Scalars, frame: int, reference: str
) -> Iterator[tuple[int, int, Scalar, tuple[Motion, Motion], bool]]:
    """For each pair of degrees of freedom that carry the frame: their entries in v, the product of their
    factors, their columns, and whether the joint of the second is that of the first or nearer to the root.
    """
    columns, world = frame_columns(model, q, frame)
    table, first = dof_table(model), first_dofs(model)
    found = [
        (order, *table[first[index] + k][:2], express(s, world, reference))
        for order, (index, own) in enumerate(columns.items())
        for k, s in enumerate(own)
    ]
    for i, a, f, s in found:
        for j, b, g, t in found:
            yield a, b, f * g, (s, t), j >= i


def _bends(model: Model, q: Scalars, frame: int, reference: str) -> Iterator[tuple[int, Motion]]:
    """The columns of joints that follow others along curves, times curvature, with their entries in v."""
    columns, world = frame_columns(model, q, frame)
    for index, (bend, _) in bends_of(model, columns).items():
        yield model.bodies[index].index_v, express(bend, world, reference)


def _pairs(model: Model, q: Scalars, frame: int) -> Iterator[tuple[int, int, Scalar, Motion, Motion]]:
    """Pairs with the column of the outer joint and that of the inner one."""
    for a, b, factor, (s, t), above in _expressed_pairs(model, q, frame, ALIGNED):
        yield (a, b, factor, t, s) if above else (a, b, factor, s, t)


def _add(made: Matrix, nv: int, a: int, b: int, factor: Scalar, entries: Scalars) -> None:
    for k, entry in enumerate(entries):
        made[nv * k + a][b] = made[nv * k + a][b] + factor * entry

"""Position and placement of a frame, and derivatives of the position, the placement and the Jacobian with
respect to q.

Let s_a = (v_a, w_a) be the column of the Jacobian for degree of freedom a, at the frame's origin along the
world's axes. A step of a moves the frame's origin p by v_a and changes each axis y of the frame by w_a x y.
Let L_a be the derivative along a in the tangent space. The second derivatives, first along a, then along b
(Singh et al., eq. 17), are

    L_b L_a p = w_o x v_i        L_b L_a y = w_o x (w_i x y)

where {o, i} = {a, b}: o is b if b belongs to the joint of a or to an ancestor, otherwise o is a.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from rbdc.algorithms.frames import PathToRoot
from rbdc.algorithms.kinematics import homogeneous
from rbdc.algorithms.tools.joint_coordinates import dof_table, first_dofs
from rbdc.algorithms.tools.linear import Matrix, transposed, zeros
from rbdc.model import Model
from rbdc.spatial import Motion, Placement, Scalar, Scalars, Vector3


def frame_position(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """Return the origin of a frame in the world (m)."""
    return PathToRoot.of(model, q, frame, reference).world.translation.scalars()


def frame_placement(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> list[Scalar]:
    """Return the placement of a frame in the world, the 4x4 matrix [R p; 0 1], row-major (m)."""
    return homogeneous(PathToRoot.of(model, q, frame, reference).world)


def frame_position_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return dp/dq (3, nv): the linear rows of the Jacobian at the origin p of the frame along the world's
    axes.
    """
    climb = _aligned(model, q, frame, reference)
    return climb.matrix(climb.columns)[:3]


def frame_placement_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return the derivatives of the entries of the placement, row-major, with respect to q (16, nv)."""
    climb = _aligned(model, q, frame, reference)
    columns = map(Motion.of, transposed(climb.matrix(climb.columns)))
    rows = [placement_change(climb.world, s) for s in columns]
    return transposed(rows) if rows else [[] for _ in range(16)]


def frame_position_second_derivatives(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> Matrix:
    """Return L_b L_a p (3 * nv, nv), coordinate k in row nv * k + a and column b. These are the linear rows
    of dJ/dq in LOCAL_WORLD_ALIGNED.
    """
    return _jacobian_derivatives(_aligned(model, q, frame, reference))[: 3 * model.nv]


def frame_placement_second_derivatives(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> Matrix:
    """Return L_b L_a of the entries of the placement (16 * nv, nv), entry k in row nv * k + a, column b."""
    climb, tensor = _aligned(model, q, frame, reference), zeros(16 * model.nv, model.nv)
    for a, b, factor, (s, t), above in _pairs(climb):
        outer, inner = (t, s) if above else (s, t)
        _add(tensor, model.nv, a, b, factor, placement_change_twice(climb.world, outer, inner))
    for a, s in climb.bends():
        _add(tensor, model.nv, a, a, 1.0, placement_change(climb.world, s))
    return tensor


def frame_jacobian_derivatives(model: Model, q: Scalars, frame: int, reference: str = "LOCAL") -> Matrix:
    """Return dJ/dq of `frame_jacobian` (6 * nv, nv; the derivative of J[k, a] along b in row nv * k + a,
    column b).

    In WORLD, a step of an ancestor b of a changes column s_a by s_b x s_a. In LOCAL, a step of b between a
    and the frame changes s_a by s_a x s_b, because it moves the frame. In LOCAL_WORLD_ALIGNED, a step of an
    ancestor changes s_a by (0, w_b) x s_a, a step of b between a and the frame by (w_a x v_b, 0).
    """
    return _jacobian_derivatives(PathToRoot.of(model, q, frame, reference))


def _aligned(model: Model, q: Scalars, frame: int, reference: str) -> PathToRoot:
    """Return the path with the reference LOCAL_WORLD_ALIGNED; positions do not depend on the reference."""
    return replace(PathToRoot.of(model, q, frame, reference), reference="LOCAL_WORLD_ALIGNED")


def _jacobian_derivatives(climb: PathToRoot) -> Matrix:
    nv = climb.model.nv
    tensor = zeros(6 * nv, nv)
    for a, b, factor, (s, t), above in _pairs(climb):
        _add(tensor, nv, a, b, factor, column_change(s, t, climb.reference, above=above).scalars())
    for a, s in climb.bends():
        _add(tensor, nv, a, a, 1.0, s.scalars())
    return tensor


def column_change(s: Motion, t: Motion, reference: str, *, above: bool) -> Motion:
    """Return the derivative of the Jacobian's column s along the degree of freedom with the column t; both
    are in the reference. above: whether the joint of t is that of s or an ancestor.
    """
    if reference == "LOCAL":
        return Motion.zero() if above else s.cross(t)
    if reference == "WORLD":
        return t.cross(s) if above else Motion.zero()
    if above:
        return Motion(Vector3.zero(), t.angular).cross(s)
    return Motion(s.angular.cross(t.linear), Vector3.zero())


def placement_change(world: Placement, s: Motion) -> list[Scalar]:
    """Return the change of the sixteen entries of a placement if the frame moves by s, which is given at the
    frame's origin along the world's axes.
    """
    return _moved(world, s.linear, s.angular.cross)


def placement_change_twice(world: Placement, outer: Motion, inner: Motion) -> list[Scalar]:
    """Return the second derivative of the sixteen entries along the steps `outer` (o) and `inner` (i)."""

    def turned(x: Vector3) -> Vector3:
        return outer.angular.cross(inner.angular.cross(x))

    return _moved(world, outer.angular.cross(inner.linear), turned)


def _moved(world: Placement, step: Vector3, turned: Callable[[Vector3], Vector3]) -> list[Scalar]:
    axes = [turned(Vector3.of(axis)).scalars() for axis in transposed(world.rotation.rows())]
    rows = transposed([*axes, step.scalars()])
    return [entry for row in rows for entry in row] + [0.0] * 4


def _pairs(climb: PathToRoot) -> Iterator[tuple[int, int, Scalar, tuple[Motion, Motion], bool]]:
    """Yield, for each pair of degrees of freedom a and b: their indices in v, the product of their
    multipliers, their columns, and whether the joint of b is that of a or an ancestor.
    """
    table, first = dof_table(climb.model), first_dofs(climb.model)
    directions = [
        (order, *table[first[index] + k][:2], climb.expressed(s))
        for order, (index, columns) in enumerate(climb.columns.items())
        for k, s in enumerate(columns)
    ]
    for i, a, f, s in directions:
        for j, b, g, t in directions:
            yield a, b, f * g, (s, t), j >= i


def _add(tensor: Matrix, nv: int, a: int, b: int, factor: Scalar, entries: Scalars) -> None:
    for k, entry in enumerate(entries):
        tensor[nv * k + a][b] = tensor[nv * k + a][b] + factor * entry

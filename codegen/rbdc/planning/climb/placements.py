"""The loops of a frame's position and placement, and of the derivatives by q of position, placement and
Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from rbdc.algorithms.frame_placements import column_change, placement_change, placement_change_twice
from rbdc.algorithms.frames import REFERENCES
from rbdc.algorithms.kinematics import homogeneous
from rbdc.ir.indices import Index, TableEntry, Variable
from rbdc.ir.loops import Loop, Statement, Switch
from rbdc.model import Problem
from rbdc.planning.climb.steps import LENGTH, PathStep, of_joint, once, up
from rbdc.spatial import Motion, Scalars

ALIGNED = "LOCAL_WORLD_ALIGNED"


def position(model: Problem) -> list[Statement]:
    """Return the step of the frame's origin."""
    return [once(model, lambda m: m.write("position", m.world.translation.scalars()))]


def placement(model: Problem) -> list[Statement]:
    """Return the step of the frame's homogeneous matrix (4, 4)."""
    return [once(model, lambda m: m.write("placement", homogeneous(m.world)))]


def position_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of the linear rows of the Jacobian along the world's axes."""

    def column(m: PathStep) -> None:
        m.put("dposition_dq", m.world.rotation.apply(m.column.linear).scalars())

    return [up(of_joint(model, once(model, column)))]


def placement_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of the change of the frame's origin and axes along each column."""

    def column(m: PathStep) -> None:
        m.put("dplacement_dq", placement_change(m.world, m.seen(m.column, ALIGNED)))

    return [up(of_joint(model, once(model, column)))]


def position_second_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of the second derivatives of the frame's origin: w_o x v_i, where o is the degree of
    freedom nearer to the root, i the other one, and (v, w) are LOCAL_WORLD_ALIGNED columns of J.
    """

    def change(m: PathStep, s: Motion, t: Motion, *, above: bool) -> Scalars:
        return column_change(s, t, m.reference, above=above).linear.scalars()

    return _second(model, "d2position_dqdq", ALIGNED, change, lambda m, s: s.linear.scalars())


def placement_second_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of `position_second_derivatives`, and of w_o x (w_i x x) for its axes x."""

    def change(m: PathStep, s: Motion, t: Motion, *, above: bool) -> Scalars:
        return placement_change_twice(m.world, *((t, s) if above else (s, t)))

    def bend(m: PathStep, s: Motion) -> Scalars:
        return placement_change(m.world, s)

    return _second(model, "d2placement_dqdq", ALIGNED, change, bend)


def jacobian_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of the change of each column of J along each degree of freedom."""

    def change(m: PathStep, s: Motion, t: Motion, *, above: bool) -> Scalars:
        return column_change(s, t, m.reference, above=above).scalars()

    cases = [
        (reference, tuple(_second(model, "dJ_dq", reference, change, lambda _, s: s.scalars())))
        for reference in REFERENCES
    ]
    return [Switch(Variable("reference"), tuple(cases))]


class Change(Protocol):
    """The change of a result along two columns, first s, then t. above: whether the joint of t is that of s
    or nearer to the root.
    """

    def __call__(self, m: PathStep, s: Motion, t: Motion, *, above: bool) -> Scalars: ...


def _second(
    model: Problem, matrices: str, reference: str, change: Change, bend: Callable[[PathStep, Motion], Scalars]
) -> list[Statement]:
    array = "columns" if reference == "LOCAL" else "s"

    def column(m: PathStep) -> None:
        m.write("s", m.seen(m.column).scalars(), k=6)

    def bent(m: PathStep) -> None:
        m.put_twice(matrices, bend(m, m.motion(array, k=6)))

    def pairs(about: str, start: Index, stop: Index, *, above: bool) -> Loop:
        def pair(m: PathStep) -> None:
            m.put_pair(matrices, change(m, m.motion(array, k=6), m.motion(array, j=6), above=above))

        inner = of_joint(model, once(model, pair, reference), at=TableEntry("path", Variable("e")), dof="j")
        return up(of_joint(model, Loop("e", start, stop, (inner,))), about=about)

    seen = once(model, column, reference)
    loops = [] if array == "columns" else [up(of_joint(model, seen, seen))]
    if reference != "LOCAL":
        loops.append(
            pairs("pairs of each joint and the joints from it to the root", Variable("i"), LENGTH, above=True)
        )
    if reference != "WORLD":
        loops.append(
            pairs(
                "pairs of each joint and the joints between the frame and it", 0, Variable("i"), above=False
            )
        )
    if model.curves:
        loops.append(up(of_joint(model, None, once(model, bent, reference))))
    return list[Statement](loops)

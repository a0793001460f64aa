"""Terms of world-fixed external forces in the second derivatives of forward dynamics."""

from __future__ import annotations

from rbdc.algorithms.derivatives.world_forces import TurnedForce
from rbdc.ir.loops import Loop, Place
from rbdc.planning.paths.layout import LOAD, TURNED_LOAD, PathLayout
from rbdc.planning.paths.products import R
from rbdc.planning.paths.steps import DofRecorder, once
from rbdc.planning.paths.tables import ABOVE, COUNT, FIRST, D, E, JointIndices, blocks_of
from rbdc.spatial import Force


def loads(layout: PathLayout, sums: Place, qq: str) -> Loop:
    """Return the loop that adds the terms of world-fixed forces to `qq`: acceleration r, by q of d and q of
    each k at or above d.

    A term is the sum of (M^-1)_ri s_k . ((s_d x s_i) x* F_i) over all i in the subtree of d, with the force
    F_i on the subtree of i. sums: place of the sums of `TurnedForce` of joint e.
    """
    n, joints = layout.size, len(layout.joints)

    def turned(m: DofRecorder) -> None:
        forces = TurnedForce.of(m.vectors(TURNED_LOAD, sums))(m.direction(D).s)
        m.put(forces.scalars(), m.rows("load", R))

    def row(m: DofRecorder) -> None:
        entries = [m.direction(FIRST, wide=True).s.dot(Force.of(m.numbers(LOAD, m.rows("load", R))))]
        m.put(entries, Place(qq, ((R, n * n), (D, n), (FIRST, 1)), count=COUNT), adds=True)
        column = ((R, n * n), (FIRST, n), (D, 1))
        m.put(entries, Place(qq, column, lane_stride=n, count=ABOVE), adds=True)

    rows = blocks_of(Loop("r", 0, n, (once(layout, row),)))
    each = Loop("r", 0, layout.columns, (once(layout, turned),), step=layout.lanes)
    return Loop(
        "e", 0, joints, (JointIndices(E).loop(each, rows),), "add the terms of world-fixed external forces"
    )

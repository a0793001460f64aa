"""Loops over the entries of q and v: sines and cosines of joint angles, and forces of drives."""

from __future__ import annotations

from rbdc.algorithms.tools.machine import Index
from rbdc.ir.loops import Clear, Sines
from rbdc.planning.loops.arrays import Where
from rbdc.planning.loops.machine import Loops

ENTRY = Index(Where("at", 0, "at"))
"""The current entry of v in a loop over these entries."""
ALONE = Index(Where("at", 0, "at", counts_all=True))
"""The current entry of v, for arrays in which no rows of contacts precede the entries of v."""


def sines(m: Loops, lanes: int) -> None:
    """Compute the angles of all turning joints, then their sines and cosines, `lanes` side by side."""
    count = len(m.tree.turning)
    if not count:
        return
    statement = Sines("angle", "sine", "cosine", count, lanes)
    if statement.whole > count:
        m.statements.append(Clear("angle", statement.whole))
    for joint in m.over(count, Index(Where("n", 0, "n")), "joint angles"):
        angle = m.result("q")[Index(Where("entry", 0, "entry"))]  # angle of the joint or of its leader
        if m.tree.coupled:
            multiplier, offset = m.read("turning_coupling", 2, n=2)
            angle = multiplier * angle + offset
        m.result("angle")[joint] = angle
    m.statements.append(statement)


def drives(m: Loops, out: str, *, accelerating: bool = False) -> None:
    """Add damping times v, and armature times a if `accelerating`, to the entries of an array."""
    terms = [("damping", "v"), *([("armature", "a")] if accelerating else [])]
    terms = [(table, name) for table, name in terms if any(getattr(m.tree.model, table))]
    for at in m.over(m.tree.nv, ENTRY, "motors and damping") if terms else ():
        m.result(out).add(at, sum(m.result(table)[at] * m.result(name)[at] for table, name in terms))


def diagonal(m: Loops, out: str, table: str) -> None:
    """Add a table of drive constants, such as "armature", to the diagonal of a matrix."""
    for at in m.over(m.tree.nv, ENTRY, table) if any(getattr(m.tree.model, table)) else ():
        m.result(out).add((at, at), m.result(table)[ALONE])

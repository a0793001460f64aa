"""Entries of q and v by themselves: sines and cosines of angles, and forces of drives."""

from __future__ import annotations

from rbdc.ir.loops import Clear, Sines, Statement
from rbdc.planning.loops.recording import StepRecorder, each
from rbdc.planning.loops.tree import Tree


def sines(tree: Tree, lanes: int) -> list[Statement]:
    """The angles of all turning joints, then their sines and cosines, so many side by side."""
    count = len(tree.turning)
    if not count:
        return []
    made = Sines("angle", "sine", "cosine", count, lanes)

    def gather(step: StepRecorder) -> None:
        """The angle of a joint, or of the leader that it follows."""
        angle = step.read("q", 1, entry=1)
        if tree.coupled:
            multiplier, offset = step.read("turning_coupling", 2, n=2)
            angle = [multiplier * angle[0] + offset]
        step.write("angle", angle, n=1)

    clear: list[Statement] = [Clear("angle", made.whole)] if made.whole > count else []
    return [*clear, each("n", count, gather, "joint angles"), made]


def drives(tree: Tree, out: str, *, accelerating: bool = False) -> list[Statement]:
    """Damping times v, and armature times a where joints accelerate, added to the entries of an array."""
    terms = [("damping", "v"), *([("armature", "a")] if accelerating else [])]
    terms = [(table, name) for table, name in terms if any(getattr(tree.model, table))]

    def record(step: StepRecorder) -> None:
        """One entry of v."""
        products = [step.read(table, 1, at=1)[0] * step.read(name, 1, at=1)[0] for table, name in terms]
        step.add(out, [sum(products)], at=1)

    return [each("at", tree.nv, record, "motors and damping")] if terms else []


def diagonal(tree: Tree, out: str, table: str) -> list[Statement]:
    """A table of the drives along a diagonal."""

    def record(step: StepRecorder) -> None:
        step.add(out, step.read(table, 1, at=1), at=tree.nv + 1)

    return [each("at", tree.nv, record, table)] if any(getattr(tree.model, table)) else []

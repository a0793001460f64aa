"""Branches of a tree: Zhakatayev, Rogovchenko and Paetzold (2023), section 2."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.model import Model


@dataclass(frozen=True)
class Branches:
    """The topology of a tree by its joints, and by its branches.

    A branch is a longest run of joints each of which but the last carries one other. Joints and branches are
    numbered from 1, 0 is the world. joint_parents: the second column of the joint parent matrix Upsilon, the
    parent of each joint. parents: the second column of the branch parent matrix Phi, the parent of each
    branch. joints: the joint-branch connectivity matrix Psi, the first and the last joint of each branch.
    """

    joint_parents: tuple[int, ...]
    parents: tuple[int, ...]
    joints: tuple[tuple[int, int], ...]

    def children(self, branch: int) -> list[int]:
        """The branches that branch (from 1; 0 for the world) carries."""
        return [k for k, parent in enumerate(self.parents, 1) if parent == branch]


def branches_of(model: Model) -> Branches:
    """The branches of a model, in the order of its joints, which is depth first."""
    joint_parents = tuple(body.parent + 1 for body in model.bodies)
    starts = [
        i
        for i, parent in enumerate(joint_parents, 1)
        if parent == 0 or joint_parents.count(parent) > 1 or parent != i - 1
    ]
    ends = [start - 1 for start in starts[1:]] + [model.njoints]
    branch_of_end = {0: 0, **{end: k for k, end in enumerate(ends, 1)}}
    parents = tuple(branch_of_end[joint_parents[start - 1]] for start in starts)
    return Branches(joint_parents, parents, tuple(zip(starts, ends, strict=True)))

"""The tree as its degrees of freedom lie along the paths from the root."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.scalar_types import ScalarType
from rbdc.model import WORLD, Model

BYTES = 32
"""Bytes of a vector: half of the longest registers wastes fewer lanes on paths of a few degrees of freedom,
and processors that compute with the longest ones in two halves take no longer.
"""


@dataclass(frozen=True)
class JointOnPath:
    """A joint: its first degree of freedom, how many come before it on its path, and how many it has.

    above: the number of the joint above, of a root its own. end: the first degree of freedom after all
    that it carries.
    """

    dof: int
    position: int
    size: int
    above: int = 0
    end: int = 0


@dataclass(frozen=True)
class Layout:
    """Sizes of the arrays of a model: degrees of freedom, those on the longest path, how many
    fill a vector. free: the tree hangs on one free body, in whose frame all is."""

    joints: tuple[JointOnPath, ...]
    size: int
    longest: int
    lanes: int
    free: bool

    @property
    def pitch(self) -> int:
        """From one row of quantities along a path to the next: a vector may begin at any of them."""
        return -(-(self.longest + self.lanes - 1) // self.lanes) * self.lanes

    @property
    def columns(self) -> int:
        """From one row of operators to the next."""
        return -(-self.size // self.lanes) * self.lanes

    @property
    def root(self) -> int:
        """Degrees of freedom of a free root that stand apart."""
        return 6 if self.free else 0

    @property
    def root_parts(self) -> tuple[tuple[int, int], ...]:
        """Blocks of the degrees of freedom of a free root: the first, and how many."""
        return tuple((k, min(self.lanes, self.root - k)) for k in range(0, self.root, self.lanes))

    @property
    def pairs(self) -> bool:
        """Whether a joint has several degrees of freedom."""
        return any(joint.size > 1 for joint in self.joints)

    @property
    def widest(self) -> int:
        """The most degrees of freedom of a joint, but for a free root, which stands apart."""
        return max((joint.size for joint in self.joints if joint.position >= self.root), default=1)

    @property
    def several(self) -> bool:
        """Whether a joint has several."""
        return self.widest > 1

    @property
    def same(self) -> bool:
        """Whether two directions of one joint, or of a root, stand apart in forward dynamics."""
        return self.several or not self.free


def layout(model: Model, scalar: ScalarType) -> Layout:
    """The layout of a model whose joints are not coupled."""
    joints: list[JointOnPath] = []
    ends = [body.index_v + body.joint.nv for body in model.bodies]
    for index, body in reversed(list(enumerate(model.bodies))):
        if body.parent != WORLD:
            ends[body.parent] = max(ends[body.parent], ends[index])
    for index, body in enumerate(model.bodies):
        top = body.parent == WORLD
        position = 0 if top else joints[body.parent].position + joints[body.parent].size
        above = index if top else body.parent
        joints.append(JointOnPath(body.index_v, position, body.joint.nv, above, ends[index]))
    longest = max(joint.position + joint.size for joint in joints)
    free = len(model.children(WORLD)) == 1 and model.bodies[0].joint.free
    return Layout(tuple(joints), model.nv, longest, BYTES // scalar.size, free)

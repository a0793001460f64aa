"""The degrees of freedom of a model one by one, as kernels along paths go over them.

A joint with several degrees of freedom is a chain of nodes in one lane, each about or along one of its axes,
which are fixed in the body: all stand where the body stands, the last one is the body. What differs from a
chain of joints is that v x s and the like have the velocity of what carries the joint in psidot, that of the
body in the derivative of s.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.model import WORLD, Model
from rbdc.model.joints import JointType
from rbdc.spatial import Rotation


@dataclass(frozen=True)
class Node:
    """A degree of freedom: that of number `part` of the joint of a body; a free root is one node.

    parent: the node that carries it, WORLD for none. carrier: what carries the joint. first, last: the nodes
    of the joint.
    """

    body: int
    part: int
    parent: int
    carrier: int
    first: int
    last: int

    @property
    def alone(self) -> bool:
        """Whether the joint has no other."""
        return self.first == self.last


def nodes_of(model: Model) -> tuple[Node, ...]:
    """The nodes in the order of the degrees of freedom; of joints with one they are the bodies."""
    nodes: list[Node] = []
    last = {WORLD: WORLD}
    for index, body in enumerate(model.bodies):
        first, carrier = len(nodes), last[body.parent]
        count = 1 if index == 0 and is_free_root(model) else body.joint.nv
        last[index] = first + count - 1
        for part in range(count):
            parent = carrier if part == 0 else len(nodes) - 1
            nodes.append(Node(index, part, parent, carrier, first, last[index]))
    return tuple(nodes)


def is_free_root(model: Model) -> bool:
    """Whether the first body moves in the world with six degrees of freedom."""
    return model.bodies[0].joint.free and model.bodies[0].parent == WORLD


def turning_and_sliding(joint: JointType, part: int) -> tuple[float, float]:
    """1 for the one and 0 for the other of being about and along an axis."""
    if joint.nv == 1:
        return (1.0, 0.0) if joint.rotation == "angle" else (0.0, 1.0)
    linear = joint.subspace()[part].linear.scalars()
    return (0.0, 1.0) if any(x != 0.0 for x in linear) else (1.0, 0.0)


def frame_of(joint: JointType, part: int) -> Rotation:
    """The axes of a node's frame in that of its body, z that of the degree of freedom."""
    if joint.nv == 1:
        return Rotation.identity()
    column = joint.subspace()[part]
    _, slides = turning_and_sliding(joint, part)
    return Rotation.from_z_to(column.linear if slides else column.angular)

"""Layout of degrees of freedom on the paths of the tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import WORLD, Problem

STATE = 52
"""Number of rows that straight-line code computes, with a column for each degree of freedom
(`rbdc.algorithms.derivatives.second_order.path_quantities`), without the rows of a world-fixed force.
"""
OPERATORS = 39
"""Number of rows of operators: (f, n) = I s (6), L (6), b (3), p' (3) and N' (9) of A3, fq (6), fv (6)."""
LOAD, TURNED_LOAD = 6, 18
"""Numbers of further rows with world-fixed forces: the force in `state`, its `TurnedForce` in `op`."""
BYTES = 32
"""Bytes of a vector: half of the longest registers. Paths of a few degrees of freedom then waste fewer lanes,
and processors that split the longest registers into two halves take no longer.
"""


@dataclass(frozen=True)
class JointOnPath:
    """A joint on a path.

    dof: its first degree of freedom.
    position: number of degrees of freedom before it on its path.
    size: number of its degrees of freedom.
    above: index of its parent joint; a root has its own index.
    end: first degree of freedom after its subtree.
    """

    dof: int
    position: int
    size: int
    above: int
    end: int


@dataclass(frozen=True)
class PathLayout:
    """Joints and degrees of freedom.

    joints: all joints.
    size: number of degrees of freedom.
    lanes: number of degrees of freedom in a vector.
    free: whether one free root carries all other joints; it is then treated separately.
    loaded: whether external forces are world-fixed.
    """

    joints: tuple[JointOnPath, ...]
    size: int
    lanes: int
    free: bool
    loaded: bool = False

    @property
    def state(self) -> int:
        """Number of rows of `state`, which straight-line code fills."""
        return STATE + LOAD * self.loaded

    @property
    def operators(self) -> int:
        """Number of rows of `op`, the operators."""
        return OPERATORS + TURNED_LOAD * self.loaded

    @property
    def pitch(self) -> int:
        """Distance between rows of quantities along a path; a vector may begin at any entry of a row."""
        longest = max(joint.position + joint.size for joint in self.joints)
        return -(-(longest + self.lanes - 1) // self.lanes) * self.lanes

    @property
    def columns(self) -> int:
        """Number of degrees of freedom, rounded up to whole vectors."""
        return -(-self.size // self.lanes) * self.lanes

    @property
    def root(self) -> int:
        """Number of degrees of freedom of a free root: 6 or 0."""
        return 6 if self.free else 0

    @property
    def root_parts(self) -> tuple[tuple[int, int], ...]:
        """Blocks of a free root: first degree of freedom, and number of degrees of freedom, of each."""
        return tuple((k, min(self.lanes, self.root - k)) for k in range(0, self.root, self.lanes))

    @property
    def pairs(self) -> bool:
        """Whether any joint has several degrees of freedom."""
        return any(joint.size > 1 for joint in self.joints)

    @property
    def widest(self) -> int:
        """Largest number of degrees of freedom of a joint other than a free root."""
        return max((joint.size for joint in self.joints if joint.position >= self.root), default=1)

    @property
    def several(self) -> bool:
        """Whether any joint other than a free root has several degrees of freedom."""
        return self.widest > 1

    @property
    def same(self) -> bool:
        """Whether pairs of directions of one joint, or of a root, have extra terms in forward dynamics."""
        return self.several or not self.free


def layout_of(model: Problem, scalar: ScalarType) -> PathLayout:
    """Return the layout of a model whose joints are not coupled."""
    joints, paths = list[JointOnPath](), [model.support(index) for index in range(model.njoints)]
    for index, (body, (*above, _)) in enumerate(zip(model.bodies, paths, strict=True)):
        position = sum(model.bodies[k].joint.nv for k in above)
        end = max(model.v_slice(k).stop for k, path in enumerate(paths) if index in path)
        parent = above[-1] if above else index
        joints.append(JointOnPath(body.index_v, position, body.joint.nv, parent, end))
    free = len(model.children(WORLD)) == 1 and model.bodies[0].joint.free
    return PathLayout(tuple(joints), model.nv, BYTES // scalar.size, free, model.world_forces)


def preparation(declaration: FunctionDeclaration, model: Problem) -> FunctionDeclaration:
    """Return the declaration of the straight-line code before the loops. All functions share this code: its
    input is accelerations, even if the function takes torques.
    """
    acceleration = Parameter("a", (model.nv,), "", Kind.ACCELERATION)
    inputs_of_call = (p for p in declaration.inputs if p.kind is not Kind.WEIGHTS)
    inputs = tuple(acceleration if p.kind is Kind.FORCE else p for p in inputs_of_call)
    return replace(
        declaration,
        name="paths_start",
        summary="Quantities of each degree of freedom for the loops of second derivatives.",
        inputs=inputs,
        outputs=(Parameter("state", (layout_of(model, declaration.scalar).state, model.nv), ""),),
    )

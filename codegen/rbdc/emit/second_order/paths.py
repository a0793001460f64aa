"""The tree as its degrees of freedom lie along the paths from the root, and what the shared header of
such functions has of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.emit.c.lanes import lane_functions
from rbdc.emit.render import render
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.lanes import LaneProgram
from rbdc.model import WORLD, Model

BYTES = 32
"""Bytes of a vector: half of the longest registers wastes fewer lanes on paths of a few degrees of freedom,
and processors that compute with the longest ones in two halves take no longer.
"""
STATE = 52
"""Rows of what straight-line code gives for each degree of freedom
(`rbdc.algorithms.derivatives.second_order.path_quantities`).
"""
OPERATORS = 39
"""Rows of what is made of that."""


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
class Part:
    """Some degrees of freedom side by side."""

    begin: int
    count: int


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
    def products(self) -> int:
        """Columns of what does not vanish with the motion of a free root, in whole vectors."""
        return -(-max(self.size - self.root, 1) // self.lanes) * self.lanes

    @property
    def root_parts(self) -> tuple[Part, ...]:
        """Rows in blocks."""
        return tuple(Part(k, min(self.lanes, self.root - k)) for k in range(0, self.root, self.lanes))

    @property
    def several(self) -> bool:
        """Whether a joint has several degrees of freedom, but for a free root, which stands apart."""
        return any(joint.size > 1 and joint.position >= self.root for joint in self.joints)

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
    longest, roots = max(joint.position + joint.size for joint in joints), model.children(WORLD)
    free = len(roots) == 1 and model.bodies[roots[0]].joint.free
    return Layout(tuple(joints), model.nv, longest, BYTES // scalar.size, free)


def header_name(robot: str) -> str:
    """The shared header."""
    return f"{robot}_paths.h"


@dataclass(frozen=True)
class PutView:
    """A function that stores the first lanes of a vector, or adds them: the statement for whole vectors where
    they lie one after the other, and one for each lane.
    """

    name: str
    comment: str
    whole: str
    lanes: list[str]


def _puts(lanes: int) -> list[PutView]:
    made = []
    for added, sign in (("", "="), ("_added", "+=")):
        words = "the first `count` lanes" + (", added" if added else "")
        each = [f"if (count > {k}) to[{k}{{}}] {sign} (*v)[{k}]" for k in range(lanes)]
        row, column = ([line.format(pitch) for line in each] for pitch in ("", " * N"))
        made.append(PutView(f"put{added}", f"{words}, to consecutive numbers", f"*(any *)to {sign} *v", row))
        made.append(PutView(f"put{added}_column", f"{words}, one below the other in a matrix", "", column))
    return made


def view(robot: str, made: Layout, scalar: ScalarType, version: str) -> dict[str, Any]:
    """The words of all templates along paths."""
    return {
        "robot": robot,
        "version": version,
        "lanes": made.lanes,
        "free": made.free,
        "root": made.root,
        "root_parts": made.root_parts,
        "root_blocks": len(made.root_parts),
        "all": tuple(range(made.lanes)),
        "inlined": "static inline __attribute__((always_inline))",
        **{word: scalar.literal(number) for word, number in _LITERALS.items()},
        **scalar.words,
    }


_LITERALS: Mapping[str, float] = {"zero": 0.0, "one": 1.0, "two": 2.0, "half": 0.5}


@dataclass(frozen=True)
class Drives:
    """Terms that drives add to M and to the derivatives by v and q, for each degree of freedom, as numbers in
    C.
    """

    armature: str
    damping: str
    stiffness: str


def first_words(made: Layout, model: Model, scalar: ScalarType) -> dict[str, Any]:
    """The words of the template of first derivatives: the degree of freedom before each on its path, the
    first one after all that it carries, and the drives where there are any.
    """
    before: list[int] = []
    last = [joint.dof + joint.size - 1 for joint in made.joints]
    for index, joint in enumerate(made.joints):
        above = made.size if joint.above == index else last[joint.above]
        before += [above, *range(joint.dof, joint.dof + joint.size - 1)]
    drives = None
    terms = (model.armature, model.damping, model.stiffness)
    if any(map(any, terms)):
        drives = Drives(*(", ".join(map(scalar.literal, x)) for x in terms))
    after = [joint.end for joint in made.joints for _ in range(joint.size)]
    return {
        "row": 3 * made.columns,
        "before": ", ".join(map(str, before)),
        "after": ", ".join(map(str, after)),
        "tile": (0, 1, 2, 3),
        "partial_tile": (1, 2, 3),
        "drives": drives,
    }


def header(robot: str, made: Layout, scalar: ScalarType, version: str, bodies: Sequence[LaneProgram]) -> str:
    """The text of the shared header."""
    return render(
        "paths.h.jinja",
        **view(robot, made, scalar, version),
        n=made.size,
        nn=made.size**2,
        joint_count=len(made.joints),
        joints=made.joints,
        pitch=made.pitch,
        columns=made.columns,
        state=STATE,
        operators=OPERATORS,
        puts=_puts(made.lanes),
        lane_functions=lane_functions(bodies, scalar),
    )

"""A model as the tables that rolled functions loop over: frames turned along the joints' axes, paths from the
root to each axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.joint_coordinates import dof_table, first_dofs
from rbdc.model import WORLD, Model
from rbdc.model.joints import JOINT_TYPES, JointType
from rbdc.spatial import Placement, RigidInertia, Vector3


@dataclass(frozen=True)
class Paths:
    """For each of some numbers those above it, from the root, then itself: the first `depth` + 1 of `entries`
    from `start` on.

    One list per leaf is enough: what lies above a number is where the list of any leaf below it begins. What
    lies below a number comes after it and before `end`.
    """

    depth: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]
    entries: tuple[int, ...]

    @staticmethod
    def of_parents(parents: Sequence[int]) -> Paths:
        """From the parent of each number, smaller than itself; -1 for a root."""
        depth, start, entries = [0] * len(parents), [-1] * len(parents), list[int]()
        for number, parent in enumerate(parents):
            depth[number] = 0 if parent < 0 else depth[parent] + 1
        for leaf in reversed(range(len(parents))):
            if start[leaf] >= 0:
                continue
            chain = [leaf]
            while parents[chain[-1]] >= 0:
                chain.append(parents[chain[-1]])
            for number in chain:
                start[number] = start[number] if start[number] >= 0 else len(entries)
            entries += reversed(chain)
        end = [number + 1 for number in range(len(parents))]
        for number in reversed(range(len(parents))):
            if parents[number] >= 0:
                end[parents[number]] = max(end[parents[number]], end[number])
        return Paths(tuple(depth), tuple(start), tuple(end), tuple(entries))

    def above(self, number: int) -> tuple[int, ...]:
        """The numbers above this one, from the root."""
        return self.entries[self.start[number] : self.start[number] + self.depth[number]]


@dataclass(frozen=True)
class RolledBody:
    """One body in its turned frame: a revolute joint turns about z, a prismatic one moves along z, a planar
    one in x and y.

    `turn` places the described frame of the joint in the turned one.
    """

    placement: Placement
    inertia: RigidInertia
    turn: Placement


@dataclass(frozen=True)
class RolledModel:
    """A model with all that its tables hold beside it.

    `paths` are over the degrees of freedom of all joints, `rows` over the entries of v: what elimination
    fills of each row of M.
    """

    model: Model
    bodies: tuple[RolledBody, ...]
    paths: Paths
    rows: Paths

    @property
    def joint_types(self) -> tuple[type[JointType], ...]:
        """The types of joint that the model has, those of `JOINT_TYPES` first and in their order."""
        found = dict.fromkeys(type(body.joint) for body in self.model.bodies)
        others = (own for own in found if own not in JOINT_TYPES)
        return (*(own for own in JOINT_TYPES if own in found), *others)

    @property
    def turned(self) -> bool:
        """Whether any frame is not as described."""
        return any(body.turn != Placement.identity() for body in self.bodies)


def rolled_model(model: Model) -> RolledModel:
    """The tables of a model."""
    rotations = [body.joint.rolled_frame() for body in model.bodies]
    bodies = []
    for body, rotation in zip(model.bodies, rotations, strict=True):
        back = Placement(rotation.transposed(), Vector3.zero())
        placement = body.placement.compose(Placement(rotation, Vector3.zero()))
        if body.parent != WORLD:
            placement = Placement(rotations[body.parent].transposed(), Vector3.zero()).compose(placement)
        bodies.append(RolledBody(placement, body.inertia.moved(back), back))
    paths = Paths.of_parents(_dof_parents(model))
    return RolledModel(model, tuple(bodies), paths, Paths.of_parents(_elimination_parents(model, paths)))


def _dof_parents(model: Model) -> list[int]:
    """The degree of freedom that carries each: the one before it in the same joint, or the last of the
    parent's joint.
    """
    starts, parents = first_dofs(model), list[int]()
    for body in model.bodies:
        above = -1 if body.parent == WORLD else starts[body.parent] + model.bodies[body.parent].joint.nv - 1
        parents += [above, *range(len(parents), len(parents) + body.joint.nv - 1)]
    return parents


def _elimination_parents(model: Model, paths: Paths) -> list[int]:
    """The elimination tree of M over v: eliminating a row fills among all that it couples; the tree itself
    where nothing is coupled.
    """
    columns = [column for column, _, _ in dof_table(model)]
    couples: list[set[int]] = [set() for _ in range(model.nv)]
    for number, column in enumerate(columns):
        for other in (columns[k] for k in paths.above(number)):
            if other != column:
                couples[max(column, other)].add(min(column, other))
    parents = [-1] * model.nv
    for row in reversed(range(model.nv)):
        if couples[row]:
            parents[row] = max(couples[row])
            couples[parents[row]] |= couples[row] - {parents[row]}
    return parents

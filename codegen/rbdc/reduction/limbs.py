"""Limbs: isomorphic sibling subtrees, whose recursions can run side by side in the lanes of one vector.

Subtrees are isomorphic if their trees have the same shape and joints of the same kinds. Four isomorphic
siblings form a group of four lanes, two siblings a group of two. Groups can be nested: two arms with two
fingers each take four lanes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rbdc.model.joint_space import JointSpaceBody
from rbdc.model.tree import Model
from rbdc.spatial import MomentInertia, Scalar, Vector3
from rbdc.spatial.axis_rotations import AxisRotation

LANES = (4, 2)
"""Sizes of groups, larger first. A group and the groups within it take at most four lanes together. With
registers of four doubles (AVX2), gcc's code for eight lanes takes up to twice the time of its code for four
lanes; with registers of eight doubles, it takes up to a seventh less.
"""

Signature = tuple[object, ...]


@dataclass(frozen=True)
class LimbGroup:
    """Isomorphic limbs.

    limbs: limbs[m] lists the bodies of limb m from its root on; limbs[m][k] corresponds to limbs[0][k].
    nested: groups within the first limb; the other limbs have the corresponding groups.
    """

    limbs: tuple[tuple[int, ...], ...]
    nested: tuple[LimbGroup, ...] = ()

    def lanes(self) -> list[tuple[int, ...]]:
        """Return tuples of corresponding bodies, one body per lane, from the limbs' roots on. For fingers on
        arms, a tuple lists finger 1 of all arms first.
        """
        alike = dict(zip(self.limbs[0], zip(*self.limbs, strict=True), strict=True))
        inner = [bodies for group in self.nested for bodies in group.lanes()]
        alone = set(alike).difference(*inner)
        return [
            tuple(body for k in bodies for body in alike[k])
            for bodies in sorted([*((k,) for k in alone), *inner])
        ]

    def steps(self) -> list[dict[int, int]]:
        """Return permutations {body: body} whose composition maps each lane to the next one. The first maps
        each limb to the next one, the last limb to the first. The others permute limbs nested in the first.
        """
        following = zip(self.limbs, (*self.limbs[1:], self.limbs[0]), strict=True)
        step = {here: there for pair in following for here, there in zip(*pair, strict=True)}
        return [step, *united(group.steps() for group in self.nested)]


def united(groups: Iterable[list[dict[int, int]]]) -> list[dict[int, int]]:
    """Return the `steps` of several groups, with the k-th permutations of all groups united."""
    return [
        {k: n for step in same for k, n in step.items()}
        for same in itertools.zip_longest(*groups, fillvalue={})
    ]


def groups(model: Model) -> list[LimbGroup]:
    """Return the groups of the model, from the root on. Groups within limbs are not listed, but `nested`. All
    joints of a limb have one degree of freedom and no coupling.
    """
    signatures: dict[int, Signature | None] = {}
    for index in reversed(range(model.njoints)):
        signatures[index] = _signature(model, index, signatures)
    return _groups(model, signatures, range(-1, model.njoints), LANES)


def _groups(
    model: Model,
    signatures: Mapping[int, Signature | None],
    bodies: Iterable[int],
    sizes: Sequence[int],
    *,
    within: bool = False,
) -> list[LimbGroup]:
    """Return the groups of subtrees that hang at `bodies`. sizes: possible numbers of limbs in a group. A
    limb has at least two bodies, except `within` other limbs, whose bodies are in lanes anyway.
    """
    result: list[LimbGroup] = []
    used: set[int] = set()
    for parent in bodies:
        if parent in used:
            used.update(model.children(parent))
            continue
        alike: dict[Signature, list[int]] = {}
        for child in model.children(parent):
            signature = signatures[child]
            if signature is not None and (within or len(signature) > 1):
                alike.setdefault(signature, []).append(child)
        for siblings in alike.values():
            for size in sizes:
                while len(siblings) >= size and (within or len(siblings) % size == 0):
                    limbs = tuple(tuple(_bodies(model, root, signatures)) for root in siblings[:size])
                    room = [n for n in sizes if n * size <= sizes[0]]
                    inner = _groups(model, signatures, limbs[0], room, within=True)
                    result.append(LimbGroup(limbs, tuple(inner)))
                    used.update(siblings[:size])
                    siblings = siblings[size:]
    return result


def _signature(model: Model, index: int, known: Mapping[int, Signature | None]) -> Signature | None:
    """Return the kind of the joint and the sorted signatures of the children; None if a joint of the subtree
    cannot run in a lane.
    """
    body = model.bodies[index]
    children = [known[child] for child in model.children(index)]
    if body.coupling is not None or not body.joint.in_lanes or None in children:
        return None
    return (body.joint.kind, *sorted(children, key=repr))


def _bodies(model: Model, root: int, signatures: Mapping[int, Signature | None]) -> list[int]:
    result = [root]
    for child in sorted(model.children(root), key=lambda c: repr(signatures[c])):
        result += _bodies(model, child, signatures)
    return result


THETA = 4
"""Index of theta among `constants`."""


def constants(body: JointSpaceBody) -> list[Scalar]:
    """Return everything that distinguishes corresponding bodies of limbs: cos gamma, sin gamma, cos alpha,
    sin alpha and theta of the rotation Rz(gamma) Rx(alpha) Rz(theta) in the parent's frame, the origin in
    this frame (m), mass, first and second moments (kg, kg m, kg m^2).
    """
    turns = [body.gamma.c, body.gamma.s, body.alpha.c, body.alpha.s, body.theta]
    return [*turns, *body.placement.translation.scalars(), *body.inertia.scalars()]


def with_constants(body: JointSpaceBody, numbers: Sequence[Scalar]) -> JointSpaceBody:
    """Return the body with its `constants` replaced."""
    return replace(
        body,
        gamma=AxisRotation("z", *numbers[:2]),
        alpha=AxisRotation("x", *numbers[2:THETA]),
        theta=numbers[THETA],
        placement=replace(body.placement, translation=Vector3.of(numbers[THETA + 1 : THETA + 4])),
        inertia=MomentInertia.of(numbers[THETA + 4 :]),
    )

"""The display of a model by `rbdc info`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.text import Text
from rich.tree import Tree

from rbdc.algorithms.momentum import total_mass
from rbdc.analysis.mobility import mobility
from rbdc.analysis.tables import Table, console, show_table, tell
from rbdc.model import WORLD, Body, Frame, Model
from rbdc.model.contacts import row_slices
from rbdc.model.notes import warnings_of
from rbdc.model.xml import shown
from rbdc.planning.pass_statistics import Stage

_DRIVE = ("damping", "friction", "armature", "stiffness", "spring_rest")
"""The numbers of a joint's drive."""


def as_data(model: Model) -> dict[str, Any]:
    """The model as plain data: sizes, joints, frames, masses, warnings."""
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": total_mass(model),
        "moving_mass": total_mass(model, with_base=False),
        "gravity": model.gravity.scalars(),
        "joints": [_joint(model, body) for body in model.bodies],
        "frames": [
            {"name": f.name, "body": None if f.body == WORLD else model.bodies[f.body].name}
            for f in model.frames
        ],
        **({"contacts": _contacts(model), **asdict(mobility(model))} if model.contacts else {}),
        "warnings": warnings_of(model),
    }


def _contacts(model: Model) -> list[dict[str, Any]]:
    rows = row_slices(model)
    return [
        {
            "name": contact.name,
            "kind": contact.kind.value,
            "links": [frame.name for frame in (contact.first, contact.second) if frame is not None],
            "rows": [rows[contact.name].start, rows[contact.name].stop],
        }
        for contact in model.contacts
    ]


def show_contacts(model: Model) -> None:
    """Show the contacts and loops on the terminal, and the ways to move that they leave."""
    rows = []
    for row in _contacts(model):
        one, two = [*row["links"], "the world"][:2]
        start, stop = row["rows"]
        rows.append([*map(shown, (row["name"], row["kind"], one, two)), _place(start, stop - start)])
    head = ("contact", "kind", "link", "held to", "rows")
    show_table(Table("", head, rows, words=head))
    found = mobility(model)
    tell(
        [
            f"{found.rows} rows of contacts, {found.rank} of them independent; "
            f"{found.freedoms} of {model.nv} degrees of freedom are left"
        ]
    )


def _joint(model: Model, body: Body) -> dict[str, Any]:
    follow = body.coupling
    looped = any(body is model.bodies[k] for cluster in model.clusters for k in cluster.followers)
    law = [] if follow is None or looped else [follow.multiplier, follow.offset, *follow.higher]
    return {
        "name": body.joint_name,
        "kind": body.joint.kind,
        "link": body.name,
        "parent": None if body.parent == WORLD else model.bodies[body.parent].name,
        "q": [body.index_q, body.joint.nq],
        "v": [body.index_v, body.joint.nv],
        **{name: x if math.isfinite(x) else None for name, x in asdict(body.limits).items()},
        **{name: getattr(body, name) for name in _DRIVE},
        "mass": body.inertia.mass,
        "follows": None if follow is None else [model.bodies[follow.leader].joint_name, *law],
    }


def show(model: Model) -> None:
    """The tree of links and a table of the joints on the terminal."""
    tell(
        [
            f"{shown(model.name)}: nq {model.nq}, nv {model.nv}, {model.njoints} moving bodies, "
            f"{len(model.frames)} frames, "
            f"{total_mass(model):.6g} kg, of which {total_mass(model, with_base=False):.6g} kg move"
        ]
    )
    console().print(_tree(model))
    rows = []
    for body in model.bodies:
        limits, kind = body.limits, body.joint.kind
        if body.coupling is not None:
            kind = f"follows {shown(model.bodies[body.coupling.leader].joint_name)}"
        numbers = (limits.lower, limits.upper, limits.velocity, limits.effort, body.inertia.mass)
        places = [_place(body.index_q, body.joint.nq), _place(body.index_v, body.joint.nv)]
        names = [shown(body.joint_name), kind, shown(body.name)]
        rows.append([*names, *places, *(f"{x:.5g}" for x in numbers)])
    head = ("joint", "kind", "link", "q", "v", "lower", "upper", "velocity", "effort", "mass (kg)")
    show_table(Table("", head, rows, words=head))


def show_passes(stages: Sequence[Stage], limbs: Sequence[Sequence[str]]) -> None:
    """Show what each model pass saves of the operations of joint-space functions, and the limbs that run side
    by side.
    """
    head, rows, before = ["pass", "what it does"], [], stages[0].operations
    for name in before:
        head += [name, "saved"]
    for stage in stages:
        cells = [cell for name, n in stage.operations.items() for cell in (str(n), _saved(before[name], n))]
        rows.append([stage.name, stage.meaning, *cells])
        before = stage.operations
    show_table(Table("operations after each pass", head, rows, words=head[:2]))
    tell(
        f"in {len(names)} lanes: the limbs that begin with {', '.join(shown(name) for name in names)}"
        for names in limbs
    )
    if not limbs:
        tell(["no limbs are alike: nothing runs in lanes"])


@dataclass(frozen=True)
class Branches:
    """The topology of a tree by its joints, and by its branches, as Zhakatayev, Rogovchenko and Paetzold have
    it (2023, section 2).

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


def show_branches(model: Model) -> None:
    """Show the branches of the tree: the branch parent matrix Phi and the joint-branch connectivity matrix
    Psi of Zhakatayev, Rogovchenko and Paetzold, joints and branches from 1, the world 0.
    """
    branches, rows = branches_of(model), []
    for k, (parent, (first, last)) in enumerate(zip(branches.parents, branches.joints, strict=True), 1):
        ends = dict.fromkeys(shown(model.bodies[i - 1].joint_name) for i in (first, last))
        rows.append([*map(str, (k, parent, first, last)), " ... ".join(ends)])
    head = ("branch", "parent branch", "first joint", "last joint", "names")
    show_table(Table("", head, rows, words=head))


def _saved(before: int, after: int) -> str:
    return "" if before == after else f"{100.0 * (before - after) / max(before, 1):.1f} %"


def _place(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start}..{start + size - 1}"


def _tree(model: Model) -> Tree:
    """Bodies with the links fixed to them."""
    fixed: dict[int, list[Frame]] = {}
    for frame in model.frames:
        if frame.body == WORLD or frame.name != model.bodies[frame.body].name:
            fixed.setdefault(frame.body, []).append(frame)

    def title(index: int, text: str) -> Text:
        names = [shown(frame.name) for frame in fixed.get(index, [])]
        return Text(text + (f"  [with {', '.join(names)}]" if names else ""))

    root = Tree(title(WORLD, "world"))
    nodes = {WORLD: root}
    for index, body in enumerate(model.bodies):
        label = f"{shown(body.name)} ({shown(body.joint_name)}, {body.joint.kind})"
        nodes[index] = nodes[body.parent].add(title(index, label))
    return root

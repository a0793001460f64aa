"""A model as plain data, and its display by `rbdc info`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

from rich.cells import cell_len
from rich.text import Text
from rich.tree import Tree

from rbdc.analysis.pages import Cell, Table, console, figure, show
from rbdc.model import WORLD, Body, Problem
from rbdc.model.contacts import row_slices
from rbdc.model.description import DRIVE_NUMBERS
from rbdc.model.xml import shown
from rbdc.reduction.mobility import mobility

Data = Mapping[str, Any]


def as_data(model: Problem) -> dict[str, Any]:
    """Return the model as plain data: sizes, joints, frames, masses, warnings."""
    return {
        "name": model.name,
        "nq": model.nq,
        "nv": model.nv,
        "mass": model.moving_mass + model.base_inertia.mass,
        "moving_mass": model.moving_mass,
        "gravity": model.gravity.scalars(),
        "joints": [_joint(model, body) for body in model.bodies],
        "frames": [
            {"name": f.name, "body": None if f.body == WORLD else model.bodies[f.body].name}
            for f in model.frames
        ],
        **({"contacts": _contacts(model), **mobility(model)} if model.contacts else {}),
        "warnings": model.warnings,
    }


def _contacts(model: Problem) -> list[dict[str, Any]]:
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


def _joint(model: Problem, body: Body) -> dict[str, Any]:
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
        **{name: getattr(body, name) for name in DRIVE_NUMBERS},
        "mass": body.inertia.mass,
        "follows": None if follow is None else [model.bodies[follow.leader].joint_name, *law],
    }


def branches_of(model: Problem) -> dict[str, Any]:
    """Return the topology of a tree by its joints and by its branches, in the order of the joints, which is
    depth first.

    Zhakatayev, Rogovchenko and Paetzold (2023), section 2. A branch is a maximal run of joints, each of which
    except the last carries exactly one other joint. Joints and branches are numbered from 1; 0 is the world.

    joint_parents: the parent of each joint, the second column of the joint parent matrix Upsilon.
    parents: the parent of each branch, the second column of the branch parent matrix Phi.
    joints: the first and the last joint of each branch, the joint-branch connectivity matrix Psi.
    """
    joint_parents = [body.parent + 1 for body in model.bodies]
    starts = [
        i
        for i, parent in enumerate(joint_parents, 1)
        if parent == 0 or joint_parents.count(parent) > 1 or parent != i - 1
    ]
    ends = [start - 1 for start in starts[1:]] + [model.njoints]
    branch_of_end = {0: 0, **{end: k for k, end in enumerate(ends, 1)}}
    parents = [branch_of_end[joint_parents[start - 1]] for start in starts]
    return {"joint_parents": joint_parents, "parents": parents, "joints": [*zip(starts, ends, strict=True)]}


def show_model(data: Data) -> None:
    """Show the data of `as_data` on the terminal, with the passes and branches if `data` has them."""
    show(
        f"{shown(data['name'])}: nq {data['nq']}, nv {data['nv']}, {len(data['joints'])} moving bodies, "
        f"{len(data['frames'])} frames, {data['mass']:.6g} kg, of which {data['moving_mass']:.6g} kg move"
    )
    tree, terminal = _tree(data), console()
    if _width(tree) > terminal.width:
        tree = _tree(data, stacked=True)
    terminal.print(tree)
    more = {"contacts": _contact_lines, "passes": _pass_lines, "branches": _branch_lines}
    show(joints_table(data), *(line for key, lines in more.items() if key in data for line in lines(data)))


def joints_table(data: Data) -> Table:
    """Return the joints, their indices in q and v, their limits, and the masses of their bodies."""
    rows = []
    for joint in data["joints"]:
        follows = joint["follows"]
        kind = joint["kind"] if follows is None else f"follows {shown(follows[0])}"
        names = [shown(joint["name"]), kind, shown(joint["link"]), shown(joint["parent"] or "the world")]
        numbers = (joint[name] for name in ("lower", "upper", "velocity", "effort", "mass"))
        places = (_place(*joint[name]) for name in ("q", "v"))
        rows.append([*names, *places, *(figure(x, ".5g") for x in numbers)])
    head = ("joint", "kind", "link", "on", "q", "v", "lower", "upper", "velocity", "effort", "mass (kg)")
    return Table("", head, rows, words=head[:4])


def _contact_lines(data: Data) -> list[str | Table]:
    rows = []
    for row in data["contacts"]:
        one, two = [*row["links"], "the world"][:2]
        start, stop = row["rows"]
        rows.append([*map(shown, (row["name"], row["kind"], one, two)), _place(start, stop - start)])
    head = ("contact", "kind", "link", "held to", "rows")
    left = (
        f"{data['rows']} rows of contacts, {data['rank']} of them independent; "
        f"{data['freedoms']} of {data['nv']} degrees of freedom are left"
    )
    return [Table("", head, rows, words=head), left]


def _pass_lines(data: Data) -> list[str | Table]:
    before = data["passes"][0]["operations"]
    head, rows = ["pass", "what it does", *before], []
    for stage in data["passes"]:
        cells = [Cell(str(n), _saved(before[name], n)) for name, n in stage["operations"].items()]
        rows.append([stage["name"], stage["meaning"], *cells])
        before = stage["operations"]
    limbs = [
        f"in {len(names)} lanes: the limbs that begin with {', '.join(map(shown, names))}"
        for names in data["limbs"]
    ]
    table = Table("operations after each pass", head, rows, words=head[:2])
    return [table, *(limbs or ["no limbs (subtrees) are alike: none share vector lanes"])]


def _saved(before: int, after: int) -> str:
    return "" if before == after else f"({100.0 * (after - before) / max(before, 1):+.1f} %)"


def _branch_lines(data: Data) -> list[str | Table]:
    rows, names = [], [shown(joint["name"]) for joint in data["joints"]]
    branches = zip(data["branches"]["parents"], data["branches"]["joints"], strict=True)
    for k, (parent, (first, last)) in enumerate(branches, 1):
        ends = dict.fromkeys((names[first - 1], names[last - 1]))
        rows.append([*map(str, (k, parent, first, last)), " ... ".join(ends)])
    head = ("branch", "parent branch", "first joint", "last joint", "names")
    return [Table("", head, rows, words=head)]


def _place(start: int, size: int) -> str:
    return str(start) if size == 1 else f"{start}..{start + size - 1}"


def _tree(data: Data, *, stacked: bool = False) -> Tree:
    """Return the tree of bodies with the links fixed to them.

    stacked: a single child stands below its parent without indentation, so that long chains are no wider than
        short chains.
    """
    fixed: dict[str | None, list[str]] = {}
    for frame in data["frames"]:
        if frame["name"] != frame["body"]:
            fixed.setdefault(frame["body"], []).append(shown(frame["name"]))

    def title(link: str | None, text: str) -> Text:
        return Text(text + (f"  [with {', '.join(fixed[link])}]" if link in fixed else ""))

    root = Tree(title(None, "world"))
    nodes, carried = {None: root}, [joint["parent"] for joint in data["joints"]]
    for joint in data["joints"]:
        link, parent = joint["link"], joint["parent"]
        label = title(link, f"{shown(link)} ({shown(joint['name'])}, {joint['kind']})")
        if stacked and parent is not None and carried.count(parent) == 1:
            nodes[link] = nodes[parent]
            nodes[link].label = Text.assemble(cast(Text, nodes[link].label), "\n", label)
        else:
            nodes[link] = nodes[parent].add(label)
    return root


_INDENT = 4
"""Columns of a level of a tree."""


def _width(tree: Tree) -> int:
    """Return the width of a tree (columns), without the lists of fixed links, which can be broken."""
    label_width = cell_len(str(tree.label).partition("  [")[0])
    return max([label_width, *(_INDENT + _width(child) for child in tree.children)])

"""The display of a model by `rbdc info`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from rbdc.algorithms.momentum import total_mass
from rbdc.analysis.mobility import mobility
from rbdc.model import WORLD, Body, Frame, Model, branches_of
from rbdc.model.contacts import row_slices
from rbdc.model.notes import warnings_of
from rbdc.model.xml import shown
from rbdc.planning.pass_statistics import Stage


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
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=140)
    table = Table("contact", "kind", "link", "held to", "rows")
    for row in _contacts(model):
        one, two = [*row["links"], "the world"][:2]
        start, stop = row["rows"]
        cells = (row["name"], row["kind"], one, two, _place(start, stop - start))
        table.add_row(*(Text(shown(cell)) for cell in cells))
    console.print(table)
    found = mobility(model)
    console.print(
        f"{found.rows} rows of contacts, {found.rank} of them independent; {found.freedoms} of {model.nv} "
        "degrees of freedom are left"
    )


def _joint(model: Model, body: Body) -> dict[str, Any]:
    follow = body.coupling
    return {
        "name": body.joint_name,
        "kind": body.joint.kind,
        "link": body.name,
        "parent": None if body.parent == WORLD else model.bodies[body.parent].name,
        "q": [body.index_q, body.joint.nq],
        "v": [body.index_v, body.joint.nv],
        "lower": _finite(body.limits.lower),
        "upper": _finite(body.limits.upper),
        "velocity": _finite(body.limits.velocity),
        "effort": _finite(body.limits.effort),
        "damping": body.damping,
        "friction": body.friction,
        "armature": body.armature,
        "stiffness": body.stiffness,
        "spring_rest": body.spring_rest,
        "mass": body.inertia.mass,
        "follows": None
        if follow is None
        else [model.bodies[follow.leader].joint_name, follow.multiplier, follow.offset],
    }


def _finite(x: float) -> float | None:
    return x if math.isfinite(x) else None


def show(model: Model) -> None:
    """The tree of links and a table of the joints on the terminal."""
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=140)
    console.print(
        Text(
            f"{shown(model.name)}: nq {model.nq}, nv {model.nv}, {model.njoints} moving bodies, "
            f"{len(model.frames)} frames, "
            f"{total_mass(model):.6g} kg, of which {total_mass(model, with_base=False):.6g} kg move"
        )
    )
    console.print(_tree(model))
    table = Table("joint", "kind", "link", "q", "v", "lower", "upper", "velocity", "effort", "mass (kg)")
    for body in model.bodies:
        limits = body.limits
        numbers = [
            f"{x:.5g}"
            for x in (limits.lower, limits.upper, limits.velocity, limits.effort, body.inertia.mass)
        ]
        kind = (
            body.joint.kind
            if body.coupling is None
            else f"follows {shown(model.bodies[body.coupling.leader].joint_name)}"
        )
        places = [_place(body.index_q, body.joint.nq), _place(body.index_v, body.joint.nv)]
        table.add_row(
            *(Text(cell) for cell in [shown(body.joint_name), kind, shown(body.name), *places, *numbers])
        )
    console.print(table)


def show_passes(stages: Sequence[Stage], limbs: Sequence[Sequence[str]]) -> None:
    """Show what each model pass saves of the operations of joint-space functions, and the limbs that run side
    by side.
    """
    terminal = Console()
    console = terminal if terminal.is_terminal else Console(width=140)
    table = Table("pass", "what it does", title="operations after each pass", title_justify="left")
    for name in stages[0].operations:
        table.add_column(name, justify="right")
        table.add_column("saved", justify="right")
    before = stages[0].operations
    for stage in stages:
        cells = [cell for name, n in stage.operations.items() for cell in (str(n), _saved(before[name], n))]
        table.add_row(*(Text(cell) for cell in (stage.name, stage.meaning, *cells)))
        before = stage.operations
    console.print(table)
    for names in limbs:
        console.print(
            Text(
                f"in {len(names)} lanes: the limbs that begin with {', '.join(shown(name) for name in names)}"
            )
        )
    if not limbs:
        console.print("no limbs are alike: nothing runs in lanes")


def show_branches(model: Model) -> None:
    """Show the branches of the tree: the branch parent matrix Phi and the joint-branch connectivity matrix
    Psi of Zhakatayev, Rogovchenko and Paetzold, joints and branches from 1, the world 0.
    """
    terminal, branches = Console(), branches_of(model)
    console = terminal if terminal.is_terminal else Console(width=140)
    table = Table("branch", "parent branch", "first joint", "last joint", "names")
    for k, (parent, (first, last)) in enumerate(zip(branches.parents, branches.joints, strict=True), 1):
        ends = dict.fromkeys(shown(model.bodies[i - 1].joint_name) for i in (first, last))
        table.add_row(*(Text(str(x)) for x in (k, parent, first, last, " ... ".join(ends))))
    console.print(table)


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

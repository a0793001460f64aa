"""The page of a robot: a figure that moves, its tree, tables, warnings, sparsity, operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from rbdc.analysis.figures.patterns import pattern_figures, patterns
from rbdc.analysis.figures.scene import scene
from rbdc.analysis.figures.treemap import treemap
from rbdc.analysis.model_summary import as_data, joints_table
from rbdc.analysis.pages import DASH, Cell, Part, Table, page_text
from rbdc.emit.render import part
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.ir.cost import cost_by_section
from rbdc.model import WORLD, Body, Problem
from rbdc.model.xml import shown
from rbdc.planning.availability import buildable
from rbdc.planning.forms import Subject, check_size, chosen_plan
from rbdc.planning.plans import Plan, StraightLine
from rbdc.processes import spread, uncollected

Words = Callable[[str], str]
"""A function that rewrites a message in the language of the caller (Python or the command line)."""
SCRIPTS = ("kinematics.js.jinja", "robot.js.jinja", "sliders.js.jinja")
LEAD = (
    "Move the sliders. Drag the picture or use the arrow keys to turn it. An ellipsoid is the uniform solid "
    "with the mass and the inertia of its body."
)
SPARSITY = (
    "Filled entries are not zero at random states. Columns are directions of v. Rows are directions of v "
    "too, except in Jacobians, where rows are links. Matrices with the same pattern share a picture."
)
OPERATIONS = (
    "Operations of one call of the generated C, in double precision and without optional inputs: additions, "
    "multiplications, divisions, elementary functions and vector operations. Lanes: numbers side by side in "
    "one vector. Form: the way to write the function in C that a build chooses. Treemaps show operations of "
    "straight-line code."
)


def robot_page(
    model: Problem, names: Sequence[str], asked: Sequence[str] | None, processes: int = 1, words: Words = str
) -> str:
    """Return the HTML of a robot, which needs no network.

    names: the functions whose forms and operations the page shows.
    asked: the functions in `names` that the user requested by name; they must be defined for the model.
    words: see `Words`.

    Raises SingularModelError for a function in `asked` that is not defined.
    """
    data = as_data(model)
    lead = (
        f"nq {model.nq}, nv {model.nv}, {model.njoints} moving bodies, {len(model.frames)} frames, "
        f"{data['mass']:.6g} kg, of which {data['moving_mass']:.6g} kg move"
    )
    parts = [
        Part("Figure", [LEAD], blocks=[part("robot.html.jinja")]),
        Part("Tree", blocks=[part("tree.html.jinja", rows=tree_rows(model))]),
        Part("Joints and limits", tables=[joints_table(data)]),
        Part("Masses", tables=[masses_table(model)]),
        audit(model, words),
        Part("Sparsity", [SPARSITY], blocks=[pattern_figures(patterns(model))]),
        _operations(model, names, asked, processes, words),
    ]
    scripts, style = [part(name) for name in SCRIPTS], part("robot.css.jinja")
    return page_text(
        Part(f"{shown(model.name)}: rbdc info", [lead], parts=parts),
        report=scene(model),
        style=style,
        scripts=scripts,
    )


def audit(model: Problem, words: Words = str) -> Part:
    """Return the warnings of the description, each with its place and the functions whose results change."""
    if not model.notes:
        return Part("Warnings", ["None."])
    rows = [
        [
            f"{shown(model.place)}{'' if note.line is None else f':{note.line}'}",
            note.effect.value,
            words(note.message),
        ]
        for note in model.notes
    ]
    head = ("place", "changes the results of", "warning")
    return Part("Warnings", tables=[Table("", head, rows, words=head)])


def masses_table(model: Problem) -> Table:
    """Return the mass, centre of mass and principal moments of inertia of every body, and of the
    fixed base.
    """
    bodies = [(shown(body.name), body.inertia) for body in model.bodies]
    if model.base_inertia.mass:
        bodies.append(("fixed to the world", model.base_inertia))
    rows = []
    for name, inertia in bodies:
        com = inertia.first_moment.scaled(1.0 / inertia.mass).scalars() if inertia.mass else []
        moments = np.linalg.eigvalsh(np.array(inertia.about_centre().rows(), dtype=float)).tolist()
        rows.append([name, f"{inertia.mass:.5g}", *(_three(x) for x in (com, moments))])
    head = ("link", "mass (kg)", "centre of mass in the link's frame (m)", "principal moments (kg m\u00b2)")
    return Table("", head, rows, words=head[2:])


def _three(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:.4g}" if math.fabs(x) > 1e-12 else "0" for x in numbers) or DASH


def tree_rows(model: Problem) -> list[dict[str, Any]]:
    """Return the rows of the tree, the world first: for each the connecting lines, its link, joint and mass,
    and the links that are fixed to it.
    """
    fixed: dict[int, list[str]] = {}
    for frame in model.frames:
        if frame.body == WORLD or frame.name != model.bodies[frame.body].name:
            fixed.setdefault(frame.body, []).append(shown(frame.name))
    rows = [{"guides": [], "link": "world", "joint": "", "with": ", ".join(fixed.get(WORLD, []))}]
    guides: dict[int, list[str]] = {WORLD: []}
    for index, body in enumerate(model.bodies):
        last = index == model.children(body.parent)[-1]
        guides[index] = [*guides[body.parent], "" if last else "through"]
        guide = [*guides[body.parent], "corner" if last else "branch"]
        rows.append({
            "guides": guide,
            "link": shown(body.name),
            "joint": _joint_words(model, body),
            "with": ", ".join(fixed.get(index, [])),
        })  # fmt: skip
    return rows


def _joint_words(model: Problem, body: Body) -> str:
    follow = body.coupling
    kind = body.joint.kind
    if follow is not None:
        kind += f", follows {shown(model.bodies[follow.leader].joint_name)}"
    return f"{shown(body.joint_name)} ({kind}), {body.inertia.mass:.4g} kg"


def _operations(
    model: Problem, names: Sequence[str], asked: Sequence[str] | None, processes: int, words: Words
) -> Part:
    usable, left_out = buildable(model, names, asked)
    try:
        check_size(model, usable, "unrolled", fused=False)
    except UnsupportedError as error:
        return Part("Operations", [words(str(error))])
    figures = spread(partial(_figures, model), usable[::-1], processes)[::-1]  # the longest begin first
    rows = [
        [f["name"], Cell(f["form"], f["method"]), *(str(f[key]) for key in ("lanes", "operations", "flops"))]
        for f in figures
    ]
    table = Table("", ["function", "form, method", "lanes", "operations", "flop"], rows)
    maps = {f["name"]: Part(f["name"], blocks=[treemap(f["sections"])]) for f in figures if f["sections"]}
    first = [name for name in maps if functions_of(model)[name].comparison.headline]
    others = Part("Other functions", folded=[maps[name] for name in maps if name not in first])
    parts = [*(maps[name] for name in first), *([others] if others.folded else [])]
    notes = [words(text) for text in left_out]
    return Part("Operations", [OPERATIONS], tables=[table], notes=notes, parts=parts)


def _figures(model: Problem, name: str) -> dict[str, Any]:
    with uncollected():
        plan = chosen_plan(Subject(model, functions_of(model)[name]))
    return {
        "name": name,
        "form": plan.form,
        "method": getattr(plan.content, "method", ""),
        "lanes": plan.lanes,
        "operations": plan.cost.operations,
        "flops": plan.cost.flops,
        "sections": sections(plan),
    }


def sections(plan: Plan) -> Mapping[tuple[str, str], int]:
    """Return the operations of a call by body and section (a step of the algorithm). Operations of all loops
    are one entry. A function that consists of loops only has no entries.
    """
    kernels = plan.kernels[:1] if isinstance(plan.content, StraightLine) else plan.kernels
    counts: dict[tuple[str, str], int] = {}
    for program in kernels:
        for section, cost in cost_by_section(program).items():
            if cost.operations:
                key = (", ".join(sorted(section.title.split(", "))), section.formula)  # lanes in any order
                counts[key] = counts.get(key, 0) + cost.operations
    loops = plan.cost.operations - sum(counts.values())
    return {**counts, ("loops", "loops over columns"): loops} if counts and loops > 0 else counts

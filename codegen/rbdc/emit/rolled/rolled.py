"""The rolled style of C: the recursions as loops over constant tables of the model, a tenth of the code of the unrolled functions.

Two conventions make the loops short. The frame of a body is turned so that its joint's axis is z, so that a kind of joint needs no
axis. All but inverse dynamics works in the axes of the world about the origin of the root body, where nothing has to be carried from
frame to frame: a joint is its columns, six numbers each, and a joint of several axes is a chain of single ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rbdc.algorithms.joint_coordinates import dof_table, first_dofs
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import FunctionSource, batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.rolled.cost import blocks_of, rolled_cost
from rbdc.emit.rolled.joints import Forms, column_of_body, joint_forms
from rbdc.emit.rolled.tables import Paths, RolledModel, rolled_model
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import WORLD, Model
from rbdc.spatial import Inertia, Placement, RigidInertia

MAXIMUM_BODIES = 1000
"""Some 700 bytes of stack for each body."""

_LARGEST_ON_STACK = 48
"""Entries of v up to which forward dynamics may keep the factors of M on the stack."""

_MASS = ("world", "mass")
_DERIVATIVES = ("world", "forces", "derivatives")
METHODS: Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "rnea": {"rnea": ("rolled_rnea", ())},
    "nle": {"rnea": ("rolled_rnea", ())},
    "gravity_torque": {"rnea": ("rolled_rnea", ())},
    "crba": {"crba": ("rolled_crba", _MASS)},
    "minverse": {"cholesky": ("rolled_minverse", (*_MASS, "factor"))},
    "aba": {
        "aba": ("rolled_aba", ("world", "forces")),
        "cholesky": ("rolled_aba_cholesky", (*_MASS, "forces", "factor")),
    },
    "rnea_derivatives": {"idsva": ("rolled_rnea_derivatives", _DERIVATIVES)},
    "aba_derivatives": {"cholesky": ("rolled_aba_derivatives", (*_DERIVATIVES, "mass", "factor"))},
}
"""The functions that have a rolled form: for each method the template and the shared files that it calls."""

_TABLES = ("body", "path", "paths", "column", "row", "rows", "turn")
_STEPS = ("placements", "world", "forces", "torque", "mass", "factor", "solve", "solve_rows", "invert", "derivatives")
"""What the functions share, as `rolled.h.jinja` declares it; no model has all of it."""


def rolled_source(robot: str, declaration: FunctionDeclaration, model: Model, version: str) -> FunctionSource:
    """The C of a function that is in `METHODS`, by the method that executes the fewest operations for this model.

    `files` has all that it needs beside `<robot>.h`: its own C file, the shared ones and their header, which are the same
    text for every function of a robot; `cost` and `statements` are of all of them together, the cost without external forces.
    """
    rolled = rolled_model(model)
    costs = {name: rolled_cost(rolled, declaration.name, name) for name in _methods(declaration.name, model)}
    method = min(costs, key=lambda name: costs[name].operations)
    template, shared = METHODS[declaration.name][method]
    scalar = declaration.scalar
    forms = joint_forms(rolled, f"{robot}_rolled", scalar, given=declaration.name == "rnea")
    view = _view(robot, rolled, forms, version, scalar)
    files = {f"{robot}_rolled.h": render("rolled.h.jinja", **view), f"{robot}_rolled.c": render("rolled.c.jinja", **view)}
    if view["angles"]:
        files[trigonometry.header_name(robot)] = trigonometry.header(robot, version, scalar)
    files |= {f"{robot}_rolled_{part}.c": render(f"rolled_{part}.c.jinja", **view) for part in shared}
    files[f"{robot}_{declaration.name}.c"] = render(
        f"{template}.c.jinja",
        **view,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(costs[method]),
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration),
        moving=declaration.name != "gravity_torque",
        given=declaration.name == "rnea",
        external=declaration.name == "rnea",
    )
    statements = sum(line.endswith(";") for text in files.values() for line in text.splitlines())
    internal = [f"{view['p']}_{name}" for name in (*_TABLES, *_STEPS)]
    return FunctionSource(declaration, costs[method], files, statements, method, "rolled", internal=internal)


def _methods(function: str, model: Model) -> list[str]:
    """Those that can be: the articulated recursion does not know that one joint follows another."""
    methods = list(METHODS[function])
    if len(methods) == 1:
        return methods
    if model.coupled:
        return ["cholesky"]
    return methods if model.nv <= _LARGEST_ON_STACK else ["aba"]


def _view(robot: str, rolled: RolledModel, forms: Forms, version: str, scalar: ScalarType) -> dict[str, Any]:
    """The data of the templates."""
    model, prefix = rolled.model, f"{robot}_rolled"
    counts = {body.joint.nv for body in model.bodies}
    switched = len(forms) > 1
    helpers = frozenset[str]().union(*(form.c.helpers for form in forms.values()))
    k, j = ("k", "j")
    if model.coupled:
        k, j = (f"{prefix}_column[{index}]" for index in (k, j))
    blocks = blocks_of(model.nv)
    turning = sum(forms[type(body.joint)].c.angle for body in model.bodies)
    lanes = next((width for width in trigonometry.widths(scalar) if width >= turning), trigonometry.widths(scalar)[-1])
    row, other = ("column", "other") if model.coupled else ("k", "j")
    tables = _tables(rolled, forms, scalar) | {
        **scalar.words,
        "robot": robot,
        "p": prefix,
        "version": version,
        "guard": f"RBDC_{robot.upper()}_ROLLED_H",
        "bodies": model.njoints,
        "nv": model.nv,
        "joints": list(forms.values()),
        "kind_names": ", ".join(form.enumerator for form in forms.values()),
        "helpers": helpers,
        "constants": _constants(forms),
        "is_angle": " || ".join(f"b->kind == {form.enumerator}" for form in forms.values() if form.c.angle),
        "switched": switched,
        "indent": "    " if switched else "",
        "coupled": model.coupled,
        "turned": rolled.turned,
        "one_dof": 1 in counts,
        "several": max(counts) > 1,
        "angles": -(-turning // lanes) * lanes,
        "lanes": lanes,
        "position": "b->multiplier * q[b->q] + b->offset" if model.coupled else "q[b->q]",
        "gravity": ", ".join(scalar.literal(0.0 - x) for x in model.gravity.scalars()),
    }
    return tables | {
        "column_k": k,
        "column_b": column_of_body(prefix, model),
        "row_of_i": f"{prefix}_row[i]" if model.coupled else f"{prefix}_path[i]",
        "row_of_k": f"{prefix}_row[k]" if model.coupled else f"{prefix}_path[k]",
        "rows": f"{prefix}_rows" if model.coupled else f"{prefix}_paths",
        "scale": "b->multiplier * " if model.coupled else "",
        "assign": "+=" if model.coupled else "=",
        "other": other,
        "above_d": f"{prefix}_column[up[d]]" if model.coupled else "up[d]",
        "blocks": [range(width) for width in blocks],
        "whole": model.nv - model.nv % blocks[0],
        "whole_blocks": model.nv // blocks[0],
        "diagonal": f"COLUMNS * {row} + {row}",
        "own_row": f"COLUMNS * {j} + {row}",
        "above_row": f"COLUMNS * {other} + {row}",
        "above_column": f"COLUMNS * {row} + {other}",
    }


def _tables(rolled: RolledModel, forms: Forms, scalar: ScalarType) -> dict[str, Any]:
    """The numbers of the tables."""
    model = rolled.model
    column = [entry for entry, _, _ in dof_table(model)]
    return {
        "dofs": len(column),
        "heading": "".join(f", {name}" for name in _heading(rolled, forms)),
        "body_rows": _body_rows(rolled, forms, scalar),
        "path": _pairs(rolled.paths),
        "paths": _integers(rolled.paths.entries),
        "row_path": _pairs(rolled.rows),
        "row_paths": _integers(rolled.rows.entries),
        "column": _integers(column),
        "turns": [_placement(turn, scalar) for turn in (Placement.identity(), *(body.turn for body in rolled.bodies))],
    }


def _constants(forms: Forms) -> list[str]:
    """The members of the table that only some types of joint have."""
    return list(dict.fromkeys(name for form in forms.values() for name in form.c.constants))


def _heading(rolled: RolledModel, forms: Forms) -> list[str]:
    coupled = ["multiplier", "offset"] if rolled.model.coupled else []
    return [*(["kind"] if len(forms) > 1 else []), *coupled, *_constants(forms)]


def _body_rows(rolled: RolledModel, forms: Forms, scalar: ScalarType) -> list[dict[str, str]]:
    """The world, then the bodies."""
    model = rolled.model
    starts = first_dofs(model)
    kinds = {own: f", {form.enumerator}" if len(forms) > 1 else "" for own, form in forms.items()}
    names = _constants(forms)
    kind, zeros = next(iter(kinds.values())), "".join(f", {scalar.literal(0.0)}" for _ in names)
    free = f", {scalar.literal(1.0)}, {scalar.literal(0.0)}" if model.coupled else ""
    world = f"0, 0, 0, 0{kind}{free}{zeros}"
    rows = [_body_row("the world", world, Placement.identity(), Inertia.zero(), scalar)]
    for index, (body, own) in enumerate(zip(model.bodies, rolled.bodies, strict=True)):
        parent = 0 if body.parent == WORLD else body.parent + 1
        values = dict(zip(forms[type(body.joint)].c.constants, body.joint.rolled_constants(), strict=True))
        constants = "".join(f", {scalar.literal(values.get(name, 0.0))}" for name in names)
        follow = free
        if body.coupling is not None:
            follow = f", {scalar.literal(body.coupling.multiplier)}, {scalar.literal(body.coupling.offset)}"
        kind = kinds[type(body.joint)]
        integers = f"{parent}, {body.index_q}, {starts[index]}, {body.joint.nv}{kind}{follow}{constants}"
        rows.append(_body_row(f"{index + 1}: {comment(body.name)}", integers, own.placement, own.inertia, scalar))
    return rows


def _body_row(
    title: str, integers: str, placement: Placement, inertia: RigidInertia, scalar: ScalarType
) -> dict[str, str]:
    j = ", ".join(_literal(x, scalar) for x in inertia.about_origin.scalars())
    h = ", ".join(_literal(x, scalar) for x in inertia.first_moment.scalars())
    return {
        "comment": title,
        "integers": integers,
        "placement": _placement(placement, scalar),
        "inertia": f"{_literal(inertia.mass, scalar)}, {{{h}}}, {{{j}}}",
    }


def _placement(placement: Placement, scalar: ScalarType) -> str:
    """Axes and origin."""
    vectors = (placement.rotation.x, placement.rotation.y, placement.rotation.z, placement.translation)
    return ", ".join("{" + ", ".join(_literal(x, scalar) for x in vector.scalars()) + "}" for vector in vectors)


def _literal(number: float, scalar: ScalarType) -> str:
    return scalar.literal(number + 0.0)  # no -0.0, which turning frames leaves


def _pairs(paths: Paths) -> str:
    return ", ".join(f"{{{place[0]}, {place[1]}, {place[2]}}}" for place in zip(paths.start, paths.depth, paths.end, strict=True))


def _integers(numbers: Any) -> str:
    return ", ".join(str(number) for number in numbers)

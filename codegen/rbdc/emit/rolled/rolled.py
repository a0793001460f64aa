"""The rolled style of C: the recursions as loops over constant tables of the model, a tenth of the code of the unrolled functions.

Two conventions make the loops short. The frame of a body is turned so that its joint's axis is z, so that a kind of joint needs no
axis. All but inverse dynamics works in the axes of the world about the origin of the root body, where nothing has to be carried from
frame to frame: a joint is its columns, six numbers each, and a joint of several axes is a chain of single ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rbdc.algorithms.joint_coordinates import dof_table, first_dofs
from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.rolled.cost import blocks_of, rolled_cost
from rbdc.emit.rolled.tables import Paths, RolledModel, rolled_model
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import WORLD, Model
from rbdc.spatial import Inertia, Placement

MAXIMUM_BODIES = 1000
"""Some 700 bytes of stack for each body."""

_LARGEST_ON_STACK = 48
"""Entries of v up to which forward dynamics may keep the factors of M on the stack."""

_MASS = ("world", "mass")
_DERIVATIVES = ("world", "forces", "derivatives")


@dataclass(frozen=True)
class Form:
    """A rolled form of a function: its template, the shared files that it calls, and which parts of inverse dynamics its template has:
    terms of velocity (`moving`), of acceleration (`given`), of external forces (`external`).
    """

    template: str
    shared: tuple[str, ...] = ()
    moving: bool = True
    given: bool = False
    external: bool = False


FORMS: Mapping[str, Form] = {
    "inverse_dynamics": Form("rolled_rnea", given=True, external=True),
    "nonlinear_effects": Form("rolled_rnea"),
    "gravity": Form("rolled_rnea", moving=False),
    "composite_bodies": Form("rolled_crba", _MASS),
    "inverse_inertia": Form("rolled_minverse", (*_MASS, "factor")),
    "articulated_bodies": Form("rolled_aba", ("world", "forces")),
    "forward_dynamics_by_factors": Form("rolled_aba_cholesky", (*_MASS, "forces", "factor")),
    "inverse_dynamics_derivatives": Form("rolled_rnea_derivatives", _DERIVATIVES),
    "forward_dynamics_derivatives": Form("rolled_aba_derivatives", (*_DERIVATIVES, "mass", "factor")),
}
"""By the names that the records of functions have for them (`rbdc.functions.record.Policy.rolled`)."""

_ARTICULATED = "articulated_bodies"
"""The form that keeps nothing of the size of M, and does not know that one joint follows another."""

_TABLES = ("body", "path", "paths", "column", "row", "rows", "turn")
_STEPS = ("placements", "world", "forces", "torque", "mass", "factor", "solve", "solve_rows", "invert", "derivatives")
"""What the functions share, as `rolled.h.jinja` declares it; no model has all of it."""


def rolled_source(robot: str, function: Function, model: Model, version: str) -> FunctionSource:
    """The C of a function whose record has rolled forms, by the method that executes the fewest operations for this model.

    `files` has all that it needs beside `<robot>.h`: its own C file, the shared ones and their header, which are the same
    text for every function of a robot; `cost` and `statements` are of all of them together, the cost without external forces.
    """
    rolled, forms, declaration = rolled_model(model), function.policy.rolled, function.declaration
    costs = {name: rolled_cost(rolled, forms[name]) for name in _methods(forms, model)}
    method = min(costs, key=lambda name: costs[name].operations)
    form = FORMS[forms[method]]
    scalar = declaration.scalar
    view = _view(robot, rolled, version, scalar)
    files = {f"{robot}_rolled.h": render("rolled.h.jinja", **view), f"{robot}_rolled.c": render("rolled.c.jinja", **view)}
    if "revolute" in rolled.kinds:
        files[trigonometry.header_name(robot)] = trigonometry.header(robot, version, scalar)
    files |= {f"{robot}_rolled_{part}.c": render(f"rolled_{part}.c.jinja", **view) for part in form.shared}
    files[f"{robot}_{declaration.name}.c"] = render(
        f"{form.template}.c.jinja",
        **view,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(costs[method]),
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration),
        moving=form.moving,
        given=form.given,
        external=form.external,
    )
    statements = sum(line.endswith(";") for text in files.values() for line in text.splitlines())
    internal = [f"{view['p']}_{name}" for name in (*_TABLES, *_STEPS)]
    return FunctionSource(declaration, costs[method], files, statements, method, "rolled", internal=internal)


def _methods(forms: Mapping[str, str], model: Model) -> list[str]:
    """Those of several that suit the model."""
    methods = list(forms)
    if len(methods) == 1:
        return methods
    if model.coupled:
        return [name for name in methods if forms[name] != _ARTICULATED]
    return methods if model.nv <= _LARGEST_ON_STACK else [name for name in methods if forms[name] == _ARTICULATED]


def _view(robot: str, rolled: RolledModel, version: str, scalar: ScalarType) -> dict[str, Any]:
    """What the templates lay out."""
    model, prefix = rolled.model, f"{robot}_rolled"
    counts = {body.joint.nv for body in model.bodies}
    switched = len(rolled.kinds) > 1
    k, j, b = ("k", "j", "b->first")
    if model.coupled:
        k, j, b = (f"{prefix}_column[{index}]" for index in (k, j, b))
    blocks = blocks_of(model.nv)
    turning = sum(body.joint.kind == "revolute" for body in model.bodies)
    lanes = next((width for width in trigonometry.widths(scalar) if width >= turning), trigonometry.widths(scalar)[-1])
    row, other = ("column", "other") if model.coupled else ("k", "j")
    tables = _tables(rolled, scalar) | {
        **scalar.words,
        "robot": robot,
        "p": prefix,
        "version": version,
        "guard": f"RBDC_{robot.upper()}_ROLLED_H",
        "bodies": model.njoints,
        "nv": model.nv,
        "kinds": rolled.kinds,
        "kind_names": ", ".join(kind.upper() for kind in rolled.kinds),
        "switched": switched,
        "indent": "    " if switched else "",
        "coupled": model.coupled,
        "turned": rolled.turned,
        "one_dof": 1 in counts,
        "several": max(counts) > 1,
        "linear": bool({"prismatic", "planar", "floating"} & set(rolled.kinds)),
        "angular": rolled.kinds != ("prismatic",),
        "angles": -(-turning // lanes) * lanes,
        "lanes": lanes,
        "position": "b->multiplier * q[b->q] + b->offset" if model.coupled else "q[b->q]",
        "gravity": ", ".join(scalar.literal(0.0 - x) for x in model.gravity.scalars()),
    }
    return tables | {
        "column_k": k,
        "column_b": b,
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


def _tables(rolled: RolledModel, scalar: ScalarType) -> dict[str, Any]:
    """The numbers of the tables."""
    model = rolled.model
    column = [entry for entry, _, _ in dof_table(model)]
    return {
        "dofs": len(column),
        "heading": _heading(rolled),
        "body_rows": _body_rows(rolled, scalar),
        "path": _pairs(rolled.paths),
        "paths": _integers(rolled.paths.entries),
        "row_path": _pairs(rolled.rows),
        "row_paths": _integers(rolled.rows.entries),
        "column": _integers(column),
        "turns": [_placement(turn, scalar) for turn in (Placement.identity(), *(body.turn for body in rolled.bodies))],
    }


def _heading(rolled: RolledModel) -> str:
    return (", kind" if len(rolled.kinds) > 1 else "") + (", multiplier, offset" if rolled.model.coupled else "")


def _body_rows(rolled: RolledModel, scalar: ScalarType) -> list[dict[str, str]]:
    """The world, then the bodies."""
    model = rolled.model
    starts = first_dofs(model)
    kind = f", {rolled.kinds[0].upper()}" if len(rolled.kinds) > 1 else ""
    free = f", {scalar.literal(1.0)}, {scalar.literal(0.0)}" if model.coupled else ""
    rows = [_body_row("the world", f"0, 0, 0, 0{kind}{free}", Placement.identity(), Inertia.zero(), scalar)]
    for index, (body, own) in enumerate(zip(model.bodies, rolled.bodies, strict=True)):
        parent = 0 if body.parent == WORLD else body.parent + 1
        kind = f", {body.joint.kind.upper()}" if len(rolled.kinds) > 1 else ""
        follow = free
        if body.coupling is not None:
            follow = f", {scalar.literal(body.coupling.multiplier)}, {scalar.literal(body.coupling.offset)}"
        integers = f"{parent}, {body.index_q}, {starts[index]}, {body.joint.nv}{kind}{follow}"
        rows.append(_body_row(f"{index + 1}: {comment(body.name)}", integers, own.placement, own.inertia, scalar))
    return rows


def _body_row(title: str, integers: str, placement: Placement, inertia: Inertia, scalar: ScalarType) -> dict[str, str]:
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

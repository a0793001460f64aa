"""The rolled style of C: the recursions as loops over constant tables of the model, a tenth of the code of
the unrolled functions.

Two conventions make the loops short. The frame of a body is turned so that its joint's axis is z, so that a
kind of joint needs no axis. All but inverse dynamics works in the axes of the world about the origin of the
root body, where nothing has to be carried from frame to frame: a joint is its columns, six numbers each, and
a joint of several axes is a chain of single ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.rolled.cost import rolled_cost
from rbdc.emit.rolled.joints import joint_forms
from rbdc.emit.rolled.tables import rolled_model
from rbdc.emit.rolled.views import rolled_view
from rbdc.functions.record import Function
from rbdc.model import Model

MAXIMUM_BODIES = 1000
"""Some 700 bytes of stack for each body."""

_LARGEST_ON_STACK = 48
"""Entries of v up to which forward dynamics may keep the factors of M on the stack."""

_MASS = ("world", "mass")
_DERIVATIVES = ("world", "forces", "derivatives")


@dataclass(frozen=True)
class Form:
    """A rolled form of a function: its template, the shared files that it calls, and which parts of inverse
    dynamics its template has: terms of velocity (`moving`), of acceleration (`given`), of external forces
    (`external`).
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

_TABLES = ("body", "path", "paths", "column", "row", "rows", "turn", "armature", "damping")
_STEPS = (
    "placements",
    "world",
    "forces",
    "torque",
    "mass",
    "factor",
    "solve",
    "solve_rows",
    "invert",
    "derivatives",
)
"""Names that the functions share, as `rolled.h.jinja` declares it; no model has all of it."""


def rolled_source(robot: str, function: Function, model: Model, version: str) -> FunctionSource:
    """The C of a function whose record has rolled forms, by the method that executes the fewest operations
    for this model.

    `files` has all that it needs beside `<robot>.h`: its own C file, the shared ones and their header, which
    are the same text for every function of a robot; `cost` and `statements` are of all of them together, the
    cost without external forces.
    """
    rolled, forms, declaration = rolled_model(model), function.policy.rolled, function.declaration
    costs = {name: rolled_cost(rolled, forms[name]) for name in _methods(forms, model)}
    method = min(costs, key=lambda name: costs[name].operations)
    form = FORMS[forms[method]]
    scalar = declaration.scalar
    joints = joint_forms(rolled, f"{robot}_rolled", scalar, given=form.given)
    view = rolled_view(robot, rolled, joints, version, scalar).context
    files = {
        f"{robot}_rolled.h": render("rolled.h.jinja", **view),
        f"{robot}_rolled.c": render("rolled.c.jinja", **view),
    }
    if view["angles"]:
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
    return (
        methods
        if model.nv <= _LARGEST_ON_STACK
        else [name for name in methods if forms[name] == _ARTICULATED]
    )

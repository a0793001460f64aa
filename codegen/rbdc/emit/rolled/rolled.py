"""The rolled style of C: the recursions as loops over constant tables of the model, a tenth of the code of the unrolled functions.

Two conventions make the loops short. The frame of a body is turned so that its joint's axis is z, so that a kind of joint needs no
axis. All but inverse dynamics works in the axes of the world about the origin of the root body, where nothing has to be carried from
frame to frame: a joint is its columns, six numbers each, and a joint of several axes is a chain of single ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.rolled.cost import rolled_cost
from rbdc.emit.rolled.tables import rolled_model
from rbdc.emit.rolled.views import rolled_view
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.model import Model

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
"""Names that the functions share, as `rolled.h.jinja` declares it; no model has all of it."""


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
    view = rolled_view(robot, rolled, version, scalar).context
    files = {f"{robot}_rolled.h": render("rolled.h.jinja", **view), f"{robot}_rolled.c": render("rolled.c.jinja", **view)}
    if "revolute" in rolled.kinds:
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

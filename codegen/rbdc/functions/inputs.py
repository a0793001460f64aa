"""Inputs and outputs that several functions share, and the parser of declarations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

from rbdc.algorithms.tools.parameters import count_of_parameters
from rbdc.functions.declarations import (
    EXTERNAL_FORCES,
    FRICTION_WIDTH,
    OFFSET,
    PARAMETERS,
    FunctionDeclaration,
    Kind,
    Parameter,
)
from rbdc.model import Problem
from rbdc.model.contacts import loops_of, total_rows
from rbdc.model.xml import shown

_OUTPUTS = re.compile(r" +(\w+(?: \w+)*)\[(inverse )?(.*?)\]: (.+)")
"""A line of outputs, `    a b[shape]: meaning`. Groups: names, "inverse " or none, shape, meaning."""

Declared = Mapping[str, FunctionDeclaration]
"""Declarations by name."""

_UNITS = {"spherical": (0, 4), "planar": (2, 2), "floating": (3, 4)}
"""For each way to draw the entries of a joint in q, the first index and the number of the entries that form
a unit vector.
"""

_POSE = "x y z qx qy qz qw (m, unit quaternion)"
_CHANGE = "change of {} along the direction"
_NOWHERE = (*[0.0] * 6, 1.0)
"""The placement that moves nothing."""

_PLACE = ("frame", "other")
"""Words at the end of the list of inputs that mark a function of a frame, or of a pair of frames."""


def configuration(model: Problem, name: str = "q") -> Parameter:
    """Return q (nq,): positions, angles and unit quaternions."""
    meaning = "configuration (m, rad, unit quaternions x y z w)"
    return Parameter(name, (model.nq,), meaning, Kind.CONFIGURATION, units=units_of(model))


def units_of(model: Problem) -> tuple[tuple[int, int], ...]:
    """Return, for each unit vector in q, its first index and its number of entries."""
    return tuple((start + _UNITS[way][0], _UNITS[way][1]) for way, start in model.draws() if way in _UNITS)


def _inputs(model: Problem) -> list[Parameter]:
    """Return the inputs that functions of all families share. An input without use for a model has size 0."""
    nv = (model.nv,)
    return [
        configuration(model),
        Parameter("v", nv, "velocity (m/s, rad/s)", Kind.VELOCITY),
        Parameter("a", nv, "acceleration (m/s^2, rad/s^2)", Kind.ACCELERATION),
        Parameter("tau", nv, "generalised force (N, N m)", Kind.FORCE),
        Parameter("w", nv, "weights of the rows", Kind.WEIGHTS),
        *(Parameter(f"d{of}", nv, _CHANGE.format(of), Kind.TANGENT) for of in ("q", "v", "a", "tau")),
        _external_forces(model),
        Parameter(
            OFFSET,
            (7,),
            f"placement, relative to `frame`, of the frame to use, {_POSE}",
            Kind.PLACEMENTS,
            True,
            _NOWHERE,
        ),
        _inertial_parameters(model),
        friction_width(model, counts=any(model.friction)),
    ]


def _external_forces(model: Problem) -> Parameter:
    """Return the optional wrenches on the bodies (njoints, 6)."""
    meaning = "external force on each body in its joint frame, linear part first (N, N m)"
    if model.world_forces:
        meaning = (
            "external force on each body in the world's frame, linear part first, "
            "moment about the world's origin (N, N m)"
        )
    return Parameter(EXTERNAL_FORCES, (model.njoints, 6), meaning, Kind.WRENCHES, optional=True)


def _inertial_parameters(model: Problem) -> Parameter:
    """Return the run-time inertial parameters (rows, 10)."""
    names = ", ".join(shown(row.name) for row in model.parameters)
    meaning = f"m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz (kg, m) of {names}"
    return Parameter(PARAMETERS, (len(model.parameters), 10), meaning, Kind.PARAMETERS)


def friction_width(model: Problem, *, counts: bool) -> Parameter:
    """Return the optional width of dry friction; the default is the model's. counts: whether the model has a
    use for it.
    """
    shape = () if counts else (0,)
    meaning = f"speed w in the friction F v / sqrt(v^2 + w^2), {model.friction_width} by default (rad/s, m/s)"
    return Parameter(FRICTION_WIDTH, shape, meaning, Kind.POSITIVE, True, (float(model.friction_width),))


def declarations(model: Problem, text: str, *more: Parameter) -> dict[str, FunctionDeclaration]:
    """Return the declarations in a text for a model, by name. Each declaration is a line with indented
    lines below,

        name(q, v, fext, frame)
            What it computes.
            dtau_dq dtau_dv[nv, nv]: derivative with respect to <x>

    <x> stands for the end of an output's name, after its last `_d`. `!` marks an optional input that this
    function requires. `frame` marks a function of a frame, `other` one of a pair of frames. Shapes consist of
    numbers, the sizes of `sizes_of`, and products such as 10 njoints; "inverse" before a shape marks an
    inverse.

    Args:
        model: model with the sizes of shapes.
        text: the declarations.
        more: inputs beside those that functions of all families share.
    """
    by_name = {p.name: p for p in [*_inputs(model), *more]}
    sizes = sizes_of(model)
    declared = [_declared(paragraph, by_name, sizes) for paragraph in re.split(r"\n(?=\S)", text.strip())]
    return {declaration.name: declaration for declaration in declared}


def sizes_of(model: Problem) -> dict[str, int]:
    """Return the sizes in shapes by name, also those of the whole tree, of contacts and of closed loops."""
    joints = [body.joint for body in model.bodies]
    return {
        "nq": model.nq,
        "nv": model.nv,
        "njoints": model.njoints,
        "frames": len(model.frames),
        "nq_tree": sum(joint.nq for joint in joints),
        "nv_tree": sum(joint.nv for joint in joints),
        "contacts": len(model.contacts),
        "nc": total_rows(model),
        "nc_loops": total_rows(loops_of(model)),
        "np": count_of_parameters(model),
    }


def _declared(
    paragraph: str, inputs: Mapping[str, Parameter], sizes: Mapping[str, int]
) -> FunctionDeclaration:
    signature, *lines = paragraph.split("\n")
    name, listed = signature.strip().removesuffix(")").split("(")
    takes = [word for word in listed.split(", ") if word not in _PLACE]
    parameters = [
        replace(inputs[word[:-1]], optional=False, default=()) if word.endswith("!") else inputs[word]
        for word in takes
    ]
    of_outputs = [_OUTPUTS.fullmatch(line) for line in lines]
    summary = " ".join(line.strip() for line, match in zip(lines, of_outputs, strict=True) if not match)
    outputs = [p for match in of_outputs if match for p in _outputs(match, sizes)]
    return FunctionDeclaration(
        name,
        summary,
        tuple(sorted((p for p in parameters if _is_there(p)), key=lambda p: p.optional)),
        tuple(outputs),
        framed=len(takes) < len(listed.split(", ")),
        pair=_PLACE[1] in listed.split(", "),
    )


def _is_there(p: Parameter) -> bool:
    """Return whether a model has a use for an input: for example targets only if there are contacts with the
    world.
    """
    return p.size > 0 or p.kind not in (Kind.PLACEMENTS, Kind.PARAMETERS, Kind.POSITIVE)


def _outputs(match: re.Match[str], sizes: Mapping[str, int]) -> list[Parameter]:
    """Return the outputs of one line. An output whose first dimension is a size of q or v has rows of
    joints.
    """
    names, inverse, dimensions, meaning = match.groups()
    shape = tuple(
        prod(int(word) if word.isdigit() else sizes[word] for word in dimension.split())
        for dimension in dimensions.split(", ")
        if dimension
    )
    kind = Kind.JOINT_ROWS if dimensions.startswith(("nq", "nv")) else Kind.SPACE_ROWS
    kind = Kind.INVERSE if inverse else kind
    of: dict[str, Any] = {
        "by_forces": dimensions.endswith(", nc"),
        "by_parameters": dimensions.endswith("np"),
    }
    return [
        Parameter(name, shape, meaning.replace("<x>", name.split("_d")[-1]), kind, **of)
        for name in names.split(" ")
    ]

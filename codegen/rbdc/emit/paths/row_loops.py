"""Loops over rows of limbs: what their bodies (`rbdc.planning.loops.limb_bodies`) read and write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rbdc.emit.c.lanes import argument_names
from rbdc.emit.paths.kernels import Down
from rbdc.ir.lanes import LaneProgram

Bodies = Mapping[str, LaneProgram]
"""Bodies by their names."""

_ARRAYS = {
    "c": ("const limbs (*restrict table)[CONSTANTS]", "table", "[r - 1]"),
    **{
        name: (f"const limbs *restrict {name}s", f"{name}s", " + r - 1")
        for name in ("sine", "cosine", "slide", "rate", "second")
    },
    "own": ("limbs (*restrict motions)[MOTION]", "motions", "[r]"),
    "joint": ("limbs (*restrict joints)[JOINT]", "joints", "[r - 1]"),
    "sum": ("limbs (*restrict sums)[SUM]", "sums", "[r]"),
    "inertia": ("limbs (*restrict inertias)[INERTIA]", "inertias", "[r]"),
}
"""By argument of a body the parameter of its loop, its name there, and the row of it."""

_HERE = {
    **{name: array + row for name, (_, array, row) in _ARRAYS.items()},
    "motor": "motors + r - 1",
    "columns": "own",
    "motion": "motions[0]",
}
"""By argument of a body what it is called with, where that has another name."""


def down_view(loop: Down, bodies: Bodies) -> dict[str, Any]:
    """The loop around a body as templates have it. carried: whether it needs the motion of what carries a
    joint.
    """
    names = argument_names(bodies[loop.body])
    known = [array for name, array in _ARRAYS.items() if name in (*names, "own")]
    return {
        "loop": loop,
        "name": loop.body.removesuffix("_row"),
        "parameters": ", ".join(parameter for parameter, _, _ in known),
        "arguments": ", ".join(array for _, array, _ in known),
        "carried": "carrier" in names,
    }


def calls_of(bodies: Bodies) -> dict[str, str]:
    """The calls of bodies of rows and of a free root's motion, by their names."""
    return {
        name: f"{name}({', '.join(_HERE.get(argument, argument) for argument in argument_names(body))})"
        for name, body in bodies.items()
        if name.endswith("_row") or name == "root_motion"
    }

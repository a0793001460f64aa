"""Loops over rows of limbs: what their bodies (`rbdc.planning.loops.limb_bodies`) read and write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rbdc.emit.c.lanes import argument_names
from rbdc.emit.paths.layout import LIMBS, Schedule
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Model

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


@dataclass(frozen=True)
class DownView:
    """A loop from the root to the leaves: `first` entry that is needed of a row above; `carried`: whether the
    motion of what carries a joint is.
    """

    comment: str
    name: str
    parameters: str
    call: str
    arguments: str
    first: int
    carried: bool


def down_view(body: LaneProgram, comment: str, first: int = 0) -> DownView:
    """The loop around a body."""
    names = argument_names(body)
    known = [name for name in _ARRAYS if name in (*names, "own")]
    here = {name: _ARRAYS[name][1] + _ARRAYS[name][2] for name in known}
    here |= {"up": "up", "carrier": "carrier"}
    return DownView(
        comment,
        body.program.name.removesuffix("_row"),
        ", ".join(_ARRAYS[name][0] for name in known),
        f"{body.program.name}({', '.join(here[name] for name in names)})",
        ", ".join(_ARRAYS[name][1] for name in known),
        first,
        "carrier" in names,
    )


def loop_cost(schedule: Schedule, bodies: Iterable[LaneProgram]) -> Cost:
    """Operations of loops over rows of limbs and of what else stands beside these once, with the sines and
    cosines of the joints that turn.
    """
    turning = sum(
        schedule.model.bodies[schedule.nodes[k].body].joint.rotation == "angle" for k in schedule.places
    )
    total = Cost(calls=2 * turning)
    for body in bodies:
        total += body.cost.times(schedule.rows if body.program.name.endswith("_row") else 1)
    return replace(total, negations=0)


def products_cost(products: int, lanes: int) -> Cost:
    """So many products of registers that are added to sums."""
    return Cost(vectors=2 * products, lane_flops=2 * lanes * products)


def resting_world(model: Model, scalar: ScalarType, at: int) -> list[str]:
    """The motion of row 0 on a fixed base: the world accelerates by -g. at: the entry of accelerations."""
    return [
        f"motions[0][{at + k}] += {scalar.literal(x)};"
        for k, x in enumerate(map(float, (-model.gravity).scalars()))
        if x != 0.0
    ]


def total_of(array: str) -> str:
    """The sum over the lanes of row 0."""
    return " + ".join(f"{array}[k][{lane}]" for lane in range(LIMBS))

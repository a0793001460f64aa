"""The tables of kernels along paths: constants, what carries what, where inputs and columns are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rbdc.emit.c import trigonometry
from rbdc.emit.names import comment
from rbdc.emit.paths.constants import Constants
from rbdc.emit.paths.layout import LIMBS, Node, Schedule
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Model

GROUP = 4
"""Rows that are turned into columns at once."""


def tables_of(schedule: Schedule, constants: Constants, scalar: ScalarType) -> dict[str, object]:
    """The words of templates for tables."""
    model, sincos = schedule.model, trigonometry.widths(scalar)[-1]
    armature = [float(x) for x in model.armature]
    nodes = [[None if k is None else schedule.nodes[k] for k in row] for row in schedule.grid]
    slots = [node for row in nodes for node in row]
    slots += [None] * (-len(slots) % sincos)
    some = next(node for node in slots if node is not None)
    filled = [node or some for node in slots]
    rows = [
        [braced(map(scalar.literal, entry)) for entry in row]
        for row in zip(*constants.values.values(), strict=True)
    ]
    poses = [(f"pose{k}", schedule.places[k].row - 1, schedule.places[k].lane) for k in schedule.filled_in]
    columns = (body.index_v + n for body in model.bodies for n in range(body.joint.nv))
    return {
        "table": [
            comment(f"row {n}: " + ", ".join("-" if node is None else _name(model, node) for node in row))
            for n, row in enumerate(nodes, 1)
        ],
        "constants": rows,
        "constant_count": len(constants.values),
        "slots": len(slots),
        "above": braced(-1 if row is None else row for row in schedule.above),
        "moved": None in schedule.above,
        "moved_row": braced(braced(place.row for place in row) for row in schedule.parents),
        "moved_lane": braced(braced(place.lane for place in row) for row in schedule.parents),
        "q_of": braced(model.bodies[node.body].index_q for node in filled),
        "v_of": braced(model.bodies[node.body].index_v for node in filled),
        "scaled": _scaled(model, slots, scalar) if model.coupled or constants.slides or poses else None,
        "poses": poses,
        "body_of": braced(braced(node.body if node else 0 for node in row) for row in nodes),
        "coupled": braced(columns) if model.coupled else "",
        "slot_of": braced(_slots(schedule)),
        "carrier_of": braced(schedule.column_parents),
        "groups": _groups(schedule, scalar),
        # a lane without a joint gets an inertia to divide by
        "motors": [
            braced(
                scalar.literal(1.0 if node is None else armature[model.bodies[node.body].index_v + node.part])
                for node in row
            )
            for row in nodes
        ],
        "rooted": braced(scalar.literal(x) for x in armature[: schedule.first]),
        "damping": braced(scalar.literal(float(x)) for x in model.damping) if any(model.damping) else "",
    }


def _name(model: Model, node: Node) -> str:
    """The name of a node's body, with a number where its joint has several."""
    name = model.bodies[node.body].name
    return name if node.alone else f"{name}.{node.part}"


def _slots(schedule: Schedule) -> list[int]:
    """The slot of each column; those of a free root follow on the others."""
    slots = [schedule.rows * LIMBS + k for k in range(schedule.columns)]
    for node, place in schedule.places.items():
        slots[schedule.column(node)] = (place.row - 1) * LIMBS + place.lane
    return slots


def _scaled(model: Model, slots: Sequence[Node | None], scalar: ScalarType) -> dict[str, str]:
    """Tables of what coordinates are multiplied by, as angles and as lengths, and of offsets."""
    factors: list[tuple[float, float, float, float]] = []
    for node in slots:
        body = model.bodies[node.body] if node is not None and node.alone else None
        factor, offset = 0.0 if body is None else 1.0, 0.0
        if body is not None and body.coupling is not None:
            factor, offset = body.coupling.multiplier, body.coupling.offset
        turns = body is None or body.joint.rotation == "angle"
        factors.append((factor, 0.0, offset, 0.0) if turns else (0.0, factor, 0.0, offset))
    names = ("turn", "slide", "turn_offset", "slide_offset")
    columns = (braced(map(scalar.literal, column)) for column in zip(*factors, strict=True))
    return dict(zip(names, columns, strict=True))


def _groups(schedule: Schedule, scalar: ScalarType) -> list[dict[str, Any]]:
    """Rows that are turned into columns at once, and where their lanes go, piece by piece: of consecutive
    rows of a lane whose columns are consecutive the first column, the lane, the first of the group's rows,
    and bytes.
    """
    groups = []
    for first in range(0, schedule.rows, GROUP):
        pieces = []
        for lane in range(LIMBS):
            nodes = [row[lane] for row in schedule.grid[first : first + GROUP]]
            begins = [None if k is None else schedule.column(k) - entry for entry, k in enumerate(nodes)]
            for begin, run in groupby(range(len(nodes)), key=begins.__getitem__):
                entry, *others = run
                if begin is not None:
                    pieces.append((begin + entry, lane, entry, scalar.size * (1 + len(others))))
        groups.append({"rows": range(first, first + GROUP), "pieces": pieces})
    return groups

"""The tables of kernels of windows: constants, what carries what, where inputs and columns are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rbdc.emit.names import comment
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Problem
from rbdc.reduction.constants import Constants
from rbdc.reduction.schedules import LIMBS, Node, Schedule


def tables_of(schedule: Schedule, constants: Constants, scalar: ScalarType) -> dict[str, object]:
    """The words of templates for tables."""
    model, sincos = schedule.model, scalar.angle_lanes[-1]
    armature = [float(x) for x in model.armature]
    slots = [node for row in schedule.grid for node in row]
    slots += [None] * (-len(slots) % sincos)
    filled = [node or next(iter(schedule.slots)) for node in slots]
    slot_of = [LIMBS * schedule.rows + k for k in range(schedule.first)]  # after those of the others
    slot_of += [schedule.slots[node] for node in schedule.nodes]
    rows = [
        [braced(map(scalar.literal, entry)) for entry in row]
        for row in zip(*constants.values.values(), strict=True)
    ]
    poses = [(name, *divmod(schedule.slots[node], LIMBS)) for name, node in schedule.filled_in.items()]
    columns = (body.index_v + n for body in model.bodies for n in range(body.joint.nv))
    return {
        "table": [
            comment(f"row {n}: " + ", ".join("-" if node is None else _name(model, node) for node in row))
            for n, row in enumerate(schedule.grid, 1)
        ],
        "constants": rows,
        "constant_count": len(constants.values),
        "slots": len(slots),
        "above": braced(schedule.above),
        "moved": -1 in schedule.above,
        "moved_row": braced(braced(slot // LIMBS + 1 for slot in row) for row in schedule.carriers),
        "moved_lane": braced(braced(slot % LIMBS for slot in row) for row in schedule.carriers),
        "q_of": braced(model.bodies[node.body].index_q for node in filled),
        "v_of": braced(model.bodies[node.body].index_v for node in filled),
        "scaled": _scaled(model, slots, scalar) if model.coupled or constants.slides or poses else None,
        "poses": poses,
        "body_of": braced(braced(node.body if node else 0 for node in row) for row in schedule.grid),
        "coupled": braced(columns) if model.coupled else "",
        "slot_of": braced(slot_of),
        "carrier_of": braced(schedule.column_parents),
        "groups": _groups(schedule, scalar),
        # a lane without a joint gets an inertia to divide by
        "motors": [
            braced(
                scalar.literal(1.0 if node is None else armature[model.bodies[node.body].index_v + node.part])
                for node in row
            )
            for row in schedule.grid
        ],
        "rooted": braced(scalar.literal(x) for x in armature[: schedule.first]),
        "damping": braced(scalar.literal(float(x)) for x in model.damping) if any(model.damping) else "",
    }


def _name(model: Problem, node: Node) -> str:
    """The name of a node's body, with a number where its joint has several."""
    name = model.bodies[node.body].name
    return name if node.alone else f"{name}.{node.part}"


def _scaled(model: Problem, slots: Sequence[Node | None], scalar: ScalarType) -> dict[str, str]:
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
    for first in range(0, schedule.rows, LIMBS):
        pieces = []
        for lane in range(LIMBS):
            nodes = [row[lane] for row in schedule.grid[first : first + LIMBS]]
            begins = [None if node is None else node.column - entry for entry, node in enumerate(nodes)]
            for begin, run in groupby(range(len(nodes)), key=begins.__getitem__):
                entry, *others = run
                if begin is not None:
                    pieces.append((begin + entry, lane, entry, scalar.size * (1 + len(others))))
        groups.append({"rows": range(first, first + LIMBS), "pieces": pieces})
    return groups

"""The tables of kernels along paths: constants, what carries what, where inputs and columns are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rbdc.emit.c import trigonometry
from rbdc.emit.names import comment
from rbdc.emit.paths.constants import Constants
from rbdc.emit.paths.layout import LIMBS, Node, Place, Schedule, frame_of
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Model
from rbdc.spatial.vectors import AXES

GROUP = 4
"""Rows that are turned into columns at once."""


def tables_of(schedule: Schedule, constants: Constants, scalar: ScalarType) -> dict[str, object]:
    model, nodes, sincos = schedule.model, schedule.nodes, trigonometry.widths(scalar)[-1]
    slots = -(-schedule.rows * LIMBS // sincos) * sincos
    flat = [body for row in schedule.grid for body in row]
    flat += [None] * (slots - len(flat))
    some = next(body for body in flat if body is not None)
    filled = [some if body is None else body for body in flat]
    rows = [[braced(map(scalar.literal, entry)) for entry in row] for row in constants.rows()]
    ends = [k for k, node in enumerate(nodes) if k == node.last]
    places = [schedule.places.get(k) for k in ends]
    scaled = model.coupled or constants.place("sliding") is not None or schedule.several
    columns = (body.index_v + n for body in model.bodies for n in range(body.joint.nv))
    return {
        "table": [
            comment(f"row {n}: " + ", ".join("-" if k is None else _name(model, nodes[k]) for k in row))
            for n, row in enumerate(schedule.grid, 1)
        ],
        "constants": rows,
        "constant_count": len(constants.values),
        "above": braced(-1 if row is None else row for row in schedule.above),
        "moved": _places(schedule.parents) if None in schedule.above else None,
        "q_of": braced(model.bodies[nodes[k].body].index_q for k in filled),
        "v_of": braced(model.bodies[nodes[k].body].index_v + nodes[k].part for k in filled),
        "scaled": _scaled(schedule, flat, scalar) if scaled else None,
        "several": _several(schedule) if schedule.several else None,
        "place_of": braced("{0, 0}" if p is None else f"{{{p.row}, {p.lane}}}" for p in places),
        "own_frames": [_own_frame(constants, k, scalar) for k in range(model.njoints)],
        "coupled": braced(columns) if model.coupled else "",
        "slot_of": braced(_slots(schedule)),
        "carrier_of": braced(schedule.column_parents),
        "groups": _groups(schedule, scalar),
        "motors": [braced(scalar.literal(_motor(schedule, k)) for k in row) for row in schedule.grid],
        "rooted": braced(scalar.literal(float(model.armature[c])) for c in range(schedule.first)),
        "damping": braced(scalar.literal(float(x)) for x in model.damping) if any(model.damping) else "",
    }


def _name(model: Model, node: Node) -> str:
    """The name of a node's body, with a number where its joint has several."""
    name = model.bodies[node.body].name
    return name if node.alone else f"{name}.{node.part}"


def _motor(schedule: Schedule, number: int | None) -> float:
    """The armature of a node; a lane without one gets an inertia to divide by."""
    node = None if number is None else schedule.nodes[number]
    model = schedule.model
    return 1.0 if node is None else float(model.armature[model.bodies[node.body].index_v + node.part])


def _slots(schedule: Schedule) -> list[int]:
    """The slot of each column; those of a free root follow on the others."""
    slots = [schedule.rows * LIMBS + k for k in range(schedule.columns)]
    for node, place in schedule.places.items():
        slots[schedule.column(node)] = (place.row - 1) * LIMBS + place.lane
    return slots


def _places(places: Iterable[Iterable[Place]]) -> dict[str, str]:
    """Tables of places by row and lane: their rows, and their lanes."""
    found = [list(row) for row in places]
    return {
        "rows": braced(braced(place.row for place in row) for row in found),
        "lanes": braced(braced(place.lane for place in row) for row in found),
    }


def _scaled(schedule: Schedule, flat: Sequence[int | None], scalar: ScalarType) -> dict[str, str]:
    """Tables of what coordinates are multiplied by, as angles and as lengths, and of offsets."""
    factors: list[tuple[float, float, float, float]] = []
    for k in flat:
        node = None if k is None else schedule.nodes[k]
        body = None if node is None or not node.alone else schedule.model.bodies[node.body]
        if body is None:
            factors.append((0.0, 0.0, 0.0, 0.0))
            continue
        factor, offset = (
            (1.0, 0.0) if body.coupling is None else (body.coupling.multiplier, body.coupling.offset)
        )
        turns = body.joint.rotation == "angle"
        factors.append((factor, 0.0, offset, 0.0) if turns else (0.0, factor, 0.0, offset))
    names = ("turn", "slide", "turn_offset", "slide_offset")
    columns = (braced(map(scalar.literal, column)) for column in zip(*factors, strict=True))
    return dict(zip(names, columns, strict=True))


def _own_frame(constants: Constants, body: int, scalar: ScalarType) -> str:
    own = constants.model.bodies[body]
    chosen, turn = own.chosen, frame_of(own.joint, own.joint.nv - 1)
    axes = [x for axis in AXES for x in chosen.rotation.apply(turn.apply(axis)).scalars()]
    return braced(scalar.literal(float(x)) for x in (*axes, *chosen.translation.scalars()))


def _several(schedule: Schedule) -> dict[str, object]:
    """Joints with several degrees of freedom, by row and lane: what carries the joint, and the row of its
    last node; of frames that depend on several coordinates the function, and row and lane of the first node.
    """
    nodes = [[None if k is None else schedule.nodes[k] for k in row] for row in schedule.grid]
    carriers = (
        [(node and schedule.places.get(node.carrier)) or Place(0, lane) for lane, node in enumerate(row)]
        for row in nodes
    )
    last = (
        braced(schedule.places[node.last].row if node else number for node in row)
        for number, row in enumerate(nodes, 1)
    )
    poses = [(k, schedule.places[k]) for k in schedule.first_of_several]
    return {
        "carriers": _places(carriers),
        "last": braced(last),
        "poses": [(f"pose{k}", place.row - 1, place.lane) for k, place in poses],
    }


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

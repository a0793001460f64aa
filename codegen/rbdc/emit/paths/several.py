"""Joints with several degrees of freedom in kernels along paths: where their nodes stand, by their
coordinates, and what carries them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rbdc.emit.names import comment
from rbdc.emit.paths.constants import POSE, Constants, carried, from_origin
from rbdc.emit.paths.lanes import Trace
from rbdc.emit.paths.layout import LIMBS, Node, Place, Schedule, frame_of
from rbdc.functions.scalar_types import ScalarType
from rbdc.spatial import Rotation, Scalar
from rbdc.spatial.scalars import is_number
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class PoseView:
    """The statements that fill in the frame of a joint's first node."""

    comment: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class SeveralView:
    """Tables by row and lane: row and lane of what carries the joint, the row of its last node; how they are
    used; the frames that depend on several coordinates.
    """

    rows: str
    lanes: str
    last: str
    carrier: str
    end: str
    poses: tuple[PoseView, ...]


def braced(entries: Iterable[object]) -> str:
    """An initialiser of C."""
    return "{" + ", ".join(map(str, entries)) + "}"


def several_of(schedule: Schedule, constants: Constants, scalar: ScalarType) -> SeveralView:
    """The tables and frames of a schedule with such joints."""
    carriers, last = list[list[Place]](), list[list[int]]()
    for number, row in enumerate(schedule.grid, 1):
        carriers.append([])
        last.append([])
        for lane, k in enumerate(row):
            node = None if k is None else schedule.nodes[k]
            place = None if node is None else schedule.places.get(node.carrier)
            carriers[-1].append(place or Place(0, lane))
            last[-1].append(number if node is None else schedule.places[node.last].row)
    firsts = [k for k in schedule.places if k == schedule.nodes[k].first and not schedule.nodes[k].alone]
    return SeveralView(
        braced(braced(place.row for place in row) for row in carriers),
        braced(braced(place.lane for place in row) for row in carriers),
        braced(braced(row) for row in last),
        braced(f"motions[carrier_row[r - 1][{n}]][k][carrier_lane[r - 1][{n}]]" for n in range(LIMBS)),
        braced(f"motions[last_row[r - 1][{n}]][k][{n}]" for n in range(LIMBS)),
        tuple(_pose(constants, schedule.nodes[k], schedule.places[k], scalar) for k in firsts),
    )


def _pose(constants: Constants, node: Node, place: Place, scalar: ScalarType) -> PoseView:
    body = constants.model.bodies[node.body]
    trace = Trace(scalar, scalar.name)
    trace.begin("")
    q = [trace.read(f"q[{body.index_q + k}]") for k in range(body.joint.nq)]
    moved = body.joint.placement(q)
    columns = zip("xyz", AXES, strict=True)
    turn = Rotation(*(trace.let_vector(f"r{name}", moved.rotation.apply(axis)) for name, axis in columns))
    shift = trace.let_vector("t", moved.translation)
    fixed, own = body.placement_at(body.joint.neutral()), frame_of(body.joint, 0)
    vectors = [fixed.rotation.apply(turn.apply(own.apply(axis))) for axis in AXES]
    at = from_origin(constants.model, node, fixed.translation, constants.origin)
    vectors.append(at + fixed.rotation.apply(shift))
    entries: list[Scalar] = [x for v in vectors for x in carried(constants.model, node, v).scalars()]
    lines = list(trace.blocks[0].lines) if trace.blocks else []
    for name, x in zip(POSE, entries, strict=True):
        text = scalar.literal(float(x)) if is_number(x) else x.text
        lines.append(f"table.rows[{place.row - 1}][{constants.place(name)}][{place.lane}] = {text};")
    return PoseView(comment(body.name), tuple(lines))

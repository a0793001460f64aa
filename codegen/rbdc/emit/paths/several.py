"""Joints with several degrees of freedom in kernels along paths: where their nodes stand, by their
coordinates, and what carries them.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.paths.layout import Place, Schedule
from rbdc.emit.render import braced


@dataclass(frozen=True)
class SeveralView:
    """Tables by row and lane: row and lane of what carries the joint, the row of its last node; of the frames
    that depend on several coordinates the function, and row and lane of the joint's first node.
    """

    rows: str
    lanes: str
    last: str
    poses: list[tuple[str, int, int]]


def several_of(schedule: Schedule) -> SeveralView:
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
    poses = [(k, schedule.places[k]) for k in schedule.first_of_several]
    return SeveralView(
        braced(braced(place.row for place in row) for row in carriers),
        braced(braced(place.lane for place in row) for row in carriers),
        braced(braced(row) for row in last),
        [(f"pose{k}", place.row - 1, place.lane) for k, place in poses],
    )

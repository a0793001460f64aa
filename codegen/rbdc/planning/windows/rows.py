"""Loops over rows of limbs, around the programs of `bodies.py`, and transpositions of rows of limbs to
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from rbdc.ir.indices import Index, Multiple, TableEntry, plus
from rbdc.ir.loops import ConstantTable, Loop, Place, Sines, Statement, Step, WhereGiven
from rbdc.ir.moves import joined, parted, pieces_of_columns, records
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import K, R, WindowLayout, integers, numbers, step_at
from rbdc.reduction.schedules import LIMBS, Node


def row_tables(layout: WindowLayout) -> Iterator[ConstantTable]:
    """Yield the tables of the loops over rows."""
    schedule, model = layout.schedule, layout.model
    names = (", ".join("-" if node is None else _name(layout, node) for node in row) for row in schedule.grid)
    rows = zip(*layout.constants.values.values(), strict=True)
    constants = tuple(tuple(x for lanes in row for x in lanes) for row in rows)
    yield ConstantTable("constants", constants, comments=tuple(names))
    yield integers("above", schedule.above)
    if layout.moved:
        slots = [slot for row in schedule.carriers for slot in row]
        yield integers("moved", layout.moved)
        yield integers("up_of", (layout.rows + 1 if row < 0 else row for row in schedule.above))
        yield integers("row_above", (slot // LIMBS + 1 for slot in slots), LIMBS)
        yield integers("lane_above", (slot % LIMBS for slot in slots), LIMBS)
    yield integers("q_of", (layout.body(node).index_q for node in layout.slots))
    yield integers("v_of", (layout.body(node).index_v for node in layout.slots))
    yield integers("body_of", (node.body if node else 0 for row in schedule.grid for node in row), LIMBS)
    for name, column in _scaled(layout).items():
        yield numbers(name, column)
    armature = [float(x) for x in model.armature]
    # a lane without a joint gets armature 1, because D = 0 would be a division by zero
    motors = (
        1.0 if node is None else armature[model.bodies[node.body].index_v + node.part]
        for row in schedule.grid
        for node in row
    )
    yield numbers("motors", motors, LIMBS)


def _name(layout: WindowLayout, node: Node) -> str:
    name = layout.model.bodies[node.body].name
    return name if node.alone else f"{name}.{node.part}"


def _scaled(layout: WindowLayout) -> dict[str, list[float]]:
    """Return the factors and offsets that map q to angles and to lengths, by slot."""
    rows = []
    for node in layout.slots:
        body = layout.model.bodies[node.body] if node is not None and node.alone else None
        factor, offset = 0.0 if body is None else 1.0, 0.0
        if body is not None and body.coupling is not None:
            factor, offset = body.coupling.multiplier, body.coupling.offset
        turns = body is None or body.joint.rotation == "angle"
        rows.append((factor, 0.0, offset, 0.0) if turns else (0.0, factor, 0.0, offset))
    names = ("turn_of", "slide_of", "turn_offset", "slide_offset")
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def coordinates(layout: WindowLayout) -> list[Statement]:
    """Return the steps that load q, v and other inputs by slot, and compute all sines and cosines."""
    m, slides = PlaceRecorder(), layout.constants.slides
    q = m.number(Place("q", ((TableEntry("q_of", K), 1),)))
    scaled = layout.model.coupled or slides or layout.schedule.filled_in
    for kind, array in (("turn", "angles"), *((("slide", "slides"),) if slides else ())):
        factor, offset = (Place(f"{kind}_{table}", ((K, 1),)) for table in ("of", "offset"))
        m.store([m.number(factor) * q + m.number(offset) if scaled else q], Place(array, ((K, 1),)))
    for name, source in layout.kernel.inputs:
        m.store([m.number(Place(source, ((TableEntry("v_of", K), 1),)))], Place(name, ((K, 1),)))
    size, lanes = len(layout.slots), layout.scalar.angle_lanes[-1]
    return [Loop("k", 0, size, (m.step(),)), Sines("angles", "sines", "cosines", size, lanes)]


def _place(layout: WindowLayout, name: str) -> Place:
    """Return the place, in row r, of the argument `name` of a loop body."""
    rows = {
        "own": ("motions", at.MOTION_SIZE, 1),
        "joint": ("joints", at.JOINT_SIZE, 0),
        "sum": ("sums", layout.sum_size, 1),
        "inertia": ("inertias", layout.inertia_size, 1),
        "c": ("posed" if layout.schedule.filled_in else "constants", len(layout.constants.values), 0),
    }
    if name in rows:
        array, size, begin = rows[name]
        return Place(array, ((R, LIMBS * size),), LIMBS * size * begin)
    if name == "up":
        return Place(
            "motions", ((TableEntry("up_of" if layout.moved else "above", R), LIMBS * at.MOTION_SIZE),)
        )
    if name in ("gain", "left", "columns", "force"):
        return Place({"columns": "forces"}.get(name, name))
    return Place(f"{name}s", ((R, LIMBS),))


def of_row(layout: WindowLayout, name: str) -> Step:
    """Return the loop body `name` in row r."""
    program = layout.bodies[name]
    arguments = dict.fromkeys(array.name for array in (*program.inputs, *program.outputs))
    return Step(program, {argument: _place(layout, argument) for argument in arguments})


def _lane_above(array: str, size: int, k: Index = K) -> dict[str, Place]:
    """Return the place of entry k of the parent of each body of row r, by lane."""
    places = {}
    for m in range(LIMBS):
        entry = plus(Multiple(LIMBS, R), m)
        strides = (
            (TableEntry("row_above", entry), LIMBS * size),
            (k, LIMBS),
            (TableEntry("lane_above", entry), 1),
        )
        places[f"lane{m}"] = Place(array, strides)
    return places


def down(layout: WindowLayout, body: str, about: str, begin: int = 0) -> Loop:
    """Return a loop from the root to the leaves.

    begin: first entry of a parent's motion that the loop reads.
    """
    steps: list[Statement] = []
    if layout.moved:
        size = at.MOTION_SIZE
        scratch = Place("motions", ((K, LIMBS),), LIMBS * size * (layout.rows + 1))
        gathered = Step(joined("gathered", LIMBS, 1), {**_lane_above("motions", size), "vector": scratch})
        steps.append(Loop("m", 0, TableEntry("moved", R), (Loop("k", begin, size, (gathered,)),)))
    return Loop("r", 0, layout.rows, (*steps, of_row(layout, body)), f"root to leaves: {about}")


def _to_carrier(layout: WindowLayout, to: str, size: int, source: Place) -> list[Statement]:
    above = Place(to, ((TableEntry("above", R), LIMBS * size),))
    plain = _moved(size, source, above, adds=True)
    if not layout.moved:
        return [plain]
    stored = _moved(size, source, Place("kept"))
    by_lane, places = list[Statement](), {"vector": Place("kept", ((K, LIMBS),)), **_lane_above(to, size)}
    # two passes over alternate lanes: a load of two neighbouring lanes would wait for both of their stores
    for some in ((0, 2), (1, 3)):
        entry = parted("handed_on", LIMBS, 1, some)
        added = replace(entry, outputs=tuple(replace(array, adds=True) for array in entry.outputs))
        by_lane.append(Loop("k", 0, size, (step_at(added, places),)))
    return [
        Loop("m", TableEntry("moved", R), 1, (plain,)),
        Loop("m", 0, TableEntry("moved", R), (stored, *by_lane)),
    ]


def _moved(size: int, source: Place, to: Place, *, adds: bool = False) -> Step:
    m = PlaceRecorder(LIMBS)
    m.put(m.vectors(size, source), to, adds=adds)
    return m.step()


def _records(array: str, entries: dict[str, int], joint: Place) -> Step:
    """Copy entries of row r to the beginnings of the records of its lanes."""
    program = records("records", LIMBS, entries)
    size = sum(entries.values())
    places = {name: Place(name) for name in entries} | {"joint": joint}
    for m in range(LIMBS):
        strides = ((R, LIMBS * at.OWN_SIZE),)
        places[f"record{m}"] = Place(array, strides, m * at.OWN_SIZE)
        places[f"rest{m}"] = Place(array, strides, m * at.OWN_SIZE + size // LIMBS * LIMBS)
    return step_at(program, places)


def articulated(layout: WindowLayout) -> Loop:
    """Return the loop of articulated inertias; it keeps s, K and 1 / D of each joint in `factors`."""
    size = layout.inertia_size
    stored = _records("factors", {"joint": 6, "gain": 7}, _place(layout, "joint"))
    handed = _to_carrier(layout, "inertias", size, Place("left"))
    body = (of_row(layout, "articulated_row"), stored, *handed)
    about = "leaves to root: articulated inertias, and s, K = U / D and 1 / D of each joint"
    return Loop("r", 0, layout.rows, body, about, backward=True)


def external(layout: WindowLayout) -> WhereGiven:
    """Return the loop that subtracts external forces from the forces of the bodies."""
    places = {
        f"lane{m}": Place("fext", ((TableEntry("body_of", plus(Multiple(LIMBS, R), m)), 6),))
        for m in range(LIMBS)
    }
    gathered = Step(joined("gathered", LIMBS, 6), {**places, "vector": Place("f")})
    row = of_row(layout, "external_row")
    step = replace(row, places={**row.places, "f": Place("f")})
    return WhereGiven(("fext",), (Loop("r", 0, layout.rows, (gathered, step)),))


def backward(layout: WindowLayout) -> Loop:
    """Return the loop of subtree sums and of F_q, F_v, F_a, t of joints; it keeps F_a and t in `owns`."""
    stored = _records("owns", {"forces": 9}, Place("forces"))
    handed = _to_carrier(layout, "sums", layout.sum_size, _place(layout, "sum"))
    body = (of_row(layout, "backward_row"), stored, *handed)
    return Loop(
        "r",
        0,
        layout.rows,
        body,
        "leaves to root: sums over subtrees, and c_q, c_v, r_b, r of joints",
        backward=True,
    )


def turned(layout: WindowLayout) -> list[Statement]:
    """Return the loops that transpose rows of limbs to columns, four rows at a time."""
    loops: list[Statement] = []
    for first in range(0, layout.rows, LIMBS):
        pieces = list(_pieces(layout, first))
        program = pieces_of_columns("turned", LIMBS, [piece for _, piece in pieces])
        size = LIMBS * at.JOINT_SIZE
        places = {"row": Place("joints", ((K, LIMBS),), first * size, pitch=size)}
        for number, (column, _) in enumerate(pieces):
            places[f"piece{number}"] = Place("by", ((K, layout.padded),), column)
        about = "" if first else "transpose entries of joints from rows of four limbs to columns"
        loops.append(Loop("k", 0, at.JOINT_SIZE, (Step(program, places),), about))
    return loops


def _pieces(layout: WindowLayout, first: int) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield the runs of consecutive columns in the lanes of the `LIMBS` rows from `first` on: (first column,
    (lane, index of the run's first row among these rows, number of columns)).
    """
    for lane in range(LIMBS):
        nodes: Sequence[Node | None] = [row[lane] for row in layout.schedule.grid[first : first + LIMBS]]
        begins = [None if node is None else node.column - entry for entry, node in enumerate(nodes)]
        for begin, run in groupby(range(len(nodes)), key=begins.__getitem__):
            entry, *others = run
            if begin is not None:
                yield begin + entry, (lane, entry, 1 + len(others))


def posed(layout: WindowLayout) -> list[Statement]:
    """Return the steps that copy the constants to `posed`, and insert the frames of joints with several
    degrees of freedom.
    """
    if not layout.schedule.filled_in:
        return []
    count = len(layout.constants.values)
    copied = _moved(1, Place("constants", ((K, LIMBS),)), Place("posed", ((K, LIMBS),)))
    statements: list[Statement] = [Loop("k", 0, layout.rows * count, (copied,))]
    for name, node in layout.schedule.filled_in.items():
        row, lane = divmod(layout.schedule.slots[node], LIMBS)
        to = Place("posed", (), LIMBS * count * row + lane, pitch=LIMBS)
        statements.append(Step(layout.bodies[name], {"q": Place("q"), "pose": to}))
    return statements

"""The C of a kernel along ancestor paths: the views of its tables and loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.paths import bodies
from rbdc.emit.paths.constants import Constants, constants_of
from rbdc.emit.paths.lanes import Block, Trace
from rbdc.emit.paths.layout import LIMBS, Schedule, Window, scheduled, windows
from rbdc.emit.paths.root import TOTAL, moving_root, resting_world, root_blocks
from rbdc.emit.render import render
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model

_GROUP = 4
"""Rows that are turned into columns at once."""

_REGISTERS = (("__AVX512F__", 64), ("__AVX__", 32), ("", 16))
"""Bytes of registers by the macro that says so."""


@dataclass(frozen=True)
class RootView:
    """A free root: the sum over the lanes of row 0, and what follows from it."""

    total: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class MovedView:
    """Where bodies come from other lanes or several rows: tables, and the gathering of what carries them."""

    rows: str
    lanes: str
    gather: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class ScaledView:
    """Tables of what coordinates are multiplied by, and of offsets."""

    turn: str
    slide: str
    turn_offset: str
    slide_offset: str


@dataclass(frozen=True)
class Sizes:
    """Entries of a body, a subtree, a joint."""

    motion: int
    sum: int
    joint: int


@dataclass(frozen=True)
class Places:
    """Where the entries of a joint begin, and the force among those of a subtree."""

    axis: int = bodies.AXIS
    rate: int = bodies.RATE
    second: int = bodies.SECOND_RATE
    by_q: int = bodies.BY_Q
    by_v: int = bodies.BY_V
    by_a: int = bodies.BY_A
    transposed: int = bodies.OWN_TRANSPOSED
    own: int = bodies.OWN_SIZE
    force: int = bodies.FORCE


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a lane whose columns are consecutive: the first column, the lane, the first of the group's rows, bytes."""

    column: int
    lane: int
    entry: int
    bytes: int


@dataclass(frozen=True)
class Group:
    """Rows that are turned at once, and where their lanes go."""

    rows: tuple[int, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class WidthView:
    """The tables for one width of registers, under the condition that chooses it. root: entries of a row of a free root's columns. most: rows of a
    window with entries on both sides."""

    condition: str
    lanes: int
    bytes: int
    root: int
    most: int
    padded: int
    count: int
    windows: list[str]
    tiles: list[str]
    empty: list[str]
    masks: list[str]


def paths_source(robot: str, function: Function, model: Model, version: str, *, loop: bool = True) -> FunctionSource:
    """The C of the derivatives of inverse dynamics along ancestor paths."""
    declaration, scalar = function.declaration, function.declaration.scalar
    schedule = scheduled(model)
    constants = constants_of(schedule)
    massive = constants.place("mass") is not None
    forward, backward = Trace(scalar), Trace(scalar)
    bodies.forward(forward, constants, coupled=model.coupled)
    bodies.backward(backward, massive=massive)
    root = RootView(TOTAL, root_blocks(constants, scalar, massive=massive)) if schedule.free else None
    widths = [_split(schedule, scalar, macro, size) for macro, size in _REGISTERS]
    cost = _cost(schedule, widths[0][1], (*forward.blocks, *backward.blocks), root)
    name = f"{robot}_{declaration.name}"
    text = render(
        "paths_rnea_derivatives.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(cost),
        version=version,
        **scalar.words,
        **_sizes(schedule, scalar, massive=massive),
        **_tables(schedule, constants, scalar),
        widths=[view for view, _ in widths],
        forward=forward.blocks,
        backward=backward.blocks,
        root=root,
        base=moving_root(constants, scalar) if schedule.free else resting_world(model),
        groups=_groups(schedule, scalar),
        diagonal=_diagonal(model, [p.name for p in declaration.outputs]),
        outputs=[p.name for p in declaration.outputs],
        output_bytes=declaration.outputs[0].size * scalar.size,
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration) if loop else None,
    )
    header = trigonometry.header_name(robot)
    files = {header: trigonometry.header(robot, version, scalar), f"{name}.c": text}
    statements = sum(line.endswith(";") for line in text.splitlines())
    return FunctionSource(declaration, cost, files, statements, "idsva", "paths")


def _sizes(schedule: Schedule, scalar: ScalarType, *, massive: bool) -> dict[str, object]:
    sincos = trigonometry.widths(scalar)[-1]
    slots = -(-schedule.rows * LIMBS // sincos) * sincos
    return {
        "limbs": LIMBS,
        "lanes_of_limbs": range(LIMBS),
        "three": range(3),
        "six": range(6),
        "five": range(1, 6),
        "half": scalar.literal(0.5),
        "owns": LIMBS * schedule.rows + schedule.first + 2,
        "limbs_bytes": LIMBS * scalar.size,
        "rows": schedule.rows,
        "slots": slots,
        "sincos": sincos,
        "columns": schedule.columns,
        "first": schedule.first,
        "first_body": 1 if schedule.free else 0,
        "bodies": schedule.model.njoints,
        "nv": schedule.model.nv,
        "joint_rows": -(-schedule.rows // _GROUP) * _GROUP,
        "size": Sizes(bodies.MOTION_SIZE, bodies.COMPOSITE_SIZE if massive else bodies.MASS, bodies.JOINT_SIZE),
        "at": Places(),
        "frame": "the axes of the free root's body" if schedule.free else "the world's axes about the first joint",
        "carrier": "the free root, its linear velocity taken as zero" if schedule.free else "the world, which accelerates by -g",
    }


def _tables(schedule: Schedule, constants: Constants, scalar: ScalarType) -> dict[str, object]:
    model, slots = schedule.model, -(-schedule.rows * LIMBS // trigonometry.widths(scalar)[-1]) * trigonometry.widths(scalar)[-1]
    flat = [body for row in schedule.bodies for body in row]
    flat += [None] * (slots - len(flat))
    some = next(body for body in flat if body is not None)
    filled = [some if body is None else body for body in flat]
    rows = [[_braced(map(scalar.literal, entry)) for entry in row] for row in constants.rows()]
    places = [schedule.places.get(k) for k in range(model.njoints)]
    scaled = model.coupled or constants.place("sliding") is not None
    coupled = _braced(column for column, body in _columns(model)) if model.coupled else ""
    return {
        "table": [
            comment(f"row {n}: " + ", ".join("-" if k is None else model.bodies[k].name for k in row))
            for n, row in enumerate(schedule.bodies, 1)
        ],
        "constants": rows,
        "constant_count": len(constants.values),
        "above": _braced(-1 if row is None else row for row in schedule.above),
        "moved": _moved(schedule),
        "q_of": _braced(model.bodies[k].index_q for k in filled),
        "v_of": _braced(model.bodies[k].index_v for k in filled),
        "scaled": _scaled(model, flat, scalar) if scaled else None,
        "place_of": _braced("{0, 0}" if p is None else f"{{{p.row}, {p.lane}}}" for p in places),
        "own_frames": [_own_frame(constants, k, scalar) for k in range(model.njoints)],
        "coupled": coupled,
        "slot_of": _braced(_slots(schedule)),
    }


def _slots(schedule: Schedule) -> list[int]:
    """The slot of each column; those of a free root follow on the others."""
    slots = [schedule.rows * LIMBS + k for k in range(schedule.columns)]
    for body, place in schedule.places.items():
        slots[schedule.column(body)] = (place.row - 1) * LIMBS + place.lane
    return slots


def _columns(model: Model) -> list[tuple[int, int]]:
    return [(body.index_v + n, k) for k, body in enumerate(model.bodies) for n in range(body.joint.nv)]


def _braced(entries: Iterable[object]) -> str:
    return "{" + ", ".join(map(str, entries)) + "}"


def _moved(schedule: Schedule) -> MovedView | None:
    if None not in schedule.above:
        return None
    rows = _braced(_braced(place.row for place in row) for row in schedule.parents)
    lanes = _braced(_braced(place.lane for place in row) for row in schedule.parents)
    gather = _braced(f"motions[row[{n}]][k][lane[{n}]]" for n in range(LIMBS))
    return MovedView(rows, lanes, gather, tuple(range(LIMBS)))


def _scaled(model: Model, flat: Sequence[int | None], scalar: ScalarType) -> ScaledView:
    factors: list[tuple[float, float, float, float]] = []
    for k in flat:
        body = None if k is None else model.bodies[k]
        if body is None:
            factors.append((0.0, 0.0, 0.0, 0.0))
            continue
        factor, offset = (1.0, 0.0) if body.coupling is None else (body.coupling.multiplier, body.coupling.offset)
        turns = body.joint.rotation == "angle"
        factors.append((factor, 0.0, offset, 0.0) if turns else (0.0, factor, 0.0, offset))
    return ScaledView(*(_braced(map(scalar.literal, entries)) for entries in zip(*factors, strict=True)))


def _own_frame(constants: Constants, body: int, scalar: ScalarType) -> str:
    from rbdc.spatial.vectors import AXES

    chosen = constants.model.bodies[body].chosen
    axes = [x for axis in AXES for x in chosen.rotation.apply(axis).scalars()]
    return _braced(scalar.literal(float(x)) for x in (*axes, *chosen.translation.scalars()))


def _groups(schedule: Schedule, scalar: ScalarType) -> list[Group]:
    groups = []
    for first in range(0, schedule.rows, _GROUP):
        pieces = []
        for lane in range(LIMBS):
            rows = schedule.bodies[first : first + _GROUP]
            columns = [None if row[lane] is None else schedule.column(row[lane]) for row in rows]
            pieces += _pieces(columns, lane, scalar)
        groups.append(Group(tuple(range(first, first + _GROUP)), tuple(pieces)))
    return groups


def _pieces(columns: Sequence[int | None], lane: int, scalar: ScalarType) -> list[Piece]:
    """Runs of consecutive columns."""
    pieces: list[Piece] = []
    for entry, column in enumerate(columns):
        if column is None:
            continue
        last = pieces[-1] if pieces else None
        if last is not None and entry > 0 and columns[entry - 1] == column - 1:
            pieces[-1] = Piece(last.column, lane, last.entry, last.bytes + scalar.size)
        else:
            pieces.append(Piece(column, lane, entry, scalar.size))
    return pieces


def _split(schedule: Schedule, scalar: ScalarType, macro: str, size: int) -> tuple[WidthView, tuple[Window, ...]]:
    """The windows of one width, no wider than the matrix has columns of joints."""
    lanes = size // scalar.size
    while lanes > schedule.columns - schedule.first:
        lanes //= 2
    found = windows(schedule, lanes)
    masks: dict[int, int] = {}
    lines, tiles, empty = list[str](), list[str](), list[str]()
    for window in found:
        kinds: list[list[str]] = [[], [], []]
        for tile in window.tiles:
            kinds[0 if not tile.above else 1 if tile.below else 2].append(
                f"{tile.row}, {masks.setdefault(tile.below, len(masks))}, {masks.setdefault(tile.above, len(masks))}"
            )
        rest = list(window.empty)
        for n, kind in enumerate(kinds):
            tiles += [f"{{{text}, {rest.pop(0) if rest else -1}}}" for text in kind]
            del n
        empty += map(str, rest)
        lines.append(_braced((window.column, *map(len, kinds), len(rest))))
    words = {"__AVX512F__": "#if defined(__AVX512F__)", "__AVX__": "#elif defined(__AVX__)", "": "#else"}
    view = WidthView(
        words[macro],
        lanes,
        lanes * scalar.size,
        max(8, lanes),
        max(1, *(sum(bool(t.above and t.below) for t in window.tiles) for window in found)),
        -(-schedule.columns // 8) * 8,
        len(found),
        lines,
        tiles,
        empty or ["0"],
        [_braced(-(mask >> lane & 1) for lane in range(lanes)) for mask in masks],
    )
    return view, found


def _diagonal(model: Model, outputs: Sequence[str]) -> list[str]:
    """What viscous damping and motors add."""
    lines = []
    for output, values in ((outputs[1], model.damping), (outputs[2], model.armature)):
        lines += [f"{output}[{k * model.nv + k}] += {float(x)!r};" for k, x in enumerate(values) if x != 0.0]
    return lines


def _cost(
    schedule: Schedule, split: Sequence[Window], blocks: Sequence[Block], root: RootView | None
) -> Cost:
    """Operations on registers: those of a row of limbs, of a window's row, each as one."""
    lines = [line for block in blocks for line in block.lines]
    additions = schedule.rows * sum(line.count(" + ") + line.count(" - ") for line in lines)
    products = schedule.rows * sum(line.count(" * ") for line in lines)
    for window in split:
        pairs = sum(18 * bool(t.below) + 24 * bool(t.above) for t in window.tiles)
        products += pairs
        additions += pairs
    if root is not None:
        products += 18 * schedule.columns
        additions += 18 * schedule.columns
    return Cost(additions=additions, multiplications=products)

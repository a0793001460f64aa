"""Template arguments of supernodes, for each width of registers."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.paths.layout import Schedule
from rbdc.emit.paths.solves.supernodes import Row, Shape, supernodes
from rbdc.emit.paths.widths import REGISTERS, width_of
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType


@dataclass(frozen=True)
class ShapeView:
    """The code of a shape of `size` columns. top: whether the matrix begins with it. rooted: how many of a
    free root's columns are above it. before: how many columns are in its registers in front of it. rows:
    the numbers of its columns and their lanes. inner: those with something above them within. motions: each
    entry of their s. transposed, reduced: the statements of T^T and -T K. tile: what registers begin with
    that are turned step by step, `turned`, until they are called `columns`. diagonal: T D^-1 T^T.
    """

    name: str
    comment: str
    top: bool
    rooted: str
    size: int
    before: int
    rows: list[tuple[int, int]]
    inner: list[int]
    motions: list[str]
    transposed: list[str]
    reduced: list[str]
    tile: list[str]
    turned: list[list[str]]
    columns: list[str]
    diagonal: list[str]


@dataclass(frozen=True)
class NodeView:
    """A supernode: where it begins, how many columns it has, what carries it, the name of its shape."""

    start: int
    size: int
    carrier: int
    shape: str


@dataclass(frozen=True)
class SolveView:
    """The tables and the code of one width of registers, under the condition that chooses it.

    pitch: of a row of T K; padded: of a row of columns; unit: a one between zeros.
    """

    condition: str
    lanes: int
    bytes: int
    pitch: int
    padded: int
    unit: str
    shapes: list[ShapeView]
    nodes: list[NodeView]


def solve_views(schedule: Schedule, scalar: ScalarType) -> list[SolveView]:
    """Template arguments of every width of registers."""
    return [_view(schedule, scalar, line, size) for line, size in REGISTERS.items()]


def _view(schedule: Schedule, scalar: ScalarType, condition: str, size: int) -> SolveView:
    lanes = width_of(schedule, scalar, size)
    nodes = supernodes(schedule, lanes)
    shapes = dict.fromkeys(node.shape for node in nodes)
    views = {shape: _shape(shape, f"{number}", lanes) for number, shape in enumerate(shapes)}
    return SolveView(
        condition,
        lanes,
        lanes * scalar.size,
        -(-6 // lanes) * lanes,
        -(-schedule.columns // lanes) * lanes,
        braced("1" if k == lanes else "0" for k in range(3 * lanes)),
        list(views.values()),
        [NodeView(node.start, len(node.columns), node.carrier, views[node.shape].name) for node in nodes],
    )


def _shape(shape: Shape, number: str, lanes: int) -> ShapeView:
    rows = shape.rows
    names, steps = _turned(lanes)
    chain = all(parent == k - 1 for k, parent in enumerate(shape.parents))
    kind = "root" if shape.rooted else "chain" if chain else "tree"
    hangs = "a chain" if chain else f"on {', '.join(map(str, shape.parents))} of these, -1 for what is above"
    before = [f"LOAD(x + COLUMNS * (start - {shape.lane - k}) + c)" for k in range(shape.lane)]
    return ShapeView(
        f"{kind}{len(rows)}_{number}",
        f"{len(rows)} columns{' of a free root' if shape.rooted else ''}, {hangs}",
        shape.top,
        "start" if shape.rooted else "FIRST",
        len(rows),
        shape.lane,
        [(row.number, shape.lane + row.number) for row in rows],
        [row.number for row in rows if row.above],
        [braced([*("0" for _ in before), *(f"own{row.number}[{k}]" for row in rows)]) for k in range(6)],
        [_transposed(row, shape) for row in reversed(rows)],
        [_reduced(row, shape) for row in rows],
        [*before, *("{0}" for _ in range(lanes - len(before)))],
        steps,
        names,
        [_diagonal(row, shape) for row in rows],
    )


def _transposed(row: Row, shape: Shape) -> str:
    """T^T_k = e_k - sum of L_jk T^T_j over j below k."""
    terms = "".join(f" - within[{j}][{shape.lane + row.number}] * y{j}" for j in row.below)
    return f"const lanes y{row.number} = LOAD(unit + WIDTH - {shape.lane + row.number}){terms};"


def _reduced(row: Row, shape: Shape) -> str:
    """-T K of a row: -K_k - sum of L_kj (-T K)_j over j above k."""
    terms = "".join(f" - within[{row.number}][{shape.lane + j}] * k{j}" for j in row.above)
    return f"const lanes k{row.number} = -LOAD(own{row.number} + FORCE + at){terms};"


def _diagonal(row: Row, shape: Shape) -> str:
    """A row of T times rows of D^-1 T^T."""
    entries = (f"inner[{j}][{shape.lane + row.number}] * d{j}" for j in row.above)
    return " + ".join((f"d{row.number}", *entries))


def _turned(lanes: int) -> tuple[list[str], list[list[str]]]:
    """How as many registers as there are lanes change rows for columns: halves, quarters and so on change
    places; what they are called at the end, and the steps.
    """
    old, steps, half = "s", list[list[str]](), lanes // 2
    while half:
        new, step = f"t{half}_", list[str]()
        for k in range(lanes):
            a, b = k & ~half, k | half
            kept = [_taken(lane, half, lanes, upper=bool(k & half)) for lane in range(lanes)]
            step.append(
                f"{new}{k} = __builtin_shufflevector({old}{a}, {old}{b}, {', '.join(map(str, kept))})"
            )
        steps.append(step)
        old, half = new, half // 2
    return [f"{old}{k}" for k in range(lanes)], steps


def _taken(lane: int, half: int, lanes: int, *, upper: bool) -> int:
    """Where a lane comes from, lanes of the second register after those of the first."""
    if upper:
        return lanes + lane if lane & half else lane + half
    return lanes + lane - half if lane & half else lane

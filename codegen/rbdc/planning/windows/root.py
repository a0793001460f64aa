"""A free root: its motion, what it carries, and its columns."""

from __future__ import annotations

from dataclasses import replace

from rbdc.ir.from_casadi import masked
from rbdc.ir.loops import Clear, Loop, Place, Routine, Statement, Step, Table, WhereGiven
from rbdc.ir.moves import totals
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import B, J, Layout, dot, step_at
from rbdc.reduction.schedules import LIMBS
from rbdc.spatial import Scalar, Vector3
from rbdc.spatial.scalars import is_zero


def carrying(layout: Layout) -> list[Statement]:
    """The motion of what carries all: a free root, its linear velocity taken as zero, or the world, which
    accelerates by -g; and nothing handed to it yet.
    """
    found: list[Statement] = [Clear("motions", LIMBS * at.MOTION_SIZE)]
    if layout.kernel.moving:
        found.append(Clear("sums", LIMBS * layout.sum_size))
    if layout.kernel.factors:
        found.append(Clear("inertias", LIMBS * layout.inertia_size))
    trace = LaneRecorder("resting")
    trace.store("own", 0, [float(k % 4 == 0) for k in range(9)])
    if layout.kernel.moving and not layout.schedule.free:
        gravity = (-layout.model.gravity).scalars()
        trace.store("own", at.ACCELERATION, map(float, gravity))
    found.append(Step(trace.program(), {"own": Place("motions")}))
    if layout.kernel.moving and layout.schedule.free:
        program = layout.bodies["root_motion"]
        places = {"motion": Place("motions"), **{name: Place(name) for name in ("q", "v", "a", "g", "force")}}
        found.append(step_at(program, places))
    return found


def root_forces(layout: Layout) -> list[Statement]:
    """The root's own force for unit accelerations and B^T, in `owns`, from the composite of all."""
    total = totals("total", LIMBS, layout.sum_size)
    own = Place("owns", (), layout.own_root)
    return [
        Step(total, {"vector": Place("sums"), "total": Place("total")}),
        Step(layout.bodies["columns_of_root"], {"w": Place("v", (), 3), "sum": Place("total"), "own": own}),
    ]


def _matrices(trace: LaneRecorder) -> tuple[list[list[Scalar]], ...]:
    """Matrices (3, 6) of a root's columns: forces f give f x G by q, and f x w and v x f by v; moments n give
    n x w by v.
    """
    g, v = Vector3.of(trace.entries("g", 0, 3)), trace.entries("v", 0, 6)
    none, turning, moving = ([[0.0] * 3] * 3, _skew(Vector3.of(v[3:])), _skew(-Vector3.of(v[:3])))

    def beside(left: list[list[Scalar]], right: list[list[Scalar]]) -> list[list[Scalar]]:
        return [[*a, *b] for a, b in zip(left, right, strict=True)]

    return beside(none, _skew(g)), beside(turning, moving), beside(none, turning)


def _skew(v: Vector3) -> list[list[Scalar]]:
    """The matrix of v x."""
    return [[0.0, -v.z, v.y], [v.z, 0.0, -v.x], [-v.y, v.x, 0.0]]


def root_columns(layout: Layout, by_q: str, by_v: str, by_a: str) -> Routine:
    """The columns of a free root: its orientation, its linear and angular velocity, its acceleration."""
    lanes, row = layout.lanes, layout.root_row
    trace = LaneRecorder("matrices", ("g", "v", "matrices"))
    for number, matrix in enumerate(_matrices(trace)):
        for k, own in enumerate(matrix):
            trace.store("matrices", row * (3 * number + k), [*own, *[0.0] * (row - 6)])
    made = Step(trace.program(), {name: Place(name) for name in ("g", "v", "matrices")})
    hold = LaneRecorder("hold", lanes=lanes)
    hold.store("y", 0, hold.entries("x", 0, 9))
    held = Step(hold.program(), {"x": Place("matrices", ((B, 1),), pitch=row), "y": Place("held")})
    body = Loop(
        "b",
        0,
        layout.first,
        (held, Loop("j", 0, layout.columns, (_root_row(layout, by_q, by_v, by_a),))),
        step=lanes,
    )
    about = "the columns of a free root: its orientation, its linear and angular velocity, its acceleration"
    arrays = {"matrices": 9 * row, "held": 9 * lanes}
    return Routine(
        "root_columns", about, ("g", "v", "owns", by_q, by_v, by_a), (made, body), (), arrays, {"held": lanes}
    )


def _root_row(layout: Layout, by_q: str, by_v: str, by_a: str) -> Step:
    """Entries of row j in the columns b .. of a root."""
    trace = LaneRecorder("root_row", ("f",), layout.lanes)
    f, (x, y, z) = trace.entries("f", 0, 6), (trace.entries("held", 3 * k, 3) for k in range(3))
    angular = masked(trace.read("t"), trace.read("mask"))
    trace.store("q", 0, [dot(f[:3], x)])
    trace.store("v", 0, [(angular + dot(f[:3], y)) + dot(f[3:], z)])
    trace.store("a", 0, [trace.read("own")])
    row = ((J, layout.columns), (B, 1))
    record = layout.own("owns", J)
    places = {
        "f": record,
        "held": Place("held"),
        "t": replace(record, strides=(*record.strides, (B, 1)), offset=3),
        "own": replace(record, strides=(*record.strides, (B, 1))),
        "mask": Place("turning", ((B, 1),)),
        **{name: Place(matrix, row) for name, matrix in (("q", by_q), ("v", by_v), ("a", by_a))},
    }
    return Step(trace.program(), places)


def root_tables(layout: Layout) -> list[Table]:
    """The columns that turn a root, as a mask; what motors add to its inertia."""
    turning = tuple(-float(3 <= k < 6) for k in range(layout.root_row))
    return [Table("turning", (turning,), integer=True, mask=True)]


def root_joints(layout: Layout) -> list[Statement]:
    """A root as six joints one after the other, s the unit vectors: their records in `factors`; and
    where derivatives are solved for `whole`, its inertia with all that it carries (6, 6).
    """
    own = Place("factors", (), layout.own_root)
    places = {"inertia": Place("carried"), "whole": Place("whole"), "own": own}
    return [
        Step(totals("total", LIMBS, at.CARRIED), {"vector": Place("inertias"), "total": Place("carried")}),
        step_at(layout.bodies["root_joints"], places),
    ]


def root_torques(layout: Layout) -> list[Statement]:
    """Forces left to accelerate a root: the given ones less its own and those of all that it carries."""
    carried = Place("inertias", (), LIMBS * at.CARRIED)
    rests = Place("rests", (), LIMBS * layout.rows)
    trace = LaneRecorder("root_torques", ("given", "force", "carried", "rest"))
    entries = (trace.entries(name, 0, 6) for name in ("given", "force", "carried"))
    trace.store("rest", 0, [tau - own - other for tau, own, other in zip(*entries, strict=True)])
    places = {"given": Place("driving"), "force": Place("force"), "carried": Place("total"), "rest": rests}
    pushed = LaneRecorder("pushed", ("f", "rest"), adds=("rest",))
    pushed.store("rest", 0, pushed.entries("f", 0, 6))
    return [
        Step(totals("total", LIMBS, 6), {"vector": carried, "total": Place("total")}),
        Step(trace.program(), places),
        WhereGiven("fext", (Step(pushed.program(), {"f": Place("fext"), "rest": rests}),)),
    ]


def root_itself(layout: Layout, by_q: str, by_v: str) -> Step:
    """The accelerations of a root by its own orientation and velocity: -e x G; -w x e; -e x v, -w x e, for
    the rest is M times these.
    """
    trace = LaneRecorder("root_itself", ("g", "v", "by_q", "by_v"), adds=("by_q", "by_v"))
    turn, force, moment = _matrices(trace)
    for name, rows in (("by_q", turn), ("by_v", [*force, *moment])):
        for i, row in enumerate(rows):
            for k, x in enumerate(row):
                if not is_zero(x):
                    trace.store(name, layout.columns * i + k, [-x])
    places = {"g": Place("g"), "v": Place("v"), "by_q": Place(by_q), "by_v": Place(by_v)}
    return Step(trace.program(), places)


def accelerating(layout: Layout) -> Statement:
    """The acceleration of what carries all: of a free root as it is known now, of the world none."""
    trace = LaneRecorder("accelerating", ("x",))
    trace.store("own", 0, trace.entries("x", 0, 6) if layout.schedule.free else [0.0] * 6)
    places = {"x": Place("seconds", (), LIMBS * layout.rows)}
    return step_at(trace.program(), places | {"own": Place("motions", (), LIMBS * at.ACCELERATION)})

"""A free root: its motion, the bodies that it carries, and its columns."""

from __future__ import annotations

from dataclasses import replace

from rbdc.ir.from_casadi import masked
from rbdc.ir.loops import Clear, ConstantTable, Loop, Place, Routine, Statement, Step, WhereGiven
from rbdc.ir.moves import totals
from rbdc.planning.loops.places import PlaceRecorder
from rbdc.planning.windows import entries as at
from rbdc.planning.windows.layout import B, J, WindowLayout, dot, step_at
from rbdc.reduction.schedules import LIMBS
from rbdc.spatial import Scalar, Vector3
from rbdc.spatial.scalars import is_zero


def carrying(layout: WindowLayout) -> list[Statement]:
    """Return the statements that store the motion of row 0, the carrier of all bodies, and clear its sums.

    The carrier is a free root, with its linear velocity taken as zero, or the world, which accelerates by -g.
    """
    statements: list[Statement] = [Clear("motions", LIMBS * at.MOTION_SIZE)]
    if layout.kernel.moving:
        statements.append(Clear("sums", LIMBS * layout.sum_size))
    if layout.kernel.factors:
        statements.append(Clear("inertias", LIMBS * layout.inertia_size))
    m = PlaceRecorder(LIMBS)
    m.put([float(k % 4 == 0) for k in range(9)], Place("motions"))
    if layout.kernel.moving and not layout.schedule.free:
        gravity = [float(x) for x in (-layout.model.gravity).scalars()]
        m.put(gravity, Place("motions", (), LIMBS * at.ACCELERATION))
    statements.append(m.step())
    if layout.kernel.moving and layout.schedule.free:
        program = layout.bodies["root_motion"]
        places = {"motion": Place("motions"), **{name: Place(name) for name in ("q", "v", "a", "g", "force")}}
        statements.append(step_at(program, places))
    return statements


def root_forces(layout: WindowLayout) -> list[Statement]:
    """Return the steps that store F_a and t of a free root's columns in `owns`, from sums over all bodies."""
    total = totals("total", LIMBS, layout.sum_size)
    place = Place("owns", (), layout.own_root)
    return [
        Step(total, {"vector": Place("sums"), "total": Place("total")}),
        Step(layout.bodies["columns_of_root"], {"w": Place("v", (), 3), "sum": Place("total"), "own": place}),
    ]


def _matrices(m: PlaceRecorder) -> tuple[list[list[Scalar]], ...]:
    """Return three matrices (3, 6) that map F_a = (f, n) of a row to its entries in a free root's columns:

        f to (0, f x G):      by position and orientation
        f to (f x w, v x f):  by linear and angular velocity
        n to (0, n x w):      by linear and angular velocity

    (v, w): velocity of the root. G = -R^T g, with its orientation R.
    """
    g, v = Vector3.of(m.numbers(3, Place("g"))), m.numbers(6, Place("v"))
    none, turning, moving = ([[0.0] * 3] * 3, _skew(Vector3.of(v[3:])), _skew(-Vector3.of(v[:3])))

    def beside(left: list[list[Scalar]], right: list[list[Scalar]]) -> list[list[Scalar]]:
        return [[*a, *b] for a, b in zip(left, right, strict=True)]

    return beside(none, _skew(g)), beside(turning, moving), beside(none, turning)


def _skew(v: Vector3) -> list[list[Scalar]]:
    return [[0.0, -v.z, v.y], [v.z, 0.0, -v.x], [-v.y, v.x, 0.0]]


def root_columns(layout: WindowLayout, by_q: str, by_v: str, by_a: str) -> Routine:
    """Return the routine that computes the derivatives of inverse dynamics by a free root's orientation,
    velocity and acceleration.
    """
    lanes, row = layout.lanes, layout.root_row
    m, stored = PlaceRecorder(), PlaceRecorder(lanes)
    rows = [[*entries, *[0.0] * (row - 6)] for matrix in _matrices(m) for entries in matrix]
    m.store([x for entries in rows for x in entries], Place("matrices"))
    stored.put(stored.vectors(9, Place("matrices", ((B, 1),), pitch=row)), Place("held"))
    inner = Loop("j", 0, layout.columns, (_root_row(layout, by_q, by_v, by_a),))
    body = Loop("b", 0, layout.first, (stored.step(), inner), step=lanes)
    about = "derivatives of inverse dynamics by the free root's orientation, velocity and acceleration"
    arguments = ("g", "v", "owns", by_q, by_v, by_a)
    sizes = {"matrices": 9 * row, "held": 9 * lanes}
    return Routine("root_columns", about, arguments, (m.step(), body), (), sizes, {"held": lanes})


def _root_row(layout: WindowLayout, by_q: str, by_v: str, by_a: str) -> Step:
    """Store the entries of row j in a free root's columns from b on."""
    m, record = PlaceRecorder(layout.lanes), layout.own("owns", J)
    columns, f = m.vectors(9, Place("held")), m.numbers(6, record)
    by_acceleration, t = (
        m.vector(replace(record, strides=(*record.strides, (B, 1)), offset=k)) for k in (0, 3)
    )  # t begins at entry 6 of the record, its columns at b = 3
    angular = masked(t, m.vector(Place("turning", ((B, 1),))))
    by_velocity = (angular + dot(f[:3], columns[3:6])) + dot(f[3:], columns[6:])
    entries = (dot(f[:3], columns[:3]), by_velocity, by_acceleration)
    for matrix, x in zip((by_q, by_v, by_a), entries, strict=True):
        m.put([x], layout.matrix(matrix, J, B))
    return m.step()


def root_tables(layout: WindowLayout) -> list[ConstantTable]:
    """Return the mask of the columns that turn a free root."""
    turning = tuple(-float(3 <= k < 6) for k in range(layout.root_row))
    return [ConstantTable("turning", (turning,), integer=True, mask=True)]


def root_joints(layout: WindowLayout) -> list[Statement]:
    """Return the steps that store the records of a free root, as six joints in series, in `factors`. If the
    kernel is `solved`, they also store `whole`, the root's articulated inertia (6, 6).
    """
    records = Place("factors", (), layout.own_root)
    places = {"inertia": Place("carried"), "whole": Place("whole"), "own": records}
    return [
        Step(totals("total", LIMBS, at.CARRIED), {"vector": Place("inertias"), "total": Place("carried")}),
        step_at(layout.bodies["root_joints"], places),
    ]


def root_torques(layout: WindowLayout) -> list[Statement]:
    """Return the steps that compute the force that accelerates a free root: its entries of tau and external
    force, minus the forces on its body and the bodies that it carries at zero accelerations.
    """
    carried = Place("inertias", (), LIMBS * at.CARRIED)
    rests = Place("rests", (), LIMBS * layout.rows)
    m, pushed = PlaceRecorder(), PlaceRecorder()
    force_triples = (m.numbers(6, Place(name)) for name in ("driving", "force", "total"))
    m.store([tau - body_force - other for tau, body_force, other in zip(*force_triples, strict=True)], rests)
    pushed.store(pushed.numbers(6, Place("fext")), rests, adds=True)
    return [
        Step(totals("total", LIMBS, 6), {"vector": carried, "total": Place("total")}),
        m.step(),
        WhereGiven(("fext",), (pushed.step(),)),
    ]


def root_itself(layout: WindowLayout, by_q: str, by_v: str) -> Step:
    """Return the step that adds derivatives of a free root's acceleration along unit vectors e: e x G by
    orientation, -w x e by linear velocity, and (-e x v, -w x e) by angular velocity.

    M times these accelerations are the right-hand sides that `products.root_columns` leaves out.
    """
    m = PlaceRecorder()
    turn, force, moment = _matrices(m)
    for matrix, rows in ((by_q, turn), (by_v, [*force, *moment])):
        entries = {layout.columns * i + k: x for i, row in enumerate(rows) for k, x in enumerate(row)}
        m.add_scattered({k: -x for k, x in entries.items() if not is_zero(x)}, Place(matrix))
    return m.step()


def accelerating(layout: WindowLayout) -> Statement:
    """Return the step that stores the acceleration of the carrier of all bodies: that of a free root, or zero
    for the world.
    """
    m, root = PlaceRecorder(LIMBS), Place("seconds", (), LIMBS * layout.rows)
    acceleration = m.numbers(6, root) if layout.schedule.free else [0.0] * 6
    m.put(acceleration, Place("motions", (), LIMBS * at.ACCELERATION))
    return m.step()

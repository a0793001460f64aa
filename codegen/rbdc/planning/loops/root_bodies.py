"""Bodies of kernels along paths beside the rows of limbs: a free root with its motion, its forces for unit
accelerations and its columns; the frames of joints with several degrees of freedom.
"""

from __future__ import annotations

from rbdc.emit.paths.constants import Constants, carried, from_origin
from rbdc.emit.paths.entries import (
    ACCELERATION,
    ANGULAR,
    FACTOR,
    FIRST,
    LINEAR,
    MASS,
    MIXED,
    MOMENTUM,
    OWN_TRANSPOSED,
    SECOND,
    SYMMETRIC,
    VELOCITY,
)
from rbdc.emit.paths.layout import Node, frame_of
from rbdc.ir.lanes import LaneProgram
from rbdc.planning.loops.composites import Composite
from rbdc.planning.loops.lane_recording import LaneRecorder
from rbdc.spatial import Force, Motion, Rotation, Vector3
from rbdc.spatial.vectors import AXES


def root_motion(constants: Constants) -> LaneProgram:
    """The motion of row 0 as a free root in its own axes, its linear velocity taken as zero: that of the
    acceleration of its origin, G + dv/dt + w x v, with G = -R^T g.
    """
    trace = LaneRecorder("root_motion", "The motion of a free root.", ("q", "v", "a", "g"))
    trace.begin("G = -R^T g, a = G + dv/dt + w x v")
    root = constants.model.bodies[0]
    axes = Rotation(*(root.placement.rotation.apply(axis) for axis in AXES))
    turn = Rotation.from_quaternion(*(trace.read("q", k) for k in range(3, 7)))
    g = trace.let_vector("G", turn.apply_transposed(axes.apply_transposed(-constants.model.gravity)))
    trace.store("g", 0, g.scalars())
    v, w = trace.vector("v", 0), trace.vector("v", 3)
    trace.store("motion", VELOCITY + 3, w.scalars())
    trace.store("motion", ACCELERATION, (trace.vector("a", 0) + g + w.cross(v)).scalars())
    trace.store("motion", ACCELERATION + 3, trace.vector("a", 3).scalars())
    return trace.body()


def root_inertia(constants: Constants) -> LaneProgram:
    """The inertia of a free root with all that it carries (6, 6), from `inertia`, that of the others."""
    trace = LaneRecorder("root_inertia", "The inertia of a free root with all bodies.", ("inertia", "whole"))
    own = constants.root
    k, h = own.second.scalars(), own.first_moment
    whole = own.second.xx + own.second.yy + own.second.zz
    mixed = ((0.0, h.z, -h.y), (-h.z, 0.0, h.x), (h.y, -h.x, 0.0))
    for n, (i, j) in enumerate(SYMMETRIC):
        linear = trace.read("inertia", LINEAR + n) + (own.mass if i == j else 0.0)
        angular = trace.read("inertia", ANGULAR + n) + (whole - k[n] if i == j else -k[n])
        for x, y in dict.fromkeys(((i, j), (j, i))):
            trace.store("whole", 6 * x + y, [linear])
            trace.store("whole", 6 * (x + 3) + y + 3, [angular])
    for i in range(3):
        for j in range(3):
            entry = trace.read("inertia", MIXED + 3 * i + j) + mixed[i][j]
            trace.store("whole", 6 * i + j + 3, [entry])
            trace.store("whole", 6 * (j + 3) + i, [entry])
    return trace.body()


def root_force(constants: Constants) -> LaneProgram:
    """The force on the body of a free root with angular velocity `w`, whose origin accelerates by `a`."""
    trace = LaneRecorder("root_force", "f = I a + B v / 2 of a free root's own body.", ("w", "a", "force"))
    own, w = constants.root, trace.vector("w", 0)
    q = [w.cross(own.second @ axis) for axis in AXES]
    p = w.cross(own.first_moment)
    body = Composite(own.second, own.first_moment, (q[0], q[1], q[2]), p, Force.zero(), own.mass)
    a = Motion(trace.vector("a", 0), Vector3.zero())
    force = body.inertia_times(a, body.trace_k) + body.half_factor_times(w, body.trace_q)
    trace.store("force", 0, force.scalars())
    return trace.body()


def root_columns(constants: Constants, pitch: int) -> LaneProgram:
    """F_a and t of the six columns of a free root, `pitch` apart, from `sum`, the bodies that it carries, and
    `w`, its angular velocity.
    """
    formula = "The composite of all bodies about a free root's origin, and its columns."
    trace, inertia = LaneRecorder("columns_of_root", formula, ("sum", "w", "own")), constants.root
    w, massive = trace.vector("w", 0), constants.place("mass") is not None
    k = trace.symmetric("sum", SECOND) + inertia.second
    h = trace.vector("sum", FIRST) + inertia.first_moment
    p = trace.vector("sum", MOMENTUM) + w.cross(inertia.first_moment)
    q = [trace.vector("sum", FACTOR + 3 * n) + w.cross(inertia.second @ axis) for n, axis in enumerate(AXES)]
    mass = trace.read("sum", MASS) + inertia.mass if massive else inertia.mass
    whole = Composite(k, h, (q[0], q[1], q[2]), p, Force.zero(), mass)
    trace.begin("F_a = I e, t = B^T e")
    for column in range(6):
        unit = Motion.of([float(n == column) for n in range(6)])
        trace.store("own", pitch * column, whole.inertia_times(unit, whole.trace_k).scalars())
        half = whole.transposed_factor_times(unit, whole.trace_q)
        trace.store("own", pitch * column + OWN_TRANSPOSED, half.scaled(2.0).scalars())
    return trace.body()


def pose(constants: Constants, node: Node) -> LaneProgram:
    """The frame of the first node of a joint with several degrees of freedom, axes and origin."""
    body = constants.model.bodies[node.body]
    trace = LaneRecorder(f"pose{node.first}", f"The frame of {body.name}.", ("q", "pose"))
    moved = body.joint.placement([trace.read("q", body.index_q + k) for k in range(body.joint.nq)])
    fixed, own = body.placement_at(body.joint.neutral()), frame_of(body.joint, 0)
    vectors = [fixed.rotation.apply(moved.rotation.apply(own.apply(axis))) for axis in AXES]
    at = from_origin(constants.model, node, fixed.translation, constants.origin)
    vectors.append(at + fixed.rotation.apply(moved.translation))
    trace.store("pose", 0, [x for v in vectors for x in carried(constants.model, node, v).scalars()])
    return trace.body()

"""The carrier of all bodies: the world, or a free root with its motion, its forces for unit accelerations and
its columns.
"""

from __future__ import annotations

from rbdc.emit.paths.bodies import (
    ACCELERATION,
    ANGULAR,
    FACTOR,
    FIRST,
    LINEAR,
    MASS,
    MIXED,
    MOMENTUM,
    OWN,
    OWN_TRANSPOSED,
    SECOND,
    SYMMETRIC,
    VELOCITY,
    Composite,
)
from rbdc.emit.paths.constants import Constants
from rbdc.emit.paths.lanes import Block, Trace
from rbdc.emit.paths.layout import LIMBS
from rbdc.functions.scalar_types import ScalarType
from rbdc.model import Model
from rbdc.spatial import Force, Motion, Rotation, Symmetric3, Vector3
from rbdc.spatial.scalars import is_number

TOTAL = " + ".join(f"sums[k][{lane}]" for lane in range(LIMBS))
"""The sum over the lanes of row 0."""

INERTIA_TOTAL = " + ".join(f"inertias[k][{lane}]" for lane in range(LIMBS))
"""The sum of inertias over the lanes of row 0."""


def resting_world(model: Model, scalar: ScalarType) -> list[str]:
    """The motion of row 0 on a fixed base: the world accelerates by -g."""
    return [
        f"motions[0][{ACCELERATION + k}] += {scalar.literal(x)};"
        for k, x in enumerate(map(float, (-model.gravity).scalars()))
        if x != 0.0
    ]


def moving_root(constants: Constants, scalar: ScalarType) -> list[str]:
    """The motion of row 0 as a free root in its own axes, its linear velocity taken as zero: that of the
    acceleration of its origin, G + dv/dt + w x v, with G = -R^T g.
    """
    trace = Trace(scalar, scalar.name)
    trace.begin("")
    names = [trace.read(f"q[{k}]") for k in range(3, 7)]
    resting = placement_at_root(constants).apply_transposed(-constants.model.gravity)
    g = Rotation.from_quaternion(*names).apply_transposed(resting)
    texts = [scalar.literal(float(x)) if is_number(x) else x.text for x in g.scalars()]
    lines = [f"const {scalar.name} g[3] = {{{', '.join(texts)}}};"]
    linear = Motion(trace.vector("v", 0), trace.vector("v", 3))
    own = trace.vector("a", 0) + trace.vector("g", 0) + linear.angular.cross(linear.linear)
    for start, vector in (
        (VELOCITY + 3, linear.angular),
        (ACCELERATION, own),
        (ACCELERATION + 3, trace.vector("a", 3)),
    ):
        lines += [f"motions[0][{start + k}] += {x.text};" for k, x in enumerate(vector.scalars())]
    return lines


def placement_at_root(constants: Constants) -> Rotation:
    """The rotation of the free root's joint frame in the world."""
    root = constants.model.bodies[0]
    axes = [root.placement.rotation.apply(Vector3(*(float(k == n) for k in range(3)))) for n in range(3)]
    return Rotation(*axes)


def root_inertia_blocks(constants: Constants, scalar: ScalarType) -> tuple[Block, ...]:
    """The inertia of a free root with all that it carries (6, 6), from `inertia`, that of the others."""
    trace, own = Trace(scalar, scalar.name), constants.root
    trace.begin("the root's own inertia with that of all bodies that it carries")
    k, h = own.second.scalars(), own.first_moment
    whole = own.second.xx + own.second.yy + own.second.zz
    mixed = ((0.0, h.z, -h.y), (-h.z, 0.0, h.x), (h.y, -h.x, 0.0))
    for n, (i, j) in enumerate(SYMMETRIC):
        linear = trace.read(f"inertia[{LINEAR + n}]") + (own.mass if i == j else 0.0)
        angular = trace.read(f"inertia[{ANGULAR + n}]") + (whole - k[n] if i == j else -k[n])
        for x, y in dict.fromkeys(((i, j), (j, i))):
            trace.store(f"whole[{x}]", y, [linear])
            trace.store(f"whole[{x + 3}]", y + 3, [angular])
    for i in range(3):
        for j in range(3):
            entry = trace.read(f"inertia[{MIXED + 3 * i + j}]") + mixed[i][j]
            trace.store(f"whole[{i}]", j + 3, [entry])
            trace.store(f"whole[{j + 3}]", i, [entry])
    return trace.blocks


def root_force_blocks(constants: Constants, scalar: ScalarType) -> tuple[Block, ...]:
    """The force on the body of a free root with angular velocity `w`, whose origin accelerates by `a`."""
    trace, own = Trace(scalar, scalar.name), constants.root
    trace.begin("f = I a + B v / 2 of the root's own body")
    w, k = trace.vector("w", 0), own.second
    columns = (Vector3(k.xx, k.xy, k.xz), Vector3(k.xy, k.yy, k.yz), Vector3(k.xz, k.yz, k.zz))
    q = [trace.let_vector(f"Q{axis}", w.cross(column)) for axis, column in zip("xyz", columns, strict=True)]
    p = trace.let_vector("p", w.cross(own.first_moment))
    body = Composite(k, own.first_moment, (q[0], q[1], q[2]), p, Force.zero(), own.mass)
    a = Motion(trace.vector("a", 0), Vector3.zero())
    force = body.inertia_times(a, body.trace_k) + body.half_factor_times(w, body.trace_q)
    trace.store("force", 0, force.scalars())
    return trace.blocks


def root_blocks(constants: Constants, scalar: ScalarType, *, massive: bool) -> tuple[Block, ...]:
    """F_a and t of the six columns of a free root, from `sum`, the bodies that it carries, and `w`, its
    angular velocity.
    """
    trace, inertia = Trace(scalar, scalar.name), constants.root
    trace.begin("the composite of all bodies about the root's origin")
    w = trace.vector("w", 0)
    k = Symmetric3(*(trace.read(f"sum[{SECOND + n}]") for n in range(6))) + inertia.second
    columns = (
        Vector3(inertia.second.xx, inertia.second.xy, inertia.second.xz),
        Vector3(inertia.second.xy, inertia.second.yy, inertia.second.yz),
        Vector3(inertia.second.xz, inertia.second.yz, inertia.second.zz),
    )
    k = trace.let_symmetric("k", k)
    h = trace.let_vector("h", trace.vector("sum", FIRST) + inertia.first_moment)
    p = trace.let_vector("p", trace.vector("sum", MOMENTUM) + w.cross(inertia.first_moment))
    q = [
        trace.let_vector(f"Q{axis}", trace.vector("sum", FACTOR + 3 * n) + w.cross(column))
        for n, (axis, column) in enumerate(zip("xyz", columns, strict=True))
    ]
    mass = trace.let("mass", trace.read(f"sum[{MASS}]") + inertia.mass) if massive else inertia.mass
    whole = Composite(k, h, (q[0], q[1], q[2]), p, Force.zero(), mass)
    trace_k, trace_q = trace.let("trace_k", whole.trace_k), trace.let("trace_q", whole.trace_q)
    trace.begin("F_a = I e, t = B^T e")
    for column in range(6):
        unit = Motion.of([float(n == column) for n in range(6)])
        trace.store(f"own[{column}]", OWN, whole.inertia_times(unit, trace_k).scalars())
        half = whole.transposed_factor_times(unit, trace_q)
        trace.store(f"own[{column}]", OWN_TRANSPOSED, half.scaled(2.0).scalars())
    return trace.blocks

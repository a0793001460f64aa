"""The loops of a frame's Jacobian, velocity and acceleration, and of their derivatives.

X: placement of the frame in a body of the path. S: motion subspace of the body's joint. s_k: column k of the
LOCAL Jacobian. v_l, a_l: velocity and acceleration of the parent body of joint k. d, b: velocity of the frame
relative to the parent and to the child body of joint k.
"""

from __future__ import annotations

from rbdc.algorithms.derivatives.frame_derivatives import classical_change, turning
from rbdc.algorithms.frames import as_seen, classical
from rbdc.ir.loops import Clear, Statement
from rbdc.model import Problem
from rbdc.planning.climb.steps import PathStep, by_reference, down, of_joint, once, up
from rbdc.spatial import Motion, Scalars, Vector3


def jacobian(model: Problem) -> list[Statement]:
    """Return the loop of J: its columns in the reference frame."""
    columns = by_reference(model, lambda m: m.put("J", m.seen(m.column).scalars()))
    return [up(of_joint(model, columns))]


def velocity(model: Problem) -> list[Statement]:
    """Return the loops of the velocity: the sum of X^-1 S qdot over the path, in the reference frame."""

    def result(m: PathStep) -> None:
        m.write("velocity", m.seen(m.motion("moving"), symbol="v").scalars())

    return [Clear("moving", 6), up(*_rates(model, "v", "moving")), by_reference(model, result)]


def jacobian_time_derivative(model: Problem) -> list[Statement]:
    """Return the loops of dJ/dt: V x s for each column s, with the velocity V of its body in coordinates that
    move with the reference frame.
    """

    def column(m: PathStep) -> None:
        relative = m.motion("relative", i=6)
        rate = as_seen(m.motion("carrying"), relative, m.reference).cross(m.column)
        m.put("dJ", m.seen(rate, symbol="ds").scalars())

    turned = of_joint(model, by_reference(model, column), _put_bend(model, "dJ"))
    return [
        *_relative(model),
        Clear("carrying", 6),
        down(
            *_rates(model, "v", "carrying"),
            turned,
            about="root to frame: velocity of each body, and dJ/dt of its joint",
        ),
    ]


def drift(model: Problem) -> list[Statement]:
    """Return the loops of the acceleration for zero joint accelerations."""

    def result(m: PathStep) -> None:
        moving, rate = m.motion("moving"), m.motion("total")
        if m.reference == "LOCAL_WORLD_ALIGNED":
            rate = rate - Motion(moving.linear, Vector3.zero()).cross(moving)
        m.write("drift", m.seen(rate, symbol="a").scalars())

    return [*_accelerated(model, ""), by_reference(model, result)]


def acceleration(model: Problem) -> list[Statement]:
    """Return the loops of the acceleration in the reference frame."""

    def result(m: PathStep) -> None:
        m.write("acceleration", m.seen(m.motion("total"), symbol="a").scalars())

    return [*_accelerated(model, "a"), by_reference(model, result)]


def classical_acceleration(model: Problem) -> list[Statement]:
    """Return the loops of the acceleration plus w x v, with the velocity (v, w), in the reference frame."""

    def result(m: PathStep) -> None:
        spatial, velocity = m.seen(m.motion("total"), symbol="a"), m.seen(m.motion("moving"), symbol="v")
        m.write("acceleration", classical(spatial, velocity).scalars())

    return [*_accelerated(model, "a"), by_reference(model, result)]


def velocity_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of dv/dq_k = v_l x s_k and dv/dv_k = s_k, plus the change of the reference frame."""

    def column(m: PathStep) -> None:
        s = m.column
        by_q = m.motion("above").cross(s) + turning(s, m.motion("moving"), m.reference)
        m.put("dv_dq", m.seen(by_q, symbol="dq").scalars())
        m.put("dv_dv", m.seen(s).scalars())

    columns = of_joint(model, by_reference(model, column), _put_bend(model, "dv_dq"))
    return [
        Clear("moving", 6),
        up(*_rates(model, "v", "moving")),
        Clear("above", 6),
        down(columns, *_rates(model, "v", "above"), about="root to frame: derivatives along each joint"),
    ]


def classical_acceleration_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of the derivatives of the spatial acceleration plus dw x v + w x dv, where dv and dw
    are the derivatives of the velocity.
    """
    return acceleration_derivatives(model, classic=True)


def acceleration_derivatives(model: Problem, *, classic: bool = False) -> list[Statement]:
    """Return the loops of da/dq_k = a_l x s_k + (v_l x s_k) x d, da/dv_k = v_l x s_k + s_k x b and da/da_k =
    s_k, plus the change of the reference frame.

    classic: differentiate the classical acceleration.
    """

    def seen(m: PathStep, change: Motion, of_velocity: Motion, symbol: str) -> Scalars:
        expressed = m.seen(change, symbol=symbol)
        if not classic:
            return expressed.scalars()
        at = m.seen(m.motion("relative", length=6), symbol="v")
        return classical_change(expressed, m.seen(of_velocity, symbol=f"v{symbol}"), at).scalars()

    def column(m: PathStep) -> None:
        s, moved = m.column, m.motion("above_v").cross(m.column)
        by_q = m.motion("above_a").cross(s) + moved.cross(m.motion("relative", 6, i=6))
        by_q = by_q + turning(s, m.motion("total"), m.reference)
        velocity_by_q = moved + turning(s, m.motion("relative", length=6), m.reference) if classic else moved
        m.put("da_dq", seen(m, by_q, velocity_by_q, "dq"))
        m.put("da_dv", seen(m, moved + s.cross(m.motion("relative", i=6)), s, "dv"))
        m.put("da_da", m.seen(s).scalars())

    def bend(m: PathStep) -> None:
        s, rate = m.column, m.entry("v")
        moved = m.motion("above_v").cross(s) + s.cross(m.motion("relative", i=6))
        by_place = moved.scaled(rate) + s.scaled(m.entry("a"))
        m.put_plain("da_dq", seen(m, by_place, s.scaled(rate), "dq"))
        m.put_plain("da_dv", m.seen(s.scaled(2.0 * rate), symbol="dv").scalars())

    def jerk(m: PathStep) -> None:
        rate = m.entry("v")
        m.put_plain("da_dq", m.seen(m.column.scaled(rate * rate)).scalars())

    def advance(m: PathStep) -> None:
        above, step = m.motion("above_v"), m.motion("steps", i=6)
        m.add("above_a", above.cross(step).scalars())
        m.write("above_v", (above + step).scalars())

    plain, *curved = (by_reference(model, text) for text in (column, bend, jerk))
    columns = of_joint(model, plain, *curved)
    return [
        *_accelerated(model, "a", along=True),
        Clear("above_v", 6),
        Clear("above_a", 6),
        down(
            columns,
            *_rates(model, "a", "above_a", squared=True),
            once(model, advance),
            about="root to frame: derivatives along each joint",
        ),
    ]


def _rates(
    model: Problem, rates: str, total: str, *, squared: bool = False, row: int | None = None
) -> list[Statement]:
    """Add the columns of a body, times its entries of `rates` (v or a), to the motion `total`.

    squared: also add the columns of curvature times squares of v.
    row: if `total` is an array of motions along the path, 0 for the row of the body, 1 for the next row.
    """
    offset, strides = (0, {}) if row is None else (6 * row, {"i": 6})

    def column(m: PathStep) -> None:
        m.add(total, m.column.scaled(m.factor() * m.entry(rates)).scalars(), offset, **strides)

    def bend(m: PathStep) -> None:
        rate = m.entry("v")
        m.add(total, m.column.scaled(rate * rate).scalars(), offset, **strides)

    if not rates and not model.curves:
        return []
    plain = once(model, column) if rates else None
    return [of_joint(model, plain, once(model, bend) if squared else None)]


def _relative(model: Problem) -> list[Statement]:
    """Return the loops of the frame's velocity relative to each body of the path and, last, to the world."""

    def copy(m: PathStep) -> None:
        m.write("relative", m.read("relative", 6, i=6), 6, i=6)

    rates = _rates(model, "v", "relative", row=1)
    return [Clear("relative", 6), up(once(model, copy), *rates, about=RELATIVE)]


def _accelerated(model: Problem, rates: str, *, along: bool = False) -> list[Statement]:
    """Return the loops of the frame's LOCAL velocity, the sum of s = X^-1 S qdot over the path, and its LOCAL
    acceleration, the sum of X^-1 S qddot + s x b.

    along: also keep b and s of each body.
    """
    step, name, row = ("steps", "relative", {"i": 6}) if along else ("step", "moving", {})

    def begin(m: PathStep) -> None:
        m.write("steps", [0.0] * 6, i=6)

    def advance(m: PathStep) -> None:
        step_motion, below = m.motion(step, **row), m.motion(name, **row)
        m.add("total", step_motion.cross(below).scalars())
        m.write(name, (below + step_motion).scalars(), 6 if along else 0, **row)

    steps = _rates(model, "v", step, row=0 if along else None)
    joints = _rates(model, rates, "total", squared=True)
    about = (
        f"acceleration of the frame, LOCAL, and {RELATIVE}"
        if along
        else "velocity and acceleration of the frame, LOCAL"
    )
    start = once(model, begin) if along else Clear(step, 6)
    loop = up(start, *steps, *joints, once(model, advance), about=about)
    return [Clear(name, 6), Clear("total", 6), loop]


RELATIVE = "velocity of the frame relative to each body of the path, LOCAL"


def _put_bend(model: Problem, matrix: str) -> Statement:
    """Add the columns of curvature times v, in the reference frame, to `matrix`."""

    def column(m: PathStep) -> None:
        m.put_plain(matrix, m.seen(m.column.scaled(m.entry("v"))).scalars())

    return by_reference(model, column)

"""The C that a joint type gives to rolled functions, which loop over tables of bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Operations(NamedTuple):
    """How many floating-point operations some C executes."""

    additions: int = 0
    multiplications: int = 0
    negations: int = 0
    calls: int = 0
    """Sines and cosines."""


FREE = Operations()
"""Nothing but copies."""


@dataclass(frozen=True)
class RolledWords:
    """Words of the C around a joint's, which differ from model to model.

    real: the scalar type. f: the suffix of its literals. position, rate, second: the expressions of q, v and
    a of a joint with one degree of freedom, by the leader's of one that follows. scale: "b->multiplier * "
    where joints follow others, else nothing. assign: "+=" where several joints add to one entry of tau, else
    "=".
    """

    real: str
    f: str
    position: str
    second: str | None
    scale: str
    assign: str


@dataclass(frozen=True)
class RolledJoint:
    """Statements and expressions of C for one kind of joint, in the frame of `JointType.rolled_frame`.

    In all of them `b` is the body's entry in the table, with `constants` as members.
    `templates/rolled.h.jinja` has the functions for vectors and motions.
    """

    placement: tuple[str, ...]
    """Statements that set X[i], the frame in its parent's, from `at`, the same at q = 0, and `own`, the
    joint's entries of q. With `angle` they have `cosine[turn]` and `sine[turn]` of the position, and end with
    `++turn;`.
    """
    columns: tuple[str, ...]
    """Expressions of the nv columns of S in the world, from X[i], the frame there."""
    torque: tuple[str, ...]
    """Statements that set `own`, the joint's entries of tau, from the force `f` in the frame."""
    moving: tuple[str, ...]
    """Statements of the joint's motion. With one degree of freedom they add its `rate` (and
    `RolledWords.second`, if given) to the angular velocity `w`, the angular acceleration `dw` and the
    classical `acceleration` of the origin, which are those of the parent in this frame. With several they set
    the motion `s`, which is zero, to S x.
    """
    helpers: frozenset[str]
    """Those of "turn_about_z", "turn_by_quaternion", "rotation" and "translation" that are called."""
    angle: bool = False
    """Whether q is an angle of which `placement` takes the cosine and the sine."""
    constants: tuple[str, ...] = ()
    """Names of numbers that each joint of the type has in the table; see `JointType.rolled_constants`."""
    placement_cost: Operations = FREE
    columns_cost: Operations = FREE
    moving_cost: Operations = FREE
    """The cost of `moving` without `second`; for one degree of freedom, as is the next."""
    second_cost: Operations = FREE
    torque_cost: Operations = FREE

"""Families of mechanisms of any size: serial chains, and trees with a branching factor."""

from __future__ import annotations

from math import ceil, floor, isfinite
from typing import Any

from rbdc.errors import OptionError
from rbdc.model import Problem
from rbdc.model.description import Joint, Limits, Link
from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3

SERIAL = 1.0
BINARY = 2.0
"""Branching factors."""
SKEW = 1.0
"""Angle between the axes of successive joints (rad), neither parallel nor at right angles."""
MOST_BODIES = 500

_BASE = "base"
_LENGTH, _MASS, _THIN, _ACROSS = 1.0, 1.0, 0.0025, 1.015 / 12.0


def tree(size: int, branching: float = SERIAL, **options: Any) -> Problem:
    """Return the tree of `size` revolute joints with this branching factor, the mean number of children of a
    body.

    It equals `autoTree` of Featherstone's spatial_v2: the parent of body i = 1, 2, ... is body floor((i - 2 +
    ceil(b)) / b), with b = `branching`. So b = 1 is a serial chain and b = 2 a binary tree. Every body is a
    tube of 1 kg along x, 1 m long and 0.1 m wide. Its joint turns about z; the joints that the body carries
    are at its end, turned by `SKEW` about x. `options` as in `Problem.assemble`.

    Raises OptionError for an invalid size or branching factor.
    """
    if not 1 <= size <= MOST_BODIES:
        raise OptionError(f"a tree of {size} bodies: give a number from 1 to {MOST_BODIES}")
    if not (isfinite(branching) and branching >= 1.0):
        raise OptionError(f"branching factor {branching}: give a number of at least 1")
    parents = [floor((i - 2 + ceil(branching)) / branching) for i in range(1, size + 1)]
    links = [Link(_BASE), *(Link(f"link{i}", _tube()) for i in range(1, size + 1))]
    joints = [_joint(i, parent) for i, parent in enumerate(parents, 1)]
    return Problem.assemble(f"{kind_of(branching)}_{size}".replace(".", "_"), links, joints, **options)


def kind_of(branching: float) -> str:
    """Return the name of the trees of a branching factor: serial, binary, or for example tree3."""
    return {SERIAL: "serial", BINARY: "binary"}.get(branching, f"tree{branching:g}")


def depth(model: Problem) -> int:
    """Return the number of joints between the root and the farthest body."""
    return max(len(model.support(index)) for index in range(model.njoints))


def _tube() -> Inertia:
    half = 0.5 * _LENGTH
    shift = _MASS * half * half
    about = Symmetric3(_MASS * _THIN, 0.0, _MASS * _ACROSS + shift, 0.0, 0.0, _MASS * _ACROSS + shift)
    return Inertia(_MASS, Vector3(_MASS * half, 0.0, 0.0), about)


def _joint(index: int, parent: int) -> Joint:
    """Return the joint of body `index` on body `parent`; 0 is the base, with the joint at its origin."""
    at = Placement(Rotation.from_rpy(SKEW, 0.0, 0.0), Vector3(_LENGTH if parent else 0.0, 0.0, 0.0))
    carrier = f"link{parent}" if parent else _BASE
    return Joint(
        f"joint{index:03}", "revolute", carrier, f"link{index}", at, Vector3(0.0, 0.0, 1.0),
        Limits(-3.0, 3.0, 10.0, 100.0),
    )  # fmt: skip

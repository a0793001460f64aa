"""Motors of an MJCF model whose forces on joints do not depend on q: of joints and of fixed tendons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rbdc.model.description import Actuator

JOINT, JOINT_IN_PARENT, TENDON = 0, 1, 3
"""MuJoCo's numbers of the transmissions "joint", "jointinparent" and "tendon"."""
_BALL, _SLIDE = 1, 2
"""MuJoCo's numbers of ball and slide joints; hinges come after, free joints before."""
_WRAPS_JOINT = 1
"""MuJoCo's number of the part of a fixed tendon."""


def actuators(compiled: Any, joint_names: Sequence[str]) -> Iterator[Actuator]:
    """The motors, each with what joints get of its force: its gears, and those times the coefficients of a
    fixed tendon. Test: MuJoCo's `qfrc_actuator`.
    """
    for number in range(compiled.nu):
        gains = tuple(_gains(compiled, number, joint_names))
        if gains:
            yield Actuator(compiled.actuator(number).name or f"actuator{number}", gains)


def depending_on_q(compiled: Any) -> int:
    """How many motors there are whose forces on joints depend on q."""
    return int(compiled.nu) - sum(bool(list(_gains(compiled, k, None))) for k in range(compiled.nu))


def _gains(m: Any, number: int, names: Sequence[str] | None) -> Iterator[tuple[str, int, float]]:
    """names: of all joints; None where they do not matter."""
    kind, target = int(m.actuator_trntype[number]), int(m.actuator_trnid[number][0])
    gear = [float(x) for x in m.actuator_gear[number]]
    if kind == TENDON:
        first, count = int(m.tendon_adr[target]), int(m.tendon_num[target])
        parts = range(first, first + count)
        if all(int(m.wrap_type[part]) == _WRAPS_JOINT for part in parts):
            for part in parts:
                joint = int(m.wrap_objid[part])
                yield names[joint] if names else "", 0, gear[0] * float(m.wrap_prm[part])
    elif kind in (JOINT, JOINT_IN_PARENT):
        joint_kind = int(m.jnt_type[target])
        if joint_kind >= _SLIDE:
            yield names[target] if names else "", 0, gear[0]
        elif joint_kind == _BALL and kind == JOINT:
            for direction in range(3):
                yield names[target] if names else "", direction, gear[direction]

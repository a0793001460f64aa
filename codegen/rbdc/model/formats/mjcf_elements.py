"""Motors and constraints of an MJCF model. Elements that change the tree or its inertia and that no function
supports are refused. Forces that no function computes are ignored with a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rbdc.errors import UnsupportedError
from rbdc.model.description import Actuator, Effect, Note
from rbdc.model.xml import shown

FREE, BALL, SLIDE, HINGE = range(4)
"""MuJoCo's types of joints."""
CONNECT, WELD, OF_JOINTS = range(3)
"""MuJoCo's numbers of the equality constraints "connect", "weld" and "joint"."""
_JOINT, _JOINT_IN_PARENT, _TENDON = 0, 1, 3
"""MuJoCo's numbers of the transmissions "joint", "jointinparent" and "tendon"."""
_WRAPS_JOINT = 1
"""MuJoCo's code of a joint in a fixed tendon."""


def actuators(compiled: Any, joint_names: Sequence[str]) -> Iterator[Actuator]:
    """Yield the motors with their factors on joints: the gears, times the coefficients of a fixed tendon.
    Checked against MuJoCo's `qfrc_actuator`.
    """
    for number in range(actuator_count(compiled)):
        gains = tuple((joint_names[joint], k, gain) for joint, k, gain in _gains(compiled, number))
        if gains:
            yield Actuator(compiled.actuator(number).name or f"actuator{number}", gains)


def _gains(m: Any, number: int) -> Iterator[tuple[int, int, float]]:
    """Yield joint number, direction and factor of a motor's force; nothing if the factor depends on q."""
    kind, target = int(m.actuator_trntype[number]), int(m.actuator_trnid[number][0])
    gear = [float(x) for x in m.actuator_gear[number]]
    if kind == _TENDON:
        first, count = int(m.tendon_adr[target]), int(m.tendon_num[target])
        parts = range(first, first + count)
        if all(int(m.wrap_type[part]) == _WRAPS_JOINT for part in parts):
            for part in parts:
                yield int(m.wrap_objid[part]), 0, gear[0] * float(m.wrap_prm[part])
    elif kind in (_JOINT, _JOINT_IN_PARENT):
        joint_kind = int(m.jnt_type[target])
        if joint_kind >= SLIDE:
            yield target, 0, gear[0]
        elif joint_kind == BALL and kind == _JOINT:
            for direction in range(3):
                yield target, direction, gear[direction]


def refuse(compiled: Any, file: str) -> None:
    """Raise UnsupportedError for the first element that changes the tree or its inertia and that no function
    supports.
    """
    for problem, remedy in _refused(compiled):
        raise UnsupportedError(f"{file}: {problem}, which rbdc does not support: {remedy}")


def _refused(m: Any) -> Iterator[tuple[str, str]]:
    if m.nflex:
        yield "the model has flexible bodies", "remove them"
    for tendon in range(m.ntendon):
        if m.tendon_armature[tendon]:
            name = shown(m.tendon(tendon).name)
            yield f'tendon "{name}" has armature', "remove it, or give it to the joints"
    for actuator in range(actuator_count(m)):
        if not acts_on_joint(m, actuator) and m.actuator_armature[actuator]:
            name = shown(m.actuator(actuator).name)
            yield f'actuator "{name}" has armature and does not act on a joint', "remove it"


def acts_on_joint(m: Any, actuator: int) -> bool:
    """Return whether a motor acts on a joint along the joint's coordinates."""
    return int(m.actuator_trntype[actuator]) in (_JOINT, _JOINT_IN_PARENT)


def actuator_count(m: Any) -> int:
    """Return the number of actuators. MuJoCo's `nu` counts controls, and an actuator may have several
    controls.
    """
    return len(m.actuator_trntype)


def disabled(m: Any, *what: str) -> bool:
    """Return whether a <flag> disables one of these computations."""
    import mujoco

    bits = (int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")) for name in what)
    return any(m.opt.disableflags & bit for bit in bits)


def is_active(m: Any, equality: int) -> bool:
    """Return whether an equality constraint is active."""
    return bool(m.eq_active0[equality]) and not disabled(m, "EQUALITY", "CONSTRAINT")


def is_mimic(m: Any, equality: int) -> bool:
    """Return whether an equality constraint is active and binds a joint to another by a polynomial."""
    of_joints = int(m.eq_type[equality]) == OF_JOINTS
    return is_active(m, equality) and of_joints and int(m.eq_obj2id[equality]) >= 0


def closes_loop(m: Any, equality: int) -> bool:
    """Return whether an equality constraint is active and holds two bodies or sites together."""
    return is_active(m, equality) and int(m.eq_type[equality]) in (CONNECT, WELD)


def _touches(m: Any) -> bool:
    by_type = any(m.geom_contype) and any(m.geom_conaffinity)
    return bool(m.npair or by_type) and not disabled(m, "CONTACT", "CONSTRAINT")


def left_out(m: Any) -> list[Note]:
    """Return notes on elements that no function uses, or that only some functions use."""
    motors = range(actuator_count(m))
    active = [e for e in range(m.neq) if is_active(m, e)]
    loops = [e for e in active if closes_loop(m, e)]
    others = [e for e in active if e not in loops and not is_mimic(m, e)]
    forced = [t for t in range(m.ntendon) if _has_forces(m, t)]
    damped = [
        a
        for a in motors
        if m.actuator_dampingpoly[a].any() or (m.actuator_damping[a] and not acts_on_joint(m, a))
    ]
    unlike = [a for a in motors if not any(_gains(m, a))]
    bounded = m.tendon_limited | m.tendon_actfrclimited
    balls = [j for j in range(m.njnt) if int(m.jnt_type[j]) == BALL and m.jnt_limited[j]]
    light = sum(bool(x) for x in m.body_gravcomp)
    none, forces, dynamics = Effect.NONE, Effect.FORCES, Effect.DYNAMICS
    in_q = "actuators are not in the actuation matrix: their forces on joints depend on q"
    counted = (
        (
            len(motors),
            "actuators: controls, laws and limits are ignored; tau is the sum over all motors",
            none,
        ),
        (len(unlike), in_q, none),
        (len(damped), "actuators have damping that does not act on a joint: ignored", forces),
        (len(forced), "tendons have stiffness, damping or friction: ignored", forces),
        (sum(bool(x) for x in bounded), "tendons have limits: ignored", none),
        (len(balls), "ball joints have limits: ignored", none),
        (m.neq - len(active), "equality constraints are not active: ignored", none),
        (len(loops), "equality constraints close loops: only functions of contacts hold them", dynamics),
        (len(others), "equality constraints are ignored", dynamics),
        (light, "bodies have gravcomp: ignored, gravity acts on them", dynamics),
        (m.nmocap, "mocap bodies are fixed at their described poses", none),
        (m.nplugin, "plugins are ignored", dynamics),
    )
    notes = [Note(f"{count} {what}", effect=effect) for count, what, effect in counted if count]
    if _touches(m):
        notes.append(Note("geom contacts are ignored: declare contacts with `contacts`, or pass fext"))
    if m.opt.density != 0.0 or m.opt.viscosity != 0.0:
        message = "the medium (density, viscosity, wind) is ignored"
        notes.append(Note(message, effect=forces))
    return notes


def _has_forces(m: Any, tendon: int) -> bool:
    terms = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss")
    return any(getattr(m, f"tendon_{term}")[tendon].any() for term in terms)

"""Elements of an MJCF model that change its dynamics and are not supported, and those left out without
changing them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rbdc.errors import UnsupportedError
from rbdc.model.xml import shown

_JOINT_TRANSMISSIONS = (0, 1)
"""MuJoCo's numbers of the transmissions "joint" and "jointinparent"."""
CONNECT, WELD, OF_JOINTS = range(3)
"""MuJoCo's numbers of the equality constraints "connect", "weld" and "joint"."""


def refuse(compiled: Any, file: str) -> None:
    """Raise UnsupportedError for the first thing that changes the dynamics and that no function has."""
    for problem, remedy in _refused(compiled):
        raise UnsupportedError(f"{file}: {problem}, which rbdc does not have: {remedy}")


def _refused(m: Any) -> Iterator[tuple[str, str]]:
    for count, what in ((m.nflex, "flexible bodies"), (m.nplugin, "plugins"), (m.nmocap, "mocap bodies")):
        if count:
            yield f"the model has {what}", "remove them"
    for body in range(m.nbody):
        if m.body_gravcomp[body] != 0.0:
            yield (
                f'body "{shown(m.body(body).name)}" has gravcomp',
                "remove it, and add the torques of gravity to those of the motors",
            )
    if m.opt.density != 0.0 or m.opt.viscosity != 0.0:
        yield "the model has a medium (density, viscosity)", "set both to 0"
    yield from _tendons(m)
    yield from _equalities(m)
    yield from _actuators(m)
    for joint in range(m.njnt):
        dof = int(m.jnt_dofadr[joint])
        if m.dof_dampingpoly[dof].any():
            yield (
                f'joint "{shown(m.joint(joint).name)}" has damping by a polynomial',
                "give it one coefficient",
            )


def _tendons(m: Any) -> Iterator[tuple[str, str]]:
    terms = ("stiffness", "stiffnesspoly", "damping", "dampingpoly", "frictionloss", "armature")
    for tendon in range(m.ntendon):
        has = [term for term in terms if getattr(m, f"tendon_{term}")[tendon].any()]
        if has:
            name = shown(m.tendon(tendon).name)
            yield f'tendon "{name}" has {has[0].removesuffix("poly")}', "remove it, or give it to the joints"


def _equalities(m: Any) -> Iterator[tuple[str, str]]:
    for equality in range(m.neq):
        if not m.eq_active0[equality]:
            continue
        name = f'equality constraint {equality} "{shown(m.equality(equality).name)}"'
        kind = int(m.eq_type[equality])
        if kind in (CONNECT, WELD):
            continue
        if kind != OF_JOINTS:
            yield f"{name} binds neither bodies nor joints", "remove it"
        elif int(m.eq_obj2id[equality]) < 0:
            yield f"{name} holds a joint where it is", "remove the constraint and lock the joint with --lock"
        elif m.eq_data[equality][2:5].any():
            yield f"{name} is not affine", "give polycoef two coefficients"


def _actuators(m: Any) -> Iterator[tuple[str, str]]:
    for actuator in range(m.nu):
        if int(m.actuator_trntype[actuator]) in _JOINT_TRANSMISSIONS:
            terms: tuple[str, ...] = ("dampingpoly",)
        else:
            terms = ("armature", "damping", "dampingpoly")
        has = [term for term in terms if getattr(m, f"actuator_{term}")[actuator].any()]
        if has:
            what = f'actuator "{shown(m.actuator(actuator).name)}" has {has[0].removesuffix("poly")}'
            yield (
                f"{what} and does not act on a joint" if len(terms) > 1 else f"{what} by a polynomial",
                "remove it",
            )


def ignored(m: Any) -> list[str]:
    """In words what is left out: forces that MuJoCo computes from more than q, v and a, and what it keeps
    within limits.
    """
    found = []
    if m.nu:
        found.append(f"{m.nu} actuators: not used, tau is the force of all motors together")
    if m.ngeom and any(m.geom_contype) and any(m.geom_conaffinity):
        found.append("contacts of the geoms are not part of the functions; forces go in as fext")
    inactive = sum(not active for active in m.eq_active0)
    if inactive:
        found.append(f"{inactive} equality constraints that are not active: not used")
    loops = sum(
        bool(active) and int(kind) in (CONNECT, WELD)
        for active, kind in zip(m.eq_active0, m.eq_type, strict=True)
    )
    if loops:
        found.append(f"{loops} equality constraints close loops: functions of contacts alone hold them")
    limited = int(sum(bool(limited) for limited in m.tendon_limited))
    if limited:
        found.append(f"{limited} tendons have limits: not enforced")
    return found

"""Add peers in C++ to a comparison, if they are installed and can represent the model.

The peers read the model from a text archive, so one library serves all robots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rbdc.errors import ToolchainError
from rbdc.model import WORLD, Problem
from rbdc.model.bodies import Frame
from rbdc.model.joints import JointType
from rbdc.native.toolchain import Toolchain
from rbdc.options import Progress
from rbdc.report.methods.assembly import Job, compile_all
from rbdc.report.methods.peers import cppadcodegen, headers, pinocchio
from rbdc.report.methods.records import Absent, Contender, FunctionRecord
from rbdc.report.options import CASADI, CPPADCODEGEN, NATIVE, PEERS, CompareOptions
from rbdc.spatial import Placement, RigidInertia


@dataclass(frozen=True)
class Peers:
    """The builds of Pinocchio that take part, and the absent peers with the reasons."""

    builds: list[pinocchio.PinocchioBuild] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def add_peers(
    model: Problem,
    functions: Sequence[FunctionRecord],
    options: CompareOptions,
    tools: Toolchain,
    folder: Path,
    progress: Progress,
) -> Peers:
    """Add the contenders of the requested peers in C++ to the functions that these peers have.

    The first compilation takes half a minute; native builds and programs of CppADCodeGen take minutes. A
    build that does not compile is absent, with the compiler's first error as the reason.
    """
    absent = {peer: missed for peer in PEERS if (missed := options.missed(peer)) is not None}
    peers, archive = Peers(absent=absent), folder / "pinocchio.txt"
    for peer, family in PEERS.items():
        if peer in absent or peer == CASADI:
            continue
        try:
            headers.headers()  # the archive is written by the pinocchio of the same package
            if (reason := save_model(model, archive)) is None:
                if peer == CPPADCODEGEN:
                    _add_cppadcodegen(functions, options, tools, archive, progress)
                else:
                    _add_pinocchio(peer, functions, archive, peers, progress)
                continue
        except ToolchainError as error:
            reason = error.line
        absent[peer] = reason
        for one in functions:
            one.absent.append(Absent(peer, family, reason))
    return peers


def _algorithms(one: FunctionRecord, library: str) -> tuple[str, ...]:
    return one.function.comparison.peers.get(library, ())


def _add_pinocchio(
    peer: str, functions: Sequence[FunctionRecord], archive: Path, peers: Peers, progress: Progress
) -> None:
    wanted = {algorithm for one in functions for algorithm in _algorithms(one, pinocchio.NAME)}
    builds = pinocchio.builds(peer, wanted, progress) if wanted else []
    tried = {algorithm for build in builds for algorithm in (*build.algorithms, *build.failed)}
    for build in builds:
        if build.algorithms:
            peers.builds.append(build)
        else:
            peers.absent[build.name] = next(iter(build.failed.values()))
    for one in functions:
        names = _algorithms(one, pinocchio.NAME)
        for build in builds:
            for name in names:
                if name in build.algorithms:
                    one.contenders.append(_contender(one.name, build, name, archive))
                elif name in build.failed:
                    method = _method(one.name, build.name, name)
                    one.absent.append(Absent(method, "peer", build.failed[name]))
        if not tried.intersection(names):
            one.absent.append(Absent(peer, "peer", _reason(names)))


def _add_cppadcodegen(
    functions: Sequence[FunctionRecord],
    options: CompareOptions,
    tools: Toolchain,
    archive: Path,
    progress: Progress,
) -> None:
    names = [name for one in functions for name in _algorithms(one, CPPADCODEGEN)]
    programs = cppadcodegen.programs(names, progress)
    jobs = list[Job]()
    for one in functions:
        for name in _algorithms(one, CPPADCODEGEN):
            make = partial(cppadcodegen.contender, one.function, name, programs[name], archive, tools)
            jobs.append((one, CPPADCODEGEN, "ad", make))
        if not _algorithms(one, CPPADCODEGEN):
            reason = "Pinocchio has no wrapper of this function for CppADCodeGen"
            one.absent.append(Absent(CPPADCODEGEN, "ad", reason))
    progress("compiling CppADCodeGen's C")
    compile_all(jobs, options)


def _reason(algorithms: Sequence[str]) -> str:
    if not algorithms:
        return "Pinocchio has no such function, or a function of this name with another meaning"
    return f"Pinocchio's library does not export it: --peers {NATIVE} compiles it from the headers"


def _method(name: str, build: str, algorithm: str) -> str:
    return f"{build}{algorithm.removeprefix(name).replace('_', '-')}"


def _contender(name: str, build: pinocchio.PinocchioBuild, algorithm: str, archive: Path) -> Contender:
    symbol = f"rbdc_peer_{algorithm}"
    return Contender(
        _method(name, build.name, algorithm),
        "peer",
        algorithm,
        build.library,
        symbol,
        f"{symbol}_fetch",
        archive,
        code=() if build.shipped is None else (build.shipped,),
    )


def save_model(model: Problem, path: Path) -> str | None:
    """Write the model as Pinocchio's text archive. Return None, or the reason why Pinocchio cannot represent
    it.
    """
    import pinocchio

    pin: Any = pinocchio
    if model.coupled:
        return "coupled mimic joints: comparisons do not use Pinocchio's mimic joints"
    if any(model.damping) or not model.only_damped:
        return "damping, springs or dry friction: Pinocchio's functions do not have them"
    archived = pin.Model()
    archived.name = "robot"
    archived.gravity = pin.Motion(np.array([*model.gravity.scalars(), 0.0, 0.0, 0.0]))
    for index, body in enumerate(model.bodies):
        joint = _joint(pin, body.joint)
        if joint is None:
            return f"a {body.joint.kind} joint, for which Pinocchio has no joint type"
        # joint 0 is the world
        added = archived.addJoint(body.parent + 1, joint, _se3(pin, body.placement), f"joint{index}")
        archived.appendBodyToJoint(added, _inertia(pin, body.inertia), pin.SE3.Identity())
    archived.armature = np.array(model.armature)
    archived.inertias[0] = _inertia(pin, model.base_inertia)
    for index, frame in enumerate(model.frames):
        placement = _se3(pin, frame.placement)
        archived.addFrame(
            pin.Frame(f"frame{index}", frame.body + 1, 0, placement, pin.FrameType.BODY, pin.Inertia.Zero())
        )
    archived.saveToText(str(path))
    Path(f"{path}.contacts").write_text(_contacts(model), encoding="utf-8")
    return None


def _contacts(model: Problem) -> str:
    """Return a line for each contact: the number of its rows, and for each of its two frames the joint, the
    rotation (row-major) and the translation.

    Return no lines if Pinocchio lacks one of the contacts.
    """
    if any(contact.rows not in (3, 6) or not contact.whole for contact in model.contacts):
        return ""
    world, lines = Frame("world", WORLD, Placement.identity()), []
    for contact in model.contacts:
        words: list[float] = [contact.rows]
        for frame in (contact.first, contact.second or world):
            words += [frame.body + 1, *map(float, frame.placement.scalars())]
        lines.append(" ".join(map(repr, words)) + "\n")
    return "".join(lines)


def _joint(pin: Any, joint: JointType) -> Any:
    """Return Pinocchio's joint, of the faster type if the axis is a coordinate axis; None if Pinocchio has no
    such type.
    """
    peer_joint = joint.pinocchio()
    if peer_joint is None:
        return None
    name, arguments = peer_joint
    return getattr(pin, name)(*(np.array(x) if isinstance(x, list) else x for x in arguments))


def _inertia(pin: Any, inertia: RigidInertia) -> Any:
    """Return Pinocchio's inertia from the dynamic parameters m, m c and the inertia about the origin."""
    scalars = (inertia.mass, *inertia.first_moment.scalars(), *inertia.about_origin.scalars())
    parameters = np.array([float(x) for x in scalars])
    if parameters[0] != 0.0:
        return pin.Inertia.FromDynamicParameters(parameters)
    xx, xy, yy, xz, yz, zz = parameters[4:]  # without mass the centre h / m is undefined
    return pin.Inertia(0.0, np.array([0.0, 0.0, 0.0]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _se3(pin: Any, placement: Placement) -> Any:
    return pin.SE3(np.array(placement.rotation.rows()), np.array(placement.translation.scalars()))

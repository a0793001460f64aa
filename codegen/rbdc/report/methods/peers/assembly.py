"""Peers in C++ beside our methods, where they are installed and can represent the model, of which they read a
text archive: one library serves all robots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rbdc.errors import ToolchainError
from rbdc.model import WORLD, Model
from rbdc.model.joints import JointType
from rbdc.options import Progress
from rbdc.report.methods.contenders import Toolchains
from rbdc.report.methods.peers import cppadcodegen, headers, pinocchio
from rbdc.report.methods.records import Absent, Contender, FunctionRecord
from rbdc.report.options import CASADI, CPPADCODEGEN, NATIVE, PINOCCHIO, CompareOptions
from rbdc.spatial import Placement, RigidInertia

_FAMILIES = {NATIVE: "peer", PINOCCHIO: "peer", CPPADCODEGEN: "ad"}
"""The peers in C++ and the families of their methods."""


@dataclass(frozen=True)
class Peers:
    """The builds of Pinocchio that take part, and the absent peers with the reasons."""

    builds: list[pinocchio.PinocchioBuild] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


def add_peers(
    model: Model,
    functions: Sequence[FunctionRecord],
    options: CompareOptions,
    tools: Toolchains,
    folder: Path,
    progress: Progress,
) -> Peers:
    """Add the contenders of the peers in C++ that are asked for to the functions that they have.

    Compiling takes half a minute the first time, of native builds and of CppADCodeGen's programs minutes.
    What does not compile is absent, with the compiler's first error.
    """
    peers, archive = Peers(), folder / "pinocchio.txt"
    if missed := options.missed(CASADI, "ad"):
        peers.absent[CASADI] = missed
    for peer, family in _FAMILIES.items():
        if missed := options.missed(peer, family):
            peers.absent[peer] = missed
            continue
        try:
            headers.headers()  # without them there is no pinocchio to write the archive
            if (reason := save_model(model, archive)) is None:
                if peer == CPPADCODEGEN:
                    _add_cppadcodegen(functions, tools, archive, progress)
                else:
                    _add_pinocchio(peer, functions, archive, peers, progress)
                continue
        except ToolchainError as error:
            reason = error.line
        peers.absent[peer] = reason
        for one in functions:
            one.absent.append(Absent(peer, family, reason))
    return peers


def _algorithms(one: FunctionRecord, library: str) -> tuple[str, ...]:
    """The algorithms of a library for a function."""
    return one.function.comparison.peers.get(library, ())


def _add_pinocchio(
    peer: str, functions: Sequence[FunctionRecord], archive: Path, peers: Peers, progress: Progress
) -> None:
    """Compile a peer's builds and add their contenders, and for functions that lack some the reasons."""
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
    functions: Sequence[FunctionRecord], tools: Toolchains, archive: Path, progress: Progress
) -> None:
    """Make and compile CppADCodeGen's C of the functions that Pinocchio has wrappers for."""
    names = [name for one in functions for name in _algorithms(one, CPPADCODEGEN)]
    programs = cppadcodegen.programs(names, progress)
    for one in functions:
        for name in _algorithms(one, CPPADCODEGEN):
            progress(f"{one.name}: {CPPADCODEGEN}")
            try:
                program = programs[name].result()
                made = cppadcodegen.contender(one.function, name, program, archive, tools)
                one.contenders.append(made)
            except ToolchainError as error:
                one.absent.append(Absent(CPPADCODEGEN, "ad", f"not compiled: {error.line}"))
        if not _algorithms(one, CPPADCODEGEN):
            reason = "Pinocchio has no wrapper of this function for CppADCodeGen"
            one.absent.append(Absent(CPPADCODEGEN, "ad", reason))


def _reason(algorithms: Sequence[str]) -> str:
    """Why a build lacks a function that has these algorithms in Pinocchio's headers."""
    if not algorithms:
        return "Pinocchio has no such function, or one that means something else"
    return f"Pinocchio's library exports none: --peers {NATIVE} compiles it from the headers"


def _method(name: str, build: str, algorithm: str) -> str:
    """The name of the method that is an algorithm of a build, for a function."""
    return f"{build}{algorithm.removeprefix(name).replace('_', '-')}"


def _contender(name: str, build: pinocchio.PinocchioBuild, algorithm: str, archive: Path) -> Contender:
    """A function of one build by one of Pinocchio's algorithms."""
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


def save_model(model: Model, path: Path) -> str | None:
    """Write the model as Pinocchio's text archive; None, or the reason why Pinocchio cannot represent it."""
    import pinocchio

    pin: Any = pinocchio
    if model.coupled:
        return "coupled mimic joints: Pinocchio's own are not used here"
    if any(model.damping) or not model.only_damped:
        return "damping, springs or dry friction: Pinocchio's functions do not have them"
    made = pin.Model()
    made.name = "robot"
    made.gravity = pin.Motion(np.array([*model.gravity.scalars(), 0.0, 0.0, 0.0]))
    for index, body in enumerate(model.bodies):
        joint = _joint(pin, body.joint)
        if joint is None:
            return f"a {body.joint.kind} joint that Pinocchio does not have this way"
        parent = 0 if body.parent == WORLD else body.parent + 1
        added = made.addJoint(parent, joint, _se3(pin, body.placement), f"joint{index}")
        made.appendBodyToJoint(added, _inertia(pin, body.inertia), pin.SE3.Identity())
    made.armature = np.array(model.armature)
    made.inertias[0] = _inertia(pin, model.base_inertia)
    for index, frame in enumerate(model.frames):
        joint_index = 0 if frame.body == WORLD else frame.body + 1
        placement = _se3(pin, frame.placement)
        made.addFrame(
            pin.Frame(f"frame{index}", joint_index, 0, placement, pin.FrameType.BODY, pin.Inertia.Zero())
        )
    made.saveToText(str(path))
    Path(f"{path}.contacts").write_text(_contacts(model), encoding="utf-8")
    return None


def _contacts(model: Model) -> str:
    """A line for each contact: its rows, and of both frames the joint, the rotation by rows and the place.
    Nothing where Pinocchio does not have one of them.
    """
    if any(contact.rows not in (3, 6) or not contact.whole for contact in model.contacts):
        return ""
    lines = []
    for contact in model.contacts:
        words: list[object] = [contact.rows]
        for frame in (contact.first, contact.second):
            placement = Placement.identity() if frame is None else frame.placement
            words.append(0 if frame is None or frame.body == WORLD else frame.body + 1)
            words += [repr(float(x)) for x in placement.scalars()]
        lines.append(" ".join(map(str, words)))
    return "".join(f"{line}\n" for line in lines)


def _joint(pin: Any, joint: JointType) -> Any:
    """Pinocchio's joint, the fast one for a coordinate axis; None where Pinocchio has no such type."""
    own = joint.pinocchio()
    if own is None:
        return None
    name, axis = own
    return getattr(pin, name)(*([np.array(axis)] if axis else []))


def _inertia(pin: Any, inertia: RigidInertia) -> Any:
    """Pinocchio's inertia from the dynamic parameters m, m c and the inertia about the origin."""
    scalars = (inertia.mass, *inertia.first_moment.scalars(), *inertia.about_origin.scalars())
    parameters = np.array([float(x) for x in scalars])
    if parameters[0] != 0.0:
        return pin.Inertia.FromDynamicParameters(parameters)
    xx, xy, yy, xz, yz, zz = parameters[4:]  # without mass there is no centre to divide for
    return pin.Inertia(0.0, np.array([0.0, 0.0, 0.0]), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _se3(pin: Any, placement: Placement) -> Any:
    return pin.SE3(np.array(placement.rotation.rows()), np.array(placement.translation.scalars()))

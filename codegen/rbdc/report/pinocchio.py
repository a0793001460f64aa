"""Pinocchio's C++ as a peer: its headers from the pip package, compiled into a library that speaks the methods' C signature.

The library is kept in the cache under its source, compiler, flags, Pinocchio's version and the processor; models are handed over as text
archives, so one library serves all robots.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rbdc.emit.render import render
from rbdc.model import WORLD, Model
from rbdc.model.joints import JointType, Planar, Prismatic, Revolute
from rbdc.native import cache
from rbdc.native.toolchain import Compiler, code_bytes, find_compiler, run
from rbdc.spatial import Inertia, Placement

VARIANTS = {"crba": ("crba", "crba_world"), "aba": ("aba", "aba_world")}
"""Where Pinocchio has two ways: both are measured."""

FUNCTIONS = (
    *("rnea", "nle", "gravity_torque", "crba", "minverse", "aba", "torque_regressor", "rnea_derivatives", "aba_derivatives"),
    *("forward_kinematics", "com", "com_jacobian", "centroidal_momentum_matrix", "kinetic_energy", "potential_energy"),
    *("integrate", "difference"),
)
"""What the harness offers. Pinocchio's Coriolis matrix is another factorisation of the same C v, so it is left out."""

_PACKAGE = "pin"
_STANDARD = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-w")
_LIMITS = (
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
_CLANGS = ("clang++-21", "clang++-20", "clang++-19", "clang++-18", "clang++-17", "clang++")
_EIGEN = ("/usr/include/eigen3", "/usr/local/include/eigen3", "/opt/homebrew/include/eigen3")


@dataclass(frozen=True)
class PinocchioBuild:
    """One build of the harness; `compile_seconds` of the time when it was compiled, `code_bytes` of the whole library."""

    name: str
    compiler: str
    flags: tuple[str, ...]
    library: Path
    compile_seconds: float
    code_bytes: int


def availability() -> str | None:
    """None where everything is there, else what is missing and how to get it."""
    if _prefix() is None:
        return "Pinocchio is not installed: pip install pin"
    if _eigen() is None:
        return "the headers of Eigen are not installed: apt install libeigen3-dev, or set CPATH"
    if not _compilers():
        return "no C++ compiler: install g++ or clang++"
    return None


def builds(progress: Callable[[str], None]) -> list[PinocchioBuild]:
    """Every build that can be had: gcc, clang, clang without AVX-512. Raises ToolchainError with the compiler's output."""
    source = render("pinocchio.cpp.jinja")
    with ThreadPoolExecutor(2) as pool:
        made = [pool.submit(_build, name, compiler, extra, source, progress) for name, compiler, extra in _compilers()]
        return [future.result() for future in made]


def save_model(model: Model, path: Path) -> str | None:
    """Write our model, joint by joint, as Pinocchio's text archive; None, or why Pinocchio cannot have it."""
    import pinocchio

    pin: Any = pinocchio
    if model.coupled:
        return "coupled mimic joints: Pinocchio's own are not used here"
    made = pin.Model()
    made.name = "robot"
    made.gravity = pin.Motion(_array([*model.gravity.scalars(), 0.0, 0.0, 0.0]))
    for index, body in enumerate(model.bodies):
        joint = _joint(pin, body.joint)
        if joint is None:
            return f"a {body.joint.kind} joint that Pinocchio does not have this way"
        parent = 0 if body.parent == WORLD else body.parent + 1
        added = made.addJoint(parent, joint, _se3(pin, body.placement), f"joint{index}")
        made.appendBodyToJoint(added, _inertia(pin, body.inertia), pin.SE3.Identity())
    made.inertias[0] = _inertia(pin, model.base_inertia)
    for index, frame in enumerate(model.frames):
        joint_index = 0 if frame.body == WORLD else frame.body + 1
        placement = _se3(pin, frame.placement)
        made.addFrame(pin.Frame(f"frame{index}", joint_index, 0, placement, pin.FrameType.BODY, pin.Inertia.Zero()))
    made.saveToText(str(path))
    return None


def _joint(pin: Any, joint: JointType) -> Any:
    """Pinocchio's joint: the fast ones for coordinate axes, as its own parser chooses."""
    if isinstance(joint, (Revolute, Prismatic)):
        letter = "R" if isinstance(joint, Revolute) else "P"
        axis = [float(x) for x in joint.axis.scalars()]
        for name, unit in zip("XYZ", ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]), strict=True):
            if axis == unit:
                return getattr(pin, f"JointModel{letter}{name}")()
        return getattr(pin, "JointModelRevoluteUnaligned" if letter == "R" else "JointModelPrismaticUnaligned")(_array(axis))
    if isinstance(joint, Planar):
        return pin.JointModelPlanar() if joint.normal.scalars() == [0.0, 0.0, 1.0] else None
    return {"spherical": pin.JointModelSpherical, "floating": pin.JointModelFreeFlyer}[joint.kind]()


def _inertia(pin: Any, inertia: Inertia) -> Any:
    """By Pinocchio's dynamic parameters: m, m c, and the inertia about the origin, which are ours."""
    if float(inertia.mass) == 0.0:
        return pin.Inertia.Zero()
    return pin.Inertia.FromDynamicParameters(_array([float(x) for x in inertia.scalars()]))


def _se3(pin: Any, placement: Placement) -> Any:
    return pin.SE3(_array(placement.rotation.rows()), _array(placement.translation.scalars()))


def _array(values: Any) -> Any:
    import numpy as np

    return np.array(values, dtype=float)


def _compilers() -> list[tuple[str, Compiler, tuple[str, ...]]]:
    """Name, compiler and more flags of every build."""
    found: list[tuple[str, Compiler, tuple[str, ...]]] = []
    if shutil.which("g++"):
        found.append(("gcc", find_compiler("g++"), ()))
    clang = next((name for name in _CLANGS if shutil.which(name)), None)
    if clang is not None:
        compiler = find_compiler(clang)
        found += [("clang", compiler, ()), ("clang-no-avx512", compiler, ("-mno-avx512f",))]
    return found


def _prefix() -> Path | None:
    """The folder with `include` and `lib` that the pip package brings."""
    found = find_spec("pinocchio")
    if found is None or found.origin is None:
        return None
    return next((p for p in Path(found.origin).parents if (p / "include" / "pinocchio" / "fwd.hpp").is_file()), None)


def _eigen() -> Path | None:
    """Where Eigen's headers are."""
    prefix = _prefix()
    candidates = ([] if prefix is None else [prefix / "include" / "eigen3"]) + [Path(p) for p in _EIGEN]
    return next((folder for folder in candidates if (folder / "Eigen" / "Core").is_file()), None)


def _build(
    name: str, compiler: Compiler, extra: tuple[str, ...], source: str, progress: Callable[[str], None]
) -> PinocchioBuild:
    flags = (*_STANDARD, *(("-fno-gnu-unique",) if name == "gcc" else ()), *_LIMITS, *extra)
    key = cache.key("pinocchio", source, compiler.version, *flags, version(_PACKAGE), cache.interpreter_tag())

    def make(folder: Path) -> None:
        progress(f"compiling Pinocchio's headers with {compiler.version}, which takes minutes, once")
        (folder / "peer.cpp").write_text(source)
        prefix, eigen = _prefix(), _eigen()
        includes = ["-isystem", f"{prefix}/include", "-isystem", str(eigen)]
        libraries = [f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib", "-lboost_serialization"]
        start = time.perf_counter()
        run([compiler.path, *flags, *includes, "-shared", "peer.cpp", "-o", "peer.so", *libraries], folder)
        figures = {"seconds": time.perf_counter() - start, "code_bytes": code_bytes(folder / "peer.so")}
        (folder / "figures.json").write_text(json.dumps(figures))

    folder = cache.obtain(key, make)
    figures = json.loads((folder / "figures.json").read_text())
    return PinocchioBuild(name, compiler.version, flags, folder / "peer.so", figures["seconds"], figures["code_bytes"])

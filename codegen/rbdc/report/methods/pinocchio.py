"""Pinocchio's C++ as a peer: the headers of the pip package, compiled behind the common C signature.

The library is cached under its source, the compiler, its flags, the versions of the headers and the
processor. Models are passed as text archives, so one library serves all robots.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.model import WORLD, Model
from rbdc.model.joints import JointType
from rbdc.native import cache
from rbdc.native.toolchain import CANDIDATES, Compiler, code_bytes, compile_object, find_compiler, run
from rbdc.spatial import Placement, RigidInertia, Scalar

NAME = "pinocchio"
"""Of the library in the records of functions, which say what its harness offers."""

PARTS = ("KINEMATICS", "DYNAMICS", "DERIVATIVES", "SECOND")
"""Parts in which the harness is compiled: as a whole, gcc 12 takes 6 GB."""

_FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-w")
# Else two libraries in one process share each other's statics; clang makes no such symbols.
_GCC = ("-fno-gnu-unique",)
_LIMITS = (  # as Pinocchio's CMake targets set them
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
_CLANGS = tuple(name.replace("clang", "clang++", 1) for name in CANDIDATES if name.startswith("clang"))
_INCLUDE_FOLDERS = ("/usr/include", "/usr/local/include", "/opt/homebrew/include")
_VERSIONS = ("pinocchio/config.hpp", "boost/version.hpp", "Eigen/src/Core/util/Macros.h")
"""Headers that hold the versions of the compiled libraries."""


@dataclass(frozen=True)
class PinocchioBuild:
    """One build of the harness.

    compile_seconds: measured when it was compiled. code_bytes: of the whole library.
    """

    name: str
    compiler: str
    flags: tuple[str, ...]
    library: Path
    compile_seconds: float
    code_bytes: int


@dataclass(frozen=True)
class _Recipe:
    """Recipe of one build.

    prefix: folder with `include` and `lib` of Pinocchio and Boost. eigen: include folder of Eigen.
    """

    name: str
    compiler: Compiler
    flags: tuple[str, ...]
    prefix: Path
    eigen: Path

    def key(self, *parts: str) -> str:
        """The cache key of a file that this recipe makes of `parts`."""
        versions = [
            _text(folder / name) for name in _VERSIONS for folder in (self.prefix / "include", self.eigen)
        ]
        identity = (
            self.compiler.path,
            self.compiler.version,
            *self.flags,
            *versions,
            cache.interpreter_tag(),
        )
        return cache.key("pinocchio", *identity, *parts)


def availability() -> str | None:
    """None where the harness can be compiled, else the missing prerequisite and how to install it."""
    prefix = _prefix()
    if prefix is None:
        return "the headers of Pinocchio 4 are not installed: pip install 'pin>=4'"
    if not any(
        (prefix / "lib" / f"libboost_serialization.{suffix}").is_file() for suffix in ("so", "dylib", "a")
    ):
        problem = f"boost_serialization is not in {prefix / 'lib'}, beside Pinocchio's headers"
        return f"{problem}: pip install --force-reinstall 'pin>=4'"
    if _eigen() is None:
        return (
            "the headers of Eigen are not installed: apt install libeigen3-dev, or name their folder in CPATH"
        )
    if not _compilers():
        return "no C++ compiler: install g++ or clang++"
    return None


def builds(progress: Callable[[str], None]) -> list[PinocchioBuild]:
    """The builds by all available compilers: gcc, clang, clang without AVX-512; two processes at a time.

    Raises ToolchainError with the compiler's output, or where `availability` names a missing prerequisite.
    """
    recipes = _recipes()
    source = render("pinocchio.cpp.jinja")
    with ThreadPoolExecutor(2) as pool:
        parts = {
            recipe.name: [pool.submit(_part, recipe, part, source, progress) for part in PARTS]
            for recipe in recipes
        }
        try:
            return [_linked(recipe, [future.result() for future in parts[recipe.name]]) for recipe in recipes]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what has begun goes on into the cache
            raise


def save_model(model: Model, path: Path) -> str | None:
    """Write the model as Pinocchio's text archive; None, or the reason why Pinocchio cannot represent it."""
    import pinocchio

    pin: Any = pinocchio
    if model.coupled:
        return "coupled mimic joints: Pinocchio's own are not used here"
    if any(model.damping):
        return "viscous damping: Pinocchio's functions do not have it"
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
    made.armature = _array(model.armature)
    made.inertias[0] = _inertia(pin, model.base_inertia)
    for index, frame in enumerate(model.frames):
        joint_index = 0 if frame.body == WORLD else frame.body + 1
        placement = _se3(pin, frame.placement)
        made.addFrame(
            pin.Frame(f"frame{index}", joint_index, 0, placement, pin.FrameType.BODY, pin.Inertia.Zero())
        )
    made.saveToText(str(path))
    return None


def _joint(pin: Any, joint: JointType) -> Any:
    """Pinocchio\'s joint, the fast one for a coordinate axis; None where Pinocchio has no such type."""
    own = joint.pinocchio()
    if own is None:
        return None
    made = getattr(pin, own.name)
    return made() if own.axis is None else made(_array(own.axis))


def _parameters(inertia: RigidInertia) -> list[Scalar]:
    """m, m c, and the inertia about the origin."""
    return [inertia.mass, *inertia.first_moment.scalars(), *inertia.about_origin.scalars()]


def _inertia(pin: Any, inertia: RigidInertia) -> Any:
    """Pinocchio's inertia from the dynamic parameters m, m c and the inertia about the origin."""
    parameters = _array([float(x) for x in _parameters(inertia)])
    if parameters[0] != 0.0:
        return pin.Inertia.FromDynamicParameters(parameters)
    xx, xy, yy, xz, yz, zz = parameters[4:]  # without mass there is no centre to divide for
    return pin.Inertia(0.0, _array([0.0, 0.0, 0.0]), _array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _se3(pin: Any, placement: Placement) -> Any:
    return pin.SE3(_array(placement.rotation.rows()), _array(placement.translation.scalars()))


def _array(values: Any) -> Any:
    import numpy as np

    return np.array(values, dtype=float)


def _compilers() -> list[tuple[str, Compiler, tuple[str, ...]]]:
    """Name, compiler and additional flags of every build."""
    found: list[tuple[str, Compiler, tuple[str, ...]]] = []
    if shutil.which("g++"):
        found.append(("gcc", find_compiler("g++"), _GCC))
    clang = next((name for name in _CLANGS if shutil.which(name)), None)
    if clang is not None:
        compiler = find_compiler(clang)
        found.append(("clang", compiler, ()))
        if _has_avx512(compiler):
            found.append(("clang-no-avx512", compiler, ("-mno-avx512f",)))
    return found


def _has_avx512(compiler: Compiler) -> bool:
    """Whether code for this processor would use AVX-512; elsewhere the build without it is superfluous."""
    return "__AVX512F__" in run(
        [compiler.path, *compiler.arguments, "-march=native", "-dM", "-E", "-x", "c++", os.devnull]
    )


def _recipes() -> list[_Recipe]:
    reason, prefix, eigen = availability(), _prefix(), _eigen()
    if reason is not None or prefix is None or eigen is None:
        raise ToolchainError(f"Pinocchio's C++ cannot be compiled: {reason}")
    return [
        _Recipe(name, compiler, (*_FLAGS, *extra, *_LIMITS), prefix, eigen)
        for name, compiler, extra in _compilers()
    ]


def _prefix() -> Path | None:
    """The folder with `include` and `lib` of the pip package; None where it is not installed."""
    found = find_spec("pinocchio")
    if found is None or found.origin is None:
        return None
    return next(
        (
            p
            for p in Path(found.origin).parents
            if (p / "include" / "pinocchio" / "serialization.hpp").is_file()
        ),
        None,
    )


def _eigen() -> Path | None:
    """The folder of Eigen's headers; None where there is none."""
    return next((folder for folder in _eigen_candidates() if (folder / "Eigen" / "Core").is_file()), None)


def _eigen_candidates() -> Iterator[Path]:
    """Folders to search: of the compilers' variables, beside Pinocchio, of pkg-config, the usual ones."""
    named = [
        f for name in ("CPATH", "CPLUS_INCLUDE_PATH") for f in os.environ.get(name, "").split(os.pathsep) if f
    ]
    prefix = _prefix()
    for folder in [*map(Path, named), *([] if prefix is None else [prefix / "include"])]:
        yield folder
        yield folder / "eigen3"
    if shutil.which("pkg-config"):
        try:
            words = shlex.split(run(["pkg-config", "--cflags-only-I", "eigen3"]))
        except ToolchainError:  # Eigen is not registered there
            words = []
        yield from (Path(word.removeprefix("-I")) for word in words)
    yield from (Path(folder) / "eigen3" for folder in _INCLUDE_FOLDERS)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _part(
    recipe: _Recipe, part: str, source: str, progress: Callable[[str], None]
) -> tuple[str, Path, float]:
    """The object file of one part: its cache key, its path, and the seconds that compiling it took."""

    def make(folder: Path) -> None:
        progress(f"compiling Pinocchio's {part.lower()} with {recipe.name}: minutes, but only once")
        (folder / "peer.cpp").write_text(f"#define RBDC_{part}\n{source}", encoding="utf-8")
        includes = ("-isystem", str(recipe.prefix / "include"), "-isystem", str(recipe.eigen))
        start = time.perf_counter()
        compile_object(recipe.compiler, folder / "peer.cpp", (*recipe.flags, *includes))
        (folder / "figures.json").write_text(json.dumps({"seconds": time.perf_counter() - start}))

    key = recipe.key("object", part, source)
    folder = cache.obtain(key, make)
    return key, folder / "peer.o", float(json.loads((folder / "figures.json").read_text())["seconds"])


def _linked(recipe: _Recipe, parts: list[tuple[str, Path, float]]) -> PinocchioBuild:
    """The library of the linked parts; it finds boost_serialization by a path that is part of the key."""
    compiler, library = recipe.compiler, recipe.prefix / "lib"

    def make(folder: Path) -> None:
        objects = [str(path) for _, path, _ in parts]
        boost = [f"-L{library}", f"-Wl,-rpath,{library}", "-lboost_serialization"]
        run([compiler.path, *compiler.arguments, "-shared", *objects, "-o", str(folder / "peer.so"), *boost])
        figures = {
            "seconds": sum(seconds for *_, seconds in parts),
            "code_bytes": code_bytes(folder / "peer.so"),
        }
        (folder / "figures.json").write_text(json.dumps(figures))

    folder = cache.obtain(recipe.key("library", str(library), *(key for key, *_ in parts)), make)
    figures = json.loads((folder / "figures.json").read_text())
    made = (figures["seconds"], figures["code_bytes"])
    return PinocchioBuild(recipe.name, compiler.version, recipe.flags, folder / "peer.so", *made)

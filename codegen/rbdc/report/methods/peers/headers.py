"""Prerequisites to compile Pinocchio's C++: headers of Pinocchio, Boost and Eigen, and compilers.

The module also estimates the time of compilations.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from rbdc.errors import ToolchainError
from rbdc.native import cache
from rbdc.native.toolchain import CANDIDATES, Compiler, find_compiler, run
from rbdc.progress import about

Made = TypeVar("Made")

WORKERS = 2
"""Number of files that are compiled at the same time."""
LIMITS = (  # the definitions of Pinocchio's CMake targets
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
GCC = ("-fno-gnu-unique",)
"""Flags of g++. Without them two libraries in one process share their static variables; clang needs no such
flag.
"""
_CLANGS = tuple(name.replace("clang", "clang++", 1) for name in CANDIDATES if name.startswith("clang"))
_INCLUDE_FOLDERS = (f"{sys.prefix}/include", "/usr/include", "/usr/local/include", "/opt/homebrew/include")
_ARCHIVES = "pinocchio/serialization.hpp"
_VERSIONS = ("pinocchio/config.hpp", "boost/version.hpp", "Eigen/src/Core/util/Macros.h")
"""Headers that hold the versions of the compiled libraries."""


@dataclass(frozen=True)
class Headers:
    """Folders of the headers.

    prefix: folder with `include` and `lib` of Pinocchio and Boost.
    eigen: include folder of Eigen.
    """

    prefix: Path
    eigen: Path

    @property
    def include_flags(self) -> tuple[str, ...]:
        """Compiler flags to find the headers."""
        return ("-isystem", str(self.prefix / "include"), "-isystem", str(self.eigen))

    @property
    def link_flags(self) -> tuple[str, ...]:
        """Flags to link Boost's serialization library, and to find the libraries at run time."""
        library = self.prefix / "lib"
        return (f"-L{library}", f"-Wl,-rpath,{library}", "-lboost_serialization")

    def identity(self, compiler: Compiler) -> str:
        """Return text that differs if the compiler's output may differ."""
        files = [f / name for name in _VERSIONS for f in (self.prefix / "include", self.eigen)]
        versions = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]
        return "\n".join([compiler.path, compiler.version, *versions, cache.interpreter_tag()])


def headers() -> Headers:
    """Return the headers, if Pinocchio's C++ can be compiled.

    Raises ToolchainError with the missing prerequisite and how to install it.
    """
    installed, folder = prefix(), eigen()
    if installed is None:
        raise ToolchainError("the headers of Pinocchio 4 are not installed: pip install 'pin>=4'")
    if library("boost_serialization", "a") is None:
        problem = f"boost_serialization is not in {installed / 'lib'}, beside Pinocchio's headers"
        raise ToolchainError(f"{problem}: pip install --force-reinstall 'pin>=4'")
    if folder is None:
        where = "or apt install libeigen3-dev, or name their folder in CPATH"
        raise ToolchainError(f"the headers of Eigen are not installed: pip install cmeel-eigen, {where}")
    if not compilers():
        raise ToolchainError("no C++ compiler: install g++ or clang++")
    return Headers(installed, folder)


def library(name: str, *endings: str) -> Path | None:
    """Return a library beside Pinocchio's headers, shared or with one of these endings; None if it does not
    exist.
    """
    root = prefix()
    paths = [root / "lib" / f"lib{name}.{x}" for x in ("so", "dylib", *endings)] if root is not None else []
    return next((path for path in paths if path.is_file()), None)


def compilers() -> list[tuple[str, Compiler, tuple[str, ...]]]:
    """Return name, compiler and additional flags of every build: gcc, clang, clang without AVX-512."""
    builds: list[tuple[str, Compiler, tuple[str, ...]]] = []
    if shutil.which("g++"):
        builds.append(("gcc", find_compiler("g++"), GCC))
    clang = next((name for name in _CLANGS if shutil.which(name)), None)
    if clang is not None:
        compiler = find_compiler(clang)
        builds.append(("clang", compiler, ()))
        if _has_avx512(compiler):
            builds.append(("clang-no-avx512", compiler, ("-mno-avx512f",)))
    return builds


def prefix() -> Path | None:
    """Return the folder with `include` and `lib` of the pip package; None where it is not installed."""
    package = find_spec("pinocchio")
    above = Path(package.origin).parents if package is not None and package.origin is not None else ()
    return next((p for p in above if (p / "include" / _ARCHIVES).is_file()), None)


def eigen() -> Path | None:
    """Return the folder of Eigen's headers, in the include folders or in the usual places; None if it does
    not exist.
    """
    included = (place for folder in include_folders() for place in (folder, folder / "eigen3"))
    usual = (Path(folder) / "eigen3" for folder in _INCLUDE_FOLDERS)
    return next((folder for folder in (*included, *usual) if (folder / "Eigen" / "Core").is_file()), None)


def include_folders() -> Iterator[Path]:
    """Yield folders of headers: from environment variables, beside Pinocchio, and in cmeel's packages."""
    for name in ("CPATH", "CPLUS_INCLUDE_PATH"):
        yield from (Path(folder) for folder in os.environ.get(name, "").split(os.pathsep) if folder)
    installed = prefix()
    if installed is not None:
        yield installed / "include"
    yield from (Path(folder) / "cmeel.prefix" / "include" for folder in sys.path)


def side_by_side(
    jobs: Mapping[str, tuple[str, float]], obtain: Callable[[str], Made], progress: Callable[[str], None]
) -> dict[str, Future[Made]]:
    """Obtain the cache entries of the keys of `jobs`, `WORKERS` at a time; return when all are finished.

    jobs: by key, words for what is compiled, and the approximate duration (s).
    progress: called when the compilation of an entry begins, with the entry's number and the time left.
    """
    lacking = [key for key in jobs if not cache.holds(key)]

    def work(key: str) -> Made:
        if key in lacking:
            begun = lacking.index(key)
            left = sum(jobs[k][1] for k in lacking[begun:]) / min(WORKERS, len(lacking))
            count = f"{begun + 1} of {len(lacking)}"
            progress(f"compiling {jobs[key][0]}, {count}; {about(left)} left, once only")
        return obtain(key)

    with ThreadPoolExecutor(WORKERS) as pool:  # if interrupted, running jobs still finish
        return {key: pool.submit(work, key) for key in jobs}


def _has_avx512(compiler: Compiler) -> bool:
    """Return whether code for this processor would use AVX-512; if not, the build without AVX-512 is
    superfluous.

    A compiler that does not work reports its own error when it compiles.
    """
    try:
        defined = run([*compiler.command, "-march=native", "-dM", "-E", "-x", "c++", os.devnull])
    except ToolchainError:
        return False
    return "__AVX512F__" in defined

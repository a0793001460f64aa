"""Pinocchio's C++ behind the common C signature: the library of the pip package, and native builds.

A harness (C++ that calls Pinocchio) is compiled once and cached under its source, the compiler, its flags,
the versions of the headers and the processor. Models are passed as text archives, so one library serves all
robots.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.native import cache
from rbdc.native.build import Unit, compiled_object
from rbdc.native.toolchain import Compiled, Compiler, code_bytes, run
from rbdc.report.methods.peers.headers import LIMITS, Headers, compilers, headers, library, side_by_side
from rbdc.report.options import NATIVE, PINOCCHIO

NAME = "pinocchio"
"""Key under which the records of functions list the algorithms of the harness."""

MODEL = "MODEL"
"""The part of the harness that loads models; every library has it."""
LIBRARY_PARTS = (
    MODEL,
    "KINEMATICS",
    "INVERSE",
    "INERTIA",
    "FORWARD",
    "INVERSE_DERIVATIVES",
    "FORWARD_DERIVATIVES",
)
"""Parts whose algorithms Pinocchio's library exports with the signature that the harness calls; users compile
the other algorithms from the headers.
"""
TEMPLATE_PARTS = ("INVERSE_INERTIA", "TASKS", "STEPS", "CONTACTS")
"""Parts that the library lacks. They are compiled from the headers as a user would compile them, for every
processor of the architecture.
"""
PART, CALLS = 90.0, 30.0
"""Approximate times to compile a part, and to compile the calls of the library (s), for the time left."""

COMMON_FLAGS = ("-std=c++17", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-w")
_NATIVE_FLAGS = (*COMMON_FLAGS, "-O3", "-march=native")
# No -march: Eigen would align to other boundaries than in the library.
_LIBRARY_FLAGS = (*COMMON_FLAGS, "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "-DRBDC_LIBRARY")
_CALLS, _TEMPLATES = "-O1", "-O3"
"""Optimisation flags of the calls of the library, and of the parts that are compiled beside it."""
_LIBRARY = "pinocchio_default"
_HARNESS = tuple(
    f"pinocchio{of}.cpp.jinja" for of in ("", "_algorithms", "_tasks", "_steps", "_second", "_contacts")
)
"""The templates of the harness, in order: the part that all others need, then the parts."""


@dataclass(frozen=True)
class PinocchioBuild:
    """One build of Pinocchio.

    name: prefix of the names of the build's methods.
    peer: the peer that the build belongs to.
    what: the build in words.
    compile_seconds: compile time of the build's files, measured when they were compiled.
    code_bytes: size of the whole library.
    algorithms: the algorithms that it has.
    failed: reasons why algorithms do not compile, by name.
    shipped: the library that the build calls, None if its own library has everything.
    library: the build's own library, None without any algorithm.
    """

    name: str
    peer: str
    what: str
    compiler: str
    flags: tuple[str, ...]
    compile_seconds: float = 0.0
    code_bytes: int = 0
    algorithms: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    shipped: Path | None = None
    library: Path = Path()

    def data(self) -> dict[str, Any]:
        """Return the build for the report, without the paths of its files."""
        return {name: value for name, value in asdict(self).items() if name not in ("shipped", "library")}


@dataclass(frozen=True)
class _Piece:
    """Parts of the harness that are compiled as one file for a build. The first piece of a build has the code
    that its other pieces need.
    """

    build: PinocchioBuild
    compiler: Compiler
    parts: Sequence[str]
    flags: Sequence[str]

    @property
    def job(self) -> tuple[str, float]:
        """The piece in words, and approximately how many seconds its compilation takes."""
        calls, (part, *_) = self.parts == LIBRARY_PARTS, self.parts
        words = "calls" if calls else part.lower().replace("_", " ")
        return f"Pinocchio's {words} for {self.build.name}", CALLS if calls else PART


def harness() -> str:
    """Return the text of the harness with all parts."""
    return "\n".join(map(render, _HARNESS))


def offered(source: str) -> dict[str, tuple[str, ...]]:
    """Return the algorithms of every part of the harness, read from its text."""
    part, names_by_part = MODEL, {MODEL: list[str]()}
    for line in source.splitlines():
        if line.startswith("#ifdef RBDC_"):
            part = line.removeprefix("#ifdef RBDC_")
        elif algorithm := re.match(r"(?:COMPUTE|ALGORITHM)\((\w+)", line):
            names_by_part.setdefault(part, []).append(algorithm[1])
    return {part: tuple(names) for part, names in names_by_part.items()}


def builds(peer: str, wanted: Collection[str], progress: Callable[[str], None]) -> list[PinocchioBuild]:
    """Return the builds of a peer that have requested algorithms; two processes compile them.

    For the library of the pip package, only its calls and the requested `TEMPLATE_PARTS` are compiled. For
    native builds, the requested parts of the headers are compiled for this processor by all available
    compilers (gcc, clang, clang without AVX-512). A build that does not compile does not stop the others.
    Raises ToolchainError if a prerequisite is missing.
    """
    there, text = headers(), harness()
    offers = offered(text)
    parts = [part for part, names in offers.items() if part == MODEL or {*names} & {*wanted}]
    pieces = _of_library(parts, offers) if peer == PINOCCHIO else _native(parts)
    units = dict[str, tuple[_Piece, Unit]]()
    for piece in pieces:
        chosen = "".join(f"#define RBDC_{part}\n" for part in piece.parts)
        unit = Unit("peer.cpp", chosen + text, {}, (*piece.flags, *there.include_flags))
        units[unit.key(there.identity(piece.compiler))] = piece, unit

    def obtain(key: str) -> tuple[Path, Compiled]:
        piece, unit = units[key]
        return compiled_object(unit, key, piece.compiler)

    objects = side_by_side({key: piece.job for key, (piece, _) in units.items()}, obtain, progress)
    files = [(piece, objects[key]) for key, (piece, _) in units.items()]
    return [_linked([*of_it], offers, there) for _, of_it in groupby(files, lambda one: one[0].build.name)]


def _of_library(parts: Sequence[str], offers: Mapping[str, Sequence[str]]) -> list[_Piece]:
    _, compiler, extra = min(compilers())  # first by name: clang, which compiles fastest
    beside = [part for part in TEMPLATE_PARTS if part in parts]
    calls, templates = ((*_LIBRARY_FLAGS, level, *extra, *LIMITS) for level in (_CALLS, _TEMPLATES))
    what = f"the library of the pip package, version {_version()}, compiled for every processor of its kind"
    others = ", ".join(name for part in beside for name in offers[part])
    also = f"; {others}, which it does not export, from its headers by {_TEMPLATES}" if others else ""
    said = f"its calls compiled by {compiler.version}"
    build = PinocchioBuild(PINOCCHIO, PINOCCHIO, what + also, said, calls, shipped=shipped_library())
    return [
        _Piece(build, compiler, LIBRARY_PARTS, calls),
        *(_Piece(build, compiler, (part,), templates) for part in beside),
    ]


def _native(parts: Sequence[str]) -> list[_Piece]:
    pieces, what = [], f"Pinocchio {_version()}, its headers compiled for this processor"
    for name, compiler, extra in compilers():
        flags = (*_NATIVE_FLAGS, *extra, *LIMITS)
        build = PinocchioBuild(f"{NATIVE}-{name}", NATIVE, what, compiler.version, flags)
        pieces += [_Piece(build, compiler, (part,), flags) for part in parts]
    return pieces


def shipped_library() -> Path:
    """Return Pinocchio's library with the algorithms in double precision. Raises ToolchainError if it is not
    beside its headers.
    """
    path = library(_LIBRARY)
    if path is None:
        problem = f"no lib{_LIBRARY} beside Pinocchio's headers"
        raise ToolchainError(f"{problem}: pip install --force-reinstall 'pin>=4'")
    return path


def _version() -> str:
    import pinocchio

    return str(pinocchio.__version__)


def _linked(
    files: Sequence[tuple[_Piece, Future[tuple[Path, Compiled]]]],
    offers: Mapping[str, Sequence[str]],
    there: Headers,
) -> PinocchioBuild:
    (first, begun), failed = files[0], dict[str, str]()
    algorithms, objects = list[str](), list[tuple[Path, Compiled]]()
    for piece, one in files:
        names = [name for part in piece.parts for name in offers[part]]
        error = begun.exception() or one.exception()
        if isinstance(error, ToolchainError):
            failed |= dict.fromkeys(names, f"not compiled by {piece.compiler.version}: {error.line}")
        else:
            algorithms += names
            objects.append(one.result())
    build = replace(first.build, algorithms=tuple(algorithms), failed=failed)
    if not algorithms:
        return build
    linked = _library([path for path, _ in objects], first.compiler, build.shipped, there)
    seconds = sum(figures.seconds for _, figures in objects)
    size = code_bytes(build.shipped or linked)
    return replace(build, library=linked, compile_seconds=seconds, code_bytes=size)


def _library(objects: Sequence[Path], compiler: Compiler, shipped: Path | None, there: Headers) -> Path:
    """Return the library of compiled files, linked or from the cache.

    The library finds others, including the shipped library, through a path that is part of the cache key.
    """
    others, files = list[str](), [str(path) for path in objects]
    if shipped is not None:
        others.append(f"-l{_LIBRARY}")
        if sys.platform == "linux":  # hide all symbols but the entry points from the shipped library
            others.append("-Wl,--version-script=entries.map")

    def make(folder: Path) -> None:
        (folder / "entries.map").write_text("{ global: rbdc_peer_*; local: *; };\n")
        run([*compiler.command, "-shared", *files, "-o", "peer.so", *others, *there.link_flags], folder)

    key = cache.key("pinocchio", there.identity(compiler), *there.link_flags, *others, *files)
    return cache.obtain(key, make) / "peer.so"

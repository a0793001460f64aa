"""Pinocchio's C++ behind the common C signature: the library of the pip package, and native builds.

A harness is compiled once and cached under its source, the compiler, its flags, the versions of the headers
and the processor. Models are passed as text archives, so one library serves all robots.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.native import cache
from rbdc.native.toolchain import Compiler, code_bytes, compile_object, run
from rbdc.report.methods.peers.headers import (
    LIMITS,
    WORKERS,
    Headers,
    announced,
    compilers,
    headers,
    prefix,
    quick_compiler,
)
from rbdc.report.options import NATIVE, PINOCCHIO

NAME = "pinocchio"
"""Name of the library in the records of functions, which say what its harness offers."""

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
"""Parts whose algorithms Pinocchio's library exports as they are called here; others its user compiles."""
TEMPLATE_PARTS = ("INVERSE_INERTIA", "CONTACTS")
"""Parts beside the library that are compiled as its users compile them: from the headers, for every processor
of its kind.
"""
PART, CALLS = 90.0, 30.0
"""Seconds that compiling a part takes, about, and the calls of the library: they tell the time left."""

COMMON_FLAGS = ("-std=c++17", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-w")
_NATIVE_FLAGS = (*COMMON_FLAGS, "-O3", "-march=native")
# No -march: Eigen would align to other boundaries than in the library.
_LIBRARY_FLAGS = (*COMMON_FLAGS, "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "-DRBDC_LIBRARY")
_CALLS, _TEMPLATES = "-O1", "-O3"
"""Optimisation of the calls of the library, and of what is compiled beside it."""
_LIBRARY = "pinocchio_default"
_HARNESS, _SOURCE, _FIGURES = "pinocchio.cpp.jinja", "peer.cpp", "figures.json"


@dataclass(frozen=True)
class PinocchioBuild:
    """One build of Pinocchio.

    name: of its methods. peer: the peer that it belongs to. what: the build in words. compile_seconds: of
    what was compiled here, measured then. code_bytes: of the whole library. algorithms: what it offers.
    shipped: library that it calls, None where everything is in its own.
    """

    name: str
    peer: str
    what: str
    compiler: str
    flags: tuple[str, ...]
    library: Path = Path()
    compile_seconds: float = 0.0
    code_bytes: int = 0
    algorithms: tuple[str, ...] = ()
    shipped: Path | None = None

    def data(self) -> dict[str, Any]:
        """The build for the report, without the places of its files."""
        return {**asdict(self), "library": None, "shipped": None}


@dataclass(frozen=True)
class Builds:
    """Builds of one peer, and the algorithms that their compilers refused, with the reason, by build."""

    made: list[PinocchioBuild] = field(default_factory=list)
    failed: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Job:
    """Parts of the harness that are compiled as one file for a build that is not made yet; of its jobs the
    first has what all others need. words: those parts. seconds: about how long it takes.
    """

    build: PinocchioBuild
    compiler: Compiler
    headers: Headers
    words: str
    parts: tuple[str, ...]
    flags: tuple[str, ...]
    seconds: float

    @property
    def text(self) -> str:
        """The text of the file."""
        return "".join(f"#define RBDC_{part}\n" for part in self.parts) + render(_HARNESS)

    def key(self, flags: Sequence[str], *parts: str) -> str:
        """The cache key of a file that is made of `parts`."""
        return cache.key("pinocchio", *self.headers.identity(self.compiler, *flags), *parts)


def offered(source: str) -> dict[str, tuple[str, ...]]:
    """The algorithms of every part of the harness, as its text has them."""
    part, found = MODEL, {MODEL: list[str]()}
    for line in source.splitlines():
        if line.startswith("#ifdef RBDC_"):
            part = line.removeprefix("#ifdef RBDC_")
        elif algorithm := re.match(r"(?:COMPUTE|ALGORITHM)\((\w+)", line):
            found.setdefault(part, []).append(algorithm[1])
    return {part: tuple(names) for part, names in found.items()}


def builds(peer: str, wanted: Collection[str], progress: Callable[[str], None]) -> Builds:
    """The builds of a peer that have wanted algorithms, two processes at a time: the library that pip install
    pin brings, of which only the calls are compiled, and beside it wanted `TEMPLATE_PARTS`; or the headers
    compiled for this processor by all available compilers, gcc, clang, clang without AVX-512, only the wanted
    parts. What does not compile does not stop the others.

    Raises ToolchainError where a prerequisite is missing.
    """
    offers = offered(render(_HARNESS))
    parts = [part for part, names in offers.items() if part == MODEL or {*names} & {*wanted}]
    jobs = _of_library(parts, offers) if peer == PINOCCHIO else _native(parts)
    keys = {job: job.key(job.flags, "object", job.text) for job in jobs}
    told = announced({keys[job]: job.seconds for job in jobs})

    def make(job: _Job) -> Path | str:
        """The compiled file, or the compiler's first error."""
        if keys[job] in told:
            progress(f"compiling {job.words}, {told[keys[job]]}")
        try:
            return _object(job, keys[job])
        except ToolchainError as error:
            return error.line

    with ThreadPoolExecutor(WORKERS) as pool:
        results = pool.map(make, jobs)  # where it is stopped, what has begun goes on into the cache
        made = dict(zip(jobs, results, strict=True))
    found = Builds()
    for _, of_it in groupby(jobs, lambda job: job.build.name):
        _add({job: made[job] for job in of_it}, offers, found)
    return found


def _of_library(parts: Sequence[str], offers: Mapping[str, Sequence[str]]) -> list[_Job]:
    """The jobs of the library of the pip package, with the parts beside it that are wanted."""
    there, shipped = headers(), shipped_library()
    if shipped is None:
        raise ToolchainError(f"Pinocchio's library cannot be used: {library_availability()}")
    (compiler, extra), beside = quick_compiler(), [part for part in TEMPLATE_PARTS if part in parts]
    calls, templates = ((*_LIBRARY_FLAGS, level, *extra, *LIMITS) for level in (_CALLS, _TEMPLATES))
    what = f"the library of the pip package, version {_version()}, compiled for every processor of its kind"
    others = ", ".join(name for part in beside for name in offers[part])
    also = f"; {others}, which it does not export, from its headers by {_TEMPLATES}" if others else ""
    said = f"its calls compiled by {compiler.version}"
    build = PinocchioBuild(PINOCCHIO, PINOCCHIO, what + also, said, calls, shipped=shipped)
    job = partial(_Job, build, compiler, there)
    return [
        job("the calls of Pinocchio's library", LIBRARY_PARTS, calls, CALLS),
        *(job(f"Pinocchio's {_words(x)} for its library", (x,), templates, PART) for x in beside),
    ]


def _native(parts: Sequence[str]) -> list[_Job]:
    """The jobs of a build by each compiler."""
    there, found = headers(), []
    what = f"Pinocchio {_version()}, its headers compiled for this processor"
    for name, compiler, extra in compilers():
        flags = (*_NATIVE_FLAGS, *extra, *LIMITS)
        build = PinocchioBuild(f"{NATIVE}-{name}", NATIVE, what, compiler.version, flags)
        job = partial(_Job, build, compiler, there)
        found += [job(f"Pinocchio's {_words(x)} with {name}", (x,), flags, PART) for x in parts]
    return found


def _add(made: Mapping[_Job, Path | str], offers: Mapping[str, Sequence[str]], builds: Builds) -> None:
    """Link the files of a build that compiled and add it; of those that did not, the reasons."""
    (first, begun), failed = next(iter(made.items())), dict[str, str]()
    algorithms, objects = list[str](), list[Path]()
    for job, one in made.items():
        names = [name for part in job.parts for name in offers[part]]
        lacking = next((x for x in (begun, one) if isinstance(x, str)), None)
        if lacking is not None:
            failed |= dict.fromkeys(names, f"not compiled by {job.compiler.version}: {lacking}")
        elif isinstance(one, Path):
            algorithms += names
            objects.append(one)
    if failed:
        builds.failed[first.build.name] = failed
    if algorithms:
        builds.made.append(replace(_linked(first, objects), algorithms=tuple(algorithms)))


def library_availability() -> str | None:
    """None where the library of the pip package is beside its headers, else the reason."""
    if shipped_library() is not None:
        return None
    return f"no lib{_LIBRARY} beside Pinocchio's headers: pip install --force-reinstall 'pin>=4'"


def shipped_library() -> Path | None:
    """Pinocchio's library with the algorithms in double precision."""
    found = prefix()
    if found is None:
        return None
    paths = (found / "lib" / f"lib{_LIBRARY}.{suffix}" for suffix in ("so", "dylib"))
    return next((path for path in paths if path.is_file()), None)


def _version() -> str:
    """Pinocchio's version."""
    try:
        return version("pin")
    except PackageNotFoundError:
        return "unknown"


def _words(part: str) -> str:
    return part.lower().replace("_", " ")


def _object(job: _Job, key: str) -> Path:
    """The object file of a job, from the cache if it is there; beside it the seconds that it took."""

    def make(folder: Path) -> None:
        (folder / _SOURCE).write_text(job.text, encoding="utf-8")
        flags = (*job.flags, *job.headers.include_flags)
        seconds = compile_object(job.compiler, folder / _SOURCE, flags).seconds
        (folder / _FIGURES).write_text(json.dumps({"seconds": seconds}))

    return (cache.obtain(key, make) / _SOURCE).with_suffix(".o")


def _linked(job: _Job, objects: Sequence[Path]) -> PinocchioBuild:
    """The build of the linked files; it finds others by a path that is part of the key."""
    where, shipped, others = job.headers.prefix / "lib", job.build.shipped, list[str]()
    if shipped is not None:
        others.append(f"-l{_LIBRARY}")
        if sys.platform == "linux":  # hide all but the entry points, lest others take the library's own place
            others.append("-Wl,--version-script=entries.map")

    def make(folder: Path) -> None:
        (folder / "entries.map").write_text("{ global: rbdc_peer_*; local: *; };\n")
        found = [f"-L{where}", f"-Wl,-rpath,{where}", "-lboost_serialization"]
        run([*job.compiler.command, "-shared", *map(str, objects), "-o", "peer.so", *others, *found], folder)

    key = job.key(job.build.flags, "library", str(where), *others, *(path.parent.name for path in objects))
    library = cache.obtain(key, make) / "peer.so"
    seconds = sum(float(json.loads((path.parent / _FIGURES).read_text())["seconds"]) for path in objects)
    size = code_bytes(shipped or library)
    return replace(job.build, library=library, compile_seconds=seconds, code_bytes=size)

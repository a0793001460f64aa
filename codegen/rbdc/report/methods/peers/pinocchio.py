"""Pinocchio's C++ behind the common C signature: the library of the pip package, and native builds.

A harness is compiled once and cached under its source, the compiler, its flags, the versions of the headers
and the processor. Models are passed as text archives, so one library serves all robots.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.native import cache
from rbdc.native.toolchain import Compiler, code_bytes, compile_object, run
from rbdc.report.methods.peers.headers import LIMITS, Headers, compilers, headers, prefix, quick_compiler
from rbdc.report.methods.peers.pace import WORKERS, Pace
from rbdc.report.options import NATIVE, PINOCCHIO

NAME = "pinocchio"
"""Name of the library in the records of functions, which say what its harness offers."""

MODEL = "MODEL"
"""The part of the harness that loads models; every library has it."""
PARTS = {
    MODEL: 60.0,
    "KINEMATICS": 100.0,
    "MANIFOLD": 60.0,
    "INVERSE": 100.0,
    "INERTIA": 60.0,
    "FORWARD": 100.0,
    "INVERSE_INERTIA": 60.0,
    "INVERSE_DERIVATIVES": 100.0,
    "FORWARD_DERIVATIVES": 160.0,
    "REGRESSOR": 60.0,
    "SECOND": 60.0,
    "CONTACTS": 160.0,
}
"""Parts in which the harness is compiled, and about how many seconds each takes: they tell the time left."""
LIBRARY_PARTS = (
    MODEL,
    "KINEMATICS",
    "INVERSE",
    "INERTIA",
    "FORWARD",
    "INVERSE_DERIVATIVES",
    "FORWARD_DERIVATIVES",
    "CONTACTS",
)
"""Parts whose algorithms Pinocchio's library exports as they are called here; others its user compiles."""
TEMPLATE_PARTS = ("INVERSE_INERTIA",)
"""Parts beside the library that are compiled as its users compile them: from the headers, for every processor
of its kind.
"""

COMMON_FLAGS = ("-std=c++17", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-w")
_NATIVE_FLAGS = (*COMMON_FLAGS, "-O3", "-march=native")
# No -march: Eigen would align to other boundaries than in the library.
_LIBRARY_FLAGS = (*COMMON_FLAGS, "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "-DRBDC_LIBRARY")
_CALLS, _TEMPLATES = "-O1", "-O3"
"""Optimisation of the calls of the library, and of what is compiled beside it."""
_LIBRARY = "pinocchio_default"
_SOURCE = "peer.cpp"


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
    library: Path
    compile_seconds: float
    code_bytes: int
    algorithms: tuple[str, ...]
    shipped: Path | None = None

    def data(self) -> dict[str, Any]:
        """The build for the report, without the places of its files."""
        return {**asdict(self), "library": None, "shipped": None}


@dataclass(frozen=True)
class Builds:
    """Builds of one peer, and the algorithms that their compilers refused, with the reason, by build."""

    made: list[PinocchioBuild]
    failed: dict[str, dict[str, str]]


@dataclass(frozen=True)
class _Recipe:
    """Recipe of one build: compiler, flags, headers."""

    name: str
    compiler: Compiler
    flags: tuple[str, ...]
    headers: Headers

    @property
    def method(self) -> str:
        """The name of the methods of a native build."""
        return f"{NATIVE}-{self.name}"

    def key(self, *parts: str) -> str:
        """The cache key of a file that this recipe makes of `parts`."""
        return cache.key("pinocchio", *self.headers.identity(self.compiler, *self.flags), *parts)


@dataclass(frozen=True)
class _Object:
    """A compiled part: its cache key, its path, and the seconds that compiling it took."""

    key: str
    path: Path
    seconds: float


def offered(source: str) -> dict[str, tuple[str, ...]]:
    """The algorithms of every part of the harness, as its text has them."""
    part, found = MODEL, {name: [] for name in PARTS}  # type: tuple[str, dict[str, list[str]]]
    for line in source.splitlines():
        if line.startswith("#ifdef RBDC_"):
            part = line.removeprefix("#ifdef RBDC_")
        elif line.startswith("COMPUTE("):
            found[part].append(line[len("COMPUTE(") : line.index(")")])
    return {part: tuple(names) for part, names in found.items()}


def library_build(wanted: Collection[str], progress: Callable[[str], None]) -> PinocchioBuild:
    """The library that pip install pin brings, with its explicit instantiations; only the calls are compiled,
    and of `TEMPLATE_PARTS` those that have wanted algorithms.

    Raises ToolchainError with the compiler's output, or where a prerequisite is missing.
    """
    source, shipped = render("pinocchio.cpp.jinja"), shipped_library()
    if shipped is None:
        raise ToolchainError(f"Pinocchio's library cannot be used: {library_availability()}")
    beside = [part for part in TEMPLATE_PARTS if {*offered(source)[part]} & {*wanted}]
    calls = _library_recipe(_CALLS)
    made = [
        _beside_library(calls, "the calls of Pinocchio's library", _with(LIBRARY_PARTS, source), progress)
    ]
    for part in beside:
        recipe, what = _library_recipe(_TEMPLATES), f"Pinocchio's {_words(part)} for its library"
        made.append(_beside_library(recipe, what, _with([part], source), progress))
    library, figures = _linked(calls, made, (f"-l{_LIBRARY}", *_only_entries()))
    others = [name for part in beside for name in offered(source)[part]]
    also = f"; {', '.join(others)}, which it does not export, from its headers by {_TEMPLATES}"
    what = f"the library of the pip package, version {_version()}, compiled for every processor of its kind"
    return PinocchioBuild(
        name=PINOCCHIO,
        peer=PINOCCHIO,
        what=what + (also if others else ""),
        compiler=f"its calls compiled by {calls.compiler.version}",
        flags=calls.flags,
        library=library,
        compile_seconds=figures["seconds"],
        code_bytes=code_bytes(shipped),
        algorithms=(*(a for part in LIBRARY_PARTS for a in offered(source)[part]), *others),
        shipped=shipped,
    )


def _library_recipe(level: str) -> _Recipe:
    """How C++ beside Pinocchio's library is compiled, at a level of optimisation."""
    compiler, extra = quick_compiler()
    return _Recipe(PINOCCHIO, compiler, (*_LIBRARY_FLAGS, level, *extra, *LIMITS), headers())


def _beside_library(recipe: _Recipe, what: str, text: str, progress: Callable[[str], None]) -> _Object:
    """An object file that is linked to Pinocchio's library, told where it must be compiled."""
    key = recipe.key("object", text)
    if not cache.holds(key):
        progress(f"compiling {what} by {recipe.compiler.version}: half a minute, once")
    return _object(recipe, key, text)


def native_builds(wanted: Collection[str], progress: Callable[[str], None]) -> Builds:
    """The builds from the headers for this processor by all available compilers: gcc, clang, clang without
    AVX-512; only the parts that have the wanted algorithms, two processes at a time. A part that does not
    compile does not stop the others.

    Raises ToolchainError where `availability` names a missing prerequisite.
    """
    recipes, source = _recipes(), render("pinocchio.cpp.jinja")
    kept = {part: names for part, names in offered(source).items() if part == MODEL or {*names} & {*wanted}}
    texts = {part: _with([part], source) for part in kept}
    jobs = [(recipe, part, recipe.key("object", texts[part])) for recipe in recipes for part in kept]
    pace = Pace({key: PARTS[part] for _, part, key in jobs}, progress)

    def make(job: tuple[_Recipe, str, str]) -> _Object | str:
        """The compiled part, or the compiler's first error."""
        recipe, part, key = job
        try:
            with pace.step(key, f"compiling Pinocchio's {_words(part)} with {recipe.name}"):
                return _object(recipe, key, texts[part])
        except ToolchainError as error:
            return error.line

    with ThreadPoolExecutor(WORKERS) as pool:
        results = pool.map(make, jobs)  # where it is stopped, what has begun goes on into the cache
        made = {(job[0].name, job[1]): one for job, one in zip(jobs, results, strict=True)}
    builds = Builds([], {})
    for recipe in recipes:
        _add_native(recipe, kept, {part: made[recipe.name, part] for part in kept}, builds)
    return builds


def _add_native(
    recipe: _Recipe, offers: Mapping[str, Sequence[str]], made: Mapping[str, _Object | str], builds: Builds
) -> None:
    """Link the parts of a build that compiled and add it; of those that did not, the reasons."""
    objects = {part: one for part, one in made.items() if isinstance(one, _Object)}
    reasons = {part: one for part, one in made.items() if isinstance(one, str)}
    if MODEL in reasons:
        reasons, objects = dict.fromkeys(made, reasons[MODEL]), {}
    said = f"not compiled by {recipe.compiler.version}"
    failed = {a: f"{said}: {reason}" for part, reason in reasons.items() for a in offers[part]}
    if failed:
        builds.failed[recipe.method] = failed
    algorithms = tuple(a for part in objects for a in offers[part])
    if algorithms:
        builds.made.append(_native(recipe, list(objects.values()), algorithms))


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


def _native(recipe: _Recipe, parts: Sequence[_Object], algorithms: tuple[str, ...]) -> PinocchioBuild:
    library, figures = _linked(recipe, parts)
    return PinocchioBuild(
        name=recipe.method,
        peer=NATIVE,
        what=f"Pinocchio {_version()}, its headers compiled for this processor",
        compiler=recipe.compiler.version,
        flags=recipe.flags,
        library=library,
        compile_seconds=figures["seconds"],
        code_bytes=figures["code_bytes"],
        algorithms=algorithms,
    )


def _recipes() -> list[_Recipe]:
    found = headers()
    return [
        _Recipe(name, compiler, (*_NATIVE_FLAGS, *extra, *LIMITS), found)
        for name, compiler, extra in compilers()
    ]


def _version() -> str:
    """Pinocchio's version."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("pin")
    except PackageNotFoundError:
        return "unknown"


def _words(part: str) -> str:
    return part.lower().replace("_", " ")


def _with(parts: Sequence[str], source: str) -> str:
    """The harness with some of its parts."""
    return "".join(f"#define RBDC_{part}\n" for part in parts) + source


def _only_entries() -> tuple[str, ...]:
    """Linker flags that hide all but the entry points, lest others take the place of the library's own."""
    return ("-Wl,--version-script=entries.map",) if sys.platform == "linux" else ()


def _object(recipe: _Recipe, key: str, text: str) -> _Object:
    """The object file of a text, from the cache if it is there."""

    def make(folder: Path) -> None:
        (folder / _SOURCE).write_text(text, encoding="utf-8")
        start = time.perf_counter()
        compile_object(recipe.compiler, folder / _SOURCE, (*recipe.flags, *recipe.headers.include_flags))
        (folder / "figures.json").write_text(json.dumps({"seconds": time.perf_counter() - start}))

    folder = cache.obtain(key, make)
    seconds = float(json.loads((folder / "figures.json").read_text())["seconds"])
    return _Object(key, (folder / _SOURCE).with_suffix(".o"), seconds)


def _linked(
    recipe: _Recipe, parts: Sequence[_Object], others: Sequence[str] = ()
) -> tuple[Path, dict[str, Any]]:
    """The library of the linked parts and its figures; it finds others by a path that is part of the key."""
    compiler, folder_of_others = recipe.compiler, recipe.headers.prefix / "lib"

    def make(folder: Path) -> None:
        (folder / "entries.map").write_text("{ global: rbdc_peer_*; local: *; };\n")
        where = [f"-L{folder_of_others}", f"-Wl,-rpath,{folder_of_others}", "-lboost_serialization"]
        objects = [str(part.path) for part in parts]
        run([*compiler.command, "-shared", *objects, "-o", "peer.so", *others, *where], folder)
        figures = {
            "seconds": sum(part.seconds for part in parts),
            "code_bytes": code_bytes(folder / "peer.so"),
        }
        (folder / "figures.json").write_text(json.dumps(figures))

    key = recipe.key("library", str(folder_of_others), *others, *(part.key for part in parts))
    folder = cache.obtain(key, make)
    return folder / "peer.so", json.loads((folder / "figures.json").read_text())

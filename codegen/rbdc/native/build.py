"""Compilation of C files into shared libraries; unchanged objects come from the cache. The libraries of a
package are its Python extension and the libraries for CasADi and JAX.
"""

from __future__ import annotations

import json
import os
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import astuple, dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from cffi import FFI

from rbdc import processes
from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.native import cache
from rbdc.native.install import EXTENSION, archive_name
from rbdc.native.toolchain import (
    STANDARD_FLAGS,
    WARNING_FLAGS,
    Compiled,
    Compiler,
    Toolchain,
    archive,
    compile_object,
    link,
)
from rbdc.native.variants import LibraryVariant, least_flags, processor_source, variants_of

_FIGURES = "figures.json"


@dataclass(frozen=True)
class Unit:
    """One C file to compile.

    name, text: its name and text.
    headers: texts of its headers by name.
    flags: compiler flags.
    seconds: time limit, None without one.
    compiler: compiler of the file, if it differs from the library's.
    """

    name: str
    text: str
    headers: Mapping[str, str]
    flags: tuple[str, ...]
    seconds: float | None = None
    compiler: Compiler | None = None

    def key(self, identity: str) -> str:
        """Return the object's name in the cache. `identity` stands for compiler and interpreter."""
        headers = [part for item in self.headers.items() for part in item]
        return cache.key("object with seconds", identity, self.name, self.text, *headers, *self.flags)


def units_of(files: Mapping[str, str], flags: Sequence[str], seconds: float | None = None) -> list[Unit]:
    """Return a unit for each C file in `files`, by name; every unit has all headers in `files`."""
    headers = {name: text for name, text in sorted(files.items()) if name.endswith(".h")}
    sources = [(name, text) for name, text in sorted(files.items()) if name.endswith(".c")]
    return [Unit(name, text, headers, tuple(flags), seconds) for name, text in sources]


@dataclass(frozen=True)
class SharedLibrary:
    """A shared library in the cache.

    path: path.
    figures: code size, stack and compile time of its C files, by name.
    artefacts: names of all its artefacts in the cache.
    """

    path: Path
    figures: dict[str, Compiled]
    artefacts: tuple[str, ...]


def shared_library(
    name: str, units: Sequence[Unit], compiler: Compiler, jobs: int | None = None
) -> SharedLibrary:
    """Return the library `name`, linked from the units. Its key in the cache depends on the units, the
    compiler and Python.

    Raises ToolchainError with the command and the compiler's output.
    """
    keys = {unit.name: unit.key(_identity(unit.compiler or compiler)) for unit in units}
    objects = _objects(units, keys, compiler, jobs)
    paths = [path for path, _ in objects.values()]
    library_key = cache.key("library", name, *(part for item in keys.items() for part in item))
    folder = cache.obtain(library_key, lambda folder: link(compiler, paths, folder / name))
    figures = {unit: compiled for unit, (_, compiled) in objects.items()}
    return SharedLibrary(folder / name, figures, (library_key, *keys.values()))


def _identity(compiler: Compiler) -> str:
    return f"{cache.interpreter_tag()} {compiler.version} {compiler.path}"


def _objects(
    units: Sequence[Unit], keys: Mapping[str, str], compiler: Compiler, jobs: int | None
) -> dict[str, tuple[Path, Compiled]]:
    """Return the objects by the names of their sources, in the order of the units. The largest unit is
    compiled first.
    """
    order = sorted(units, key=lambda unit: -len(unit.text))
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        pending = {
            unit.name: pool.submit(compiled_object, unit, keys[unit.name], unit.compiler or compiler)
            for unit in order
        }
        try:
            return {unit.name: pending[unit.name].result() for unit in units}
        except BaseException as error:
            _abandon(list(pending.values()), at_once=not isinstance(error, Exception))
            raise


def _abandon(pending: Sequence[Future[Any]], at_once: bool) -> None:
    """Cancel the pending jobs. Running jobs finish; with `at_once` their compilers are killed."""
    for future in pending:
        future.cancel()
    while at_once and wait(pending, timeout=0.05).not_done:
        processes.end_all()


def compiled_object(unit: Unit, key: str, compiler: Compiler) -> tuple[Path, Compiled]:
    """Return the object of a unit from the cache; compile it if the cache lacks it."""

    def make(folder: Path) -> None:
        for name, text in {**unit.headers, unit.name: unit.text}.items():
            (folder / name).write_text(text, encoding="utf-8")
        figures = compile_object(compiler, folder / unit.name, unit.flags, unit.seconds)
        (folder / _FIGURES).write_text(json.dumps(astuple(figures)))

    folder = cache.obtain(key, make)
    figures = json.loads((folder / _FIGURES).read_text())
    return (folder / unit.name).with_suffix(".o"), Compiled(*figures)


_OWN = (
    "int rbdc_refused_lanes(const size_t *spec, size_t n, size_t lanes, const {scalar} *x)",
    "const char *rbdc_variants(void)",
    "int rbdc_has(const char *name)",
    "const char *rbdc_package(void)",
)
"""Prototypes of the functions of the extension besides the robot's."""
_SUMS = ((16, 8, ""), (32, 4, '__attribute__((target("avx"))) '))
"""Ways to add numbers, to check that they are finite: size of a vector (bytes), number of independent partial
sums, and attribute of the C function. AVX halves the loads, which dominate the time in a batch.
"""
_TOGETHER = 64
"""Number of configurations that are checked together for finite numbers and unit vectors; they fit into the
innermost cache.
"""


@dataclass(frozen=True)
class Native:
    """The result of compiling.

    extension: path of the extension in the cache.
    variants: variants of the library.
    figures: code size, stack and compile time by C file and variant.
    artefacts: names of all its artefacts in the cache.
    glue: C of the extension itself, without the robot's functions.
    package: hash of the package's C, which the extension carries.
    """

    extension: Path
    variants: tuple[LibraryVariant, ...]
    figures: dict[tuple[str, LibraryVariant], Compiled]
    artefacts: tuple[str, ...]
    glue: str
    package: str


def extension_source(
    robot: str, declarations: Sequence[FunctionDeclaration], variants: Sequence[LibraryVariant]
) -> str:
    """Return the C of the cffi extension `_native`, in API mode for the stable ABI."""
    scalar = declarations[0].scalar.name
    ffi: Any = FFI()  # the stubs do not know that a text stream may replace a file's name
    functions = [
        prototype for v in variants for d in declarations for prototype in d.prototypes(v.prefix, restrict="")
    ]
    calls = _calls(declarations)
    memory = [text.format(scalar=scalar) for text in _OWN]
    ffi.cdef("\n".join(f"{p};" for p in [*functions, *memory, *(call["prototype"] for call in calls)]))
    headers = [f"{robot}.h", *([f"{robot}_variants.h"] if len(variants) > 1 else [])]
    folds = {count: [(k // 2, k) for k in reversed(range(1, count))] for _, count, _ in _SUMS}
    sums = [(size, range(count), count, folds[count], attribute) for size, count, attribute in _SUMS]
    prelude = render(
        "extension.c.jinja", headers=headers, scalar=scalar, calls=calls, together=_TOGETHER, sums=sums
    )
    ffi.set_source("_native", prelude + processor_source(variants), compiler_verbose=0)
    text = StringIO()
    ffi.emit_c_code(text)
    return text.getvalue()


def _calls(declarations: Sequence[FunctionDeclaration]) -> list[dict[str, Any]]:
    """Return the template words of the functions that check inputs and call a C function: one for each
    combination of the numbers of inputs, of arguments for frames and reference frame, and of outputs.
    """
    scalar = declarations[0].scalar.name
    counts = {(len(d.inputs), len(d.place), len(d.outputs)) for d in declarations}
    return [_call(scalar, *count) for count in sorted(counts)]


def _call(scalar: str, inputs: int, places: int, outputs: int) -> dict[str, Any]:
    x, y = [f"x{k}" for k in range(inputs)], [f"y{k}" for k in range(outputs)]
    p = [f"p{k}" for k in range(places)]
    kinds = [f"const {scalar} *"] * inputs + ["int "] * places + [f"{scalar} *"] * outputs
    types, arrays = ", ".join(kinds), ", ".join(map(str.__add__, kinds, [*x, *p, *y]))
    functions = f"void (*single)({types}), void (*batch)(size_t, {types})"
    name = f"rbdc_call_{inputs}_{places}_{outputs}"
    return {
        "prototype": f"int {name}(const size_t *spec, {functions}, size_t n, size_t piece, {arrays})",
        "inputs": x,
        "input_count": inputs,
        "outputs": y,
        "output_count": outputs,
        "arguments": [*(f"x[{k}]" for k in range(inputs)), *p, *(f"y[{k}]" for k in range(outputs))],
    }


def compile_package(
    files: Mapping[str, str],
    robot: str,
    declarations: Sequence[FunctionDeclaration],
    tools: Toolchain,
    jobs: int | None = None,
    march: str = "native",
) -> Native:
    """Compile the C sources among `files`, in the variants of `march`, and the extension around them.
    Unchanged objects and results come from the cache. The extension itself is compiled for every processor,
    because it tests the processor before the library runs.

    Raises ToolchainError with the command and the compiler's output.
    """
    variants, compiler = variants_of(march, robot, tools), tools.compiler
    code = {name: text for name, text in files.items() if name != f"{robot}_dispatch.c"}
    sources, units = [unit.name for unit in units_of(code, ())], _in_variants(code, robot, variants, tools)
    glue, package = extension_source(robot, declarations, variants), package_hash(files)
    identity = render("package_hash.c.jinja", hash=package)
    level = [flag for flag in tools.flags if flag.startswith("-O")] or ["-O2"]
    # -Ofast in --cflags would remove the check for NaN
    least = (*level, "-fno-finite-math-only", "-fPIC", *least_flags(compiler))
    units.append(Unit("_native.c", glue, units[0].headers, (*least, "-I", _python_headers())))
    units.append(Unit("_package.c", identity, {}, (*least, *WARNING_FLAGS)))
    library = shared_library(EXTENSION, units, compiler, jobs)
    figures = {(name, v): library.figures[v.file(robot, name)] for name in sources for v in variants}
    return Native(library.path, variants, figures, library.artefacts, glue + identity, package)


def _in_variants(
    files: Mapping[str, str], robot: str, variants: Sequence[LibraryVariant], tools: Toolchain
) -> list[Unit]:
    return [
        replace(unit, name=v.file(robot, unit.name), compiler=tools.compiler_of(v.name, unit.name))
        for v in variants
        for unit in units_of(files, (*STANDARD_FLAGS, *WARNING_FLAGS, *v.flags))
    ]


def package_hash(files: Mapping[str, str]) -> str:
    """Return a hash of the C of a package, by name. Packages with the same hash have the same functions."""
    return cache.key(*(part for name, text in sorted(files.items()) for part in (name, text)))


def _python_headers() -> str:
    folder = sysconfig.get_paths()["include"]
    if not (Path(folder) / "Python.h").is_file():
        raise ToolchainError(f"Python.h is not in {folder}; install the development files of this Python")
    return folder


def compile_library(
    name: str,
    files: Mapping[str, str],
    robot: str,
    tools: Toolchain,
    jobs: int | None = None,
    march: str = "native",
) -> Path:
    """Return the path in the cache of a shared library `name` from C files, in the variants of `march`. The
    functions of the shared library are those of the C library; they choose a variant themselves.

    Raises ToolchainError with the command and the compiler's output.
    """
    units = _library_units(name, files, robot, tools, march)
    return shared_library(name, units, tools.compiler, jobs).path


def compile_archive(
    files: Mapping[str, str], robot: str, tools: Toolchain, jobs: int | None = None, march: str = "native"
) -> Path:
    """Compile the static library of a package, in the variants of `march`; return its path in the cache.

    Raises ToolchainError with the command and the output.
    """
    name = archive_name(robot)
    units = _library_units(name, files, robot, tools, march)
    keys = {unit.name: unit.key(_identity(unit.compiler or tools.compiler)) for unit in units}
    paths = [path for path, _ in _objects(units, keys, tools.compiler, jobs).values()]
    archive_key = cache.key("archive", name, *(part for item in keys.items() for part in item))
    return cache.obtain(archive_key, lambda folder: archive(paths, folder / name)) / name


def _library_units(
    name: str, files: Mapping[str, str], robot: str, tools: Toolchain, march: str
) -> list[Unit]:

    outside = (f"{robot}_dispatch.c", name.removeprefix("lib").removesuffix(".so") + ".c")
    variants = variants_of(march, robot, tools)
    units = _in_variants({file: files[file] for file in files if file not in outside}, robot, variants, tools)
    choice = (f"-D{robot.upper()}_DISPATCH", *least_flags(tools.compiler)) if len(variants) > 1 else ()
    once = {file: text for file, text in files.items() if file in outside or file.endswith(".h")}
    return [*units, *units_of(once, (*STANDARD_FLAGS, *WARNING_FLAGS, *tools.flags, *choice))]

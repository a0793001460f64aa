"""Compiling the text of a generated package."""

from __future__ import annotations

import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from cffi import FFI

from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.native.cache import key
from rbdc.native.install import EXTENSION
from rbdc.native.shared import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS, Compiler
from rbdc.native.variants import LibraryVariant, least_flags, processor_source, variants_of

_OWN = (
    "int rbdc_all_finite(size_t n, const {scalar} *x)",
    "const char *rbdc_variants(void)",
    "int rbdc_has(const char *name)",
    "const char *rbdc_package(void)",
)
"""Prototypes of the functions that the extension has beside the robot's."""
_SUMS = 16
"""Additions that it checks numbers with at a time: enough that none waits for another."""


@dataclass(frozen=True)
class Native:
    """The result of compiling: the extension's path in the cache; per C file its code bytes, of all variants
    together, and its stack bytes, of the variant that takes most; the variants with the code bytes of each;
    what all of it is called in the cache; the text of the extension's own C; and the hash of the package's C,
    which the extension carries.
    """

    extension: Path
    code_bytes: dict[str, int]
    stack_bytes: dict[str, int]
    variants: dict[LibraryVariant, int]
    artefacts: tuple[str, ...]
    glue: str
    package: str


def extension_source(
    robot: str, declarations: Sequence[FunctionDeclaration], variants: Sequence[LibraryVariant]
) -> str:
    """The C of the cffi extension `_native`, API mode, for the stable ABI."""
    scalar = declarations[0].scalar.name
    ffi: Any = FFI()  # the stubs do not know that a text stream can be given for a file's name
    functions = [
        prototype for v in variants for d in declarations for prototype in d.prototypes(v.prefix, restrict="")
    ]
    ffi.cdef("\n".join(f"{p};" for p in [*functions, *(own.format(scalar=scalar) for own in _OWN)]))
    headers = [f"{robot}.h", *([f"{robot}_variants.h"] if len(variants) > 1 else [])]
    sums = {"sums": _SUMS, "numbers": range(_SUMS), "later": range(1, _SUMS)}
    prelude = render("extension.c.jinja", headers=headers, scalar=scalar, **sums)
    ffi.set_source("_native", prelude + processor_source(variants), compiler_verbose=0)
    text = StringIO()
    ffi.emit_c_code(text)
    return text.getvalue()


def compile_package(
    files: Mapping[str, str],
    robot: str,
    declarations: Sequence[FunctionDeclaration],
    compiler: Compiler,
    flags: Sequence[str],
    jobs: int | None = None,
    march: str = "native",
) -> Native:
    """Compile the C among `files`, in the variants of `march`, and the extension around it; every object and
    the result come from the cache if unchanged. The extension itself is compiled for every processor: it is
    what asks the processor, before the library runs.

    Raises ToolchainError with the command and the compiler's output.
    """
    sources = {
        name: text
        for name, text in sorted(files.items())
        if name.endswith(".c") and name != f"{robot}_dispatch.c"
    }
    headers = {name: text for name, text in sorted(files.items()) if name.endswith(".h")}
    variants = variants_of(march, robot, compiler, flags)
    common = (*STANDARD_FLAGS, *WARNING_FLAGS)
    units = [
        Unit(v.file(robot, name), text, headers, (*common, *v.flags))
        for v in variants
        for name, text in sources.items()
    ]
    glue, package = extension_source(robot, declarations, variants), package_hash(files)
    identity = render("package_hash.c.jinja", hash=package)
    least = ("-O2", "-fPIC", *least_flags(compiler))
    units.append(Unit("_native.c", glue, headers, (*least, "-I", _python_headers())))
    units.append(Unit("_package.c", identity, {}, (*least, *WARNING_FLAGS)))
    library = shared_library(EXTENSION, units, compiler, jobs)
    figures = {(name, v): library.figures[v.file(robot, name)] for name in sources for v in variants}
    return Native(
        library.path,
        {name: sum(figures[name, v].code_bytes for v in variants) for name in sources},
        {name: max(figures[name, v].stack_bytes for v in variants) for name in sources},
        {v: sum(figures[name, v].code_bytes for name in sources) for v in variants},
        library.artefacts,
        glue + identity,
        package,
    )


def package_hash(files: Mapping[str, str]) -> str:
    """Hash of the C of a package, by name: two packages with the same are computed by the same functions."""
    return key(*(part for name, text in sorted(files.items()) for part in (name, text)))


def _python_headers() -> str:
    folder = sysconfig.get_paths()["include"]
    if not (Path(folder) / "Python.h").is_file():
        raise ToolchainError(f"Python.h is not in {folder}; install the development files of this Python")
    return folder


def compile_library(
    name: str,
    files: Mapping[str, str],
    robot: str,
    compiler: Compiler,
    flags: Sequence[str],
    jobs: int | None = None,
    march: str = "native",
) -> Path:
    """A shared library `name` of C files, in the variants of `march`: the path in the cache. Its functions
    are those of the C library, which choose a variant for themselves.

    Raises ToolchainError with the command and the compiler's output.
    """
    headers = {file: text for file, text in sorted(files.items()) if file.endswith(".h")}
    outside = {f"{robot}_dispatch.c", name.removeprefix("lib").removesuffix(".so") + ".c"}
    variants, common = variants_of(march, robot, compiler, flags), (*STANDARD_FLAGS, *WARNING_FLAGS)
    several = len(variants) > 1
    units = []
    for file, text in sorted(files.items()):
        if file.endswith(".c") and file not in outside:
            units += [Unit(v.file(robot, file), text, headers, (*common, *v.flags)) for v in variants]
        elif file.endswith(".c"):
            choice = (f"-D{robot.upper()}_DISPATCH", *least_flags(compiler)) if several else ()
            units.append(Unit(file, text, headers, (*common, *flags, *choice)))
    return shared_library(name, units, compiler, jobs).path

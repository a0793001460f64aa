"""From the text of a generated package to a compiled one, put in place whole."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from cffi import FFI

from rbdc.emit.cdecl import FunctionDeclaration
from rbdc.errors import OptionError, ToolchainError
from rbdc.native.processor import processor_source
from rbdc.native.shared import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS, Compiler
from rbdc.native.variants import Variant, least_flags, variants_of

EXTENSION = "_native.abi3.so"

_SUMS = range(16)
_PRELUDE = f"""
#include <math.h>
#include <stddef.h>
{{headers}}

/* Whether n numbers are all finite. If one is not, no sum with it is; finite ones can have such a sum too, so that it takes a second look.
 * Several sums run beside one another, as one would wait for itself. */
static int rbdc_all_finite(size_t n, const {{scalar}} *x)
{{{{
    {{scalar}} {", ".join(f"s{k} = 0" for k in _SUMS)};
    size_t i = 0;
    for (; i + {len(_SUMS)} <= n; i += {len(_SUMS)}) {{{{
{chr(10).join(f"        s{k} += x[i + {k}];" for k in _SUMS)}
    }}}}
    for (; i < n; ++i) {{{{
        s0 += x[i];
    }}}}
    s0 += {" + ".join(f"s{k}" for k in _SUMS[1:])};
    for (i = 0; i < n && !isfinite(s0); ++i) {{{{
        if (!isfinite(x[i])) {{{{
            return 0;
        }}}}
    }}}}
    return 1;
}}}}
"""
_OWN = ("int rbdc_all_finite(size_t n, const {scalar} *x)", "const char *rbdc_variants(void)", "int rbdc_has(const char *name)")
"""What the extension has beside the robot's functions."""


@dataclass(frozen=True)
class Native:
    """What compiling gave: the extension's path in the cache; per C file its code bytes, of all variants together, and its stack bytes,
    of the variant that takes most; and the variants with the code bytes of each.
    """

    extension: Path
    code_bytes: dict[str, int]
    stack_bytes: dict[str, int]
    variants: dict[Variant, int]


def extension_source(robot: str, declarations: Sequence[FunctionDeclaration], variants: Sequence[Variant]) -> str:
    """The C of the cffi extension `_native`, API mode, for the stable ABI."""
    scalar = declarations[0].scalar.name
    ffi: Any = FFI()  # the stubs do not know that a text stream can be given for a file's name
    functions = [prototype for v in variants for d in declarations for prototype in d.prototypes(v.prefix, restrict="")]
    ffi.cdef("\n".join(f"{p};" for p in [*functions, *(own.format(scalar=scalar) for own in _OWN)]))
    headers = [f"{robot}.h", *([f"{robot}_variants.h"] if len(variants) > 1 else [])]
    prelude = _PRELUDE.format(headers="\n".join(f'#include "{header}"' for header in headers), scalar=scalar)
    ffi.set_source("_native", prelude + processor_source([(v.name, v.prefix, v.extensions) for v in variants]), compiler_verbose=0)
    text = StringIO()
    ffi.emit_c_code(text)
    return text.getvalue()


def compile_package(
    files: Mapping[str, str],
    robot: str,
    declarations: Sequence[FunctionDeclaration],
    compiler: Compiler,
    flags: Sequence[str],
    workers: int | None = None,
    march: str = "native",
) -> Native:
    """Compile the C among `files`, in the variants of `march`, and the extension around it; every object and the result come from the
    cache if unchanged. The extension itself is compiled for every processor: it is what asks the processor, before the library runs.

    Raises ToolchainError with the command and the compiler's output.
    """
    sources = {name: text for name, text in sorted(files.items()) if name.endswith(".c") and name != f"{robot}_dispatch.c"}
    headers = {name: text for name, text in sorted(files.items()) if name.endswith(".h")}
    variants = variants_of(march, robot, compiler, flags)
    common = (*STANDARD_FLAGS, *WARNING_FLAGS)
    units = [Unit(v.file(robot, name), text, headers, (*common, *v.flags)) for v in variants for name, text in sources.items()]
    glue = extension_source(robot, declarations, variants)
    units.append(Unit("_native.c", glue, headers, ("-O2", "-fPIC", *least_flags(compiler), "-I", _python_headers())))
    library = shared_library(EXTENSION, units, compiler, workers)
    figures = {(name, v): library.figures[v.file(robot, name)] for name in sources for v in variants}
    return Native(
        library.path,
        {name: sum(figures[name, v].code_bytes for v in variants) for name in sources},
        {name: max(figures[name, v].stack_bytes for v in variants) for name in sources},
        {v: sum(figures[name, v].code_bytes for name in sources) for v in variants},
    )


def _python_headers() -> str:
    folder = sysconfig.get_paths()["include"]
    if not (Path(folder) / "Python.h").is_file():
        raise ToolchainError(f"Python.h is not in {folder}; install the development files of this Python")
    return folder


def place(package: Path, destination: Path) -> None:
    """Copy the package aside and move it into place whole; an older generated package there is replaced.

    Raises OptionError where the destination holds something that rbdc did not generate.
    """
    parent = destination.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if destination.is_symlink() or (destination.exists() and not is_generated(destination)):
            raise OptionError(f"{destination} exists and was not generated by rbdc; give another --out or --name, or remove it")
        with _aside(parent, destination.name) as folder:
            for file in sorted(package.iterdir()):
                shutil.copyfile(file, folder / file.name)
            _swap(folder, destination)
    except OSError as error:
        raise OptionError(f"cannot write {destination}: {error.strerror}; check --out") from error


def is_generated(folder: Path) -> bool:
    """Whether a folder is a package that rbdc generated, or is empty."""
    if not folder.is_dir():
        return False
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return not any(folder.iterdir())
    return isinstance(manifest, dict) and manifest.get("generator") == "rbdc"


@contextmanager
def _aside(parent: Path, name: str) -> Iterator[Path]:
    """A folder beside the destination, removed whatever happens."""
    folder = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".new", dir=parent))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _swap(folder: Path, destination: Path) -> None:
    """Put `folder` at `destination`. An older package is exchanged in one step where the system can, so that a kill at any moment
    leaves either the old or the new one; elsewhere two renames leave the old one whole under a hidden name for an instant.
    """
    try:
        folder.rename(destination)  # onto nothing, or an empty folder
        return
    except OSError:
        if not is_generated(destination):
            raise
    if not _exchange(folder, destination):
        old = folder.with_name(folder.name.replace(".new", ".old"))
        destination.rename(old)
        folder.rename(destination)
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Linux's renameat2 with RENAME_EXCHANGE, which Python does not offer; False where there is none."""
    renameat2 = getattr(ctypes.CDLL(None), "renameat2", None)
    if renameat2 is None:
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def remove_packages(out: Path) -> list[Path]:
    """Remove the generated packages directly in `out`, and what killed builds left there; the packages removed."""
    if not out.is_dir():
        return []
    removed = []
    for folder in sorted(out.iterdir()):
        if folder.is_symlink() or not folder.is_dir():
            continue
        if (folder / "manifest.json").is_file() and is_generated(folder):
            shutil.rmtree(folder)
            if not folder.name.startswith("."):
                removed.append(folder)
    return removed

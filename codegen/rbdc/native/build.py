"""From the text of a generated package to a compiled one, put in place whole."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from cffi import FFI

from rbdc.emit.cdecl import FunctionDeclaration
from rbdc.errors import OptionError, ToolchainError
from rbdc.native import cache
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS, Compiled, Compiler, compile_object, link

EXTENSION = "_native.abi3.so"

_PRELUDE = """
#include <math.h>
#include <stddef.h>
#include "{header}"

/* Whether n doubles are all finite. Without a branch in the loop, so that it can be vectorised. */
static int rbdc_all_finite(size_t n, const double *x)
{{
    int finite = 1;
    for (size_t i = 0; i < n; ++i) {{
        finite &= isfinite(x[i]) != 0;
    }}
    return finite;
}}
"""


@dataclass(frozen=True)
class Native:
    """What compiling gave: the extension's path in the cache, and per C file its code and stack bytes."""

    extension: Path
    code_bytes: dict[str, int]
    stack_bytes: dict[str, int]


def extension_source(robot: str, declarations: Sequence[FunctionDeclaration]) -> str:
    """The C of the cffi extension `_native`, API mode, for the stable ABI."""
    ffi: Any = FFI()  # the stubs do not know that a text stream can be given for a file's name
    prototypes = [d.c_prototype(robot, batch=batch, restrict="") for d in declarations for batch in (False, True)]
    ffi.cdef("\n".join(f"{p};" for p in [*prototypes, "int rbdc_all_finite(size_t n, const double *x)"]))
    ffi.set_source("_native", _PRELUDE.format(header=f"{robot}.h"), compiler_verbose=0)
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
) -> Native:
    """Compile the C among `files` and the extension around it; every object and the result come from the cache if unchanged.

    Raises ToolchainError with the command and the compiler's output.
    """
    sources = {name: text for name, text in sorted(files.items()) if name.endswith(".c")}
    header = {f"{robot}.h": files[f"{robot}.h"]}
    glue = extension_source(robot, declarations)
    units = [_Unit(name, text, header, (*STANDARD_FLAGS, *WARNING_FLAGS, *flags)) for name, text in sources.items()]
    units.append(_Unit("_native.c", glue, header, ("-O2", "-fPIC", "-I", _python_headers())))
    identity = f"{cache.interpreter_tag()} {compiler.version} {compiler.path}"
    keys = {unit.name: unit.key(identity) for unit in units}

    def make(folder: Path) -> None:
        compiled = _objects(units, keys, compiler, workers)
        link(compiler, [unit.path for unit in compiled.values()], folder / EXTENSION)
        (folder / "figures.json").write_text(json.dumps({name: [c.code_bytes, c.stack_bytes] for name, c in compiled.items()}))

    folder = cache.obtain(cache.key("extension", *(part for item in keys.items() for part in item)), make)
    figures = json.loads((folder / "figures.json").read_text())
    return Native(folder / EXTENSION, {n: figures[n][0] for n in sources}, {n: figures[n][1] for n in sources})


@dataclass(frozen=True)
class _Unit:
    """One C file to compile: its name, its text, the headers that it includes, and its flags."""

    name: str
    text: str
    headers: Mapping[str, str]
    flags: tuple[str, ...]

    def key(self, identity: str) -> str:
        """The object's name in the cache; `identity` stands for compiler and interpreter."""
        headers = [part for item in self.headers.items() for part in item]
        return cache.key("object", identity, self.name, self.text, *headers, *self.flags)

    def obtain(self, key: str, compiler: Compiler) -> Compiled:
        """The object from the cache, compiled if it is not there."""

        def make(folder: Path) -> None:
            for name, text in {**self.headers, self.name: self.text}.items():
                (folder / name).write_text(text, encoding="utf-8")
            made = compile_object(compiler, folder / self.name, self.flags)
            (folder / "figures.json").write_text(json.dumps([made.code_bytes, made.stack_bytes]))

        folder = cache.obtain(key, make)
        return Compiled((folder / self.name).with_suffix(".o"), *json.loads((folder / "figures.json").read_text()))


def _objects(
    units: Sequence[_Unit], keys: Mapping[str, str], compiler: Compiler, workers: int | None
) -> dict[str, Compiled]:
    """The objects by their sources' names, in the order of the units; several are compiled at once, the largest first."""
    order = sorted(units, key=lambda unit: -len(unit.text))
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        done = dict(zip([u.name for u in order], pool.map(lambda u: u.obtain(keys[u.name], compiler), order), strict=True))
    return {unit.name: done[unit.name] for unit in units}


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

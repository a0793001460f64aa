"""Loading of generated packages by path, never through sys.path, and by the handles that pickle stores.

Libraries are checked for truncation before the dynamic linker maps them: reading beyond the end of a
truncated file ends the process with SIGBUS.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import struct
import sys
import threading
from collections.abc import Mapping
from importlib.abc import Loader
from importlib.machinery import ExtensionFileLoader
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from rbdc.errors import LoadError, brief

if TYPE_CHECKING:
    from rbdc.runtime.module import GeneratedModule

_LOCK = threading.RLock()  # another thread must not see a module that is not fully executed

_RESTORING = threading.Lock()
_RESTORED: dict[tuple[str, str], Any] = {}
"""Modules loaded for handles, by folder and identity. A worker loads each module once, even if the folder is
removed later.
"""

_SECTIONS = {1: "32xI10xHH", 2: "40xQ10xHH"}
"""Layout of an ELF header, with addresses of 4 and of 8 bytes: offset of the section table, which linkers put
last, and size and number of its entries.
"""


def load(path: str | PathLike[str]) -> GeneratedModule:
    """Load the generated package in the folder `path` and return its module.

    Each build has its own module name. So a rebuilt package runs the new code, and the old module stays
    usable.

    Raises:
        LoadError: the folder has no generated package; the package was compiled for another interpreter or
            machine; a library is truncated; or the extension belongs to another package.
    """
    if "\0" in fspath(path):
        raise LoadError(f"{brief(fspath(path))!a}: not a path; give the folder of a generated package")
    folder = Path(fspath(path)).resolve()
    manifest, initial = folder / "manifest.json", folder / "__init__.py"
    try:
        whole = manifest.is_file() and initial.is_file()
    except OSError:  # the name is longer than the system allows
        whole = False
    if not whole:
        problem = f"{brief(fspath(path))}: no generated package here"
        raise LoadError(f"{problem}; {_remedy(fspath(path))} builds one and loads it")
    extension = folder / "_native.abi3.so"
    if not extension.is_file():
        raise LoadError(f"{fspath(path)}: the package holds no compiled extension; build it again")
    stamp = extension.stat()
    about = manifest.read_bytes()
    identity = f"{folder}\0{stamp.st_ino}\0{stamp.st_mtime_ns}\0{stamp.st_size}\0".encode() + about
    digest = hashlib.sha256(identity).digest()
    name = f"_rbdc_generated_{digest[:12].hex()}"
    with _LOCK:
        if name not in sys.modules:
            _execute(name, folder, _spelled(extension, digest[:8]), fspath(path), about)
        module: Any = sys.modules[name]
        return cast("GeneratedModule", module)


def _remedy(place: str) -> str:
    """Return the call that builds a package from a path that is no package: a description, a robot's name, or
    a folder.
    """
    path = Path(place)
    if len(path.parts) == 1 or path.suffix:
        return f"rbdc.build({brief(place)!r})"
    return f"rbdc.build(DESCRIPTION, out={brief(str(path.parent))!r})"


def _forget(name: str) -> None:
    with _LOCK:
        for key in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
            del sys.modules[key]


def _spelled(extension: Path, bits: bytes) -> str:
    """Return a path that differs for each build: one more "./" or "/" before the file's name for each bit.

    The dynamic linker assumes that a path that it has loaded before is the same library, even if the file has
    changed: after a rebuild in place the old code would run. A new spelling makes the linker look at the
    file.
    """
    padding = "".join("./" if byte >> bit & 1 else "/" for byte in bits for bit in range(8))
    return f"{extension.parent}/{padding}{extension.name}"


def _new(name: str, file: str, **how: Any) -> tuple[ModuleType, Loader]:
    """Enter a new module for a file into sys.modules; return it and its loader."""
    spec = importlib.util.spec_from_file_location(name, file, **how)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} cannot be imported")
    sys.modules[name] = importlib.util.module_from_spec(spec)
    return sys.modules[name], spec.loader


def _execute(name: str, folder: Path, extension: str, shown: str, about: bytes) -> None:
    """Import the package under `name`; a failure leaves nothing in sys.modules. about: its manifest."""
    try:
        manifest = json.loads(about)
        listed = [folder / file for file in manifest.get("files", ()) if file.endswith(".so")]
        for library in [Path(extension), *(library for library in listed if library.is_file())]:
            _refuse_truncated(library)
        module, loader = _new(name, str(folder / "__init__.py"), submodule_search_locations=[str(folder)])
        of_extension = f"{name}._native"
        native, of_native = _new(of_extension, extension, loader=ExtensionFileLoader(of_extension, extension))
        of_native.exec_module(native)
        _refuse_swapped(native, manifest)
        loader.exec_module(module)
        if (named := sys.modules.get(f"{name}._named")) is not None:  # a package of an older rbdc
            vars(named)["loader"] = restored
    except BaseException as error:
        refusal = getattr(sys.modules.get(f"{name}._processor"), "ProcessorError", ())
        _forget(name)
        if not isinstance(error, Exception):
            raise
        if isinstance(error, refusal):  # says how to mend it
            raise LoadError(f"{shown}: {error}") from error
        if isinstance(error, LoadError):
            raise LoadError(f"{shown}: {error}; build it again") from error
        problem = str(error).replace(extension, Path(extension).name)
        raise LoadError(
            f"{shown}: {problem}; build it again for this interpreter with `force=True`"
        ) from error


def restored(folder: str, name: str, identity: str, function: str | None = None) -> Any:
    """Return the module of a handle, or the object behind one of its functions. Look in the folder that the
    handle names, then for an installed package of that name.

    Raises:
        LoadError: there is no package, or it is of another robot.
        AttributeError: the function was not built.
    """
    with _RESTORING:
        module = _RESTORED.get((folder, identity))
        if module is None:
            module = _found(folder, name)
            try:
                module._named.restore(identity, None)
            except ImportError as error:
                raise LoadError(str(error)) from error
            _RESTORED[folder, identity] = module
    return module._named.restore(identity, function)


def _found(folder: str, name: str) -> Any:
    if Path(folder).is_dir():
        return load(folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise LoadError(
            f"{folder}: not on this machine, and no package {name} is installed; share the folder, or "
            "install its wheel (rbdc wheel) in every worker"
        ) from error


def _refuse_truncated(library: Path) -> None:
    """Raise LoadError for an ELF library that is shorter than its header says. The linker refuses other
    damaged files without harm.
    """
    with library.open("rb") as file:
        header = file.read(64)
    size, needed = library.stat().st_size, _needed(header)
    if size < needed:
        raise LoadError(f"{library.name} is truncated: it has {size} bytes and needs at least {needed}")


def _needed(header: bytes) -> int:
    """Return the size of an ELF file (bytes) according to its header; 0 for other files."""
    if header[:4] != b"\x7fELF" or len(header) < 6 or header[4] not in _SECTIONS:
        return 0
    layout = struct.Struct(("<" if header[5] == 1 else ">") + _SECTIONS[header[4]])
    if len(header) < layout.size:
        return layout.size
    place, size, number = layout.unpack_from(header)
    return int(place + size * number)


def _refuse_swapped(native: ModuleType, manifest: Mapping[str, Any]) -> None:
    """Raise LoadError unless the extension carries the hash in the package's manifest. Packages of an older
    rbdc have no hash.
    """
    extension: Any = native
    expected, carried = manifest.get("package"), getattr(extension.lib, "rbdc_package", None)
    actual = None if carried is None else extension.ffi.string(carried()).decode()
    if expected not in (None, actual):
        raise LoadError("the compiled extension is not the one that was built with this package")

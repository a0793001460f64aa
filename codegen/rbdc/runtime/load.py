"""Loading a generated package by path, never through sys.path."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from os import PathLike, fspath
from pathlib import Path
from types import ModuleType

from rbdc.errors import LoadError


def load(path: str | PathLike[str]) -> ModuleType:
    """The generated package in the folder `path`, as a module.

    Each build has a module name of its own, so that a rebuilt package gives the new code and the old module stays usable.

    Raises:
        LoadError: no generated package there, or it was compiled for another interpreter or machine.
    """
    folder = Path(fspath(path)).resolve()
    manifest, initial = folder / "manifest.json", folder / "__init__.py"
    if not (manifest.is_file() and initial.is_file()):
        raise LoadError(f"{fspath(path)}: no generated package here; make one with: rbdc build DESCRIPTION --out {folder.parent}")
    extensions = sorted(folder.glob("_native*"))
    if not extensions:
        raise LoadError(f"{fspath(path)}: the package holds no compiled extension; make it again with: rbdc build --force")
    stamp = extensions[0].stat()
    identity = f"{folder}\0{stamp.st_ino}\0{stamp.st_mtime_ns}\0{stamp.st_size}\0".encode() + manifest.read_bytes()
    name = f"_rbdc_generated_{hashlib.sha256(identity).hexdigest()[:24]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, initial, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise LoadError(f"{fspath(path)}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (ImportError, OSError) as error:
        del sys.modules[name]
        raise LoadError(f"{fspath(path)}: {error}; build it again for this interpreter with: rbdc build --force") from error
    return module

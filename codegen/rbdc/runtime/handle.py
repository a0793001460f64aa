"""The other end of a handle: a pickled module or function becomes one of this process."""

from __future__ import annotations

import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from rbdc.errors import LoadError
from rbdc.runtime.load import load

_LOCK = threading.Lock()
_RESTORED: dict[tuple[str, str], Any] = {}
"""Modules by folder and identity: a worker loads each once, whatever becomes of the folder."""


def restored(folder: str, name: str, identity: str, function: str | None = None) -> Any:
    """The module of a handle, or what stands behind one of its functions: from the folder where it was, or
    else an installed package of its name.

    Raises:
        LoadError: there is no such package here, or it is of another robot.
        AttributeError: the function was not built.
    """
    with _LOCK:
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
        return import_module(name)
    except ModuleNotFoundError as error:
        raise LoadError(
            f"{folder}: not on this machine, and no package {name} is installed; share the folder, or "
            "install its wheel (rbdc wheel) in every worker"
        ) from error

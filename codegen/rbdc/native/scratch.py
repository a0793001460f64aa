"""Folders for work in progress. The owner of one holds a lock in it, which the system releases when the process ends, however it ends:
a folder whose lock can be taken is a leftover, and the next process that works in the same place removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from rbdc.errors import OptionError

_LOCK, _WORK, _TEMPORARY = "rbdc.lock", "work", "rbdc-"
_RANDOM = "?" * 8
"""What mkdtemp puts into a name."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file; the system releases it if the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def scratch(parent: Path, prefix: str = "", suffix: str = "") -> Iterator[Path]:
    """An empty folder on the same file system as `parent`, removed at the end; what is to stay is moved out of it, or it itself is.

    What killed processes left under such names in `parent` is removed first. Raises OSError where `parent` cannot be written.
    """
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, prefix, suffix)
    folder, lock = _owned(parent, prefix, suffix)
    try:
        (folder / _WORK).mkdir()
        yield folder / _WORK
    finally:
        shutil.rmtree(folder / _WORK, ignore_errors=True)
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary() -> Iterator[Path]:
    """A scratch folder where the system keeps temporary files. Raises OptionError where it cannot be made."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch(Path(tempfile.gettempdir()), _TEMPORARY))
        except OSError as error:
            raise OptionError(
                f"cannot make a temporary folder: {error}; set TMPDIR to one that can be written"
            ) from error
        yield folder


def sweep_temporary() -> None:
    """Remove what killed processes left where the system keeps temporary files."""
    with suppress(OSError):
        sweep(Path(tempfile.gettempdir()), _TEMPORARY)


def sweep(parent: Path, prefix: str = "", suffix: str = "") -> None:
    """Remove the scratch folders in `parent` that no running process owns; "*" in the prefix stands for any text. Those that cannot be
    removed stay.
    """
    try:
        for folder in parent.glob(f"{prefix}{_RANDOM}{suffix}"):
            _remove_if_left(folder)
    except OSError:
        return  # what cannot be listed is not swept


def _remove_if_left(folder: Path) -> None:
    try:
        if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != os.getuid():
            return
        if not any(folder.iterdir()):
            folder.rmdir()  # its maker ended, or begins again
            return
        lock = folder / _LOCK
        if lock.is_symlink() or not lock.is_file():
            return
        with lock.open("r+b") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder / _WORK, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return  # it is in use, or another process removes it, or it is not ours to remove


def _owned(parent: Path, prefix: str, suffix: str) -> tuple[Path, BinaryIO]:
    """A new folder and its lock, held. Another process may take the folder for a leftover before the lock is held: then once more."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=parent))
        try:
            handle = (folder / _LOCK).open("xb")
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (folder / _LOCK).exists():
                return folder, handle
        except BlockingIOError:
            pass
        handle.close()

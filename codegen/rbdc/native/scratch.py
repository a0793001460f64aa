"""Folders for work in progress. The owner of a folder holds a lock in it; the system releases the lock when
the process ends. A folder whose lock is free is a leftover, and the next process that works in the same place
removes it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rbdc.errors import OptionError

_LOCK, _WORK, _TEMPORARY = "rbdc.lock", "work", "rbdc-"
_RANDOM = "?" * 8
"""Pattern of the characters that mkdtemp appends to a name."""


@contextmanager
def scratch(parent: Path, prefix: str = "", suffix: str = "") -> Iterator[Path]:
    """Yield an empty folder on the file system of `parent`; remove it at the end unless it was moved away."""
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, prefix, suffix)
    folder, lock = _owned(parent, prefix, suffix)
    try:
        (folder / _WORK).mkdir()
        yield folder / _WORK
    finally:
        shutil.rmtree(folder / _WORK, ignore_errors=True)
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def placed(folder: Path, texts: Mapping[str, str], option: str = "`out`") -> list[Path]:
    """Write texts into a folder by file name, each to a temporary name that is then moved into place; return
    their paths. Raises OptionError, which names the folder's `option`, if that fails.
    """
    try:
        with scratch(folder, ".report.", ".new") as aside:
            for file, text in texts.items():
                (aside / file).write_text(text, encoding="utf-8")
            for file in texts:
                (aside / file).replace(folder / file)
    except OSError as error:
        raise OptionError(f"cannot write {folder}: {error.strerror}; check {option}") from error
    return [folder / file for file in texts]


@contextmanager
def temporary() -> Iterator[Path]:
    """Yield a scratch folder among the system's temporary files. Raises OptionError if it cannot be
    created.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch(Path(tempfile.gettempdir()), _TEMPORARY))
        except OSError as error:
            raise OptionError(
                f"cannot make a temporary folder: {error}; set TMPDIR to one that can be written"
            ) from error
        yield folder


def sweep_temporary() -> None:
    """Remove the leftovers of killed processes among the system's temporary files."""
    with suppress(OSError):
        sweep(Path(tempfile.gettempdir()), _TEMPORARY)


def sweep(parent: Path, prefix: str = "", suffix: str = "") -> None:
    """Remove the scratch folders in `parent` that no running process owns; "*" in the prefix matches any
    text. Folders that cannot be removed stay.
    """
    try:
        for folder in parent.glob(f"{prefix}{_RANDOM}{suffix}"):
            _remove_if_left(folder)
    except OSError:
        return  # an unreadable folder is not swept


def _remove_if_left(folder: Path) -> None:
    try:
        if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != os.getuid():
            return
        if not any(folder.iterdir()):
            folder.rmdir()  # the owner ended, or is starting again
            return
        lock = folder / _LOCK
        if lock.is_symlink() or not lock.is_file():
            return
        with FileLock(lock, blocking=False):
            # Remove the lock with the folder. Otherwise an owner that has just created the folder could take
            # the released lock, and work in a folder that is being removed.
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return  # it is in use, another process removes it, or it belongs to another user


def _owned(parent: Path, prefix: str, suffix: str) -> tuple[Path, FileLock]:
    """Return a new folder and its lock, held. Try again if another process removed the
    folder as a leftover before it was locked.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=parent))
        lock = FileLock(folder / _LOCK, blocking=False)
        with suppress(Timeout, FileNotFoundError, FileExistsError):
            lock.acquire()
            return folder, lock

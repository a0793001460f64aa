"""Folders for work in progress. The owner of one holds a lock in it, which the system releases when the
process ends, however it ends: a folder whose lock can be taken is a leftover, and the next process that works
in the same place removes it.
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
"""Pattern of the characters that mkdtemp puts into a name."""


@contextmanager
def scratch(parent: Path, prefix: str = "", suffix: str = "") -> Iterator[Path]:
    """An empty folder on the file system of `parent`, removed at the end unless it was moved away.

    What killed processes left under such names in `parent` is removed first. Raises OSError where `parent`
    cannot be written.
    """
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
    """Write texts into a folder, by the names of their files, each to a temporary name that is then moved
    into place; their paths. Raises OptionError, which names the `option` of the folder, if it cannot.
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
    """Remove the scratch folders in `parent` that no running process owns; "*" in the prefix stands for any
    text. Those that cannot be removed stay.
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
        with FileLock(lock, blocking=False):
            # With its lock: were that still there when it is released, an owner that has just made the folder
            # could take it and work on in what goes.
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return  # it is in use, or another process removes it, or it is not ours to remove


def _owned(parent: Path, prefix: str, suffix: str) -> tuple[Path, FileLock]:
    """Return a new folder and its lock, held. Tries again if another process took it for a leftover
    meanwhile, which can be while the lock makes the folder anew.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, suffix=suffix, dir=parent))
        lock = FileLock(folder / _LOCK, blocking=False)
        with suppress(Timeout, FileNotFoundError, FileExistsError):
            lock.acquire()
            return folder, lock

"""A content-addressed store of compiled artefacts: the key is a hash of everything that went in."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from rbdc.errors import OptionError


def cache_folder() -> Path:
    """$RBDC_CACHE, or rbdc in the user's cache folder. Raises OptionError where there is no home to look in."""
    asked = os.environ.get("RBDC_CACHE")
    if asked:
        return Path(asked)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "rbdc"
    except RuntimeError as error:
        raise OptionError(f"no place for the cache: {error}; set RBDC_CACHE to a folder") from error


def key(*parts: str | bytes) -> str:
    """SHA-256 over the parts, each with its length so that parts cannot run into each other."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


def interpreter_tag() -> str:
    """What a compiled extension depends on beside its source: platform, ABI and cffi."""
    return f"{sysconfig.get_platform()} {sysconfig.get_config_var('SOABI')} cffi {version('cffi')} {_processor()}"


def obtain(name: str, make: Callable[[Path], None]) -> Path:
    """The folder cached under `name`, made by `make` (into an empty folder) if it is not there.

    One process makes it while others wait; a maker that is killed leaves nothing under the name. Raises OptionError where the
    cache cannot be written (or, for it looks the same, what `make` writes there).
    """
    store = cache_folder()
    target = store / name[:2] / name
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with locked(store / "locks" / name):
            if not target.is_dir():
                with scratch(store) as folder:
                    make(folder)
                    folder.rename(target)
    except OSError as error:
        raise OptionError(f"cannot write the cache {store}: {error}; set RBDC_CACHE to a folder that can be written") from error
    return target


def forget(name: str) -> None:
    """Remove one artefact, so that it is made again."""
    shutil.rmtree(cache_folder() / name[:2] / name, ignore_errors=True)


def clear() -> int:
    """Remove the whole cache; the number of artefacts removed."""
    store = cache_folder()
    if not store.is_dir():
        return 0
    folders = [p for p in store.iterdir() if p.is_dir() and (len(p.name) == 2 or p.name in ("locks", "scratch"))]
    count = sum(1 for folder in folders if len(folder.name) == 2 for _ in folder.iterdir())
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)  # a build that runs meanwhile may add to it
    return count


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """An empty folder on the same file system as `parent`, removed at the end unless it was moved into place."""
    (parent / "scratch").mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent / "scratch"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file; the system releases it if the process dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _processor() -> str:
    """The processor's features, for -march=native code must not travel to another through a shared cache."""
    try:
        lines: Sequence[str] = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return hashlib.sha256(next((line for line in lines if line.startswith(("flags", "Features"))), "").encode()).hexdigest()[:16]

"""A content-addressed store of compiled artefacts: the key is a hash of everything that determines the
artefact.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache as cache_in_process
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import platformdirs
from filelock import FileLock

from rbdc.errors import OptionError
from rbdc.native.scratch import scratch, sweep

SCRATCH = "scratch"
"""Folder of the cache for artefacts in progress."""
_LISTING = "contents.json"
"""File in every artefact with the hashes of its files; it reveals missing and changed files."""


def cache_folder() -> Path:
    """Return $RBDC_CACHE, or rbdc in the user's cache folder. Raises OptionError if the user has no home
    folder.
    """
    asked = os.environ.get("RBDC_CACHE")
    if asked:
        return Path(asked).absolute()
    try:
        folder = platformdirs.user_cache_path("rbdc", appauthor=False)
    except RuntimeError:
        folder = Path()
    if not folder.is_absolute():
        raise OptionError("no place for the cache: you have no home folder; set RBDC_CACHE to a folder")
    return folder


def key(*parts: str | bytes) -> str:
    """Return the SHA-256 of the parts. Each part's length is included, so that parts cannot run into each
    other.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


def interpreter_tag() -> str:
    """Return platform, ABI, cffi and processor: everything besides the source that determines a compiled
    extension.
    """
    abi = sysconfig.get_config_var("SOABI")
    return f"{sysconfig.get_platform()} {abi} cffi {version('cffi')} {_processor()}"


def holds(name: str) -> bool:
    """Return whether the cache has a complete artefact under `name`."""
    return _is_whole(cache_folder() / name[:2] / name)


def obtain(name: str, make: Callable[[Path], None], *, anew: bool = False) -> Path:
    """Return the folder cached under `name`. If it is missing or incomplete, or with `anew`, `make` writes
    its files into an empty folder.

    One process writes while others wait. A killed process leaves no folder of this name. Raises
    OptionError if the cache cannot be written, also if `make` fails to write into the cache.
    """
    store = cache_folder()
    target = store / name[:2] / name
    if not anew and _is_whole(target):
        return target
    try:
        with _lock(name):
            if anew or not _is_whole(target):
                with scratch(store / SCRATCH) as folder:
                    make(folder)
                    (folder / _LISTING).write_text(json.dumps(hashes(folder)))
                    _put(folder, target)
    except OSError as error:
        raise OptionError(
            f"cannot write the cache {store}: {error}; set RBDC_CACHE to a folder that can be written"
        ) from error
    return target


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a user's folder against builds with the same cache; do nothing if the cache is read-only."""
    lock = _lock(key("folder", str(folder.resolve())))
    with suppress(OSError):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _lock(name: str) -> FileLock:
    """Return the lock `name` of this cache; the system releases it if the process dies."""
    return FileLock(cache_folder() / "locks" / name)


def discard(names: Sequence[str]) -> None:
    """Remove these wrong artefacts, as far as possible."""
    store = cache_folder()
    for name in names:
        with suppress(OSError), _lock(name):
            _remove(store / name[:2] / name)


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder and its subfolders, by relative path."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): file_hash(path) for path in paths}


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _is_whole(folder: Path) -> bool:
    try:
        listing = json.loads((folder / _LISTING).read_text(encoding="utf-8"))
        return all(file_hash(folder / name) == digest for name, digest in listing.items())
    except (OSError, ValueError, AttributeError):
        return False


def _put(folder: Path, target: Path) -> None:
    """Move a finished artefact into place, and an earlier one into the scratch folder, which is removed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if target.exists():
            target.rename(folder.with_name("replaced"))
        folder.rename(target)
    except OSError:
        # Another process may have written the same artefact if the lock was removed together with the cache.
        if not _is_whole(target):
            raise


def clear() -> tuple[int, list[str]]:
    """Remove every artefact and everything that killed builds left. Return the number of removed artefacts,
    and messages on entries that could not be removed.

    Only entries with the names of artefacts are removed: a cache may be in a folder with a user's files.
    """
    store, digit = cache_folder(), "[0-9a-f]"
    named = sorted(store.glob(f"{digit * 2}/{digit * 64}"))
    artefacts = [entry for entry in named if entry.name.startswith(entry.parent.name)]
    outcomes = [_remove(entry) for entry in [*artefacts, *sorted(store.glob(f"locks/{digit * 64}"))]]
    sweep(store / SCRATCH)
    for folder in [*store.glob(digit * 2), store / "locks", store / SCRATCH]:
        with suppress(OSError):  # it holds more, or a running build adds to it
            folder.rmdir()
    return outcomes[: len(artefacts)].count(None), [problem for problem in outcomes if problem is not None]


def _remove(entry: Path) -> str | None:
    try:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)
    except OSError as error:
        return f"{entry}: {error.strerror}" if entry.exists() else None
    return None


def _processor() -> str:
    """Return the processor's features: code for -march=native must not reach another processor through a
    shared cache.
    """
    try:
        lines: Sequence[str] = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(features.encode()).hexdigest()[:16]


@cache_in_process
def own_code() -> str:
    """Return a hash of rbdc's source and templates, so that a changed rbdc builds again. It is computed once:
    a running process does not change with the files.
    """
    folders = os.walk(str(files("rbdc")), followlinks=True)
    paths = sorted(Path(folder, name) for folder, _, names in folders for name in names)
    sources = (path for path in paths if path.suffix in (".py", ".jinja"))
    return key(*(part for path in sources for part in (path.name, path.read_bytes())))

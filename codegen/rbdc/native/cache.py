"""A content-addressed store of compiled artefacts: the key is a hash of everything that went in."""

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
"""The folder of the cache in which artefacts are made."""
_LISTING = "contents.json"
"""In every artefact: its files' hashes, by which one that has lost or changed a file is known."""


def cache_folder() -> Path:
    """$RBDC_CACHE, or rbdc in the user's cache folder. Raises OptionError where the user has no home."""
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
    """Return SHA-256 over the parts, each with its length so that parts cannot run into each other."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


def interpreter_tag() -> str:
    """Return platform, ABI, cffi and processor: all that a compiled extension depends on beside its
    source.
    """
    abi = sysconfig.get_config_var("SOABI")
    return f"{sysconfig.get_platform()} {abi} cffi {version('cffi')} {_processor()}"


def holds(name: str) -> bool:
    """Return whether what is cached under `name` is there, whole."""
    return _is_whole(cache_folder() / name[:2] / name)


def obtain(name: str, make: Callable[[Path], None], *, anew: bool = False) -> Path:
    """Return the folder cached under `name`, made by `make` in an empty folder if it is not whole, or if
    `anew`.

    One process makes it while others wait; a maker that is killed leaves nothing under the name. Raises
    OptionError where the cache cannot be written (or, for it looks the same, what `make` writes there).
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
def held(folder: Path) -> Iterator[None]:
    """Hold a folder of the user's against builds with the same cache; if that is read-only, hold nothing."""
    lock = _lock(key("folder", str(folder.resolve())))
    with suppress(OSError):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _lock(name: str) -> FileLock:
    """Return a lock of this cache, which the system releases if the process dies."""
    return FileLock(cache_folder() / "locks" / name)


def discard(names: Sequence[str]) -> None:
    """Remove the artefacts of these names, which turned out to be wrong, as far as they can be removed."""
    store = cache_folder()
    for name in names:
        with suppress(OSError), _lock(name):
            _remove(store / name[:2] / name)


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file in a folder and below, by its path there."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): file_hash(path) for path in paths}


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _is_whole(folder: Path) -> bool:
    """Return whether an artefact is there with all its files as they were made."""
    try:
        listing = json.loads((folder / _LISTING).read_text(encoding="utf-8"))
        return all(file_hash(folder / name) == made for name, made in listing.items())
    except (OSError, ValueError, AttributeError):
        return False


def _put(folder: Path, target: Path) -> None:
    """Move what was made into place; what was there before goes the way of the scratch folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if target.exists():
            target.rename(folder.with_name("replaced"))
        folder.rename(target)
    except OSError:
        # Another process may have made the same, where the lock was removed together with the cache.
        if not _is_whole(target):
            raise


def clear() -> tuple[int, list[str]]:
    """Remove every artefact, and all that killed builds left; how many went, and what could not go and why.

    Only what has the names of artefacts is touched, so that a cache in a folder of the user's takes nothing
    else with it.
    """
    store, digit = cache_folder(), "[0-9a-f]"
    named = sorted(store.glob(f"{digit * 2}/{digit * 64}"))
    artefacts = [entry for entry in named if entry.name.startswith(entry.parent.name)]
    outcomes = [_remove(entry) for entry in [*artefacts, *sorted(store.glob(f"locks/{digit * 64}"))]]
    sweep(store / SCRATCH)
    for folder in [*store.glob(digit * 2), store / "locks", store / SCRATCH]:
        with suppress(OSError):  # it holds more, or a build that runs meanwhile adds to it
            folder.rmdir()
    return outcomes[: len(artefacts)].count(None), [problem for problem in outcomes if problem is not None]


def _remove(entry: Path) -> str | None:
    """Remove an artefact or a lock; what stood in the way, if it did."""
    try:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)
    except OSError as error:
        return f"{entry}: {error.strerror}" if entry.exists() else None
    return None


def _processor() -> str:
    """Return the processor's features, for -march=native code must not travel to another through a shared
    cache.
    """
    try:
        lines: Sequence[str] = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    features = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(features.encode()).hexdigest()[:16]


@cache_in_process
def own_code() -> str:
    """Return a hash over rbdc's own source and templates, so that a changed rbdc builds anew. Read once: what
    a running process has loaded does not change with the files.
    """
    folders = os.walk(str(files("rbdc")), followlinks=True)
    paths = sorted(Path(folder, name) for folder, _, names in folders for name in names)
    own = (path for path in paths if path.suffix in (".py", ".jinja"))
    return key(*(part for path in own for part in (path.name, path.read_bytes())))

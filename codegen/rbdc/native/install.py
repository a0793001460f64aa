"""Putting a generated package into a folder, and taking it away again, without touching what belongs to the user.

manifest.json lists every other file that rbdc wrote with its SHA-256. A file is rbdc's while it has that content; everything
else in the folder, a generated file that was edited included, is the user's. Of it nothing is ever removed or written over:
what is in the way of a new file is kept beside it as NAME.orig.

A package that comes to where nothing is moves into place whole. Into a folder with an older one its files are moved one by
one, after they have all been written aside: manifest.json and __init__.py go first and come last, so that whenever a process
is killed, what can be loaded is the old package or the new one. Which files were rbdc's is in the journal meanwhile, and the
next build goes on from there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rbdc.errors import OptionError
from rbdc.native.cache import file_hash
from rbdc.native.scratch import scratch, sweep

MANIFEST, _INITIAL, _JOURNAL = "manifest.json", "__init__.py", ".rbdc-unfinished.json"
_SUFFIX = ".new"
_MOST_NAMED = 10
_UNRECORDED = "was made by an earlier rbdc, which did not record the files that it wrote"

Record = dict[str, set[str]]
"""The files that rbdc wrote into a folder: by name, the hashes that their content may have."""


@dataclass
class Cleaned:
    """What `remove_packages` did: the folders of the packages removed, what stayed in them because it is the user's, and what
    went wrong.
    """

    removed: list[Path] = field(default_factory=list)
    kept: dict[Path, list[str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def recorded(contents: Mapping[str, bytes]) -> dict[str, str]:
    """The entry `files` of a manifest: the SHA-256 of each file by its name."""
    return {name: hashlib.sha256(contents[name]).hexdigest() for name in sorted(contents)}


def install(package: Path, destination: Path) -> list[str]:
    """Make the folder `destination` hold the package, unless it does already; what the user should know about other files there.

    Raises OptionError where the folder cannot be written, or holds something that rbdc did not generate.
    """
    try:
        refuse_foreign(destination)
        if _is_current(package, destination):
            return []
        with scratch(destination.parent, f".{destination.name}.", _SUFFIX) as folder:
            for name in [*_manifest(package)["files"], MANIFEST]:
                shutil.copyfile(package / name, folder / name)
            try:
                folder.rename(destination)  # onto nothing, or an empty folder
                return []
            except OSError:
                if not destination.is_dir():
                    raise
            with _held(destination):
                return [] if _is_current(package, destination) else _replace(folder, destination)
    except OSError as error:
        raise OptionError(f"cannot write {destination}: {error.strerror}; check --out") from error


def refuse_foreign(destination: Path) -> None:
    """Raise OptionError where a package would come to what is neither an empty folder nor one that rbdc generated."""
    if not os.path.lexists(destination):
        return
    if destination.is_symlink() or not destination.is_dir():
        raise OptionError(_foreign(destination))
    if _record(destination) is None and any(destination.iterdir()):
        raise OptionError(_refusal(destination))


def is_generated(folder: Path) -> bool:
    """Whether rbdc wrote a package into a folder."""
    return _record(folder) is not None


def _is_current(package: Path, destination: Path) -> bool:
    """Whether the folder holds the package with every file as it was made, and no other is under way."""
    try:
        same = (destination / MANIFEST).read_bytes() == (package / MANIFEST).read_bytes()
        files = _manifest(package)["files"].items() if same else ()
        return (
            same
            and all(_is_ours(destination / n, {h}) for n, h in files)
            and not (destination / _JOURNAL).exists()
        )
    except OSError:
        return False


def _replace(new: Path, destination: Path) -> list[str]:
    """Move the files of `new` over those of the older package."""
    refuse_foreign(destination)
    old = _record(destination) or {}
    files: dict[str, str] = _manifest(new)["files"]
    ours = {name: old.get(name, set()) | {files.get(name, "")} for name in {*old, *files}}
    _note(ours, new / _JOURNAL)
    (new / _JOURNAL).replace(destination / _JOURNAL)
    (destination / MANIFEST).unlink(missing_ok=True)
    aside = _make_room(destination, ours, files)
    stay = _others(destination, {*files, *(kept for _, kept in aside)})
    for name in [*sorted(files, key=lambda name: (name == _INITIAL, name)), MANIFEST]:
        (new / name).replace(destination / name)
    (destination / _JOURNAL).unlink()
    warnings = [f"{destination / name} was not as rbdc wrote it: kept as {kept}" for name, kept in aside]
    return [
        *warnings,
        *([f"{destination}: not written by rbdc, left as it is: {_listed(stay)}"] if stay else []),
    ]


def _make_room(destination: Path, ours: Record, files: Collection[str]) -> list[tuple[str, str]]:
    """Remove what is rbdc's and does not come again, and __init__.py before all; set aside what is the user's and in the way: the names
    before and after.
    """
    aside = []
    for name in sorted(ours, key=lambda name: (name != _INITIAL, name)):
        path = destination / name
        if not _is_ours(path, ours[name]):
            if name in files and os.path.lexists(path):
                aside.append(_set_aside(path))
        elif name == _INITIAL or name not in files:
            path.unlink()
    _remove_bytecode(destination)
    return aside


def sweep_beside(out: Path) -> None:
    """Remove what killed builds left beside the packages in `out`."""
    sweep(out, ".*.", _SUFFIX)


def remove_packages(out: Path) -> Cleaned:
    """Remove the generated packages directly in `out`, and what killed builds left there."""
    done = Cleaned()
    try:
        folders = sorted(out.iterdir()) if out.is_dir() else []
    except OSError as error:
        done.problems.append(f"cannot read {out}: {error.strerror}")
        return done
    sweep_beside(out)
    for folder in folders:
        try:
            if not folder.is_symlink() and folder.is_dir():
                _remove_package(folder, done)
        except OSError as error:
            done.problems.append(f"cannot remove {folder}: {error.strerror}; check its permissions")
    return done


def _remove_package(folder: Path, done: Cleaned) -> None:
    if _record(folder) is None:
        if _manifest(folder).get("generator") == "rbdc":
            done.problems.append(_refusal(folder))
        return
    with _held(folder):
        record = _record(folder) or {}
        for name in sorted(record, key=lambda name: (name != _INITIAL, name)):
            if _is_ours(folder / name, record[name]):
                (folder / name).unlink()
        _remove_bytecode(folder)
        for name in (MANIFEST, _JOURNAL):
            (folder / name).unlink(missing_ok=True)
        kept = _others(folder, ())
        if not kept:
            folder.rmdir()
    done.removed.append(folder)
    if kept:
        done.kept[folder] = kept


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, empty where there is none that can be read."""
    return _json(folder / MANIFEST)


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _record(folder: Path) -> Record | None:
    """What rbdc wrote into a folder, by its manifest and the journal of a build that was killed; None where neither says so."""
    notes = [
        data
        for data in (_json(folder / MANIFEST), _json(folder / _JOURNAL))
        if data.get("generator") == "rbdc"
    ]
    listings = [data["files"] for data in notes if isinstance(data.get("files"), dict)]
    if not listings:
        return None
    record: Record = {}
    for name, value in [item for listing in listings for item in listing.items()]:
        if _is_plain(name):
            record.setdefault(name, set()).update(map(str, value if isinstance(value, list) else [value]))
    return record


def _is_plain(name: str) -> bool:
    """Whether a name from a manifest is one of a file in that folder, and not a path out of it or one of the records themselves."""
    return Path(name).name == name and name not in ("", MANIFEST, _JOURNAL) and "\0" not in name


def _note(ours: Record, path: Path) -> None:
    files = {name: sorted(hashes) for name, hashes in sorted(ours.items())}
    path.write_text(json.dumps({"generator": "rbdc", "files": files}), encoding="utf-8")


def _is_ours(path: Path, hashes: set[str]) -> bool:
    return not path.is_symlink() and path.is_file() and file_hash(path) in hashes


def _others(folder: Path, names: Collection[str]) -> list[str]:
    """What a folder holds beside the files of these names; a folder's name ends in a slash."""
    entries = sorted(folder.iterdir())
    return [
        f"{e.name}/" if e.is_dir() else e.name for e in entries if e.name not in names and e.name != _JOURNAL
    ]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(ascii(name)[1:-1] for name in names[:_MOST_NAMED]) + (
        f" and {more} more" if more > 0 else ""
    )


def _set_aside(path: Path) -> tuple[str, str]:
    """Rename a file of the user's so that nothing is lost: its name before and after."""
    numbers = ("", *range(2, 1000))
    names = (path.with_name(f"{path.name}.orig{number}") for number in numbers)
    free = next(name for name in names if not os.path.lexists(name))
    path.rename(free)
    return path.name, free.name


def _remove_bytecode(folder: Path) -> None:
    """Remove what Python itself wrote into __pycache__, and the folder unless it holds more."""
    cached = folder / "__pycache__"
    if cached.is_symlink() or not cached.is_dir():
        return
    for file in cached.glob("*.pyc*"):
        file.unlink()
    with suppress(OSError):
        cached.rmdir()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a folder against other builds; where the file system cannot lock folders, nothing is held."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _foreign(destination: Path) -> str:
    return f"{destination} exists and was not generated by rbdc; give another --out or --name, or remove it"


def _refusal(folder: Path) -> str:
    if _manifest(folder).get("generator") != "rbdc":
        return _foreign(folder)
    return f"{folder} {_UNRECORDED}: it is left as it is; remove it yourself if nothing in it is yours, or build with another --out"

"""Folders of ROS packages by name, without ROS."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree

URI = "package://"
"""The beginning of a path inside a package: package://NAME/PATH."""
DEPTH = 5
"""Levels of folders that are searched below `package_path` and ROS_PACKAGE_PATH."""
_ABOUT = "package.xml"


def package_folder(name: str, file: str | None, paths: Sequence[str]) -> Path | None:
    """Return the folder of a package; None if it is not found.

    The first match counts. The search order is: the folders of --package-path; the folders of
    AMENT_PREFIX_PATH (ROS 2) and ROS_PACKAGE_PATH (ROS 1); the folders above the file (for a text: the
    working directory and the folders above it) and the subfolder `name` of each.
    """
    if not name or name in (".", "..") or "/" in name:
        return None
    path = next((folder for folder in _candidates(name, file, paths) if _is_package(folder, name)), None)
    return None if path is None else path.resolve()


def _candidates(name: str, file: str | None, paths: Sequence[str]) -> Iterator[Path]:
    for folder in paths:
        yield from _below(Path(folder), name)
    for prefix in _listed("AMENT_PREFIX_PATH"):
        yield Path(prefix, "share", name)
    for folder in _listed("ROS_PACKAGE_PATH"):
        yield from _below(Path(folder), name)
    for above in Path("_" if file is None else file).resolve().parents:
        yield above
        yield above / name


def _listed(variable: str) -> list[str]:
    return [folder for folder in os.environ.get(variable, "").split(os.pathsep) if folder]


def _below(root: Path, name: str) -> Iterator[Path]:
    """Yield a folder, its subfolder `name`, then all folders below, except those inside packages."""
    yield root
    yield root / name
    for place, folders, files in os.walk(root):
        inside = _ABOUT in files and Path(place) != root
        deep = len(Path(place).relative_to(root).parts) >= DEPTH
        folders[:] = [] if inside or deep else sorted(one for one in folders if not one.startswith("."))
        yield Path(place)


def _is_package(folder: Path, name: str) -> bool:
    """Return whether a folder is the package: by its package.xml or, without one, by its name."""
    about = folder / _ABOUT
    if not about.is_file():
        return folder.name == name and folder.is_dir()
    try:
        read = etree.parse(about, etree.XMLParser(resolve_entities=False, no_network=True))
    except (OSError, etree.XMLSyntaxError):
        return folder.name == name
    return (read.findtext("name") or "").strip() == name

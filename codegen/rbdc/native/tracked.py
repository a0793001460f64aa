"""Files that git tracks: what a build or `rbdc clean` would change behind the back of a commit."""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

_PATIENCE = 30.0
"""Seconds after which git is not asked any more."""


def tracked(folder: Path, names: Collection[str]) -> list[str]:
    """Return those of a folder's files that git tracks: none without git, or outside of a work tree."""
    above = folder.resolve()
    if not folder.is_dir() or not any((path / ".git").exists() for path in (above, *above.parents)):
        return []
    command = ["git", "ls-files", "-z", "--", "."]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [name for name in done.stdout.decode(errors="replace").split("\0") if name in names]

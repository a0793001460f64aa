"""Questions to git: which files it tracks, because a build or `rbdc clean` must not change them unnoticed;
and the commit of a checkout.
"""

from __future__ import annotations

import subprocess
from collections.abc import Collection
from pathlib import Path

_PATIENCE = 30.0
"""Time limit for git (s)."""


def tracked(folder: Path, names: Collection[str]) -> list[str]:
    """Return the files of a folder that git tracks; none without git or outside a work tree."""
    above = folder.resolve()
    if not folder.is_dir() or not any((path / ".git").exists() for path in (above, *above.parents)):
        return []
    return [name for name in _git(folder, "ls-files", "-z", "--", ".").split("\0") if name in names]


def commit_of(checkout: Path) -> str:
    """Return the commit of a checkout, with "-dirty" if tracked files differ; "" if git does not know it."""
    if not (checkout / ".git").exists():
        return ""
    return _git(checkout, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").strip()


def _git(folder: Path, *words: str) -> str:
    """Return the output of git in a folder; "" if git is missing, fails or exceeds the time limit."""
    command = ["git", *words]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")

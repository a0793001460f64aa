"""The robots that ship with rbdc."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path

from rbdc.errors import OptionError


def robot_names() -> list[str]:
    """The names that can be given in place of a path."""
    return sorted(
        Path(entry.name).stem for entry in files("rbdc.robots").iterdir() if entry.name.endswith(".urdf")
    )


def resolve(description: str | PathLike[str]) -> Path:
    """The path of a description: a robot's name, or a path.

    Raises OptionError, with the names that come close, for what is neither.
    """
    text = fspath(description)
    if text in robot_names():
        return Path(str(files("rbdc.robots").joinpath(f"{text}.urdf")))
    path = Path(text)
    if not text or "\0" in text or not _is_there(path):
        close = get_close_matches(text, robot_names(), n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else "see the names with: rbdc list"
        raise OptionError(f"{ascii(text)[1:-1]}: neither a file nor a robot that ships with rbdc; {hint}")
    return path


def _is_there(path: Path) -> bool:
    """Whether a path exists. One that may not be looked at counts: reading it gives the better message."""
    try:
        return path.exists() or path.is_symlink()
    except PermissionError:
        return True
    except OSError:  # a name longer than the system allows
        return False

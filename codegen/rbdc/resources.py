"""The robots that ship with rbdc."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path

from rbdc.errors import OptionError

_ENDINGS = (".urdf", ".json")


def robot_names() -> list[str]:
    """The names that can be given in place of a path."""
    return sorted(_shipped())


def _shipped() -> dict[str, Path]:
    """The file of each robot by its name."""
    paths = (Path(str(entry)) for entry in files("rbdc.robots").iterdir())
    return {path.stem: path for path in paths if path.suffix in _ENDINGS}


def resolve(description: str | PathLike[str]) -> Path:
    """The path of a description: a robot's name, or a path.

    Raises OptionError, with the names that come close, for what is neither.
    """
    text = fspath(description)
    path = _shipped().get(text, Path(text))
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

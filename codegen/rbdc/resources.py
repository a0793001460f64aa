"""The robots that ship with rbdc."""

from __future__ import annotations

from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path

from rbdc.errors import LONGEST, OptionError, brief
from rbdc.model.text import TEXT, is_text
from rbdc.runtime._suggestions import hint, suggestion

_ENDINGS = (".urdf", ".json")
_LISTED = "see the names with: rbdc list"


def robot_names() -> list[str]:
    """Return the names that are accepted instead of a path."""
    return sorted(_shipped())


def _shipped() -> dict[str, Path]:
    paths = (Path(str(entry)) for entry in files("rbdc.robots").iterdir())
    return {path.stem: path for path in paths if path.suffix in _ENDINGS}


def path_of(robot: str) -> Path:
    """Return the file of a robot that ships with rbdc.

    Args:
        robot: name of the robot, as `rbdc list` shows it.

    Raises:
        OptionError: no robot has this name; the message lists similar names.
    """
    shipped = _shipped()
    if robot not in shipped:
        name = ascii(brief(str(robot)))[1:-1]
        raise OptionError(f"no robot {name} ships with rbdc; {suggestion(robot, sorted(shipped))}")
    return shipped[robot]


def ships(path: str | PathLike[str]) -> bool:
    """Return whether a path is that of a robot that ships with rbdc."""
    return Path(path).resolve() in {shipped.resolve() for shipped in _shipped().values()}


def resolve(description: str | PathLike[str]) -> Path:
    """Return the path of a description, from a robot's name or a path.

    Raises OptionError, which lists similar names, for anything else.
    """
    text = fspath(description)
    path = _shipped().get(text, Path(text))
    if not text or "\0" in text or not _is_there(path):
        title = ascii(title_of(text))[1:-1]
        raise OptionError(f"{title}: neither a file nor a robot that ships with rbdc; {_hint(text)}")
    return path


def title_of(description: str | PathLike[str]) -> str:
    """Return the name of a description for messages and progress: the argument, or `TEXT` if that is the text
    of a description.
    """
    return TEXT if is_text(description) else brief(fspath(description))


def _hint(text: str) -> str:
    if "\n" in text.strip():
        return "the text of a description begins with < or {; save other formats, such as YAML, as a file"
    name = text[:LONGEST]
    return hint(name, robot_names(), "") or hint(Path(name).stem, robot_names(), "") or _LISTED


def _is_there(path: Path) -> bool:
    """Return whether a path exists. An unreadable path counts, because reading it gives a better message."""
    try:
        return path.exists() or path.is_symlink()
    except PermissionError:
        return True
    except OSError:  # the name is longer than the system allows
        return False

"""The licences of a description: files beside it, the licences of the robots that ship with rbdc, and notices
in the description itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from rbdc.errors import OptionError
from rbdc.model.text import is_text
from rbdc.resources import resolve, ships

_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")
_COLLECTION = "LICENSE-example-robot-data-BSD-2-Clause.txt"
OF_ROBOTS: Mapping[str, str] = {
    **dict.fromkeys(("panda", "hyq", "tiago_pro"), "LICENSE-Apache-2.0.txt"),
    **dict.fromkeys(("ur5", "anymal_b", "solo12", "simple_humanoid", "g1_29dof"), _COLLECTION),
    **dict.fromkeys(("double_pendulum", "double_pendulum_continuous"), _COLLECTION),
    **dict.fromkeys(("cartpole", "r2d2"), "LICENSE-pybullet-zlib.txt"),
    "panda_arm": "LICENSE-robosuite-MIT.txt",
}
"""The licence file of each robot that ships with rbdc, except for robots whose licence stands in the
description or has no text.
"""
_COMMENTS = re.compile(r"(?:<!--.*?-->\s*)+", re.DOTALL)


def licences_of(description: str | Path, files: Iterable[Path] = ()) -> dict[str, bytes]:
    """Return the texts of a description's licences by file name.

    If `files` are given, only these count. Otherwise return the licence files beside the description, and
    NOTICE.txt with the comments of the description that name a copyright.

    Raises OptionError if a file cannot be read.
    """
    paths = [*files]
    if paths or is_text(description):
        return _read(paths) or _notice(str(description))
    path = resolve(description)
    return _read(_beside(path)) | _notice(path.read_text(errors="replace"))


def _beside(description: Path) -> list[Path]:
    folder, licence = description.resolve().parent, OF_ROBOTS.get(description.stem)
    if ships(description):
        return [folder / licence] if licence else []
    files = sorted(folder.iterdir())
    return [file for file in files if file.name.upper().startswith(_NAMES) and file.is_file()]


def _read(files: Iterable[Path]) -> dict[str, bytes]:
    try:
        return {file.name: file.read_bytes() for file in files}
    except OSError as error:
        raise OptionError(f"cannot read the licence {error.filename!a}: {error.strerror}") from error


def _notice(text: str) -> dict[str, bytes]:
    """Return NOTICE.txt if comments name a copyright; consecutive comments count as one."""
    notices = (block for block in _COMMENTS.findall(text) if "copyright" in block.lower())
    notice = "\n\n".join(re.sub(r" *-->|<!--", "", block).strip() for block in notices)
    return {"NOTICE.txt": f"{notice}\n".encode()} if notice else {}

"""Descriptions that are passed as text instead of a path."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path
from typing import TypeGuard

from rbdc.errors import DescriptionError

TEXT = "<text>"
"""Stands for the file in messages on a description that was passed as text."""
UNNAMED = "robot"
"""Name of a robot whose description was passed as text and has no name."""

_DECLARED_LATE = re.compile(r"\A(\s+)<\?xml(?=\s)")


def is_text(description: object) -> TypeGuard[str]:
    """Return whether an argument is the text of a description, XML or JSON, and not a path."""
    return isinstance(description, str) and description.lstrip("\ufeff").lstrip().startswith(("<", "{"))


def encoded(text: str) -> bytes:
    """Return the text in UTF-8 with unchanged line numbers.

    Blanks before an XML declaration, which no parser accepts, move behind `<?xml`. Raises
    DescriptionError for an empty text and for one that cannot be encoded.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise DescriptionError("the text is empty", "give a robot description", TEXT)
    try:
        return _DECLARED_LATE.sub(r"<?xml\1", text).encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DescriptionError("not Unicode text", "decode it as UTF-8", TEXT, line) from None


def stem_of(description: str | PathLike[str]) -> str:
    """Return the name of a robot whose description has no name: the name of its file, or `UNNAMED` for a
    text.
    """
    return UNNAMED if is_text(description) else Path(description).stem

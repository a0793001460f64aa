"""Expanding a xacro file by the package of that name, in a process of its own and within a time limit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lxml import etree

from rbdc.errors import DescriptionError, OptionError, UnsupportedError
from rbdc.model.description import Note
from rbdc.model.xml import Document, on_one_line, shown
from rbdc.processes import run

SECONDS = 60.0
"""After which expanding a file is ended: those of large humanoids take some seconds."""
_XACRO = "xacro"
_PROGRAM = Path(__file__).with_name("expand_xacro.py")
_REMEDY = "mend the file, or give its arguments with --xacro-arg NAME:=VALUE"


def is_xacro(document: Document) -> bool:
    """Whether a document has elements of the namespace of xacro."""
    return any(_XACRO in (etree.QName(own).namespace or "") for own in document.root.iter("{*}*"))


def expanded(document: Document, arguments: Sequence[tuple[str, str]]) -> Document:
    """The text that the package xacro makes of a file; messages on it name the file, its lines are those of
    the result, and what xacro says is among its notes.

    Raises DescriptionError where xacro refuses the file or takes more than `SECONDS`, UnsupportedError
    where it is not installed, OptionError for arguments that the file does not ask for.
    """
    if find_spec(_XACRO) is None:
        raise UnsupportedError(
            f"{document.file}: xacro files are expanded by the package xacro, which is not installed: "
            "pip install 'rbdc[xacro]'"
        )
    answer, said = _answer(document.file, dict(arguments))
    asked = answer["asked"]
    for name, _ in arguments:
        if name not in asked:
            raise OptionError(
                f'{document.file}: --xacro-arg: it has no argument "{shown(name)}"; '
                f"there are {', '.join(map(shown, asked)) or 'none'}"
            )
    result = Document(f"{document.file} (expanded)", answer["text"].encode())
    result.notes += [Note(f"xacro: {said}")] if said else []
    return result


def _answer(file: str, arguments: dict[str, str]) -> tuple[dict[str, Any], str]:
    """The program's answer, and what xacro says beside it."""
    question = json.dumps({"path": sys.path, "file": file, "arguments": arguments})
    try:
        status, output, errors = run([sys.executable, str(_PROGRAM), question], seconds=SECONDS)
    except subprocess.TimeoutExpired as error:
        problem = f"xacro has not expanded it in {SECONDS:g} s and was ended"
        remedy = "look for an expression that takes so long: those of a xacro file are run as they stand"
        raise DescriptionError(problem, remedy, file, None) from error
    said = on_one_line(errors)
    if status != 0:
        problem = "refuses it" if status == 1 else f"ended with status {status}"
        raise DescriptionError(f"xacro {problem}: {said[-500:]}", _REMEDY, file, None)
    return json.loads(output), said

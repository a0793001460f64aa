"""Expanding a xacro file by the package of that name, in a process of its own and within a time limit, for it
is a program too: its expressions may take for ever, or end the process.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from signal import ITIMER_REAL, SIGALRM, setitimer
from tempfile import TemporaryFile
from typing import Any

from lxml import etree

from rbdc.errors import DescriptionError, OptionError, UnsupportedError
from rbdc.model.description import Note
from rbdc.model.xml import Document, on_one_line, shown
from rbdc.processes import Helper, HelperEnded

SECONDS = 60.0
"""After which expanding a file is ended: those of large humanoids take some seconds."""
_XACRO = "xacro"
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
    text, asked, said = _answer(document.file, dict(arguments))
    for name, _ in arguments:
        if name not in asked:
            raise OptionError(
                f'{document.file}: --xacro-arg: it has no argument "{shown(name)}"; '
                f"there are {', '.join(map(shown, asked)) or 'none'}"
            )
    result = Document(f"{document.file} (expanded)", text.encode())
    result.notes += [Note(f"xacro: {said}")] if said else []
    return result


def _answer(file: str, arguments: dict[str, str]) -> tuple[str, list[str], str]:
    """The answer of `expand`, and what xacro says beside it."""
    text, asked, status = "", list[str](), 0
    with TemporaryFile() as messages:
        try:
            with Helper(expand, stderr=messages) as helper:
                text, asked = helper((file, arguments, SECONDS))
        except HelperEnded as ended:
            status = ended.status
        messages.seek(0)
        said = on_one_line(messages.read().decode(errors="replace"))
    if status == -SIGALRM:
        problem = f"xacro has not expanded it in {SECONDS:g} s and was ended"
        remedy = "look for an expression that takes so long: those of a xacro file are run as they stand"
        raise DescriptionError(problem, remedy, file)
    if status != 0:
        problem = "refuses it" if status == 1 else f"ended with status {status}"
        raise DescriptionError(f"xacro {problem}: {said[-500:]}", _REMEDY, file)
    return text, asked, said


class _Arguments(dict[str, str]):
    """Arguments of a xacro file, which know those that the file has asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def expand(question: tuple[str, Mapping[str, str], float]) -> tuple[str, list[str]]:
    """The text of a file with some arguments, and the names of those that it has asked for. It ends the
    process, which is one for this alone, after so many seconds, or with the reason why there is no text.
    """
    file, given, seconds = question
    setitimer(ITIMER_REAL, seconds)
    import xacro

    expander: Any = xacro
    arguments = _Arguments(given)
    try:
        with redirect_stdout(sys.stderr):
            text = expander.process_file(file, mappings=arguments).toprettyxml(indent="  ")
    except (Exception, SystemExit) as error:  # expressions and macros may raise whatever Python does
        sys.exit(str(error))
    return text, sorted(map(str, arguments.asked))

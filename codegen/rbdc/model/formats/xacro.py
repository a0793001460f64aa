"""Expansion of xacro files by the package xacro, in a separate process with a time limit. A xacro file is a
program: its expressions may run for ever or end the process.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from signal import ITIMER_REAL, SIGALRM, setitimer
from tempfile import TemporaryFile
from types import ModuleType
from typing import Any, NamedTuple

from lxml import etree

from rbdc.errors import DescriptionError, OptionError, UnsupportedError
from rbdc.model.description import Effect, Note
from rbdc.model.formats.packages import URI, package_folder
from rbdc.model.text import TEXT
from rbdc.model.xml import Document, as_written, namespace_of, on_one_line, prefixed, shown
from rbdc.option_fields import asked
from rbdc.processes import Helper, HelperEnded
from rbdc.runtime._suggestions import suggestion

SECONDS = 60.0
"""Time limit for the expansion of a file (s). Files of large humanoids take a few seconds."""
_XACRO = "xacro"
_REMEDY = "mend the file, or give its arguments with `xacro_arg='NAME:=VALUE'`"


_DEFINING = (
    "arg", "attribute", "call", "element", "if", "include", "insert_block", "macro", "property", "unless",
)  # fmt: skip
"""Elements of xacro that are not macro calls."""


def is_xacro(document: Document) -> bool:
    """Return whether a document has elements of xacro to expand."""
    return bool(_xacro_elements(document)) and not left_over(document)


def left_over(document: Document) -> list[etree._Element]:
    """Return the elements of xacro, if a description has links and defines nothing by xacro: the elements
    then call undefined macros.
    """
    calls = _xacro_elements(document)
    defined = document.root.find("link") is None or any(prefixed(call)[1] in _DEFINING for call in calls)
    return [] if defined else calls


def note_left_over(document: Document) -> None:
    """Note the macro calls that the expansion of a description left."""
    for call in left_over(document):
        message = f"<{shown(as_written(call))}> calls a macro that nothing defines: ignored"
        document.note(message, call, Effect.ALL)


def _xacro_elements(document: Document) -> list[etree._Element]:
    return [
        element
        for element in document.root.iter("{*}*")
        if prefixed(element)[0] == _XACRO or _XACRO in namespace_of(element)
    ]


def expanded(
    document: Document, arguments: Sequence[tuple[str, str]], package_path: Sequence[Path]
) -> Document:
    """Return the expanded text of a file. Later messages name the file, with the lines of the expanded text.
    Messages of xacro become notes.

    Args:
        document: the file.
        arguments: names and values of its arguments.
        package_path: folders of packages, as for `package_folder`.

    Raises:
        DescriptionError: xacro refuses the file or takes more than `SECONDS`.
        UnsupportedError: xacro is not installed.
        OptionError: the file does not use an argument, or a folder does not exist.
    """
    if find_spec(_XACRO) is None:
        raise UnsupportedError(
            f"{document.file}: xacro files need the package xacro, which is not installed: "
            "pip install 'rbdc[xacro]'"
        )
    for folder in package_path:
        if not folder.is_dir():
            raise OptionError(f"{asked('package_path', folder)}: there is no such folder")
    content = document.text.decode() if document.file == TEXT else None
    question = Expansion(document.file, content, dict(arguments), [str(p) for p in package_path], SECONDS)
    text, known, said = _answer(question)
    for name, _ in arguments:
        if name not in known:
            raise OptionError(
                f'{document.file}: `xacro_arg`: the file has no argument "{shown(name)}"; '
                f"{suggestion(shown(name), map(shown, known))}"
            )
    result = Document(f"{document.file} (expanded)", text.encode())
    result.notes += [Note(f"xacro: {said}", effect=Effect.ALL)] if said else []
    return result


class Expansion(NamedTuple):
    """A file to expand.

    file: path.
    text: text of the description; None if it is a file.
    arguments: values by name.
    packages: folders of packages.
    seconds: time limit (s).
    """

    file: str
    text: str | None
    arguments: Mapping[str, str]
    packages: Sequence[str]
    seconds: float


def _answer(question: Expansion) -> tuple[str, list[str], str]:
    text, asked, status = "", list[str](), 0
    with TemporaryFile() as messages:
        try:
            with Helper(expand, stderr=messages) as helper:
                text, asked = helper(question)
        except HelperEnded as ended:
            status = ended.status
        messages.seek(0)
        said = on_one_line(messages.read().decode(errors="replace"))
    if status == -SIGALRM:
        problem = f"xacro did not expand the file within {question.seconds:g} s and was stopped"
        remedy = "look for an expression that does not end: xacro evaluates the expressions of the file"
        raise DescriptionError(problem, remedy, question.file)
    if status != 0:
        problem = "refuses the file" if status == 1 else f"ended with status {status}"
        raise DescriptionError(f"xacro {problem}: {said[-500:]}", _REMEDY, question.file)
    return text, asked, said


class _Arguments(dict[str, str]):
    """Arguments of a xacro file, with a record of those that the file has read."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


class _Packages:
    """The folders of the packages that a file names, and the packages that were not found."""

    def __init__(self, question: Expansion) -> None:
        self.question = question
        self.missing: list[str] = []

    def folder(self, name: str) -> str:
        """Return the folder of a package. Raises LookupError if the package is not found."""
        file = None if self.question.text is not None else self.question.file
        path = package_folder(name, file, self.question.packages)
        if path is None:
            self.missing.append(name)
            raise LookupError(name)
        return str(path)

    def provide(self, expander: Any) -> None:
        """Make xacro use `folder`: for $(find NAME), which asks `get_package_share_directory` of ROS 2's
        index, and for package://NAME/PATH in includes and load_yaml.
        """
        index: Any = ModuleType("ament_index_python.packages")
        index.get_package_share_directory = self.folder
        sys.modules[index.__name__] = index
        path_of = expander.abs_filename_spec

        def inside(path: str) -> Any:
            name, _, rest = path.removeprefix(URI).partition("/")
            return path_of(f"{self.folder(name)}/{rest}" if path.startswith(URI) else path)

        expander.abs_filename_spec = inside


def expand(question: Expansion) -> tuple[str, list[str]]:
    """Return the expanded text of a file and the names of the arguments that the file has read. The function
    runs in a separate process. It ends the process at the time limit, and if xacro fails; then it prints the
    reason.

    Raises DescriptionError for a package that is not found.
    """
    file, text, content, _, seconds = question
    setitimer(ITIMER_REAL, seconds)
    import xacro

    expander: Any = xacro
    arguments, packages = _Arguments(content), _Packages(question)
    packages.provide(expander)
    try:
        with redirect_stdout(sys.stderr):
            expander.init_stacks(None if text is not None else file)
            document = expander.parse(text, file)
            expander.process_doc(document, mappings=arguments)
    except (Exception, SystemExit) as error:  # expressions and macros may raise any Python exception
        if packages.missing:
            raise _not_found(packages.missing[0], file) from None
        sys.exit(str(error))
    return document.toprettyxml(indent="  "), sorted(map(str, arguments.asked))


def _not_found(name: str, file: str) -> DescriptionError:
    problem = f'the file asks for files of the package "{shown(name)}", which is not found'
    return DescriptionError(problem, "give the folder that holds the package with `package_path='DIR'`", file)

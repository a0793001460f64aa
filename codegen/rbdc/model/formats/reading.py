"""Reading a description of any format, which its content tells: URDF, xacro, MJCF, D-H tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Any

from lxml import etree

from rbdc.errors import DescriptionError, OptionError, UnsupportedError
from rbdc.model.description import Description
from rbdc.model.formats.dh import is_dh, read_dh
from rbdc.model.formats.mjcf import read_mjcf
from rbdc.model.formats.urdf import description_of
from rbdc.model.xml import Document, content_of, shown

_XACRO = "xacro"


def read_description(
    path: str | PathLike[str], snap: float = 0.0, arguments: Sequence[tuple[str, str]] = ()
) -> Description:
    """The links and joints of a file; `snap` as in `rbdc.model.formats.urdf.read_urdf`, `arguments` of a
    xacro file, name and value.

    What is no XML is a Denavit-Hartenberg table; the root element tells MJCF from URDF, elements of its
    namespace tell xacro. Raises DescriptionError for anything malformed, UnsupportedError where a package
    that reads the format is not installed, OptionError for arguments that the file does not have.
    """
    file = fspath(path)
    text = content_of(file)
    if is_dh(text):
        _no_arguments(file, arguments)
        return read_dh(file, text, snap)
    document = Document(file, text)
    expanded = document.root.tag != "mujoco" and any(map(_is_xacro, _elements(document.root)))
    if not expanded:
        _no_arguments(file, arguments)
    if document.root.tag == "mujoco":
        return read_mjcf(document, snap)
    if expanded:
        document = _expanded(document, arguments)
    return description_of(document, snap)


def _no_arguments(file: str, arguments: Sequence[tuple[str, str]]) -> None:
    if arguments:
        raise OptionError(f"{file}: --xacro-arg is for xacro files, which this is not")


def _elements(root: etree._Element) -> Iterator[etree._Element]:
    return (element for element in root.iter() if isinstance(element.tag, str))


def _is_xacro(element: etree._Element) -> bool:
    return _XACRO in (etree.QName(element).namespace or "")


class _Arguments(dict[str, str]):
    """Arguments of a xacro file, which know those that the file has asked for."""

    def __init__(self, given: Sequence[tuple[str, str]]) -> None:
        super().__init__(given)
        self.asked: set[object] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def _expanded(document: Document, arguments: Sequence[tuple[str, str]]) -> Document:
    """What the package xacro makes of a file; messages on it name the file, its lines are those of the
    result.
    """
    try:
        import xacro
    except ImportError as error:
        raise UnsupportedError(
            f"{document.file}: xacro files are expanded by the package xacro, which is not installed: "
            "pip install 'rbdc[xacro]'"
        ) from error
    expander: Any = xacro
    given = _Arguments(arguments)
    try:
        text = expander.process_file(document.file, mappings=given).toprettyxml(indent="  ", encoding="utf-8")
    except Exception as error:  # expressions and macros of the file may raise whatever Python does
        problem = shown(" ".join(str(error).split()))
        remedy = "mend the file, or give its arguments with --xacro-arg NAME:=VALUE"
        raise DescriptionError(f"xacro refuses it: {problem}", remedy, document.file, None) from error
    for name, _ in arguments:
        if name not in given.asked:
            declared = ", ".join(shown(str(other)) for other in sorted(map(str, given.asked))) or "none"
            raise OptionError(
                f'{document.file}: --xacro-arg: it has no argument "{shown(name)}"; there are {declared}'
            )
    return Document(f"{document.file} (expanded)", text)

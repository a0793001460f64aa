"""Reading a description of any format, which its content tells: URDF, xacro, MJCF, D-H tables."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from typing import Any

from lxml import etree

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model.description import Description
from rbdc.model.formats.dh import is_dh, read_dh
from rbdc.model.formats.mjcf import read_mjcf
from rbdc.model.formats.urdf import description_of
from rbdc.model.xml import Document, content_of, shown

_XACRO = "xacro"


def read_description(path: str | PathLike[str], snap: float = 0.0) -> Description:
    """The links and joints of a file; `snap` as in `rbdc.model.formats.urdf.read_urdf`.

    What is no XML is a Denavit-Hartenberg table; the root element tells MJCF from URDF, elements of its
    namespace tell xacro. Raises DescriptionError for
    anything malformed, UnsupportedError where a package that reads the format is not installed.
    """
    file = fspath(path)
    text = content_of(file)
    if is_dh(text):
        return read_dh(file, text, snap)
    document = Document(file, text)
    if document.root.tag == "mujoco":
        return read_mjcf(document, snap)
    if any(_is_xacro(element) for element in _elements(document.root)):
        document = _expanded(document)
    return description_of(document, snap)


def _elements(root: etree._Element) -> Iterator[etree._Element]:
    return (element for element in root.iter() if isinstance(element.tag, str))


def _is_xacro(element: etree._Element) -> bool:
    return _XACRO in (etree.QName(element).namespace or "")


def _expanded(document: Document) -> Document:
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
    try:
        text = expander.process_file(document.file).toprettyxml(indent="  ", encoding="utf-8")
    except Exception as error:  # expressions and macros of the file may raise whatever Python does
        problem = shown(" ".join(str(error).split()))
        remedy = "mend the file, or expand it with the command xacro and its arguments"
        raise DescriptionError(f"xacro refuses it: {problem}", remedy, document.file, None) from error
    return Document(f"{document.file} (expanded)", text)

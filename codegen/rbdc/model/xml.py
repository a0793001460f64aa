"""Reading of untrusted XML, and of numbers in its attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from lxml import etree

from rbdc.errors import LONGEST, DescriptionError, brief
from rbdc.model.description import Effect, Note
from rbdc.model.text import TEXT, is_text

MAXIMUM_BYTES = 64 * 2**20
"""Larger files are refused before they are read. The largest known robots have a hundredth of this size."""

_DECLARED_VERSION = re.compile(rb"""((?:\xef\xbb\xbf)?<\?xml\s+version\s*=\s*["'])([0-9.]+)(?=["'])""")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def content_of(path: str | Path) -> bytes:
    """Return the bytes of a description. Raises DescriptionError if it is not a file, too large, unreadable
    or empty.
    """
    if is_text(path):
        raise DescriptionError("the text of a description is not a path", "use Model.from_text", TEXT)
    spelling, path = str(path), Path(path)

    def fail(problem: str, remedy: str) -> NoReturn:
        raise DescriptionError(problem, remedy, shown(spelling, LONGEST))

    try:
        if not path.is_file():
            fail("not a file" if path.exists() else "no such file", "give the path of a robot description")
        if path.stat().st_size > MAXIMUM_BYTES:
            remedy = "keep meshes in separate files"
            fail(f"larger than {MAXIMUM_BYTES // 2**20} MiB", remedy)
        text = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        fail(f"cannot be read: {reason}", "check the path and its permissions")
    if not text.strip():
        fail("the file is empty", "give a robot description")
    return text


class Document:
    """A parsed XML file: its root element, notes, and errors that name file and line."""

    def __init__(self, file: str, text: bytes) -> None:
        self.file, self.text = file, text
        self.notes: list[Note] = []
        if b"<!DOCTYPE" in self.text:
            self._refuse_doctype(self.text[: self.text.index(b"<!DOCTYPE")].count(b"\n") + 1)
        self.root = self._parsed(self._as_version_1())
        information: Any = self.root.getroottree().docinfo
        if information.doctype:
            self._refuse_doctype(1)
        self._without_default_namespaces()

    def _parsed(self, text: bytes) -> etree._Element:
        """Return the root element. Undeclared prefixes are noted and stay in the names of elements."""
        given_as_text = self.file == TEXT  # the declared encoding no longer holds
        parser = _parser(given_as_text=given_as_text)
        try:
            return etree.fromstring(text, parser)
        except etree.XMLSyntaxError as error:
            log: Any = parser.error_log  # the error's own log also has earlier messages
            grave = [entry for entry in log if entry.domain != etree.ErrorDomains.NAMESPACE]
            if grave or not len(log):
                said, line = (grave[0].message, grave[0].line) if grave else (error.msg, error.lineno)
                problem = f"not well-formed XML: {shown(on_one_line(said or 'unknown error'))}"
                self.fail(problem, "mend the XML at this place", line or None)
        except (ValueError, LookupError) as error:
            problem = f"not readable as XML: {shown(on_one_line(str(error)))}"
            self.fail(problem, "save the file as UTF-8 XML", None)
        root = etree.fromstring(text, _parser(given_as_text=given_as_text, recover=True))
        for prefix, elements in _undeclared(root).items():
            count = f"{len(elements)} x " if len(elements) > 1 else ""
            self.note(f'{count}the prefix "{shown(prefix)}" is not declared: read as written', elements[0])
        return root

    def _without_default_namespaces(self) -> None:
        """Read elements without a prefix as elements of URDF, and ignore their default namespace."""
        seen: set[str] = set()
        for element in self.root.iter("{*}*"):
            space = namespace_of(element)
            if not space or element.prefix is not None:
                continue
            element.tag = prefixed(element)[1]
            if space not in seen:
                seen.add(space)
                self.note(f'the default namespace "{shown(space)}" is ignored', element)

    def _refuse_doctype(self, line: int) -> NoReturn:
        problem = "a document type declaration is not accepted"
        self.fail(problem, "remove the <!DOCTYPE ...> and any entities", line)

    def fail(self, problem: str, remedy: str, where: etree._Element | int | None) -> NoReturn:
        """Raise DescriptionError at an element or a line."""
        raise DescriptionError(problem, remedy, self.file, line_of(where))

    def note(
        self, message: str, where: etree._Element | int | None = None, effect: Effect = Effect.NONE
    ) -> None:
        """Note something odd at an element or a line; `effect`: the functions whose numbers it changes."""
        self.notes.append(Note(message, line_of(where), effect))

    def attribute(self, element: etree._Element, name: str) -> str:
        """Return a required, non-empty attribute."""
        text = element.get(name)
        if text is None or not text.strip():
            self.fail(f"<{element.tag}> has no {name}", f'give it {name}="..."', element)
        return text

    def number(self, element: etree._Element, name: str, default: float | None = None) -> float:
        """Return a finite number. If the attribute is absent, return `default`, or raise DescriptionError if
        there is no default.
        """
        text = element.get(name)
        if text is None and default is not None:
            return default
        return self._finite(element, name, (text or "").strip())

    def written(self, element: etree._Element) -> float:
        """Return the finite number in an element's text."""
        return self._finite(element, "text", (element.text or "").strip())

    def vector(
        self, element: etree._Element, name: str, default: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        """Return three finite numbers separated by blanks."""
        x, y, z = self.numbers(element, name, [3], "three") or default
        return x, y, z

    def numbers(
        self, element: etree._Element, name: str, counts: Sequence[int], in_words: str
    ) -> list[float]:
        """Return finite numbers separated by blanks, as many as `counts` allows; none if the attribute is
        absent.
        """
        text = element.get(name)
        words = [] if text is None else text.split()
        if text is not None and len(words) not in counts:
            problem = f'<{element.tag}> {name}="{shown(text)}" has {len(words)} numbers'
            self.fail(problem, f"write {in_words}, separated by blanks", element)
        return [self._finite(element, name, word) for word in words]

    def children(self, element: etree._Element) -> Iterator[etree._Element]:
        """Yield the child elements; entity references, which are never resolved, are refused."""
        for child in element:
            if not isinstance(child.tag, str):
                self.fail("an entity reference is not accepted", "write its text in its place", child)
            yield child

    def _as_version_1(self) -> bytes:
        """Return the text, declared as XML 1.0 if it declares an unknown version: many files have
        version="0.0".
        """
        declared = _DECLARED_VERSION.match(self.text)
        if declared is None or declared[2].startswith(b"1."):
            return self.text
        self.note(f'the file is declared as XML of version "{shown(declared[2].decode())}": read as 1.0', 1)
        return declared[1] + b"1.0" + self.text[declared.end() :]

    def _finite(self, element: etree._Element, name: str, text: str) -> float:
        if NUMBER.fullmatch(text) is None or not math.isfinite(float(text)):
            self.fail(
                f'<{element.tag}> {name}="{shown(text)}" is not a finite number',
                "write a decimal number such as 0.25",
                element,
            )
        return float(text)


def line_of(where: etree._Element | int | None) -> int | None:
    """Return the line on which an element begins; a line is returned unchanged."""
    line: Any = where.sourceline if isinstance(where, etree._Element) else where
    return line if isinstance(line, int) else None


def _parser(*, given_as_text: bool, recover: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
        encoding="utf-8" if given_as_text else None,
    )


def _undeclared(root: etree._Element) -> dict[str, list[etree._Element]]:
    """Return, for each undeclared prefix, the elements whose name, or the name of an attribute, begins with
    the prefix.
    """
    elements: dict[str, list[etree._Element]] = {}
    for element in root.iter("{*}*"):
        for name in (str(element.tag), *map(str, element.attrib)):
            prefix, colon, _ = name.partition(":")
            if colon and not name.startswith("{"):
                elements.setdefault(prefix, []).append(element)
    return elements


def prefixed(element: etree._Element) -> tuple[str, str]:
    """Return the prefix, "" without one, and the name of an element, even if the prefix is not declared."""
    name = str(element.tag).rpartition("}")[2]
    prefix, colon, rest = name.partition(":")
    return (prefix, rest) if colon else (element.prefix or "", name)


def namespace_of(element: etree._Element) -> str:
    """Return the address of the namespace of an element, "" without one."""
    address, closed, _ = str(element.tag).partition("}")
    return address[1:] if closed else ""


def as_written(element: etree._Element) -> str:
    """Return the name of an element with its prefix."""
    return ":".join(filter(None, prefixed(element)))


def drake_name(element: etree._Element) -> str | None:
    """Return the name of an element in Drake's namespace, whatever address a description uses for it."""
    prefix, name = prefixed(element)
    return name if prefix == "drake" else None


def shown(text: str, most: int = 80) -> str:
    """Return text from a description for a message: one line, printable, at most `most` characters."""
    return brief(printable(text[: most + 1]), most)


def free_name(name: str, names: Container[str]) -> str:
    """Return the name, with underscores appended until it is not one of `names`."""
    while name in names:
        name += "_"
    return name


def on_one_line(text: str) -> str:
    """Return a message of another program on one line, whole and printable."""
    return printable(" ".join(text.split()))


def printable(text: str) -> str:
    """Return text of any length; characters that cannot be printed are shown by their numbers."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)

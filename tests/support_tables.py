"""Tables of the pages that say what becomes of the elements and attributes of a format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from rbdc.errors import RbdcError
from rbdc.model import Problem

DOCS = Path(__file__).parents[1] / "docs"
"""The pages on descriptions."""
ALL, OTHERS = "all", "others"
"""Attributes of a row: all of its elements, or those that no other row has."""
FATES = ("read", "folded", "ignored", "refused", "no effect")
"""What becomes of an attribute, as the last column begins."""


Change = Mapping[str, str | None]
"""Attributes of an element by their names; None takes one away."""
Read = Callable[..., tuple[Problem | None, set[str]]]
"""From a text and options the model but for its notes, and these; None for what is refused."""


class Row(NamedTuple):
    """A row of a table: paths of elements, names of attributes, ALL or OTHERS, the fate, and words of a
    warning.
    """

    elements: tuple[str, ...]
    attributes: tuple[str, ...]
    fate: str
    words: str

    def has(self, element: str) -> bool:
        """Return whether a row is about an element: "a/*" is about "a" and all below it."""
        return any(
            element == name or (name.endswith("/*") and f"{element}/".startswith(name[:-1]))
            for name in self.elements
        )


def table(page: str, heading: str) -> list[Row]:
    """Return the rows of the first table below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1]
    lines = text[text.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()[2:]
    return [_row(line) for line in lines]


def _row(line: str) -> Row:
    elements, attributes, fate = (cell.strip() for cell in line.strip().strip("|").split("|"))
    (begun,) = (word for word in FATES if fate.startswith(word))
    words = re.search('"(.*)"', fate)
    named = tuple(re.findall("`(.*?)`", attributes)) or (attributes,)
    return Row(
        tuple(re.findall("`(.*?)`", elements)), named, begun, words[1].replace("`", "") if words else ""
    )


def row_of(rows: Sequence[Row], element: str, attribute: str) -> Row:
    """Return the one row that has an attribute of an element; AssertionError without one, or with two."""
    about = [row for row in rows if row.has(element)]
    named = [row for row in about if attribute in row.attributes or row.attributes == (ALL,)]
    matches = named or [row for row in about if row.attributes == (OTHERS,)]
    assert len(matches) == 1, f"{element}: {attribute} is in {len(matches)} rows"
    return matches[0]


def check_complete(rows: Sequence[Row], schema: Mapping[str, Iterable[str]]) -> None:
    """Assert that every attribute of a schema is in one row, and that every row has an attribute of the
    schema.
    """
    used = {row_of(rows, element, name) for element, attributes in schema.items() for name in attributes}
    assert used == set(rows)
    for row in rows:
        for element in row.elements:
            known = {name for path, attributes in schema.items() if row.has(path) for name in attributes}
            assert any(row.has(path) for path in schema), element
            assert set(row.attributes) <= {ALL, OTHERS, *known}, row


def values(text: str) -> dict[str, str | Change]:
    """Return attributes as XML has them."""
    return {str(name): str(value) for name, value in etree.fromstring(f"<any {text}/>").attrib.items()}


_DRAKE = 'xmlns:drake="http://drake.mit.edu"'


def changed(text: str, changes: Mapping[str, Change]) -> str:
    """Return a description with other attributes of some elements, by their XPath; None takes one away."""
    root = etree.fromstring(text)
    for place, attributes in changes.items():
        element = _at(root, place)
        for name, value in attributes.items():
            if value is not None:
                element.set(name, value)
            elif name in element.attrib:
                del element.attrib[name]
    return etree.tostring(root, encoding="unicode")


def extended(text: str, place: str, content: str) -> str:
    """Return a description with more elements, or with text, in an element by its XPath."""
    root, more = etree.fromstring(text), etree.fromstring(f"<all {_DRAKE}>{content}</all>")
    element = _at(root, place)
    element.text = more.text or element.text
    element.extend(list(more))
    return etree.tostring(root, encoding="unicode")


def _at(root: etree._Element, place: str) -> etree._Element:
    elements: Any = root.xpath(place)
    element: etree._Element = elements[0]
    return element


def reader(path: Path) -> Read:
    """Return a reader of descriptions that are written to a file one after the other."""

    @cache
    def read(text: str, **options: Any) -> tuple[Problem | None, set[str]]:
        path.write_text(text)
        try:
            model = Problem.from_file(path, **options)
        except RbdcError as error:
            return None, {str(error)}
        return replace(model, notes=(), description_hash=None), {note.message for note in model.notes}

    return read


COUNTED: dict[str, Any] = dict.fromkeys(("damping", "springs", "friction"), "include")


def check(row: Row, before: str, after: str, read: Read, *, accepted: bool = True, **options: Any) -> None:
    """Assert what a row says about the difference of `after` from `before`.

    accepted: whether both must be read; else one of them may be refused.
    """
    counted = {} if row.fate == "ignored" else COUNTED | options
    model, notes = read(after, **counted)
    without, noted = read(before, **counted)
    if row.fate == "refused":
        assert model is None and without is not None
        assert all(Path(note.split(":")[0]).name.startswith("scene.") for note in notes)
    elif row.fate in ("read", "folded"):
        assert model != without
        assert not accepted or (model is not None and without is not None), notes
    else:
        assert model is not None and without is not None, notes
        assert uncounted(model) == uncounted(without)
        assert any(row.words in note for note in notes) if row.fate == "ignored" else notes <= noted, notes


def uncounted(model: Problem) -> Problem:
    """Return the model without what counts only where it is asked for."""
    off: dict[str, Any] = {} if model.drive_terms else dict.fromkeys(_DRIVES, 0.0)
    return replace(model, bodies=tuple(replace(body, **off) for body in model.bodies))


_DRIVES = ("damping", "stiffness", "spring_rest", "friction")

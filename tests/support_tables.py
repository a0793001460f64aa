"""Tables of the pages that say what becomes of the elements and attributes of a format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROBOTS = Path(__file__).parents[1] / "robots"
"""The pages on descriptions."""
ALL, OTHERS = "all", "others"
"""Attributes of a row: all of its elements, or those that no other row has."""
FATES = ("read", "folded", "ignored", "refused", "no effect")
"""What becomes of an attribute, as the last column begins."""


class Row(NamedTuple):
    """One row: paths of elements, names of attributes, ALL or OTHERS, the fate, and a warning's words."""

    elements: tuple[str, ...]
    attributes: tuple[str, ...]
    fate: str
    words: str

    def has(self, element: str) -> bool:
        """Whether a row is about an element: "a/*" is about "a" and all below it."""
        return any(
            element == own or (own.endswith("/*") and f"{element}/".startswith(own[:-1]))
            for own in self.elements
        )


def table(page: str, heading: str) -> list[Row]:
    """The rows of the first table below a heading."""
    text = (ROBOTS / page).read_text(encoding="utf-8").split(f"\n{heading}\n", 1)[1]
    lines = text[text.index("\n|") + 1 :].split("\n\n", 1)[0].splitlines()[2:]
    return [_row(line) for line in lines]


def _row(line: str) -> Row:
    elements, attributes, fate = (cell.strip() for cell in line.strip().strip("|").split("|"))
    (begun,) = (own for own in FATES if fate.startswith(own))
    words = re.search('"(.*)"', fate)
    named = tuple(re.findall("`(.*?)`", attributes)) or (attributes,)
    return Row(tuple(re.findall("`(.*?)`", elements)), named, begun, words[1] if words else "")


def row_of(rows: Sequence[Row], element: str, attribute: str) -> Row:
    """The one row that has an attribute of an element; AssertionError without one, or with two."""
    about = [row for row in rows if row.has(element)]
    named = [row for row in about if attribute in row.attributes or row.attributes == (ALL,)]
    found = named or [row for row in about if row.attributes == (OTHERS,)]
    assert len(found) == 1, f"{element}: {attribute} is in {len(found)} rows"
    return found[0]


def check_complete(rows: Sequence[Row], schema: Mapping[str, Iterable[str]]) -> None:
    """Every attribute of a schema is in one row, and every row has something of the schema."""
    used = {row_of(rows, element, own) for element, attributes in schema.items() for own in attributes}
    assert used == set(rows)
    for row in rows:
        for element in row.elements:
            known = {own for path, attributes in schema.items() if row.has(path) for own in attributes}
            assert any(row.has(path) for path in schema), element
            assert set(row.attributes) <= {ALL, OTHERS, *known}, row

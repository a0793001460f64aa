"""The page of a study, or of families of mechanisms: claims with verdicts, tables, figures, the data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.emit.render import render_html
from rbdc.report.present.formatting import embedded

MOST_COLUMNS = 5
"""Columns of a table that fit into the width of a phone."""


@dataclass(frozen=True)
class Table:
    """A table of texts under a title; the first column names the rows."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @property
    def stacked(self) -> bool:
        """Whether it has too many columns for a phone, which then has the cells of a row in lines."""
        return len(self.head) > MOST_COLUMNS

    @property
    def lines(self) -> list[list[tuple[str, str]]]:
        """The cells of every row beside the headings of their columns."""
        return [list(zip(self.head, row, strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Figure:
    """Plots as SVG under a title, with a sentence about them."""

    title: str
    words: str
    plots: Sequence[str]


@dataclass(frozen=True)
class Heading:
    """The top of a page: its title, what it repeats, and further notes."""

    title: str
    lead: str
    notes: Sequence[str] = ()


def study_page(
    heading: Heading, report: Mapping[str, Any], tables: Sequence[Table], figures: Sequence[Figure]
) -> str:
    """The text of a self-contained page, which carries the report as JSON. Of the report the claims and
    `quick` are shown, where it has them.
    """
    return render_html(
        "study.html.jinja",
        title=heading.title,
        lead=heading.lead,
        notes=heading.notes,
        quick=report.get("quick", False),
        claims=report.get("claims", []),
        tables=tables,
        figures=figures,
        data=embedded(json.dumps(report)),
    )

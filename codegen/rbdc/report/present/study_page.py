"""The page of a study, or of families of mechanisms: claims with verdicts, tables, figures, the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.analysis.tables import Table
from rbdc.emit.render import render_html
from rbdc.report.present.formatting import embedded


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
    heading: Heading,
    report: Mapping[str, Any],
    tables: Sequence[Table],
    figures: Sequence[Figure],
    file: str = "study.json",
) -> str:
    """The text of a self-contained page, which carries the report as JSON. Of the report the claims and
    `quick` are shown, where it has them.
    """
    head = ("claim", "verdict", "found")
    claims = [[claim[name] for name in head] for claim in report.get("claims", [])]
    said = [Table("What the article says", head, claims, words=head)] if claims else []
    return render_html(
        "study.html.jinja",
        **vars(heading),
        quick=report.get("quick", False),
        tables=[*said, *tables],
        figures=figures,
        **embedded(report, file),
    )

"""Self-contained pages of parts with sentences, figures, tables and further parts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.analysis.tables import Table
from rbdc.emit.render import render


@dataclass(frozen=True)
class Part:
    """A part of a page: sentences, plots as SVG, tables, remarks; parts folded away under their titles, and
    parts that are not.
    """

    title: str
    words: Sequence[str] = ()
    plots: Sequence[str] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    folded: Sequence[Part] = ()
    parts: Sequence[Part] = ()


Key = Sequence[tuple[str, str, str]]
"""The key of a page's colours: names, what they mean, and the colours."""


def page_text(page: Part, key: Key = (), report: Mapping[str, Any] | None = None, file: str = "") -> str:
    """The HTML of a page. One that is made of a report carries it as JSON, and tells of the file that has it
    too.
    """
    data = json.dumps(report).replace("<", "\\u003c")  # so that it may stand in a script element
    made_by = (report or {}).get("generator", "rbdc")
    return render("page.html.jinja", page=page, key=key, generator=made_by, file=file, data=data)

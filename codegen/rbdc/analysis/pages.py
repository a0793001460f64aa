"""Sentences, tables and pages as data; `show` renders them on the terminal, `page_text` as a self-contained
HTML page.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Drawn
from rich.text import Text

from rbdc.emit.render import render

DASH = "\u2013"
"""Stands for a missing value."""
MOST_COLUMNS = 5
"""Columns of a table that fit into the width of a phone."""
WIDE = 140
"""Width of text (columns) if there is no terminal."""
WORDS = 24
"""Least width (columns) of words that can be broken."""
_BORDER = 3
"""Columns of a border and of the blanks beside it."""


def figure(value: float | None, form: str) -> str:
    """Return a value in a format; a dash for None."""
    return DASH if value is None else format(value, form)


class Cell(NamedTuple):
    """A cell of a table.

    text: its text.
    below: text on the next line.
    colour: colour of the dot before it.
    hint: text that a pointer on the cell shows.
    """

    text: str
    below: str = ""
    colour: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """A table of texts under a title; the first column names the rows.

    head: headings of the columns.
    note: text below the table.
    words: headings of columns of words; other columns hold numbers.
    wrong: indices of rows with wrong results.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    note: str = ""
    words: Collection[str] = ()
    wrong: Collection[int] = ()

    @property
    def stacked(self) -> bool:
        """Whether the table is too wide for a phone, which shows the cells of a row on separate lines."""
        return len(self.head) > MOST_COLUMNS or bool(self.words)

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """Headings, and whether their columns hold words."""
        return [(name, name in self.words) for name in self.head]

    @property
    def lines(self) -> list[tuple[bool, list[tuple[str, bool, Cell]]]]:
        """For each row whether it is wrong, and its cells, each with the heading of its column."""
        rows = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]
        return [
            (k in self.wrong, [(*head, cell) for head, cell in zip(self.headings, row, strict=True)])
            for k, row in enumerate(rows)
        ]

    def only(self, *names: str) -> Table:
        """Return the columns with these headings, in the order of the table."""
        return self.columns([k for k, name in enumerate(self.head) if name in names])

    def columns(self, indices: Sequence[int]) -> Table:
        """Return the columns with these indices."""
        rows = [[row[k] for k in indices] for row in self.rows]
        return replace(self, head=[self.head[k] for k in indices], rows=rows)

    def within(self, width: int) -> list[Table]:
        """Return tables of at most this width, one below the other; each begins with the names of the rows.

        A column is as wide as its longest text; columns of words need only `WORDS`.
        """
        texts = [[name, *(_flat(row[k]) for row in self.rows)] for k, name in enumerate(self.head)]
        needed = [max(map(cell_len, column)) for column in texts]
        for k in (k for k, (_, words) in enumerate(self.headings) if words and k > 0):
            longest = max(cell_len(word) for text in texts[k] for word in (text.split() or [""]))
            needed[k] = max(longest, min(needed[k], WORDS))
        groups: list[list[int]] = [[]]
        for k in range(1, len(needed)):
            used = sum(needed[i] + _BORDER for i in (0, *groups[-1], k)) + 1
            if used > width and groups[-1]:
                groups.append([])
            groups[-1].append(k)
        parts = [replace(self.columns([0, *group]), title="", note="") for group in groups]
        parts[0] = replace(parts[0], title=self.title)
        parts[-1] = replace(parts[-1], note=self.note)
        return parts


def _flat(cell: str | Cell) -> str:
    return f"{cell.text} {cell.below}".rstrip() if isinstance(cell, Cell) else cell


@dataclass(frozen=True)
class Part:
    """A part of a page.

    words: sentences.
    plots: figures as SVG.
    blocks: blocks of HTML.
    notes: remarks.
    folded, parts: parts that are closed under their titles until the reader opens them, and open parts.
    """

    title: str
    words: Sequence[str] = ()
    plots: Sequence[str] = ()
    blocks: Sequence[str] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    folded: Sequence[Part] = ()
    parts: Sequence[Part] = ()


Key = Sequence[tuple[str, str, str]]
"""The key of a page's colours: names, what they mean, and the colours."""


def page_text(
    page: Part,
    key: Key = (),
    report: Mapping[str, Any] | None = None,
    file: str = "",
    style: str = "",
    scripts: Sequence[str] = (),
) -> str:
    """Return the HTML of a page.

    report: data that the page contains as JSON.
    file: name of the file with the same data; the page shows it.
    style, scripts: text of style sheets and scripts of this page alone.
    """
    # "<" is escaped so that the data may stand in a script element
    data = "" if report is None else json.dumps(report).replace("<", "\\u003c")
    made_by = (report or {}).get("generator", "rbdc")
    more = {"style": style, "scripts": scripts, "data": data}
    return render("page.html.jinja", page=page, key=key, generator=made_by, file=file, **more)


def console(*, stderr: bool = False) -> Console:
    """Return the console. If its output is no terminal, the environment variable COLUMNS sets its width, by
    default `WIDE`.
    """
    terminal = Console(stderr=stderr)
    told = terminal.is_terminal or "COLUMNS" in os.environ
    return terminal if told else Console(width=WIDE, stderr=stderr)


def show(*lines: str | Table, stderr: bool = False) -> None:
    """Show sentences and tables on the terminal.

    Each sentence is one line, which a terminal breaks between words. A table that is too wide is split, so
    that no number or name is cut.
    """
    terminal = console(stderr=stderr)
    wide = terminal.width >= WIDE
    for line in lines:
        if isinstance(line, str):
            terminal.print(Text(line), soft_wrap=wide)
            continue
        for part in line.within(terminal.width):
            if part.title:  # not as the title of the table, which breaks it at the width of the table
                terminal.print(Text(part.title, "italic"), soft_wrap=wide)
            terminal.print(_drawn(part))


def _drawn(table: Table) -> Drawn:
    drawn = Drawn(caption=Text(table.note) if table.note else None, caption_justify="left")
    for k, (name, words) in enumerate(table.headings):
        left = words or k == 0
        drawn.add_column(
            name, justify="left" if left else "right", no_wrap=not words or k == 0, overflow="fold"
        )
    for wrong, cells in table.lines:
        drawn.add_row(*(Text(_flat(cell)) for *_, cell in cells), style="red" if wrong else None)
    return drawn

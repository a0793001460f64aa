"""Tables of texts: pages lay them out by a template, `show_table` shows them on the terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

DASH = "\u2013"
"""Stands for a figure that does not exist."""
MOST_COLUMNS = 5
"""Columns of a table that fit into the width of a phone."""
WIDE = 140
"""Columns of text where there is no terminal to say how many it has."""


def figure(value: float | None, form: str) -> str:
    """A figure in a format, a dash for one that does not exist."""
    return DASH if value is None else format(value, form)


class Cell(NamedTuple):
    """The text of a cell, one below it, the colour of a dot before it, and what a pointer on it tells."""

    text: str
    below: str = ""
    colour: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Table:
    """A table of texts under a title; the first column names the rows. words: headings of columns of words,
    not of numbers. wrong: numbers of the rows whose results are.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    note: str = ""
    words: Collection[str] = ()
    wrong: Collection[int] = ()

    @property
    def stacked(self) -> bool:
        """Whether it is too wide for a phone, which then has the cells of a row in lines."""
        return len(self.head) > MOST_COLUMNS or bool(self.words)

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """Headings, and whether their columns hold words."""
        return [(name, name in self.words) for name in self.head]

    @property
    def lines(self) -> list[tuple[bool, list[tuple[str, bool, Cell]]]]:
        """Rows: whether one is wrong, and its cells, each with the heading of its column."""
        rows = [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in self.rows]
        return [
            (k in self.wrong, [(*head, cell) for head, cell in zip(self.headings, row, strict=True)])
            for k, row in enumerate(rows)
        ]

    def only(self, *names: str) -> Table:
        """The columns of some headings, in the order of the table."""
        kept = [k for k, name in enumerate(self.head) if name in names]
        rows = [[row[k] for k in kept] for row in self.rows]
        return replace(self, head=[self.head[k] for k in kept], rows=rows)


def console(*, stderr: bool = False) -> Console:
    """The terminal; `WIDE` columns where there is none."""
    terminal = Console(stderr=stderr)
    return terminal if terminal.is_terminal else Console(width=WIDE, stderr=stderr)


def show_table(table: Table, *, stderr: bool = False) -> None:
    """Show a table on the terminal, numbers to the right of their columns, names and words to the left."""
    shown = Shown(title=Text(table.title), title_justify="left", caption_justify="left")
    shown.caption = Text(table.note) if table.note else None
    for k, (name, words) in enumerate(table.headings):
        shown.add_column(name, justify="left" if words or k == 0 else "right", no_wrap=k == 0)
    for wrong, cells in table.lines:
        texts = (Text(f"{cell.text} {cell.below}".rstrip()) for *_, cell in cells)
        shown.add_row(*texts, style="red" if wrong else None)
    console(stderr=stderr).print(shown)


def tell(*lines: str, stderr: bool = False) -> None:
    """Show sentences, each in a line of its own however long."""
    for line in lines:
        console(stderr=stderr).print(Text(line), soft_wrap=True)

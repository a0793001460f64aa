"""A check of the links within the built site: each leads to a page, and to a place on it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page and the places on it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = {""}
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.places |= {value for name in ("id", "name") if (value := named.get(name))}
        self.links |= {value for name in ("href", "src") if (value := named.get(name))}


def broken(folder: Path) -> list[str]:
    """Return the links of the pages in a folder that lead nowhere, each with its page."""
    pages = {file: Page(file) for file in sorted(folder.rglob("*.html"))}
    links = []
    for file, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            there = target.is_file() and (
                target not in pages or unquote(parts.fragment) in pages[target].places
            )
            if not there:
                links.append(f"{file.relative_to(folder)}: {link}")
    return links


def check(app: Any, failed: Exception | None) -> None:
    """Warn of each link that leads nowhere: an error with -W."""
    if failed is None and app.builder.format == "html":
        from sphinx.util import logging  # tests of `broken` need no Sphinx

        for link in broken(Path(app.outdir).resolve()):
            logging.getLogger(__name__).warning("a link leads nowhere: %s", link)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}

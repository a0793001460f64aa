"""Pages of the repository as pages of the site, with links that hold in both.

Pages of folders, such as `codegen/README.md`, are for those who change these folders. The site shows them
too, without a copy.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SHOWN = {
    "maintainers/compiler": "codegen/README.md",
    "maintainers/tests": "tests/README.md",
    "maintainers/templates": "templates/README.md",
    "maintainers/comparisons": "codegen/rbdc/report/README.md",
    "maintainers/descriptions": "robots/README.md",
    "maintainers/packages": "generated/README.md",
    "maintainers/contributing": ".github/CONTRIBUTING.md",
    "maintainers/conduct": ".github/CODE_OF_CONDUCT.md",
    "maintainers/security": ".github/SECURITY.md",
    "changes": "CHANGELOG.md",
}
"""Pages of the repository by the documents that show them; each document has a file with a comment alone."""
_DOCUMENTS = {page: f"docs/{document}.md" for document, page in SHOWN.items()} | {
    "README.md": "docs/index.md"
}
_FENCE = re.compile(r"^(```|~~~).*?^\1$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#:\s]+)(#[^)]*)?\)")


def read(app: Any, document: str, source: list[str]) -> None:
    """Put the page of the repository in place of its document, and turn links to the site's pages."""
    page = SHOWN.get(document, f"docs/{document}.md")
    if document in SHOWN:
        source[0] = (ROOT / page).read_text(encoding="utf-8")
        app.env.note_dependency(str(ROOT / page))
    source[0] = turned(source[0], page, f"docs/{document}.md")


def turned(text: str, page: str, shown_at: str) -> str:
    """Return the text of a page with links adapted to another place; blocks remain unchanged."""
    ends = [0, *(place for block in _FENCE.finditer(text) for place in block.span()), len(text)]
    parts = [text[start:end] for start, end in pairwise(ends)]

    def link(match: re.Match[str]) -> str:
        words, path, anchor = match[1], match[2], match[3] or ""
        target = os.path.normpath(Path(page).parent / path)
        if (ROOT / target).is_dir():
            target = f"{target}/README.md"
            if not (ROOT / target).is_file():
                return words  # a folder without a page is nothing that the site shows
        target = _DOCUMENTS.get(target, target)
        return f"[{words}]({os.path.relpath(target, Path(shown_at).parent)}{anchor})"

    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True}

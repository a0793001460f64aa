"""The page of every item of the papers: ``python docs/claims_page.py paper/index.json`` takes the items of an
index of ``rbdc experiment all`` to `claims.json`, and writes `claims.md` from it. `--note` says how it was
measured. Without an index the page is written anew.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DATA, PAGE = FOLDER / "claims.json", FOLDER / "claims.md"
HEAD = """# Claims of the papers

This page is for those who know the literature: every numbered algorithm, table, figure and claim of the five
papers, the command that shows it, and the verdict. `rbdc experiment all` writes the same table to
`paper/index.html` from your own machine.

An item is decided by claims of a study, on the paper's own algorithm, or by tests of this repository. The
evidence below each table explains the verdicts.

```text
rbdc experiment all --out paper
python docs/claims_page.py paper/index.json --note "where and how it was measured"
```
"""


def extract(index: Mapping[str, Any], note: str) -> dict[str, Any]:
    """Return what the page needs of an index of `rbdc experiment all`."""
    machine = index["machine"] or {}
    return {"processor": machine.get("processor", "unknown"), "note": note, "items": index["items"]}


def page(data: Mapping[str, Any]) -> str:
    """Return the text of the page."""
    parts = [HEAD, f"Measured on one core of {data['processor']}. {data['note']}\n"]
    papers: dict[str, list[Mapping[str, str]]] = {}
    for item in data["items"]:
        papers.setdefault(item["paper"], []).append(item)
    for paper, items in papers.items():
        rows = [f"| {i['place']} | {i['what']} | {_command(i)} | {i['verdict']} |" for i in items]
        head = ["| where | what | command | verdict |", "| --- | --- | --- | --- |"]
        evidence = [_evidence(i) for i in items if i["evidence"] and _of_study(i)]
        parts.append("\n".join([f"## {paper}", "", *head, *rows, ""]))
        if evidence:
            parts.append("\n".join(["Evidence:", "", *evidence, ""]))
    return "\n".join(parts)


def _evidence(item: Mapping[str, str]) -> str:
    """Return the evidence of an item, a line for each of its claims."""
    return "\n".join([f"- {item['place']}:", *(f"  - {line}" for line in item["evidence"].splitlines())])


def _of_study(item: Mapping[str, str]) -> bool:
    return item["command"].startswith("rbdc ")


def _command(item: Mapping[str, str]) -> str:
    """Return the command; tests one a line."""
    if _of_study(item):
        return f"`{item['command']}`"
    return "<br>".join(f"`{test}`" for test in item["command"].split()[1:])


def main() -> None:
    """Write the page, and its data if there is an index."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", nargs="?", type=Path)
    parser.add_argument("--note", default="")
    arguments = parser.parse_args()
    if arguments.index is not None:
        data = extract(json.loads(arguments.index.read_text(encoding="utf-8")), arguments.note)
        DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(json.loads(DATA.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()

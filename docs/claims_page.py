"""Write the page of the papers' claims.

``python docs/claims_page.py paper/index.json`` copies the items of this index, which ``rbdc experiment all``
wrote, to `claims.json`, and writes `claims.md` from it. `--note` says how they were measured. Without an
index the page is written from the present `claims.json`.
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

This page is for readers of the five papers. It lists their numbered algorithms, tables, figures and claims,
each with the command that checks it and the verdict. `rbdc experiment all` writes the same table for your
machine to `paper/index.html`.

Each item is decided by tests of this repository, or by a study that runs the paper's algorithm. The evidence
of a study has one line for each claim: the verdict, the paper's claim, and after "Found:" the measurement.
"Reproduced" means that the measurement agrees with the printed claim, unless the line defines it otherwise.

Terms in the evidence:

- N: the number of bodies, or of degrees of freedom for robots
- serial, binary: chains, and binary trees; serial 8: a chain of 8 bodies
- ID, FD: inverse and forward dynamics
- IDSVA-SO, FDSVA-SO: second derivatives of ID and FD by Singh, Russell and Wensing
- DTM, IDFOZA, AZA: products in FDSVA-SO by tensor products, by first derivatives of ID, and by FD
- Finite-Diff-1, Finite-Diff-2: differences of ID or FD, and of their first derivatives; h, k: steps
- the direct algorithm: Carpentier's, which inverts the joint-space inertia M without computing M
- the article's algorithms as loops, `loops-<name>`: an algorithm of the literature, as loops over the bodies
- `loops-<name>-zeroed`: the same without writing structurally zero entries
- generated code, generated: C from rbdc, which chooses the algorithm
- `unrolled-<name>`: an algorithm as straight-line code, compiled by rbdc
- the fastest method of each algorithm: chosen at every N; the two names are those at the largest N
- casadi: the paper's algorithm as C from CasADi
- ad-casadi: automatic differentiation (AD) by CasADi, as C from CasADi
- `pinocchio-native-<compiler>`: Pinocchio in C++, compiled by this compiler
- over 30 s: the time limit, which writing or compiling the C exceeded

```text
rbdc experiment all --out paper
python docs/claims_page.py paper/index.json --note "where and how it was measured"
```
"""


def extract(index: Mapping[str, Any], note: str) -> dict[str, Any]:
    """Return the parts of an index of `rbdc experiment all` that the page shows."""
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
    """Return the command of a study, or the tests, one a line."""
    if _of_study(item):
        return f"`{item['command']}`"
    return "<br>".join(f"`{test}`" for test in item["command"].split()[1:])


def main() -> None:
    """Write the page; write `claims.json` first if an index is passed."""
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

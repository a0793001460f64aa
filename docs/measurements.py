"""Benchmarks as a page: a section for each processor, from the reports of `rbdc benchmark` in `measured/`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).parent / "measured"
PEERS = {
    "pinocchio-native": "Pinocchio, compiled here",
    "pinocchio": "Pinocchio of pip",
    "casadi": "CasADi's C",
}
"""Names of entries in the order of columns, which follow the generated function by clang and by gcc."""

_HEAD = """
# Measured

This page is for those who want figures before they measure. Each section is one report of `rbdc benchmark`;
[Comparing](comparing.md) says how it measures. Times are minima over interleaved passes on one core (ns). A
factor is the time of a peer divided by that of the generated function by clang. Errors are root mean squares
over random states, relative to a reference of forty digits.

To add a processor: run the command below on a quiet machine, copy `reports/benchmark/benchmark.json` to
`docs/measured/`, and name the file after the processor.

```text
rbdc benchmark kuka_iiwa ur5 hyq solo12 anymal_b --peers pinocchio,casadi
```
"""


def page() -> str:
    """Return the page."""
    files = sorted(MEASURED.glob("*.json"))
    sections = [line for file in files for line in _section(file)]
    return "\n".join([_HEAD.strip(), "", *sections])


def _section(file: Path) -> Iterator[str]:
    """Yield the lines of a report: where it was made, and a table for each robot."""
    report = json.loads(file.read_text(encoding="utf-8"))
    machine = next(iter(report["robots"].values()))
    compilers = [machine["compiler"], *machine["other_compilers"]]
    yield f"## {machine['machine']['processor']}"
    yield ""
    versions = ", ".join(compiler["version"] for compiler in compilers)
    yield (
        f"{report['generator']}; {versions}; one core reaches "
        f"{machine['peak']['vector_flops_per_second'] / 1e9:.3g} Gflop/s. "
        f'<a href="{file.name}">The report</a> has medians, '
        "flags, operations, shares of the peak and largest errors."
    )
    for robot, entry in report["robots"].items():
        rows = [row for row in report["rows"] if row["robot"] == robot]
        yield from ["", f"### {robot}, nv = {entry['robot']['nv']}, {file.stem}", "", *_table(rows)]
    yield ""


def _table(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a table with a row for each function."""
    peers = [peer for peer in PEERS if any(peer in row["entries"] for row in rows)]
    heads = ["function", "clang", "gcc", *(PEERS[peer] for peer in peers), "error", "Pinocchio's error"]
    yield f"| {' | '.join(heads)} |"
    yield f"|---{'|--:' * (len(heads) - 1)}|"
    for row in rows:
        entries = row["entries"]
        theirs = next((entries[peer] for peer in peers if peer != "casadi" and peer in entries), None)
        cells = [row["function"], _time(entries.get("generated")), _time(entries.get("generated-gcc"))]
        cells += [_time(entries.get(peer), factor=True) for peer in peers]
        cells += [_error(entries.get("generated")), _error(theirs)]
        yield f"| {' | '.join(cells)} |"


def _time(entry: Mapping[str, Any] | None, *, factor: bool = False) -> str:
    """Return a time in words, with its factor if asked for; a dash if it was not measured."""
    if entry is None:
        return "–"
    time = f"{entry['minimum_nanoseconds']:.4g}"
    return f"{time} ({entry['ratio']:.3g}×)" if factor else time


def _error(entry: Mapping[str, Any] | None) -> str:
    """Return the relative error in words; a dash if there is none."""
    return "–" if entry is None or entry["errors"] is None else f"{entry['errors']['rms_rel']:.1e}"

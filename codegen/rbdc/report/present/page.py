"""Self-contained pages, each made of the data of its report alone, which it carries: of a comparison, of a
benchmark, and of studies and families of mechanisms, with claims, tables and figures; their files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rbdc.analysis.tables import Table
from rbdc.emit.render import render_html
from rbdc.errors import OptionError
from rbdc.functions.catalogue import known
from rbdc.native.scratch import scratch
from rbdc.report.options import PEERS
from rbdc.report.present.colours import FAMILY_COLOURS, line_colours, of_method
from rbdc.report.present.formatting import (
    bandwidth_words,
    batch_notes,
    label_words,
    nanoseconds,
    peak_shares,
    peak_words,
    ratio_words,
)
from rbdc.report.present.plots import batch_curves, error_dots, pattern, time_bars, time_dots
from rbdc.report.present.tables import (
    BENCHMARKED,
    accuracy_table,
    batch_table,
    entry_heading,
    glance_table,
    least_time,
    methods_table,
    times_table,
)


def _page(template: str, report: Mapping[str, Any], file: str, /, **values: Any) -> str:
    """A page by its template, with what made the report, the file that it is in, and the report as JSON that
    may stand in a script element.
    """
    data = json.dumps(report).replace("<", "\\u003c")
    made_by = report.get("generator", "rbdc")
    return render_html(template, generator=made_by, file=file, data=data, **values)


def page(report: dict[str, Any]) -> str:
    """The HTML of a report."""
    tiles = {name for name, function in known().items() if function.comparison.headline}
    order = sorted(enumerate(report["functions"]), key=lambda item: (item[1]["name"] not in tiles, item[0]))
    bandwidth, machine = report.get("bandwidth"), report["machine"]
    instructions = ", ".join(machine["vector_instructions"]) or "no vector instructions known"
    processors = f"{machine['processors']} processors"
    pinned = "" if machine["pinned_to"] is None else f", pinned to number {machine['pinned_to']}"
    return _page(
        "report.html.jinja",
        report,
        "report.json",
        title=f"{report['robot']['name']}: rbdc compare",
        report=report,
        robot=report["robot"],
        size=f"{len(report['robot']['joints'])} moving bodies, {report['robot']['mass']:.4g} kg",
        tree=_tree(report["robot"]),
        machine=f"{machine['processor']}, {instructions}; {machine['system']}; {processors}{pinned}",
        builds=builds_of(report),
        absent=report["peers"]["absent"].items(),
        peak=peak_words(report["peak"]),
        bandwidth=None if bandwidth is None else bandwidth_words(bandwidth),
        families=[(name, meaning, FAMILY_COLOURS[name]) for name, meaning in report["families"].items()],
        headlines=[_headline(f) for f in report["functions"] if f["name"] in tiles],
        functions=[_function(k, f) for k, f in order],
    )


def _tree(robot: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    """Depth below the root, name and description of the joints, in depth-first order."""
    depth: dict[str | None, int] = {None: 0}
    rows = []
    for joint in robot["joints"]:
        depth[joint["link"]] = depth[joint["parent"]] + 1
        words = f"{joint['kind']}, carries {joint['link']}, {joint['mass']:.3g} kg"
        rows.append((depth[joint["parent"]], joint["name"], words))
    return rows


def builds_of(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Compilers in words, each with its flags: of generated code, then of the peers' builds."""
    tools = [("generated", report["compiler"])]
    tools += [(f"generated-{other['name']}", other) for other in report["other_compilers"]]
    found = [(f"{name}: {tool['version']}", tool["flags"]) for name, tool in tools]
    for one in report["peers"]["builds"]:
        seconds = f"compiled in {one['compile_seconds']:.0f} s"
        found.append((f"{one['name']}, {one['what']}, {seconds}: {one['compiler']}", one["flags"]))
    return [(words, " ".join(flags)) for words, flags in found]


def _headline(function: Mapping[str, Any]) -> dict[str, Any]:
    """A tile: the generated time, its shares of the peaks, and the fastest of each other family beside it."""
    methods = function["methods"]
    generated = next(m for m in methods if m["method"] == "generated")
    others = []
    for family in ("peer", "analytical", "ad", "numerical", "single"):
        best = min((m for m in methods if m["family"] == family), key=least_time, default=None)
        if best is not None:
            ratio = ratio_words(least_time(best) / least_time(generated))
            others.append((best["method"], ratio, of_method(best)))
    time, shares = nanoseconds(least_time(generated)), peak_shares(generated)
    return {"name": function["name"], "time": time, "shares": shares, "others": others}


def _function(index: int, function: Mapping[str, Any]) -> dict[str, Any]:
    """A function's section; `path` is its place in report.json."""
    batch = function.get("batch")
    return {
        **function,
        "path": f"functions[{index}]",
        "figures": [svg for svg in (time_bars(function), error_dots(function)) if svg is not None],
        "tables": [methods_table(function)],
        "peers": [
            (label_words(peer), {**best, "ratio": f"{best['ratio']:.3g}"})
            for peer, best in function["peers"].items()
        ],
        **({"batch": None} if batch is None else _batch(function)),
        "patterns": [(p["output"], pattern(p)) for p in function["patterns"] or ()],
    }


def _batch(function: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a function's section on batches."""
    batch = function["batch"]
    notes, tables = batch_notes(batch), [batch_table(function)]
    return {"batch_figure": batch_curves(batch), "batch_notes": notes, "batch_tables": tables}


def benchmark_page(report: dict[str, Any]) -> str:
    """The HTML of a benchmark."""
    rows = report["rows"]
    labels = [label for label in BENCHMARKED if any(label in row["entries"] for row in rows)]
    names = list(dict.fromkeys(row["function"] for row in rows))
    return _page(
        "benchmark.html.jinja",
        report,
        "benchmark.json",
        title="rbdc benchmark",
        first=next(iter(report["robots"].values())),
        counts=[f"{len(report['robots'])} robots", f"{len(names)} functions"],
        labels=[(entry_heading(label), colour) for label, colour in line_colours(labels).items()],
        glance=[glance_table(report, names)],
        absent=report["absent"].items(),
        functions=[
            _benchmarked(name, [row for row in rows if row["function"] == name], labels) for name in names
        ],
        robots=[
            {
                "label": label,
                "peak": peak_words(one["peak"]),
                "builds": builds_of(one),
                "absent": one["peers"]["absent"].items(),
                "warnings": one["robot"]["warnings"],
            }
            for label, one in report["robots"].items()
        ],
    )


def _benchmarked(name: str, rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> dict[str, Any]:
    """A function's section: a plot, both tables, the algorithms of the peers, and what is absent."""
    return {
        "name": name,
        "dots": time_dots(rows, labels),
        "times": [times_table("", "robot", rows, labels)],
        "accuracy": [accuracy_table(rows, labels)],
        "algorithms": [
            f"{row['robot']}, {entry_heading(label)}: {entry['method']}, {entry['algorithm']}"
            for row in rows
            for label, entry in row["entries"].items()
            if label in PEERS
        ],
        "absent": [
            f"{row['robot']}, {entry_heading(label)}: {reason}"
            for row in rows
            for label, reason in row["absent"].items()
        ],
    }


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
    return _page(
        "study.html.jinja",
        report,
        file,
        **vars(heading),
        quick=report.get("quick", False),
        tables=[*said, *tables],
        figures=figures,
    )


def write(
    report: Mapping[str, Any], page: str, folder: Path, name: str, pictures: Mapping[str, str] | None = None
) -> list[Path]:
    """Write a report and the text of its page into the folder as `name`.json and `name`.html, and pictures by
    the names of their files, each to a temporary name that is then moved into place; their paths. Raises
    OptionError if it cannot.
    """
    texts = {f"{name}.json": json.dumps(report, indent=1) + "\n", f"{name}.html": page, **(pictures or {})}
    try:
        with scratch(folder, ".report.", ".new") as aside:
            for file, text in texts.items():
                (aside / file).write_text(text, encoding="utf-8")
            for file in texts:
                (aside / file).replace(folder / file)
    except OSError as error:
        raise OptionError(f"cannot write {folder}: {error.strerror}; check --out") from error
    return [folder / file for file in texts]

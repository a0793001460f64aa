"""report.html: one self-contained file, made of the report's data alone, which it carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rbdc.emit.render import render_html
from rbdc.functions.catalogue import known
from rbdc.report.present.colours import FAMILY_COLOURS, of_method
from rbdc.report.present.formatting import (
    bandwidth_words,
    batch_notes,
    embedded,
    label_words,
    nanoseconds,
    peak_shares,
    peak_words,
    ratio_words,
)
from rbdc.report.present.plots import batch_curves, error_dots, pattern, time_bars
from rbdc.report.present.tables import batch_table, least_time, methods_table


def page(report: dict[str, Any]) -> str:
    """The HTML of a report."""
    tiles = {name for name, function in known().items() if function.comparison.headline}
    order = sorted(enumerate(report["functions"]), key=lambda item: (item[1]["name"] not in tiles, item[0]))
    bandwidth, machine = report.get("bandwidth"), report["machine"]
    instructions = ", ".join(machine["vector_instructions"]) or "no vector instructions known"
    processors = f"{machine['processors']} processors"
    pinned = "" if machine["pinned_to"] is None else f", pinned to number {machine['pinned_to']}"
    return render_html(
        "report.html.jinja",
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
        **embedded(report, "report.json"),
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

"""report.html: one file that needs nothing else. Its figures come from the report's data alone, which it carries."""

from __future__ import annotations

import json
from typing import Any

from rbdc.emit.render import render_html
from rbdc.report.plots import COLOURS, batch_curves, error_dots, pattern, time_bars
from rbdc.report.wording import bandwidth_words, batch_notes, error_words, label_words, nanoseconds, peak_words, percent

HEADLINE = ("rnea", "crba", "aba", "rnea_derivatives", "aba_derivatives")
"""What the top of the page is about."""

COLUMNS = (
    ("operations", "operations"),
    ("flops", "flop"),
    ("statements", "statements"),
    ("text_bytes", "C text, bytes"),
    ("code_bytes", "code, bytes"),
    ("stack_bytes", "stack, bytes"),
)


def page(report: dict[str, Any]) -> str:
    """The page of a report."""
    order = sorted(enumerate(report["functions"]), key=lambda item: (item[1]["name"] not in HEADLINE, item[0]))
    functions = [_function(k, f) for k, f in order]
    return render_html(
        "report.html.jinja",
        robot={**report["robot"], "mass_words": f"{report['robot']['mass']:.4g}"},
        machine=_machine(report["machine"]),
        compiler=_with_flags(report["compiler"]),
        other_compilers=[_with_flags(other) for other in report["other_compilers"]],
        peak=peak_words(report["peak"]),
        bandwidth=None if report.get("bandwidth") is None else bandwidth_words(report["bandwidth"]),
        settings=report["settings"],
        peers={**report["peers"], "builds": [_with_flags(build) for build in report["peers"]["builds"]]},
        generator=report["generator"],
        families=[{"name": name, "meaning": words, "colour": COLOURS[name]} for name, words in report["families"].items()],
        headlines=[_headline(f) for f in report["functions"] if f["name"] in HEADLINE],
        functions=functions,
        columns=[words for _, words in COLUMNS],
        tree=_tree(report["robot"]),
        data=json.dumps(report).replace("<", "\\u003c"),
    )


def _with_flags(build: dict[str, Any]) -> dict[str, Any]:
    return {**build, "flag_words": " ".join(build["flags"])}


def _machine(machine: dict[str, Any]) -> dict[str, Any]:
    pinned = machine["pinned_to"]
    return {
        **machine,
        "vector_words": ", ".join(machine["vector_instructions"]) or "no vector instructions known",
        "pinned_words": "" if pinned is None else f", pinned to number {pinned}",
    }


def _headline(function: dict[str, Any]) -> dict[str, Any]:
    """The generated time, and the fastest of each other family beside it."""
    methods = function["methods"]
    generated = next(m for m in methods if m["method"] == "generated")
    own = generated["nanoseconds"]["minimum"]
    others = []
    for family in ("peer", "analytical", "ad", "numerical", "single"):
        best = min((m for m in methods if m["family"] == family), key=lambda m: m["nanoseconds"]["minimum"], default=None)
        if best is not None:
            ratio = best["nanoseconds"]["minimum"] / own
            others.append({"method": best["method"], "ratio": f"{ratio:.3g}\u00d7", "colour": COLOURS[family]})
    shares = {of: percent(generated["peak_percent"], of) for of in ("vector", "scalar")}
    return {"name": function["name"], "time": nanoseconds(own), "others": others, **shares}


def _function(index: int, function: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "summary": function["summary"],
        "path": f"functions[{index}]",
        "bars": time_bars(function),
        "dots": error_dots(function),
        "rows": [_row(m, function["ratios"]) for m in sorted(function["methods"], key=lambda m: m["nanoseconds"]["minimum"])],
        "absent": function["absent"],
        "peers": [
            {"name": label_words(peer), "method": best["method"], "ratio": f"{best['ratio']:.3g}"}
            for peer, best in function["peers"].items()
        ],
        "batch": None if function.get("batch") is None else _batch(function["batch"]),
        "patterns": [{"output": p["output"], "svg": pattern(p)} for p in function["patterns"] or ()],
    }


def _batch(batch: dict[str, Any]) -> dict[str, Any]:
    """The curves of a function in batches, and their figures size by size."""
    rows = [
        {
            "method": method["method"],
            "of": method["of"],
            "colour": COLOURS[method["family"]],
            "samples": point["samples"],
            "times": [_time(point[key]) for key in ("nanoseconds", "median")],
            "shares": [*(percent(point["peak_percent"], of) for of in ("vector", "scalar")), f"{point['bandwidth_percent']:.3g} %"],
        }
        for method in batch["methods"]
        for point in method["points"]
    ]
    return {"svg": batch_curves(batch), "rows": rows, "notes": batch_notes(batch), "flops": batch["flops"]}


def _row(method: dict[str, Any], ratios: dict[str, float]) -> dict[str, Any]:
    times = method["nanoseconds"]
    return {
        "method": method["method"],
        "colour": COLOURS[method["family"]],
        "algorithm": method["algorithm"],
        "ratio": f"{ratios.get(method['method'], 1.0):.3g}",
        "times": [_time(times[key]) for key in ("minimum", "median", "cold_minimum", "cold_median")],
        "figures": ["\u2013" if method[name] is None else f"{method[name]:,}".replace(",", "\u202f") for name, _ in COLUMNS],
        "peaks": [percent(method["peak_percent"], of) for of in ("vector", "scalar")],
        "seconds": "\u2013" if method["compile_seconds"] is None else f"{method['compile_seconds']:.2f}",
        "errors": [error_words(method, key) for key in ("max_abs", "rms_abs", "max_rel", "rms_rel")],
        "wrong": method["right"] is False,
    }


def _time(ns: float | None) -> str:
    return "\u2013" if ns is None else f"{ns:.1f}"


def _tree(robot: dict[str, Any]) -> list[dict[str, Any]]:
    """The joints in depth-first order with their depth."""
    depth: dict[str | None, int] = {None: 0}
    rows = []
    for joint in robot["joints"]:
        depth[joint["link"]] = depth[joint["parent"]] + 1
        rows.append({"depth": depth[joint["link"]] - 1, **joint, "mass": f"{joint['mass']:.3g}"})
    return rows

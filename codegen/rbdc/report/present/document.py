"""Return a comparison as data, and write its files; `report.schema.json` in this folder defines each value.

The summary lists for each function the generated code and the fastest method of each peer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import rbdc
from rbdc.analysis.model_summary import as_data
from rbdc.native.machine import machine
from rbdc.native.scratch import placed
from rbdc.report.accuracy import DIGITS, SEED, WRONG, tolerance
from rbdc.report.measure.timing import Limits, RobotComparison, bandwidth_percent, peak_percent
from rbdc.report.methods.implementation import FAMILIES
from rbdc.report.methods.records import FIGURES, NO_SUCH_METHOD, Batches, Contender, FunctionRecord
from rbdc.report.options import NOT_ASKED, PEERS, peer_of
from rbdc.report.present.baseline import REPORT_SCHEMA

PATTERNS = ("generated", "finite-difference")
"""Methods whose derivative matrices are kept entry by entry: they show exact zeros beside the noise of
differences.
"""

SETTINGS = ("samples", "checked", "seconds", "at_rest", "batch")
"""Options that a report has among its settings."""


def document(comparison: RobotComparison) -> dict[str, Any]:
    """Return the report, ready for JSON. Values that a method does not have are null."""
    model, options, tools = comparison.model, comparison.options, comparison.tools
    return {
        "schema": REPORT_SCHEMA,
        "generator": f"rbdc {rbdc.__version__}",
        "robot": {  # as in `rbdc info --json`, without the path of the file
            **as_data(model),
            "warnings": [note.message for note in model.notes],
            "description_sha256": model.description_hash,
            "root_joint": options.root_joint,
            "snap": options.snap,
        },
        "machine": {**machine(), "pinned_to": comparison.core},
        "peak": comparison.peak,
        "bandwidth": comparison.bandwidth,
        "compiler": {"version": tools.first.compiler.version, "flags": list(tools.first.flags)},
        "other_compilers": [
            {"name": other.name, "version": other.compiler.version, "flags": list(other.flags)}
            for other in tools.others
        ],
        "settings": {
            **{name: getattr(options, name) for name in SETTINGS},
            "seed": SEED,
            "reference_digits": DIGITS,
        },
        "families": FAMILIES,
        "peers": {
            "builds": [build.data() for build in comparison.peers.builds],
            "absent": comparison.peers.absent,
        },
        "functions": [
            {
                **_function(one, comparison.peak, comparison.bandwidth),
                "beside": beside(one, comparison.functions),
            }
            for one in comparison.functions
        ],
    }


def _function(one: FunctionRecord, peak: Limits, bandwidth: Limits | None) -> dict[str, Any]:
    declaration = one.function.declaration
    methods = [_method(one, contender, peak) for contender in one.contenders]
    return {
        "name": one.name,
        "summary": declaration.summary,
        "outputs": [{"name": p.name, "shape": list(p.shape)} for p in declaration.outputs],
        "methods": methods,
        "absent": [asdict(absent) for absent in one.absent],
        "ratios": _ratios(methods),
        "peers": _peers(methods),
        "batch": _batches(one.batches, peak, bandwidth),
        "patterns": _patterns(one) if one.function.comparison.derivative_of else None,
    }


def _method(one: FunctionRecord, contender: Contender, peak: Limits) -> dict[str, Any]:
    times, figures = one.times[contender.method], {**dict.fromkeys(FIGURES), **contender.figures}
    flops = figures["flops"] if contender.double else None
    return {
        "method": contender.method,
        "family": contender.family,
        "algorithm": contender.algorithm,
        "nanoseconds": times,
        **figures,
        "peak_percent": peak_percent(peak, flops, times["minimum"]),
        **_judged(contender, one.errors.get(contender.method), tolerance(contender.method)),
    }


def _judged(method: Contender, errors: Mapping[str, float] | None, bound: float) -> dict[str, Any]:
    """Return the errors of a method (None if infinite), and whether `scaled` is within the bound (None in
    single precision).
    """
    if errors is None:
        return {"errors": None, "right": None}
    finite = {name: x if np.isfinite(x) else None for name, x in errors.items()}
    return {"errors": finite, "right": errors["scaled"] <= bound if method.double else None}


def _ratios(methods: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the minimum time of every other method, divided by that of the generated method in the
    same run; no ratios if the generated method exceeded the time limit.
    """
    times = {m["method"]: m["nanoseconds"]["minimum"] for m in methods}
    generated = times.pop("generated", None)
    return {} if generated is None else {method: round(ns / generated, 4) for method, ns in times.items()}


def beside(one: FunctionRecord, functions: Sequence[FunctionRecord]) -> dict[str, Any] | None:
    """Return the time of the generated function beside that of the function that it extends: the ratio and
    the difference (ns) of their least times; None if it extends none of `functions`.
    """
    base = next((other for other in functions if other.name == one.function.comparison.beside), None)
    if base is None or not {"generated"} <= one.times.keys() & base.times.keys():
        return None
    time, least = (float(x.times["generated"]["minimum"]) for x in (one, base))
    return {"function": base.name, "ratio": round(time / least, 4), "nanoseconds": round(time - least, 3)}


def _peers(methods: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ratios, algorithms = _ratios(methods), {m["method"]: m["algorithm"] for m in methods}
    ranked = sorted(
        ratios, key=lambda method: -ratios[method]
    )  # the fastest comes last and overwrites the others
    best = {peer: method for method in ranked if (peer := peer_of(method)) is not None}
    return {
        peer: {"method": name, "algorithm": algorithms[name], "ratio": ratios[name]}
        for peer in PEERS
        if (name := best.get(peer)) is not None
    }


def _patterns(one: FunctionRecord) -> list[dict[str, Any]]:
    drawn = [method for method in PATTERNS if method in one.outputs]
    return [
        {
            "output": p.name,
            **{method: one.outputs[method][k][0].reshape(p.shape).tolist() for method in drawn},
        }
        for k, p in enumerate(one.function.declaration.outputs)
    ]


def _batches(batches: Batches | None, peak: Limits, bandwidth: Limits | None) -> dict[str, Any] | None:
    if batches is None or bandwidth is None:
        return None
    return {
        "samples": batches.samples,
        "left_out": batches.left_out,
        "lanes": batches.lanes,
        "flops": batches.flops,
        "methods": [_batch_method(batches, method, peak, bandwidth) for method in batches.contenders],
        "absent": [asdict(absent) for absent in batches.absent],
    }


def _batch_method(batches: Batches, method: Contender, peak: Limits, bandwidth: Limits) -> dict[str, Any]:
    flops = batches.flops if method.double else None
    points = [
        {
            "samples": samples,
            "nanoseconds": round(times["minimum"], 3),
            "median": round(times["median"], 3),
            "rounds": times["rounds"],
            "peak_percent": peak_percent(peak, flops, times["minimum"]),
            "bandwidth_percent": bandwidth_percent(bandwidth, method.moved, times["minimum"]),
        }
        for samples, times in zip(batches.samples, batches.times[method.method], strict=True)
    ]
    return {
        "method": method.method,
        "of": method.of,
        "family": method.family,
        "algorithm": method.algorithm,
        "bytes": method.moved,
        "points": points,
        **_judged(method, batches.errors.get(method.method), WRONG),
    }


def wrong_results(report: dict[str, Any], families: Collection[str] = tuple(FAMILIES)) -> list[str]:
    """Return messages about the methods of these families, batches included, that disagree with the
    reference.
    """
    return [
        f"{f['name']}: {m['method']} is wrong: its error relative to the largest entry is "
        + ("not finite" if m["errors"]["scaled"] is None else f"{m['errors']['scaled']:.1e}")
        for f in report["functions"]
        for m in (*f["methods"], *(f["batch"] or {"methods": ()})["methods"])
        if m["right"] is False and m["family"] in families
    ]


_COPIED = (
    "algorithm",
    "operations",
    "flops",
    "peak_percent",
    "code_bytes",
    "compile_seconds",
    "errors",
    "right",
)


def summary(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one row for each function, in the order of the report.

    entries: values by label; the labels are generated, generated-<compiler> and the peers.
    absent: reasons by label.
    """
    return [_row(report, function) for function in report["functions"]]


def _row(report: dict[str, Any], function: dict[str, Any]) -> dict[str, Any]:
    methods = {m["method"]: m for m in function["methods"]}
    chosen = {name: name for name, m in methods.items() if m["family"] == "generated"}
    chosen |= {peer: best["method"] for peer, best in function["peers"].items()}
    entries = {label: _entry(methods[method], function["ratios"]) for label, method in chosen.items()}
    of_peers = report["peers"]["absent"]
    asked = [peer for peer in PEERS if of_peers.get(peer) != NOT_ASKED]
    reasons = {peer: of_peers.get(peer, NO_SUCH_METHOD) for peer in asked}
    for one in reversed(function["absent"]):  # keep the first reason of several methods of a peer
        label = peer_of(one["method"]) or one["method"]
        if label in asked or one["family"] == "generated":
            reasons[label] = one["reason"]
    return {
        "robot": report["robot"]["name"],
        "root_joint": report["robot"]["root_joint"],
        "nv": report["robot"]["nv"],
        "function": function["name"],
        "entries": entries,
        "absent": {label: reason for label, reason in reasons.items() if label not in entries},
    }


def _entry(method: dict[str, Any], ratios: dict[str, float]) -> dict[str, Any]:
    times = method["nanoseconds"]
    return {
        "method": method["method"],
        "minimum_nanoseconds": times["minimum"],
        "median_nanoseconds": times["median"],
        "ratio": ratios.get(method["method"], 1.0),
        **{name: method[name] for name in _COPIED},
    }


def write(report: Mapping[str, Any], page: str, path: Path, **pictures: str) -> list[Path]:
    """Write a report and the text of its page as `path`.json and `path`.html, and pictures by their names
    beside them; return their paths.

    Each file is written under a temporary name and then moved into place. Raises OptionError if it cannot be
    written.
    """
    texts = {f"{path.name}.json": json.dumps(report, indent=1) + "\n", f"{path.name}.html": page}
    return placed(path.parent, {**texts, **{f"{name}.svg": svg for name, svg in pictures.items()}})

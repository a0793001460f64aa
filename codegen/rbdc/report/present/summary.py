"""Summary of a report: for each function the generated code and the best of every peer."""

from __future__ import annotations

from typing import Any

from rbdc.report.methods.records import NO_SUCH_METHOD
from rbdc.report.options import NOT_ASKED, PEERS, peer_of

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
    """One row for each function, in the order of the report.

    entries: figures by label, labels being generated, generated-<compiler> and the peers. absent: reasons by
    label.
    """
    return [_row(report, function) for function in report["functions"]]


def _row(report: dict[str, Any], function: dict[str, Any]) -> dict[str, Any]:
    methods = {m["method"]: m for m in function["methods"]}
    chosen = {name: name for name, m in methods.items() if m["family"] == "generated"}
    chosen |= {peer: best["method"] for peer, best in function["peers"].items()}
    entries = {label: _entry(methods[method], function["ratios"]) for label, method in chosen.items()}
    wanted = [a["method"] for a in function["absent"] if a["family"] == "generated"]
    asked = [peer for peer in PEERS if report["peers"]["absent"].get(peer) != NOT_ASKED]
    wanted += [peer for peer in asked if peer not in entries]
    return {
        "robot": report["robot"]["name"],
        "root_joint": report["robot"]["root_joint"],
        "nv": report["robot"]["nv"],
        "function": function["name"],
        "entries": entries,
        "absent": {label: _reason(report, function, label) for label in wanted},
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


def _reason(report: dict[str, Any], function: dict[str, Any], label: str) -> str:
    """The reason why an entry was not measured; of several methods of a peer the first one's."""
    reasons = [
        a["reason"]
        for a in function["absent"]
        if label in (a["method"], a["method"].rpartition("-")[2], peer_of(a["method"]))
    ]
    reasons += [reason for peer, reason in report["peers"]["absent"].items() if peer == label]
    return str(reasons[0]) if reasons else NO_SUCH_METHOD

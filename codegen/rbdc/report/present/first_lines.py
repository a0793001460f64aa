"""The first line of each page: its result in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.report.methods.contenders import SINGLE
from rbdc.report.options import PEERS
from rbdc.report.present.tables import TIME, curves, entry_heading, least_time

_VERDICTS = ("reproduced", "not reproduced", "not comparable")


def of_comparison(report: Mapping[str, Any]) -> str:
    """For how many functions generated code is the fastest method, and how long the peers take."""
    functions = report["functions"]
    fastest = [_fastest_in_double(function) == "generated" for function in functions]
    ratios = [{peer: best["ratio"] for peer, best in function["peers"].items()} for function in functions]
    words = f"Generated code is the fastest method in double precision for {_of(sum(fastest), len(fastest))}."
    return f"{words}{_peers(ratios)}"


def _fastest_in_double(function: Mapping[str, Any]) -> str:
    methods = [method for method in function["methods"] if method["family"] != "single"]
    return str(min(methods, key=least_time)["method"])


def _of(some: int, all_of_them: int) -> str:
    if all_of_them == 1:
        return "the function" if some else "no function"
    return f"all {some} functions" if some == all_of_them else f"{some} of {all_of_them} functions"


def of_benchmark(report: Mapping[str, Any]) -> str:
    """How many times as long as generated code each peer takes, over all robots and functions."""
    rows = [
        {label: e["ratio"] for label, e in row["entries"].items() if label in PEERS} for row in report["rows"]
    ]
    count = f"{len(rows)} pair{'s' if len(rows) > 1 else ''} of a robot and a function"
    return f"Generated code beside its peers, over {count}.{_peers(rows) or ' No peer was measured.'}"


def _peers(rows: Sequence[Mapping[str, float]]) -> str:
    """The range of the ratio of each peer."""
    found = {peer: [row[peer] for row in rows if peer in row] for peer in PEERS}
    said = [f" {entry_heading(peer)} takes {_range(of)} times as long." for peer, of in found.items() if of]
    return "".join(said)


def _range(values: Sequence[float]) -> str:
    ends = dict.fromkeys(f"{end:.3g}" for end in (min(values), max(values)))
    return " to ".join(ends)


def of_claims(claims: Sequence[Mapping[str, str]]) -> str:
    """How many claims of an article are reproduced, are not, and cannot be compared."""
    count = Counter(claim["verdict"].partition(":")[0] for claim in claims)
    told = ", ".join(f"{count[verdict]} {verdict}" for verdict in _VERDICTS if count[verdict])
    return f"{len(claims)} claim{'s' if len(claims) > 1 else ''}: {told}."


def of_families(report: Mapping[str, Any]) -> str:
    """The fastest methods in double precision at the largest size, each with its functions and families."""
    fastest: dict[str, list[str]] = {}
    for function in report["functions"]:
        for family in function["families"]:
            by_method = curves(report["entries"], function["name"], family, TIME)
            size = max(n for points in by_method.values() for n in points)
            times = {m: points[size] for m, points in by_method.items() if size in points and m != SINGLE}
            best = min(times, key=times.__getitem__)
            fastest.setdefault(best, []).append(f"{function['name']} {family} {size}")
    told = (f"{method} ({', '.join(of)})" for method, of in fastest.items())
    return f"Fastest at the largest size: {', '.join(told)}."


def of_forms(rows: Sequence[Mapping[str, Any]], wrong: Sequence[str]) -> str:
    """Whether chosen forms are the fastest."""
    chosen = sum(row["chosen"] for row in rows)
    return f"Of {chosen} chosen forms {len(wrong) or 'none'} {'is' if len(wrong) == 1 else 'are'} too slow."

"""Values of reports in words and in tables, for pages and the terminal; curves of methods over the sizes of
families.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rbdc.analysis.pages import DASH, Cell, Table, figure
from rbdc.report.options import CASADI, CPPADCODEGEN, NATIVE, PINOCCHIO, PINOCCHIOS
from rbdc.report.present.colours import of_method

PEER_WORDS = {
    PINOCCHIO: "Pinocchio (pip)",
    NATIVE: "Pinocchio (native)",
    CPPADCODEGEN: "CppADCodeGen",
    CASADI: "CasADi C",
}
"""Headings of the peers. Pinocchio has two: the library of its pip package, and native builds from its
headers.
"""


def best_pinocchio(entries: Mapping[str, Any]) -> Any:
    """Return the entry of Pinocchio in a summary: a native build's, else the library's; None
    without either.
    """
    return next((entries[peer] for peer in PINOCCHIOS if peer in entries), None)


def shown_methods(function: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the methods of the plots, fastest first. Only the fastest build and algorithm of a peer is
    shown.
    """
    methods = sorted(function["methods"], key=lambda m: m["nanoseconds"]["minimum"])
    slower = [method for method in methods if method["family"] == "peer"][1:]
    return [method for method in methods if method not in slower]


def nanoseconds(ns: float) -> str:
    """Return a time with three significant digits in a suitable unit."""
    return (
        f"{ns:.3g} ns" if ns < 1000.0 else f"{ns / 1000.0:.3g} \u00b5s" if ns < 1e6 else f"{ns / 1e6:.3g} ms"
    )


def count(value: float | None) -> str:
    """Return a number with thousands separators."""
    return figure(value, ",").replace(",", "\u202f")


def ratio_words(ratio: float) -> str:
    """Return a ratio of times with three significant digits; ratios of a thousand and more keep
    all digits.
    """
    return f"{ratio:.3g}\u00d7" if ratio < 999.5 else f"{ratio:.0f}\u00d7"


def peak_shares(figures: Mapping[str, Any] | None) -> list[str]:
    """Return which shares of the vector peak and of the scalar peak a method, a point or an entry of a
    summary reaches; dashes for None.
    """
    share = figures and figures["peak_percent"]
    return [DASH if share is None else f"{share[of]:.3g} %" for of in ("vector", "scalar")]


def peak_words(peak: Mapping[str, Any]) -> str:
    """Return a sentence about the peaks of one core and the time of an empty call."""
    rates = [f"{1e-9 * peak[name]:.3g}" for name in ("vector_flops_per_second", "scalar_flops_per_second")]
    how = "fused multiply-adds" if peak["fused"] else "multiplications and additions, not fused"
    vectors = f"one core reaches {rates[0]} Gflop/s in vectors of {peak['lanes']}"
    call = peak.get("empty_call_nanoseconds")  # older reports do not have it
    calling = "" if call is None else f"; all times include an empty call of {nanoseconds(call)}"
    return f"{vectors}, {rates[1]} in scalar code, by {how}{calling}"


def bandwidth_words(bandwidth: Mapping[str, Any]) -> str:
    """Return a sentence about the memory bandwidth of one core."""
    rate, size = 1e-9 * bandwidth["bytes_per_second"], bandwidth["buffer_bytes"] // 2**20
    return f"one core moves {rate:.3g} GB/s, reading and writing a buffer of {size} MiB"


def beside_words(function: Mapping[str, Any]) -> list[str]:
    """Return a sentence that compares a function's time with that of the function it extends. No sentence if
    one of them was not measured, and for older reports.
    """
    comparison = function.get("beside")
    if comparison is None:
        return []
    ratio, more = comparison["ratio"], comparison["nanoseconds"]
    words = f"{ratio:.3g} times as long as {comparison['function']} ({more:+.1f} ns)"
    return [f"generated: {function['name']} takes {words}"]


def batch_notes(batch: Mapping[str, Any]) -> list[str]:
    """Return remarks on a function's batches: how they are computed, absent methods, and omitted sizes."""
    lanes = batch["lanes"]
    work = "is a loop over samples" if lanes is None else f"computes {lanes} samples at a time"
    notes = [f"the generated batch {work}"]
    notes += [f"{one['method']}: not measured. {one['reason']}" for one in batch["absent"]]
    left_out = ", ".join(str(n) for n in batch["left_out"])
    if left_out:
        notes.append(f"batches of {left_out} are left out: their data would take more than 1 GiB")
    return notes


def error_words(method: Mapping[str, Any] | None, metric: str) -> str:
    """Return an error of a method; a dash if it was not measured or not checked."""
    if method is None or method["errors"] is None:
        return DASH
    value = method["errors"][metric]
    return "\u221e" if value is None else f"{value:.1e}"


def entry_heading(label: str) -> str:
    """Return the heading of an entry of a benchmark: generated code by a compiler, or a peer."""
    return PEER_WORDS.get(label, label.replace("generated-", "generated, "))


BENCHMARKED = ("generated", "generated-gcc", "casadi", "cppadcodegen", "pinocchio-native", "pinocchio")
"""The entries of a benchmark, in their order."""
METRICS = {"max_abs": " (40)", "rms_abs": " (41)", "max_rel": " (42)", "rms_rel": " (43)"}
"""Errors, and their equations in Singh, Russell and Wensing."""
ERRORS = [metric.replace("_", " ") + equation for metric, equation in METRICS.items()]
"""Headings of the errors of a method."""
TIMES = {
    "minimum": "min ns",
    "median": "median ns",
    "cold_minimum": "cold min ns",
    "cold_median": "cold median ns",
}
COUNTS = {
    "operations": "operations",
    "flops": "flop",
    "statements": "statements",
    "text_bytes": "C text, bytes",
    "code_bytes": "code, bytes",
    "stack_bytes": "stack, bytes",
}
"""Values of a method, with their headings."""
PEAKS = ("of vector peak", "of scalar peak")


def least_time(method: Mapping[str, Any]) -> float:
    """Return the least time of a call of a method of a report (ns)."""
    return float(method["nanoseconds"]["minimum"])


def methods_table(function: Mapping[str, Any]) -> Table:
    """Return all figures of the methods of a function, fastest first."""
    methods = sorted(function["methods"], key=least_time)
    head = ["method", "times generated", *TIMES.values(), *COUNTS.values(), *PEAKS, "compile s", *ERRORS]
    rows = [
        [
            Cell(method["method"], colour=of_method(method)),
            figure({"generated": 1.0, **function["ratios"]}.get(method["method"]), ".3g"),
            *(figure(method["nanoseconds"][key], ".1f") for key in TIMES),
            *(count(method[key]) for key in COUNTS),
            *peak_shares(method),
            figure(method["compile_seconds"], ".2f"),
            *(error_words(method, metric) for metric in METRICS),
            method["algorithm"],
        ]
        for method in methods
    ]
    wrong = [k for k, method in enumerate(methods) if method["right"] is False]
    return Table(function["name"], [*head, "algorithm"], rows, words=["algorithm"], wrong=wrong)


def batch_table(function: Mapping[str, Any]) -> Table:
    """Return times of a sample by method and size of the batch."""
    rows = [
        [
            Cell(method["method"], colour=of_method(method)),
            str(point["samples"]),
            *(figure(point[key], ".1f") for key in ("nanoseconds", "median")),
            *peak_shares(point),
            f"{point['bandwidth_percent']:.3g} %",
            method["of"],
        ]
        for method in function["batch"]["methods"]
        for point in method["points"]
    ]
    head = ["method", "samples", "min ns", "median ns", *PEAKS, "of bandwidth", "calls"]
    return Table(function["name"], head, rows, words=["calls"])


def headline_table(functions: Sequence[Mapping[str, Any]]) -> Table:
    """Return the generated time of each function with its shares of the peaks, and the fastest method of each
    other family.
    """
    families = ("peer", "analytical", "ad", "numerical", "single")
    rows = []
    for function in functions:
        generated = next((m for m in function["methods"] if m["method"] == "generated"), None)
        if generated is None:  # it exceeded the time limit
            continue
        others = [_fastest(function, family, least_time(generated)) for family in families]
        rows.append([function["name"], nanoseconds(least_time(generated)), *peak_shares(generated), *others])
    return Table("", ["function", "generated", *PEAKS, *families], rows)


def _fastest(function: Mapping[str, Any], family: str, generated: float) -> Cell:
    methods = [m for m in function["methods"] if m["family"] == family]
    best = min(methods, key=least_time, default=None)
    if best is None:
        return Cell(DASH)
    return Cell(ratio_words(least_time(best) / generated), best["method"], of_method(best))


def times_table(title: str, by: str, rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Table:
    """Return times of generated code and of peers with their ratios, and figures of the generated code, for
    rows of a benchmark.

    by: "robot" or "function", which names the rows.
    """
    lines = []
    for row in rows:
        generated, theirs = row["entries"].get("generated"), best_pinocchio(row["entries"])
        lines.append(
            [
                row[by],
                *(_time(row["entries"].get(label)) for label in labels),
                *(count(generated and generated[name]) for name in ("operations", "flops", "code_bytes")),
                *peak_shares(generated),
                *(error_words(entry, "rms_rel") for entry in (generated, theirs)),
            ]
        )
    head = [by, *map(entry_heading, labels), "operations", "flop", "code, bytes", *PEAKS]
    wrong = [k for k, row in enumerate(rows) if any(e["right"] is False for e in row["entries"].values())]
    return Table(title, [*head, "rms rel", "Pinocchio's rms rel"], lines, wrong=wrong)


def _time(entry: Mapping[str, Any] | None) -> str | Cell:
    if entry is None:
        return DASH
    ratio = "" if entry["method"] == "generated" else ratio_words(entry["ratio"])
    return Cell(nanoseconds(entry["minimum_nanoseconds"]), ratio, hint=entry["method"])


def accuracy_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return errors of generated code and of Pinocchio, robot by robot."""
    metrics = [metric.replace("_", " ") for metric in METRICS]
    lines = []
    for row in rows:
        both = (row["entries"]["generated"], best_pinocchio(row["entries"]))
        lines.append([row["robot"], *(error_words(entry, metric) for entry in both for metric in METRICS)])
    return Table("", ["robot", *metrics, *(f"Pinocchio's {metric}" for metric in metrics)], lines)


def seconds_table(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Table:
    """Return seconds of compilation, robot by robot."""
    lines = []
    for row in rows:
        entries = [row["entries"].get(label) for label in labels]
        lines.append([row["robot"], *(figure(e and e["compile_seconds"], ".2f") for e in entries)])
    return Table("", ["robot", *(f"{entry_heading(label)}, s" for label in labels)], lines)


def glance_table(report: Mapping[str, Any], names: Sequence[str]) -> Table:
    """Return a table with the ratios of Pinocchio and CasADi for every robot, function by function."""
    lines: list[list[str | Cell]] = []
    for label, one in report["robots"].items():
        by_name = {row["function"]: row["entries"] for row in report["rows"] if row["robot"] == label}
        entries = [by_name.get(name, {}) for name in names]
        ratios = [Cell(_ratio(best_pinocchio(e)), _ratio(e.get("casadi"))) for e in entries]
        lines.append([Cell(label, one["robot"]["root_joint"]), str(one["robot"]["nv"]), *ratios])
    return Table("", ["robot", "nv", *names], lines)


def _ratio(entry: Mapping[str, Any] | None) -> str:
    return DASH if entry is None else ratio_words(entry["ratio"])


class Measure(NamedTuple):
    """A quantity of the methods that grows with the size.

    title: title of its curves.
    words: label of the ordinate.
    of: function that returns the value from a method's figures, None if the method has none.
    """

    title: str
    words: str
    of: Callable[[Mapping[str, Any]], float | None]


TIME = Measure("time", "time of a call (\u00b5s)", lambda figures: 1e-3 * figures["nanoseconds"])
CODE = Measure("machine code", "machine code (bytes)", lambda figures: figures["code_bytes"])
OPERATIONS = Measure("operations", "operations", lambda figures: figures.get("operations"))
ERROR = Measure("errors", "RMS relative error", lambda figures: (figures["errors"] or {}).get("rms_rel"))


def curves(
    entries: Sequence[Mapping[str, Any]], function: str, family: str, measure: Measure
) -> dict[str, dict[int, float]]:
    """Return the values over the sizes of a family, by method."""
    by_method: dict[str, dict[int, float]] = {}
    for entry in entries:
        if entry["family"] == family and function in entry["functions"]:
            for method, figures in entry["functions"][function]["methods"].items():
                y = measure.of(figures)
                if y is not None:
                    by_method.setdefault(method, {})[entry["size"]] = y
    return by_method


def ratios(
    entries: Sequence[Mapping[str, Any]], function: str, family: str, over: str
) -> dict[str, dict[int, float]]:
    """Return the times of other methods divided by those of `over`, at the sizes of a family that
    both have.
    """
    times = curves(entries, function, family, TIME)
    base = times.pop(over, {})
    return {method: {n: t / base[n] for n, t in of.items() if n in base} for method, of in times.items()}

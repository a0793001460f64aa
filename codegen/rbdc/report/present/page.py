"""Show a comparison and a benchmark as pages and on the terminal, from the data of their reports alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.analysis.model_summary import joints_table
from rbdc.analysis.pages import DASH, Part, Table, page_text
from rbdc.functions.catalogue import known
from rbdc.report.options import CASADI, NOT_ASKED, PEERS
from rbdc.report.present.colours import FAMILY_COLOURS, line_colours
from rbdc.report.present.document import summary
from rbdc.report.present.plots import batch_curves, error_dots, pattern, time_bars, time_dots
from rbdc.report.present.tables import (
    BENCHMARKED,
    ERRORS,
    PEAKS,
    accuracy_table,
    bandwidth_words,
    batch_notes,
    batch_table,
    beside_words,
    entry_heading,
    glance_table,
    headline_table,
    least_time,
    methods_table,
    peak_words,
    seconds_table,
    times_table,
)

Lines = list[str | Table]

FIGURES = (
    "Flop are additions, subtractions and multiplications, before any are fused; a vector operation counts "
    "once for each lane. Divisions, square roots, sines and cosines do not count, so shares of the peaks are "
    "lower bounds. Equations (40) to (43) of Singh, Russell and Wensing define the errors, over all outputs "
    "and samples."
)
"""How operations and errors are counted, on every page."""


def page(report: dict[str, Any]) -> str:
    """Return the HTML of a report."""
    robot, functions, peak = report["robot"], report["functions"], peak_words(report["peak"])
    tiles = {name for name, function in known().items() if function.comparison.headline}
    order = sorted(enumerate(functions), key=lambda item: (item[1]["name"] not in tiles, item[0]))
    lead = (
        f"{robot['root_joint']} base, {robot['nv']} degrees of freedom, {len(robot['joints'])} moving "
        f"bodies, {robot['mass']:.4g} kg. All methods for the robot's functions, measured in one run."
    )
    key = [(f"{name}:", meaning, FAMILY_COLOURS[name]) for name, meaning in report["families"].items()]
    glance = headline_table([f for f in functions if f["name"] in tiles])
    words = (
        "Generated: the time of the generated function. Other families: the time of the fastest method, as a "
        "multiple of the generated function's time. Peaks: the generated function's share of the core's peak "
        f"rate; {peak}."
    )
    parts = [
        Part("At a glance", [words], tables=[glance]),
        *(_function(k, f) for k, f in order),
        Part("The robot", tables=[joints_table(robot)], notes=robot["warnings"]),
        Part("How it was measured", [*_setting(report), *_measurement(report, peak)]),
    ]
    lines = [of_comparison(report), lead]
    top = Part(f"{robot['name']}: rbdc compare", lines, notes=[_conditions(report)], parts=parts)
    return page_text(top, key, report, "report.json")


def of_comparison(report: Mapping[str, Any]) -> str:
    """Return for how many functions generated code is the fastest method, and how long the peers take."""
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
    every = "both functions" if some == 2 else f"all {some} functions"
    return every if some == all_of_them else f"{some} of {all_of_them} functions"


def _conditions(report: Mapping[str, Any]) -> str:
    settings = report["settings"]
    return (
        f"{report['machine']['processor']}, one core; {report['compiler']['version']}. Times are minima over "
        f"interleaved passes with {settings['samples']} different inputs. Errors are those of "
        f"{settings['checked']} inputs, against references of {settings['reference_digits']} digits."
    )


def _setting(report: Mapping[str, Any]) -> list[str]:
    machine, tools = report["machine"], [("generated", report["compiler"])]
    instructions = ", ".join(machine["vector_instructions"]) or "no vector instructions known"
    pinned = "" if machine["pinned_to"] is None else f", pinned to number {machine['pinned_to']}"
    words = f"{machine['processor']}, {instructions}; {machine['system']}; {machine['processors']} processors"
    tools += [(f"generated-{other['name']}", other) for other in report["other_compilers"]]
    lines = [f"{words}{pinned}."]
    lines += [f"{name}: {tool['version']}: {' '.join(tool['flags'])}" for name, tool in tools]
    for one in report["peers"]["builds"]:
        seconds = f"compiled in {one['compile_seconds']:.0f} s"
        how = f"{one['compiler']}: {' '.join(one['flags'])}"
        lines.append(f"{one['name']}, {one['what']}, {seconds}: {how}")
    return [*lines, *(f"{name} is absent: {reason}" for name, reason in report["peers"]["absent"].items())]


def _measurement(report: Mapping[str, Any], peak: str) -> list[str]:
    words = (
        "All methods have the same C signature and are called from the same C loop. Passes of all methods "
        "of a function alternate, so that other processes slow all methods alike. Before a cold call the "
        "code, constants, inputs and outputs are flushed from every cache. Code bytes include constants; "
        "stack bytes are those of the C function that uses most. The peak is the rate of a loop of "
        "independent chains of x = x a + b, measured between the functions on the same core: "
        f"{peak}. {FIGURES}"
    )
    if report.get("bandwidth") is None:
        return [words]
    batches = (
        "Batches: every method takes contiguous samples in one call from C. Sizes are measured one after "
        "the other, and methods alternate. The clock counts the time of the thread alone, not the time in "
        "which another process has the core. Shares of the peaks use the flop of the generated function for "
        "every method. Shares of the bandwidth count the inputs and outputs of a sample; for Pinocchio they "
        "count the inputs alone, since results stay in Pinocchio's data; "
        f"{bandwidth_words(report['bandwidth'])}. Shares above 100 % mean that data came from caches."
    )
    return [words, batches]


def _function(index: int, function: Mapping[str, Any]) -> Part:
    """Return a function's part of the page; its figures are those of `functions[index]` in report.json."""
    place = f"functions[{index}]"
    peers = [
        f"{x['method']} takes {x['ratio']:.3g} times as long as generated: {x['algorithm']}"
        for x in function["peers"].values()
    ]
    peers += beside_words(function)
    absent = [f"{one['method']}: not measured. {one['reason']}" for one in function["absent"]]
    table = methods_table(function)
    errors = table.only("method", *ERRORS, "algorithm")
    others = table.only(*(name for name in table.head if name == "method" or name not in errors.head))
    figures = Part(f"All figures ({place}.methods in report.json)", tables=[others, errors], notes=absent)
    parts = [] if function.get("batch") is None else [_batch(place, function)]
    if function["patterns"]:
        words = (
            "Blank entries are exactly zero. In generated matrices they are the structural zeros. There "
            "differences have rounding errors, or zeros if the results did not change."
        )
        title = f"Entries of the derivatives at the first sample ({place}.patterns)"
        parts.append(Part(title, [words], [pattern(entry) for entry in function["patterns"]]))
    plots = [svg for svg in (time_bars(function), error_dots(function)) if svg is not None]
    return Part(function["name"], [function["summary"], *peers], plots, folded=[figures], parts=parts)


def _batch(place: str, function: Mapping[str, Any]) -> Part:
    batch = function["batch"]
    words = "The time of a sample over the number of samples in the batch."
    figures = Part("All figures of batches", tables=[batch_table(function)])
    plots, notes = [batch_curves(batch)], batch_notes(batch)
    return Part(f"Batches ({place}.batch)", [words], plots, notes=notes, folded=[figures])


def benchmark_page(report: dict[str, Any]) -> str:
    """Return the HTML of a benchmark."""
    rows, robots = report["rows"], report["robots"]
    labels = [label for label in BENCHMARKED if any(label in row["entries"] for row in rows)]
    names = list(dict.fromkeys(row["function"] for row in rows))
    absent = [f"{label} is absent: {reason}" for label, reason in report["absent"].items()]
    lead = f"{len(robots)} robots, {len(names)} functions: generated C beside Pinocchio's C++ and CasADi's C."
    key = [(entry_heading(label), "", colour) for label, colour in line_colours(labels).items()]
    glance = (
        "The time of Pinocchio and, below it, the time of CasADi's C, as multiples of the generated "
        "function's time. Pinocchio: native builds if they were measured, else the pip package's library."
    )
    measured = (
        "Each robot is measured by the same loop in three processes. Passes of all methods of a function "
        "alternate, so that other processes slow all methods alike. The tables show the fastest of "
        "Pinocchio's builds and variants, and the fastest of CasADi's modes. Compile seconds are those of "
        "the last compilation of the code. The peaks are rates of independent chains of x = x a + b, "
        f"measured between the functions on the same core. {FIGURES}"
    )
    by_robot = [
        Part(label, [*_setting(one), f"{peak_words(one['peak'])}."], notes=one["robot"]["warnings"])
        for label, one in robots.items()
    ]
    parts = [
        Part("At a glance", [glance], tables=[glance_table(report, names)]),
        *(_benchmarked(name, [row for row in rows if row["function"] == name], labels) for name in names),
        Part("How it was measured", [measured], folded=by_robot),
    ]
    notes = [_conditions(next(iter(robots.values()))), *absent]
    top = Part("rbdc benchmark", [of_benchmark(report), lead], notes=notes, parts=parts)
    return page_text(top, key, report, "benchmark.json")


def of_benchmark(report: Mapping[str, Any]) -> str:
    """Return how many times as long as generated code each peer takes, over all robots and functions."""
    rows = [
        {label: e["ratio"] for label, e in row["entries"].items() if label in PEERS} for row in report["rows"]
    ]
    count = f"{len(rows)} pair{'s' if len(rows) > 1 else ''} of a robot and a function"
    return f"Generated code beside its peers, over {count}.{_peers(rows) or ' No peer was measured.'}"


def _peers(rows: Sequence[Mapping[str, float]]) -> str:
    ratios = {peer: [row[peer] for row in rows if peer in row] for peer in PEERS}
    said = [f" {entry_heading(peer)} takes {_range(of)} times as long." for peer, of in ratios.items() if of]
    return "".join(said)


def _range(values: Sequence[float]) -> str:
    ends = dict.fromkeys(f"{end:.3g}" for end in (min(values), max(values)))
    return " to ".join(ends)


def _benchmarked(name: str, rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> Part:
    algorithms = [
        f"{row['robot']}, {entry_heading(label)}: {entry['method']}, {entry['algorithm']}"
        for row in rows
        for label, entry in row["entries"].items()
        if label in PEERS
    ]
    absent = [
        f"Not measured: {row['robot']}, {entry_heading(label)}: {reason}"
        for row in rows
        for label, reason in row["absent"].items()
    ]
    title = "Accuracy, compile seconds, algorithms of the peers"
    more = Part(title, tables=[accuracy_table(rows), seconds_table(rows, labels)], notes=algorithms)
    times = times_table("", "robot", rows, labels)
    dots = time_dots({row["robot"]: row for row in rows}, labels)
    return Part(name, plots=[dots], tables=[times], notes=absent, folded=[more])


def comparison_lines(report: dict[str, Any]) -> Lines:
    """Return a report for the terminal: for each function its methods, fastest first, then its peers and
    batches.
    """
    robot = report["robot"]
    lines: Lines = [f"{robot['name']}, {robot['root_joint']} base, nv = {robot['nv']}"]
    for function in report["functions"]:
        columns = ("method", "times generated", "min ns", "median ns", "cold median ns", "operations")
        lines.append(methods_table(function).only(*columns, "code, bytes", "compile s", "rms rel (43)"))
        if function["absent"]:
            lines.append(f"absent: {', '.join(one['method'] for one in function['absent'])}")
        lines += beside_words(function)
    lines.append(_summary("Generated code and its peers", summary(report), report["peak"]))
    lines += _of_peers(report)
    if report["bandwidth"] is not None:
        lines.append(f"Batches: times of one sample; {bandwidth_words(report['bandwidth'])}")
        for function in report["functions"]:
            notes = batch_notes(function["batch"])
            lines += [batch_table(function), *(f"{function['name']}: {note}" for note in notes)]
    return lines


def benchmark_lines(report: dict[str, Any]) -> Lines:
    """Return a benchmark for the terminal: a table for each robot, and the absent robots."""
    lines: Lines = []
    for label, one in report["robots"].items():
        robot = one["robot"]
        title = f"{label}, {robot['root_joint']} base, nv = {robot['nv']}; {one['compiler']['version']}"
        lines.append(_summary(title, [row for row in report["rows"] if row["robot"] == label], one["peak"]))
        lines += _of_peers(one, f"{label}, ")
    return [*lines, *(f"{label} is absent: {reason}" for label, reason in report["absent"].items())]


def _summary(title: str, rows: Sequence[Mapping[str, Any]], peak: dict[str, Any]) -> Table:
    labels = list(dict.fromkeys(label for row in rows for label in (*row["entries"], *row["absent"])))
    table = times_table(title, "function", rows, labels)
    columns = (name for name in table.head if name not in ("operations", "code, bytes"))
    note = f"{' and '.join(PEAKS)}: shares of the peak rates; {peak_words(peak)}. {DASH}: absent."
    return replace(table.only(*columns), note=note)


def _of_peers(report: Mapping[str, Any], before: str = "") -> list[str]:
    """Return CasADi's fastest method for each function, and the absent peers; `before` begins each line."""
    lines = [
        f"{before}{entry_heading(CASADI)}, {function['name']}: {best['method']}, {best['algorithm']}"
        for function in report["functions"]
        if (best := function["peers"].get(CASADI)) is not None
    ]
    return lines + [
        f"{before}{entry_heading(peer)} is absent: {reason}"
        for peer, reason in report["peers"]["absent"].items()
        if reason != NOT_ASKED
    ]

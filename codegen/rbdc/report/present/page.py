"""report.html: one self-contained file, made of the report's data alone, which it carries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.emit.render import render_html
from rbdc.functions.catalogue import known
from rbdc.report.present.colours import FAMILY_COLOURS, of_method
from rbdc.report.present.formatting import (
    bandwidth_words,
    batch_notes,
    compile_seconds,
    count,
    decimal_nanoseconds,
    embedded,
    error_words,
    label_words,
    nanoseconds,
    peak_shares,
    peak_words,
    ratio_words,
)
from rbdc.report.present.plots import batch_curves, error_dots, pattern, time_bars

COLUMNS = (
    ("operations", "operations"),
    ("flops", "flop"),
    ("statements", "statements"),
    ("text_bytes", "C text, bytes"),
    ("code_bytes", "code, bytes"),
    ("stack_bytes", "stack, bytes"),
)
"""Figures of the tables, with their headings."""

HEADINGS = (
    "min ns",
    "median ns",
    "cold min ns",
    "cold median ns",
    *(words for _, words in COLUMNS),
    "of vector peak",
    "of scalar peak",
    "compile s",
    "max abs (40)",
    "rms abs (41)",
    "max rel (42)",
    "rms rel (43)",
)
"""Headings between the ratio of a method and its algorithm."""

BATCH_HEADINGS = ("min ns", "median ns", "of vector peak", "of scalar peak", "of bandwidth")
"""Headings between the number of samples and the method that is called."""

METRICS = ("max_abs", "rms_abs", "max_rel", "rms_rel")


@dataclass(frozen=True)
class _Robot:
    name: str
    root_joint: str
    nv: int
    bodies: int
    mass: str
    warnings: Sequence[str]


@dataclass(frozen=True)
class _Joint:
    """A line of the tree of joints; `depth` steps below the root."""

    depth: int
    name: str
    kind: str
    link: str
    mass: str


@dataclass(frozen=True)
class _Machine:
    processor: str
    vector_instructions: str
    system: str
    processors: int
    pinned: str


@dataclass(frozen=True)
class Build:
    """A compiler, or a build of a peer, with its flags in one string."""

    name: str
    version: str
    flags: str


@dataclass(frozen=True)
class _Family:
    name: str
    meaning: str
    colour: str


@dataclass(frozen=True)
class _Other:
    """The fastest method of a family beside the generated one."""

    method: str
    ratio: str
    colour: str


@dataclass(frozen=True)
class _Headline:
    """A tile: the generated time, its shares of the peaks, and the other families."""

    name: str
    time: str
    vector: str
    scalar: str
    others: Sequence[_Other]


@dataclass(frozen=True)
class _Peer:
    name: str
    method: str
    algorithm: str
    ratio: str


@dataclass(frozen=True)
class _Row:
    """A method in the table of a function; `cells` stand between its ratio and its algorithm, each beside the
    heading of its column.
    """

    method: str
    colour: str
    algorithm: str
    ratio: str
    cells: Sequence[tuple[str, str]]
    wrong: bool


@dataclass(frozen=True)
class _BatchRow:
    """A method at one size of batch; `of` is the method whose code it calls; cells stand beside the headings
    of their columns.
    """

    method: str
    of: str
    colour: str
    samples: int
    cells: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class _Batch:
    svg: str
    rows: Sequence[_BatchRow]
    notes: Sequence[str]


@dataclass(frozen=True)
class _Pattern:
    output: str
    svg: str


@dataclass(frozen=True)
class _Function:
    """A function's section; `path` is its place in report.json."""

    name: str
    summary: str
    path: str
    bars: str
    dots: str | None
    rows: Sequence[_Row]
    absent: Sequence[Mapping[str, str]]
    peers: Sequence[_Peer]
    batch: _Batch | None
    patterns: Sequence[_Pattern]


@dataclass(frozen=True)
class _Page:
    """Values of report.html.jinja, as text and markup."""

    robot: _Robot
    tree: Sequence[_Joint]
    machine: _Machine
    compiler: Build
    other_compilers: Sequence[Build]
    peer_builds: Sequence[Build]
    absent_peers: Mapping[str, str]
    peak: str
    bandwidth: str | None
    settings: Mapping[str, Any]
    generator: str
    families: Sequence[_Family]
    headlines: Sequence[_Headline]
    functions: Sequence[_Function]
    columns: Sequence[str]
    batch_columns: Sequence[str]
    data: str


def page(report: dict[str, Any]) -> str:
    """The HTML of a report."""
    tiles = {name for name, function in known().items() if function.comparison.headline}
    order = sorted(enumerate(report["functions"]), key=lambda item: (item[1]["name"] not in tiles, item[0]))
    bandwidth = report.get("bandwidth")
    view = _Page(
        robot=_robot(report["robot"]),
        tree=_tree(report["robot"]),
        machine=_machine(report["machine"]),
        compiler=build_of("", report["compiler"]["version"], report["compiler"]["flags"]),
        other_compilers=[
            build_of(one["name"], one["version"], one["flags"]) for one in report["other_compilers"]
        ],
        peer_builds=[
            build_of(f"{one['name']}, {one['what']}", one["compiler"], one["flags"])
            for one in report["peers"]["builds"]
        ],
        absent_peers=report["peers"]["absent"],
        peak=peak_words(report["peak"]),
        bandwidth=None if bandwidth is None else bandwidth_words(bandwidth),
        settings=report["settings"],
        generator=report["generator"],
        families=[
            _Family(name, meaning, FAMILY_COLOURS[name]) for name, meaning in report["families"].items()
        ],
        headlines=[_headline(f) for f in report["functions"] if f["name"] in tiles],
        functions=[_function(k, f) for k, f in order],
        columns=HEADINGS,
        batch_columns=BATCH_HEADINGS,
        data=embedded(json.dumps(report)),
    )
    return render_html("report.html.jinja", **vars(view))


def _robot(robot: dict[str, Any]) -> _Robot:
    mass, bodies = f"{robot['mass']:.4g}", len(robot["joints"])
    return _Robot(robot["name"], robot["root_joint"], robot["nv"], bodies, mass, robot["warnings"])


def _tree(robot: dict[str, Any]) -> list[_Joint]:
    """The joints in depth-first order."""
    depth: dict[str | None, int] = {None: 0}
    rows = []
    for joint in robot["joints"]:
        depth[joint["link"]] = depth[joint["parent"]] + 1
        level, mass = depth[joint["link"]] - 1, f"{joint['mass']:.3g}"
        rows.append(_Joint(level, joint["name"], joint["kind"], joint["link"], mass))
    return rows


def _machine(machine: dict[str, Any]) -> _Machine:
    instructions = ", ".join(machine["vector_instructions"]) or "no vector instructions known"
    pinned = "" if machine["pinned_to"] is None else f", pinned to number {machine['pinned_to']}"
    return _Machine(machine["processor"], instructions, machine["system"], machine["processors"], pinned)


def build_of(name: str, version: str, flags: Sequence[str]) -> Build:
    """The view of a compiler or of a build of a peer."""
    return Build(name, version, " ".join(flags))


def _headline(function: dict[str, Any]) -> _Headline:
    """The generated time, and the fastest of each other family beside it."""
    methods = function["methods"]
    generated = next(m for m in methods if m["method"] == "generated")
    own = generated["nanoseconds"]["minimum"]
    others = []
    for family in ("peer", "analytical", "ad", "numerical", "single"):
        theirs = (m for m in methods if m["family"] == family)
        best = min(theirs, key=lambda m: m["nanoseconds"]["minimum"], default=None)
        if best is not None:
            ratio = ratio_words(best["nanoseconds"]["minimum"] / own)
            others.append(_Other(best["method"], ratio, of_method(best)))
    return _Headline(function["name"], nanoseconds(own), *peak_shares(generated), others)


def _function(index: int, function: dict[str, Any]) -> _Function:
    rows = sorted(function["methods"], key=lambda m: m["nanoseconds"]["minimum"])
    peers = function["peers"].items()
    batch = function.get("batch")
    return _Function(
        name=function["name"],
        summary=function["summary"],
        path=f"functions[{index}]",
        bars=time_bars(function),
        dots=error_dots(function),
        rows=[_row(method, function["ratios"]) for method in rows],
        absent=function["absent"],
        peers=[_peer(peer, best) for peer, best in peers],
        batch=None if batch is None else _batch(batch),
        patterns=[_Pattern(p["output"], pattern(p)) for p in function["patterns"] or ()],
    )


def _peer(peer: str, best: Mapping[str, Any]) -> _Peer:
    return _Peer(label_words(peer), best["method"], best["algorithm"], f"{best['ratio']:.3g}")


def _row(method: dict[str, Any], ratios: dict[str, float]) -> _Row:
    times = method["nanoseconds"]
    cells = [
        *(decimal_nanoseconds(times[key]) for key in ("minimum", "median", "cold_minimum", "cold_median")),
        *(count(method[name]) for name, _ in COLUMNS),
        *peak_shares(method),
        compile_seconds(method),
        *(error_words(method, key) for key in METRICS),
    ]
    ratio, colour = f"{ratios.get(method['method'], 1.0):.3g}", of_method(method)
    pairs = [*zip(HEADINGS, cells, strict=True)]
    return _Row(method["method"], colour, method["algorithm"], ratio, pairs, wrong=method["right"] is False)


def _batch(batch: dict[str, Any]) -> _Batch:
    """The curves of a function in batches, and their figures by method and size."""
    rows = [_batch_row(method, point) for method in batch["methods"] for point in method["points"]]
    return _Batch(batch_curves(batch), rows, batch_notes(batch))


def _batch_row(method: dict[str, Any], point: dict[str, Any]) -> _BatchRow:
    times = [decimal_nanoseconds(point[key]) for key in ("nanoseconds", "median")]
    cells = [*times, *peak_shares(point), f"{point['bandwidth_percent']:.3g} %"]
    pairs = [*zip(BATCH_HEADINGS, cells, strict=True)]
    return _BatchRow(method["method"], method["of"], of_method(method), point["samples"], pairs)

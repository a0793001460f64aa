"""Figures of the pages as SVG by matplotlib: narrow enough for a phone, with text kept as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter, LogLocator, MaxNLocator, NullFormatter

from rbdc.report.present.colours import FAMILY_COLOURS, line_colours, of_method
from rbdc.report.present.tables import (
    BENCHMARKED,
    entry_heading,
    least_time,
    nanoseconds,
    ratio_words,
    shown_methods,
)

WIDE = 30.0
"""Ratio of the largest to the least value above which dots on a logarithmic axis replace bars."""

SHORT = 28
"""Longest label (letters) for which a key has two columns."""

_WIDTH = 5.4
"""Width of a figure in inches; 10-point text stays legible when it is scaled to a phone's width."""
Curves = Mapping[str, Mapping[int, float]]
"""Points of curves by their labels and abscissae."""
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rbdc",
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


_FILES: ContextVar[Path | None] = ContextVar("folder and first word of the names of files", default=None)


@contextmanager
def as_files(folder: Path, name: str) -> Iterator[None]:
    """Write every figure also to a folder: NAME-01.svg, NAME-01.png and so on, in place of earlier ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}-[0-9]*"):
        old.unlink()
    token = _FILES.set(folder / name)
    try:
        yield
    finally:
        _FILES.reset(token)


def logarithmic(values: Iterable[float]) -> bool:
    """Return whether these values need a logarithmic axis so that the small ones can be told apart."""
    positive = [value for value in values if value > 0.0]
    return bool(positive) and max(positive) > WIDE * min(positive)


def time_bars(function: Mapping[str, Any]) -> str:
    """Return bars of the minimum time, or dots on a logarithmic axis, each with its time and its ratio to the
    generated code.
    """
    methods = shown_methods(function)
    times, colours = {m["method"]: least_time(m) for m in methods}, [of_method(m) for m in methods]
    ratios = {name: f"\u00a0\u00a0{ratio_words(ratio)}" for name, ratio in function["ratios"].items()}
    words = [f"{nanoseconds(ns)}{ratios.get(name, '')}" for name, ns in times.items()]
    with _panel(_height(len(methods)), "time of a call") as (figure, axes):
        if logarithmic(times.values()):
            axes.scatter([*times.values()], range(len(times)), 49, colours)
            for k, (ns, text) in enumerate(zip(times.values(), words, strict=True)):
                axes.annotate(text, (ns, k), (8, 0), textcoords="offset points", va="center")
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(numticks=3))
            axes.set_xlabel("minimum, on a logarithmic axis")
        else:
            axes.bar_label(
                axes.barh(range(len(times)), [*times.values()], 0.72, color=colours), words, padding=4
            )
            axes.xaxis.set_major_locator(MaxNLocator(4))
            axes.set_xlabel("minimum")
        _show(axes.xaxis, nanoseconds)
        _label(axes, [*times])
        return _svg(figure)


def time_dots(rows: Mapping[str, Mapping[str, Any]], labels: Sequence[str]) -> str:
    """Return the minimum times of rows of a benchmark by their names, on a logarithmic axis.

    labels: the entries of the rows that are shown.
    """
    colours, words = line_colours(labels), "minimum, on a logarithmic axis"
    with _panel(_height(len(rows) + 3), "time of a call", words) as (figure, axes):
        for label in labels:
            entries = {k: row["entries"].get(label) for k, row in enumerate(rows.values())}
            times = {k: entry["minimum_nanoseconds"] for k, entry in entries.items() if entry}
            name = entry_heading(label)
            axes.plot([*times.values()], [*times], "o", color=colours[label], markersize=7, label=name)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=_steps(*axes.get_xlim())))
        axes.grid(axis="y", color="#dfe3e8", linewidth=2)
        axes.set_axisbelow(True)
        _show(axes.xaxis, nanoseconds)
        _label(axes, [*rows])
        _legend(figure, map(entry_heading, labels))
        return _svg(figure)


def _steps(low: float, high: float) -> tuple[float, ...]:
    if high > 1e3 * low:
        return (1.0,)
    if high > 8.0 * low:
        return (1.0, 3.0) if high > WIDE * low else (1.0, 2.0, 5.0)
    return (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)


def speed(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the minimum times of all functions of a benchmark as one picture, without generated code by
    further compilers.
    """
    measured = {label for row in rows for label in row["entries"] if not label.startswith("generated-")}
    named = {f"{row['robot']} {row['function']}": row for row in rows}
    return time_dots(named, [label for label in BENCHMARKED if label in measured])


def _show(axis: Axis, words: Callable[[float], str]) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: words(value)))
    axis.set_minor_formatter(NullFormatter())


def _show_powers(*axes: Axis) -> None:
    """Format powers of ten as 1e-12: matplotlib's formulas need its parser, which takes a third of the time
    of a page.
    """
    for axis in axes:
        axis.set_major_locator(LogLocator(numticks=4))
        axis.set_major_formatter(LogFormatter())
        axis.set_minor_formatter(LogFormatter())


def batch_curves(batch: Mapping[str, Any]) -> str:
    """Return the time of a sample over the size of the batch, both on logarithmic axes: a curve for each
    method.
    """
    points = {
        method["method"]: {point["samples"]: point["nanoseconds"] for point in method["points"]}
        for method in batch["methods"]
    }
    loops = [name for name in points if name.endswith("-loop")]
    title, words = "time of a sample in batches", "samples in a batch"
    return grown(points, title, words, "minimum", nanoseconds, loops)


def error_dots(function: Mapping[str, Any]) -> str | None:
    """Return the root mean square and the largest relative error (equations 43 and 42) on a logarithmic axis;
    None if errors were not checked.
    """
    methods = [m for m in shown_methods(function) if m["errors"] and m["errors"]["max_rel"] is not None]
    if not methods:
        return None
    words = "\u25cf root mean square, | largest"
    with _panel(_height(len(methods)), "relative error", words) as (figure, axes):
        places, colours = range(len(methods)), [of_method(m) for m in methods]
        low, high = ([max(m["errors"][name], 1e-18) for m in methods] for name in ("rms_rel", "max_rel"))
        axes.hlines(places, low, high, colours, linewidth=2, alpha=0.5)
        axes.scatter(low, places, 36, colours)
        axes.scatter(high, places, 121, colours, marker="|", linewidth=2)
        axes.axvline(2.0**-53, color="#aaaaaa", linewidth=1, linestyle=":")
        axes.set_xscale("log")
        left, right = axes.get_xlim()
        axes.set_xlim(min(left, 1e-17), max(right, 1e-12))
        _show_powers(axes.xaxis)
        _label(axes, [m["method"] for m in methods])
        return _svg(figure)


def pattern(entry: Mapping[str, Any]) -> str:
    """Return one derivative matrix by each method: zeros are blank, other entries coloured by their order of
    magnitude.
    """
    methods = [key for key in entry if key != "output"]
    sizes = mpl.colormaps["viridis"].with_extremes(bad="none")  # log10(0) is -inf
    with mpl.rc_context({**_STYLE, "axes.spines.top": True, "axes.spines.right": True}):
        figure = Figure(figsize=(_WIDTH, 3.1), layout="constrained")
        axes = figure.subplots(1, len(methods), squeeze=False)[0]
        for one, method in zip(axes, methods, strict=True):
            values = np.abs(np.array(entry[method], dtype=float))
            image = one.imshow(values, cmap=sizes, norm=LogNorm(1e-12, 1e2), interpolation="nearest")
            one.set(xticks=[], yticks=[])
            zeros = f"{int((values == 0.0).sum())} of {values.size} entries are 0"
            one.set_title(f"{method}\n{zeros}", fontsize=10)
        figure.suptitle(entry["output"], fontsize=10)
        figure.colorbar(image, ax=list(axes), shrink=0.8, label="size of the entry", format=LogFormatter())
        return _svg(figure)


def curve(x: Sequence[float], values: Sequence[float | None], title: str, label: str) -> str:
    """Return a curve, with a gap where a value is None."""
    with _panel(2.4, title, label) as (figure, axes):
        known = np.array(values, dtype=float)  # None is not a number
        axes.plot(x, known, color=FAMILY_COLOURS["generated"], linewidth=1.2)
        return _svg(figure)


def grown(
    curves: Curves,
    title: str,
    x: str,
    y: str,
    shown: Callable[[float], str] | None = None,
    dashed: Collection[str] = (),
) -> str:
    """Return curves over sizes on logarithmic axes. The labels of curves begin with the names of methods.

    Zeros are drawn at 1e-17.

    shown: function that formats an ordinate.
    dashed: labels of dashed curves.
    """
    methods = {label: label.partition(", ")[0] for label in curves}
    colours = line_colours(methods.values())
    with _panel(3.4 + 0.18 * len(curves) / _columns(curves), title, x, y) as (figure, axes):
        for label, points in curves.items():
            values, style = [max(value, 1e-17) for value in points.values()], "--" if label in dashed else "-"
            of_line = {"marker": "o", "markersize": 4, "color": colours[methods[label]], "label": label}
            axes.plot(list(points), values, style, **of_line)
        axes.set_xscale("log", base=2)
        _show(axes.xaxis, "{:,.0f}".format)
        axes.set_yscale("log")
        if shown is None:
            _show_powers(axes.yaxis)
        else:
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            _show(axes.yaxis, shown)
        _legend(figure, curves)
        return _svg(figure)


def contours(
    steps: tuple[Sequence[float], Sequence[float]],
    errors: Sequence[Sequence[float]],
    title: str,
    x: str,
    y: str,
) -> str:
    """Return filled contours of logarithms of errors, a row for each of the second steps; a dot marks the
    least error.
    """
    with _panel(3.6, title, x, y) as (figure, axes):
        values = np.array(errors, dtype=float)
        filled = axes.contourf(*steps, values, levels=12, cmap="viridis")
        row, column = divmod(int(np.argmin(values)), values.shape[1])
        axes.plot([steps[0][column]], [steps[1][row]], "o", color="#c0392b", markersize=7)
        axes.set_xscale("log")
        axes.set_yscale("log")
        _show_powers(axes.xaxis, axes.yaxis)
        figure.colorbar(filled, ax=axes, label="log10 of the RMSRE")
        return _svg(figure)


def grouped_bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    title: str,
    y: str,
) -> str:
    """Return bars side by side for each group, or dots if a logarithmic axis is needed."""
    wide = logarithmic(value for values in series.values() for value in values)
    with _panel(3.4, title, y=y) as (figure, axes):
        width = 0.8 / len(series)
        for k, (name, values) in enumerate(series.items()):
            places = [g + (k - 0.5 * (len(series) - 1)) * width for g in range(len(groups))]
            if wide:
                axes.plot(places, values, "o", color=colours[name], markersize=7, label=name)
            else:
                axes.bar(places, values, width, color=colours[name], label=name)
        if wide:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
            _show(axes.yaxis, "{:g}".format)
            axes.set_xlim(-0.6, len(groups) - 0.4)
        axes.set_xticks(range(len(groups)), groups)
        _legend(figure, [*series])
        return _svg(figure)


def _legend(figure: Figure, labels: Iterable[str]) -> None:
    figure.legend(loc="outside lower left", ncols=_columns(labels), frameon=False, fontsize=9)


def _columns(labels: Iterable[str]) -> int:
    return 2 if max(map(len, labels), default=0) <= SHORT else 1


def _height(rows: int) -> float:
    """Return the height of a figure with this number of rows (inches)."""
    return 0.75 + 0.27 * rows


@contextmanager
def _panel(height: float, title: str, x: str = "", y: str = "") -> Iterator[tuple[Figure, Any]]:
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        yield figure, axes


def _label(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() == "generated" else "normal")
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _svg(figure: Figure) -> str:
    """Return the SVG element alone, without metadata that differ between runs.

    Within `as_files` the figure is also written as PNG.
    """
    text = StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = text.getvalue()[text.getvalue().index("<svg") :]
    if (files := _FILES.get()) is not None:
        file = files.parent / f"{files.name}-{len(list(files.parent.glob(f'{files.name}-*.png'))) + 1:02}"
        file.with_suffix(".svg").write_text(text.getvalue(), encoding="utf-8")
        figure.savefig(file.with_suffix(".png"), metadata={"Software": None}, dpi=200)
    return svg

"""Pages: one colour a method throughout, axes by the spread of what they show, titles on all panels, and
nothing that is cut off on a phone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rbdc.analysis.pages import Table
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.model.families import tree
from rbdc.report.methods.contenders import known_methods
from rbdc.report.methods.implementation import FAMILIES
from rbdc.report.present import plots
from rbdc.report.present.colours import FAMILY_COLOURS, colour_of, line_colours, of_method
from rbdc.report.present.page import of_benchmark, of_comparison
from rbdc.report.present.study_page import of_claims, study_page
from rbdc.report.present.tables import entry_heading, ratio_words
from rbdc.resources import resolve

METHODS = {
    "generated": "generated",
    "generated-float32": "single",
    "rolled": "analytical",
    "unrolled-carpentier-mansard": "analytical",
    "casadi": "ad",
    "ad-reverse-casadi": "ad",
    "complex-step": "numerical",
    "pinocchio-native-clang-no-avx512-world": "peer",
}


def function(spread: float) -> dict[str, Any]:
    """Return a function of a report whose slowest method takes so many times as long as the fastest."""
    times = [100.0 * spread ** (k / (len(METHODS) - 1)) for k in range(len(METHODS))]
    errors = {"rms_rel": 1e-16, "max_rel": 1e-12}
    methods = [
        {"method": name, "family": family, "nanoseconds": {"minimum": ns}, "errors": errors}
        for (name, family), ns in zip(METHODS.items(), times, strict=True)
    ]
    ratios = {name: ns / 100.0 for name, ns in zip(METHODS, times, strict=True) if name != "generated"}
    return {"name": "rnea", "methods": methods, "ratios": ratios}


def batches() -> dict[str, Any]:
    """Return batches of a report."""
    points = [{"samples": n, "nanoseconds": 50.0 + n} for n in (1, 8, 64)]
    methods = [("generated-batch", "generated"), ("generated-loop", "generated"), ("casadi-map", "ad")]
    return {
        "samples": [1, 8, 64],
        "methods": [{"method": name, "family": family, "points": points} for name, family in methods],
    }


def rows() -> dict[str, dict[str, Any]]:
    """Return rows of a benchmark by their names."""
    entries = {"generated": 100.0, "casadi": 300.0, "pinocchio-native": 900.0}
    return {"ur5": {"entries": {k: {"minimum_nanoseconds": ns} for k, ns in entries.items()}}}


def lines(*names: str) -> dict[str, dict[int, float]]:
    """Return curves over the size, of the methods of these names."""
    return {f"{name}, binary": {2: 1.0, 4: 3.0} for name in names}


FIGURES: dict[str, Callable[[], str | None]] = {
    "bars": lambda: plots.time_bars(function(4.0)),
    "wide bars": lambda: plots.time_bars(function(4000.0)),
    "errors": lambda: plots.error_dots(function(4.0)),
    "batches": lambda: plots.batch_curves(batches()),
    "robots": lambda: plots.time_dots(rows(), ["generated", "casadi", "pinocchio-native"]),
    "sizes": lambda: plots.grown(lines(*METHODS), "rnea: time", "bodies", "time of a call"),
    "groups": lambda: plots.grouped_bars(
        ["ur5", "atlas"], {"a": [1.0, 2.0], "b": [3.0, 90.0]}, {"a": "#111111", "b": "#222222"}, "time", "s"
    ),
}


def colours_in(svg: str | None) -> set[str]:
    """Return the colours of an SVG's style attributes."""
    return {*re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", svg or "")}


def test_every_figure_has_the_method_s_colour() -> None:
    for name in ("bars", "wide bars", "errors", "sizes"):
        used = colours_in(FIGURES[name]())
        assert {of_method({"method": m, "family": f}) for m, f in METHODS.items()} <= used, name
    for name in ("batches", "robots"):
        assert {colour_of("generated"), colour_of("casadi")} <= colours_in(FIGURES[name]()), name
    assert colour_of("pinocchio-native-gcc") in colours_in(FIGURES["robots"]())


def luminance(colour: str) -> float:
    """Return the relative luminance of sRGB, as guidelines of contrast define it."""
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_a_colour_does_not_depend_on_what_stands_beside_it() -> None:
    for names in combinations(METHODS, 3):
        assert line_colours(names) == {name: colour_of(name) for name in names}
    colours = line_colours(["h", "casadi", "k"])
    assert colours["casadi"] == colour_of("casadi")
    assert len({*colours.values()}) == 3
    for colour in {*colours.values(), *filter(None, map(colour_of, METHODS))}:
        lit = luminance(colour)
        assert 1.05 / (lit + 0.05) > 2.0, "seen on white"
        assert (lit + 0.05) / (luminance("#1a1f27") + 0.05) > 2.0, "and on the paper of a dark page"
    assert {name: of_method({"method": "of another version", "family": name}) for name in FAMILIES} == (
        FAMILY_COLOURS
    )


def models() -> Iterator[Problem]:
    """Yield one with every kind of method: arms, limbs, chains, trees."""
    for robot, root in (("cartpole", "fixed"), ("hyq", "free-flyer")):
        yield Problem.from_urdf(resolve(robot), root_joint=root)
    yield from (tree(5, 1.0), tree(5, 2.0))


def test_methods_of_a_function_differ_in_colour() -> None:
    for model in models():
        for one in functions_of(model).values():
            names = [
                name for name in known_methods(model, one) if name not in FAMILIES or name == "generated"
            ]
            colours = {name: colour_of(name) for name in dict.fromkeys([*names, "cppadcodegen", "pinocchio"])}
            assert None not in colours.values(), (one.name, colours)
            assert len({*colours.values()}) == len(colours), (one.name, colours)


def test_legend_and_table_name_a_peer_alike() -> None:
    labels = ["generated", "generated-gcc", "casadi", "pinocchio-native"]
    row = {k: {"minimum_nanoseconds": 100.0, "ratio": 2.0, "method": k} for k in labels}
    svg = plots.time_dots({"ur5": {"entries": row}}, labels)
    for label in labels:
        assert f">{entry_heading(label)}</text>" in svg


def test_ratios_have_no_exponents() -> None:
    assert [ratio_words(x) for x in (1.0, 12.345, 999.7, 40000.2)] == ["1×", "12.3×", "1000×", "40000×"]


@pytest.mark.parametrize(("spread", "wide"), [(29.0, False), (31.0, True)])
def test_dots_on_a_logarithmic_axis_replace_bars_that_spread_wide(
    spread: float, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plots.logarithmic([2.0, 2.0 * spread]) is wide
    drawn: list[Figure] = []
    monkeypatch.setattr(plots, "_svg", drawn.append)
    plots.time_bars(function(spread))
    plots.grouped_bars(["ur5"], {"a": [1.0], "b": [spread]}, {"a": "#111111", "b": "#222222"}, "time", "s")
    bars, groups = (figure.axes[0] for figure in drawn)
    assert (bars.get_xscale(), groups.get_yscale()) == ("log" if wide else "linear",) * 2
    assert ("logarithmic" in bars.get_xlabel()) is wide
    if wide:
        assert not bars.patches and not groups.patches, (
            "the length of a bar says nothing on a logarithmic axis"
        )
        left, right = bars.get_xlim()
        assert left < 100.0 and right > 100.0 * spread
        assert len(np.asarray(bars.collections[0].get_offsets())) == len(METHODS)
    else:
        widths = [patch.get_window_extent().width for patch in bars.patches]
        assert min(widths) > 0.01 * max(widths), "the shortest is seen"


@pytest.mark.parametrize("name", FIGURES)
def test_panels_have_titles_and_keep_within_their_figure(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Figure] = []
    monkeypatch.setattr(plots, "_svg", drawn.append)
    FIGURES[name]()
    (figure,) = drawn
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    (axes,) = figure.axes
    assert axes.get_title(loc="left")
    assert axes.get_xlabel() or axes.get_ylabel()
    box, (width, height) = figure.get_tightbbox(canvas.get_renderer()), figure.get_size_inches()
    assert -0.01 <= box.x0 <= box.x1 <= width + 0.01
    assert -0.01 <= box.y0 <= box.y1 <= height + 0.01
    right = figure.bbox.x1
    assert all(text.get_window_extent().x1 <= right + 1.0 for text in axes.texts), "words beside bars"


def narrow_rules() -> str:
    """Return the rules of the pages' style for narrow screens."""
    style = study_page("", "", (), {}, [], [])
    match = re.search(r"@media \(max-width: 760px\) \{\n(.*?)\n\}", style, re.DOTALL)
    assert match is not None
    return match.group(1)


def test_the_first_line_says_the_result() -> None:
    """Comparisons, benchmarks and studies begin with numbers of their report."""
    one, other = function(4.0), function(4000.0)
    other["methods"][0]["nanoseconds"]["minimum"] = 1e9
    for each, ratio in ((one, 1.5), (other, 12.0)):
        each["peers"] = {"casadi": {"ratio": ratio}}
    assert of_comparison({"functions": [one, other]}) == (
        "Generated code is the fastest method in double precision for 1 of 2 functions. "
        "CasADi C takes 1.5 to 12 times as long."
    )
    entries = {"generated": {"ratio": 1.0}, "pinocchio": {"ratio": 3.0}}
    assert of_benchmark({"rows": [{"entries": entries}]}) == (
        "Generated code beside its peers, over 1 pair of a robot and a function. "
        "Pinocchio (pip) takes 3 times as long."
    )
    verdicts = ["reproduced", "not comparable: another machine", "not reproduced", "reproduced"]
    line = of_claims([{"verdict": verdict} for verdict in verdicts])
    assert line == "4 claims: 2 reproduced, 1 not reproduced, 1 not comparable."


def test_pages_have_a_dark_mode() -> None:
    """The ink of pages and figures, and all grounds, are variables, which a dark screen sets anew."""
    style = study_page("", "", (), {}, [], []).partition("<body>")[0]
    dark = re.search(
        r"@media screen and \(prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", style, re.DOTALL
    )
    assert dark is not None
    light = re.search(r":root \{ color-scheme: light dark; (.*?)\}", style)
    assert light is not None
    names = [re.findall(r"(--\w+):", rules) for rules in (light.group(1), dark.group(1))]
    assert names[0] == names[1]
    rest = style.replace(light.group(0), "").replace(dark.group(0), "")
    assert not re.findall(r"#[0-9a-f]{6}", re.sub(r"\[style\*=.*?\]", "", rest)), (
        "no colour beside the variables"
    )
    for colour in ("#000000", "#dfe3e8"):  # axes, and the lines of rows
        assert f"stroke: {colour}" in (FIGURES["robots"]() or "")
        assert f'[style*="stroke: {colour}"]' in rest


def test_wide_tables_stand_in_lines_on_a_phone() -> None:
    rules = narrow_rules()
    for rule in (
        ".stacked thead { display: none; }",
        ".stacked tr { display: grid;",
        ".figures { grid-template-columns: minmax(0, 1fr); }",
    ):
        assert rule in rules
    assert "content: attr(data-head)" in rules
    assert "overflow-wrap: anywhere" not in rules.split(".stacked")[0], "no letters below each other"


@pytest.mark.parametrize(("columns", "stacked"), [(5, False), (6, True)])
def test_cells_carry_the_headings_of_their_columns(columns: int, stacked: bool) -> None:
    head = [f"<{k}>" for k in range(columns)]
    text = study_page("", "", (), {}, [Table("", head, [["x"] * columns])], [])
    assert ('<table class="stacked">' in text) is stacked
    assert re.findall(r'data-head="([^"]*)"', text.split("<body>")[1]) == [
        f"&lt;{k}&gt;" for k in range(columns)
    ]

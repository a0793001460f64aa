"""Builds that measure before they build; the times are data, no test times anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from rbdc.errors import OptionError, RbdcWarning, ToolchainError, UnsupportedError
from rbdc.functions.scalar_types import DOUBLE, SINGLE_CALL_BYTES
from rbdc.native.toolchain import find_compiler
from rbdc.native.variants import register_bytes
from rbdc.options import TUNING_SECONDS, BuildOptions
from rbdc.planning.tuning import (
    BATCH,
    BLOCKS,
    FILE,
    KINDS,
    SINGLE,
    Decision,
    Timing,
    TunedWay,
    Tuning,
    read_tuning,
)
from rbdc.report.methods.implementation import Implementation
from rbdc.report.methods.records import Batches, FunctionRecord, Measured
from rbdc.tuning import measurement
from rbdc.tuning.build import built
from rbdc.tuning.choosing import BUSY, busy
from tests.support import COMPILERS, UNOPTIMISED
from tests.support_tuning import tuning
from tests.tuned_again import again, lines

FIRST, LAST = COMPILERS[0], COMPILERS[-1]
ROBOT = "double_pendulum"
NOTHING = Tuning({}, {kind: {} for kind in KINDS})
Times = Callable[[str, str], float]


def inject(monkeypatch: pytest.MonkeyPatch, nanoseconds: Times, spread: float = 1.0) -> list[Measured]:
    """Return times by function and way in place of measuring; all that takes part is put down."""
    seen: list[Measured] = []

    def run(timed: Sequence[tuple[FunctionRecord, Measured]], *_: Any, limits: bool) -> None:
        assert not limits
        for record, what in timed:
            seen.append(what)
            for one in what.contenders:
                assert one.library.is_file()
                least = nanoseconds(record.name, one.method)
                times = {"minimum": least, "median": spread * least}
                what.times[one.method] = [times, times] if isinstance(what, Batches) else times

    monkeypatch.setattr(measurement, "run", run)
    return seen


def options(out: Path, **values: Any) -> BuildOptions:
    usual = {"functions": ("crba", "minverse"), "cflags": UNOPTIMISED, "jobs": 1, "tune": 6.0}
    usual |= {"tune_compilers": tuple(dict.fromkeys((FIRST, LAST))), "out": out, "force": True}
    return BuildOptions(**{**usual, **values})


def widths() -> tuple[int, ...]:
    """Return samples side by side that are tried on this processor."""
    return DOUBLE.widths(min(register_bytes([find_compiler(FIRST)], UNOPTIMISED), SINGLE_CALL_BYTES))


def test_every_way_takes_part_and_the_fastest_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = {"rolled": 1.0, "columns": 2.0, "straight line": 3.0, "1": 4.0}
    fastest = {("crba", f"rolled, {LAST}"): 0.5}
    seen = inject(monkeypatch, lambda name, way: fastest.get((name, way), times.get(way.split(", ")[0], 5.0)))
    told: list[str] = []
    result = built(ROBOT, options(tmp_path), told.append)
    assert [text.split(": ")[-1] for text in told if "compiled in" in text] == [
        f"{name} compiled in every way" for _ in KINDS for name in ("crba", "minverse")
    ]
    compilers = {FIRST, LAST}
    ways = [{one.method for one in what.contenders} for what in seen]
    forms = ("straight line", "columns", "rolled")
    assert ways[0] == {f"{form}, {c}" for form in forms if form != "columns" for c in compilers}
    assert ways[1] == {f"{form}, {c}" for form in forms for c in compilers}
    side_by_side = {f"{count}, {c}" for count in widths() for c in compilers}
    assert len(side_by_side) >= 2 * len(compilers)
    assert ways[2] == {*side_by_side, *(f"1, {c}" for c in compilers)}
    assert ways[3] == {*side_by_side, f"1, {FIRST}"}
    assert ways[4] == ways[5] == side_by_side
    assert sum(what.seconds or 0.0 for what in seen) == pytest.approx(6.0)
    tuning = read_tuning(result.directory / FILE)
    assert tuning.decisions[SINGLE]["crba"].way == TunedWay("rolled", LAST)
    assert tuning.decisions[SINGLE]["minverse"].way == TunedWay("rolled", FIRST)
    manifest = json.loads((result.directory / "manifest.json").read_text())
    assert [manifest["functions"][name]["form"] for name in ("crba", "minverse")] == ["rolled", "rolled"]
    assert (manifest["functions"]["crba"]["compiler"], manifest["verified"]) == (LAST, True)
    assert result.errors is not None and not result.news
    rows = {(row["function"], row["call"]): row for row in result.tuned}
    assert rows["crba", SINGLE]["gain"] == pytest.approx(6.0)
    assert rows["crba", SINGLE]["default"] == f"straight line, {FIRST}"


def test_batches_stay_side_by_side_where_single_calls_are_rolled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inject(monkeypatch, lambda name, way: 1.0 if way.startswith(("rolled", "8")) else 2.0)
    result = built(ROBOT, options(tmp_path, functions=("crba",)))
    assert result.functions[0]["form"] == "rolled" and result.errors is not None
    assert "_load8" in (result.directory / f"{ROBOT}_crba_batch.c").read_text()


def test_shares_of_the_time_go_by_what_passes_take() -> None:
    def candidates(count: int, a_pass: float) -> measurement._Candidates:
        ways = [TunedWay("columns", str(k)) for k in range(count)]
        return measurement._Candidates("f", dict.fromkeys(ways, Implementation("", {})), ways[0], a_pass)

    assert candidates(4, 300_000.0).weight == 20.0 * candidates(2, 30_000.0).weight


def test_replaying_builds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, lambda name, way: 1.0 if way.startswith(("columns", "8")) else 2.0)
    tuned = built(ROBOT, options(tmp_path / "tuned")).directory
    how: dict[str, Any] = {"tune": None, "tune_compilers": None, "compiler": FIRST, "force": True}
    again = built(ROBOT, options(tmp_path / "again", tuning=tuned / FILE, **how)).directory
    for path in tuned.iterdir():
        if path.is_file():
            assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_command_shows_what_was_gained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, lambda name, way: 10.0 if way.startswith(("columns", "1")) else 20.0)
    words = ["build", ROBOT, "--functions", "minverse", "--cflags=-O0", "--out", str(tmp_path), "--tune", "2"]
    done = CliRunner().invoke(commands, [*words, "--tune-compilers", FIRST])
    assert done.exit_code == 0, done.output
    assert f"straight line, {FIRST}" in done.output and f"columns, {FIRST}" in done.output
    means = "Geometric mean of the gains: single calls 2.00, batches 2.00, batches in blocks 1.00."
    assert means in " ".join(done.output.split())
    as_data = CliRunner().invoke(commands, [*words, "--tune-compilers", FIRST, "--json"])
    (data,) = json.loads(as_data.stdout)
    assert [row["gain"] for row in data["tuned"]] == [pytest.approx(gain) for gain in (2.0, 2.0, 1.0)]


def test_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inject(monkeypatch, lambda name, way: 1.0, spread=1.5)
    how: dict[str, Any] = {"functions": "crba", "targets": "c", "cflags": "-O0", "tune_compilers": FIRST}
    with pytest.warns(RbdcWarning, match="`tune`: a quarter of the times vary by 50 %"):
        module = rbdc.build(ROBOT, out=tmp_path, tune=30, **how)
    assert read_tuning(Path(str(module.__file__)).parent / FILE).decisions[BATCH] == {}
    assert BuildOptions(tune=True).tune == TUNING_SECONDS and BuildOptions(tune=False).tune is None


def test_a_busy_machine_is_noticed() -> None:
    def measured(*spreads: float) -> Tuning:
        way = TunedWay("columns", "gcc")
        timings = tuple(Timing("p", way, 1.0, spread) for spread in spreads)
        return Tuning({}, {SINGLE: {"f": Decision(way, way, timings)}, BATCH: {}, BLOCKS: {}})

    assert busy(measured(BUSY, 1.0, 1.01, 1.0, 1.0, 3.0)) == [], "one function that was disturbed"
    (said,) = busy(measured(1.3, 1.0, 1.0, 1.0))
    assert "vary by 30 %" in said
    assert busy(NOTHING) == []


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(measurement, "run", interrupted)
    words = ["build", ROBOT, "--functions", "crba", "--cflags=-O0", "--targets", "c", "--tune"]
    done = CliRunner().invoke(commands, [*words, "--out", str(tmp_path / "out")])
    assert done.exit_code == 130 and "interrupted" in done.output
    assert not (tmp_path / "out").exists()


REFUSED: list[tuple[Mapping[str, Any], str]] = [
    ({"march": "portable"}, "`tune` measures this processor, but `march='portable'` builds for all: .*merge"),
    ({"style": "rolled"}, "`style='rolled'` fixes the form: give it or `tune`, not both"),
    ({"style": "auto"}, "`style='auto'` fixes the form"),
    ({"fuse": (("rnea", "crba"),)}, "`fuse` is not tuned: build with `tune`, then with `tuning` and `fuse`"),
    ({"parameters": ()}, "`tune` excludes `parameters` and `payload`: tune without"),
    ({"payloads": ("link2",)}, "`tune` excludes `parameters` and `payload`: tune without"),
    ({"add": True}, "`add=True` keeps existing functions, `tune` measures all"),
    ({"compiler": FIRST}, "`tune_compilers` replaces `cc`: give one"),
    ({"tuning": NOTHING}, "`tune` measures a tuning, `tuning` reads one from a file: give one"),
    ({"tune_compilers": ("gcc", "/usr/bin/gcc")}, "`tune_compilers='/usr/bin/gcc'`: give names of programs"),
    ({"tune": None}, "`tune_compilers` needs `tune`: give `tune` too"),
    ({"targets": ("batch",)}, "add c"),
]


@pytest.mark.parametrize(("values", "message"), REFUSED, ids=[next(iter(values)) for values, _ in REFUSED])
def test_what_it_does_not_go_with_is_refused(values: Mapping[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((OptionError, UnsupportedError), match=message):
        built(ROBOT, options(tmp_path / "out", **values))
    assert not (tmp_path / "out").exists()


def test_refusals_of_commands(tmp_path: Path) -> None:
    several = CliRunner().invoke(
        commands, ["build", ROBOT, "cartpole", "--tune", "--out", str(tmp_path / "o")]
    )
    assert (
        several.exit_code == 2
        and "--tune times one module, alone; build the descriptions one" in several.output
    )
    wheel = CliRunner().invoke(commands, ["wheel", ROBOT, "--tune", "--out", str(tmp_path / "o")])
    assert (
        wheel.exit_code == 2
        and "--tune measures this processor, but --march portable builds for all" in wheel.output
    )
    with pytest.raises(ToolchainError, match="looked for no-such-cc"):
        built(ROBOT, options(tmp_path / "o", tune_compilers=(FIRST, "no-such-cc")))
    with pytest.raises(OptionError, match="`tune=0`: give seconds, above 0"):
        BuildOptions(tune=0)
    with pytest.raises(OptionError, match="`tune='cartpole'`: 'cartpole' is not a number"):
        BuildOptions(tune="cartpole")
    assert not (tmp_path / "o").exists()


def test_a_second_run_judges_the_first() -> None:
    slow, fast = TunedWay("straight line", "gcc"), TunedWay("columns", "gcc")
    first = tuning({"crba": {slow: 20.0, fast: 10.0}, "aba": {slow: 5.0}})
    second = tuning({"crba": {slow: 9.0, fast: 10.0}, "aba": {slow: 5.0}})
    assert again(first, second, SINGLE) == {"crba": 10.0 / 9.0, "aba": 1.0}
    assert list(lines(first, second)) == [
        "single: 2 functions, default over tuned 1.414 (geometric mean)",
        "single: at most 1.111 times the fastest way of the second run",
        "  crba, single: columns, gcc takes 1.111 times the fastest",
    ]

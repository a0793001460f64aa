"""Times beside a baseline: yardsticks, what is shown, and what --gate-time fails."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.report.present.baseline import changes, judge, judge_benchmark

pytestmark = pytest.mark.slow

QUICK = ("--peers", "casadi", "--seconds", "0.01", "--samples", "4", "--checked", "1", "--cflags", "-O0")


def run(*arguments: str) -> Result:
    """Return rbdc compare of two functions, one of which no peer has, in this process."""
    options = ("--functions", "rnea,frame_jacobian", "--methods", "peer,rolled", *QUICK)
    return CliRunner().invoke(commands, ["compare", "double_pendulum", *options, *arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison as a baseline."""
    baseline = tmp_path_factory.mktemp("baseline")
    result = run("--out", str(baseline))
    assert result.exit_code == 0, result.output
    return baseline


@pytest.fixture
def old(folder: Path) -> dict[str, Any]:
    """Return the report of the baseline, which a test may change."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


def scaled(report: dict[str, Any], factor: float, *methods: str) -> dict[str, Any]:
    """Return the report with other times of the methods, or of all."""
    copied = copy.deepcopy(report)
    for function in copied["functions"]:
        for method in function["methods"]:
            if not methods or method["method"] in methods:
                method["nanoseconds"]["minimum"] *= factor
    return copied


def test_a_baseline_ten_times_faster_is_told(old: dict[str, Any]) -> None:
    verdict = judge(scaled(old, 10.0, "generated"), old)
    assert verdict.worse == [], "nothing fails without a factor"
    assert [line.split(":")[0] for line in verdict.slower] == ["rnea, generated", "frame_jacobian, generated"]
    assert all(", 10.00 times as long relative to the yardstick (" in line for line in verdict.slower)
    assert "casadi: 1.00" in verdict.slower[0]
    assert "the peers of other functions: 1.00" in verdict.slower[1]


@pytest.mark.parametrize(("factor", "fails"), [(1.4, False), (1.6, True)])
def test_a_factor_of_times_gates(factor: float, fails: bool, old: dict[str, Any]) -> None:
    verdict = judge(scaled(old, factor, "generated", "rolled"), old, 1.5)
    places = ["rnea, generated", "rnea, rolled", "frame_jacobian, generated"]
    failed, shown = (verdict.worse, verdict.slower) if fails else (verdict.slower, verdict.worse)
    assert sorted(line.split(":")[0] for line in failed) == sorted(places)
    assert shown == []
    assert all(line.endswith("--gate-time 1.5") for line in verdict.worse)


def test_another_machine_is_no_slowdown(old: dict[str, Any]) -> None:
    """If all times of the run grow by the same factor, so do those of the peers."""
    verdict = judge(scaled(old, 10.0), old, 1.1)
    assert verdict.worse == verdict.slower == []
    assert all(change.factor == pytest.approx(1.0) for change in changes(scaled(old, 10.0), old))


def test_slower_peers_hide_nothing(old: dict[str, Any]) -> None:
    """Equal times beside peers that take half as long mean a slowdown by two on that machine."""
    verdict = judge(scaled(old, 0.5, "casadi"), old, 1.5)
    assert "rnea, generated" in verdict.worse[0]
    assert ", 2.00 times as long relative to the yardstick (casadi: 0.50)" in verdict.worse[0]


def test_without_peers_the_peak_is_the_yardstick(old: dict[str, Any]) -> None:
    for function in old["functions"]:
        function["methods"] = [m for m in function["methods"] if m["method"] != "casadi"]
    new = scaled(old, 2.0)
    new["peak"]["scalar_flops_per_second"] /= 2.0
    assert [change.factor for change in changes(new, old)] == pytest.approx([1.0] * 3)
    assert judge(new, old, 1.1).worse == []
    new["peak"]["scalar_flops_per_second"] *= 2.0
    assert len(judge(new, old, 1.9).worse) == 3
    del old["peak"]
    assert [change.factor for change in changes(new, old)] == [None] * 3


def test_a_peer_that_changed_is_no_yardstick(old: dict[str, Any]) -> None:
    new = scaled(old, 3.0, "casadi")
    (casadi,) = (m for m in new["functions"][0]["methods"] if m["method"] == "casadi")
    assert casadi["operations"] > 0
    casadi["operations"] += 1
    for change in changes(new, old):
        assert change.beside == "an addition and multiplication:"
        assert change.factor == pytest.approx(1.0)


def test_benchmarks_are_judged_robot_by_robot(old: dict[str, Any]) -> None:
    slow = scaled(old, 3.0, "generated")
    verdict = judge_benchmark({"robots": {"a": slow, "b": old}}, {"robots": {"a": old, "b": old}}, 2.0)
    assert verdict.worse
    assert all(line.startswith("a: ") for line in verdict.worse)
    assert [*verdict.times] == ["a", "b"]


def test_the_command_shows_times_and_fails(folder: Path, old: dict[str, Any], tmp_path: Path) -> None:
    baseline = tmp_path / "fast.json"
    baseline.write_text(json.dumps(scaled(old, 1e-3, "generated", "rolled")))
    arguments = ("--baseline", str(baseline), "--out", str(tmp_path / "out"))
    shown = run(*arguments)
    assert shown.exit_code == 0, shown.output
    assert "Times beside the baseline" in shown.stdout
    assert "slower: rnea, generated: " in shown.stdout
    gated = run(*arguments, "--gate-time", "50", "--json")
    assert gated.exit_code == 1, gated.output
    assert json.loads(gated.stdout)["functions"][0]["name"] == "rnea", "nothing else is there"
    assert "worse: rnea, generated: " in gated.stderr
    patient = run(
        "--baseline", str(folder / "report.json"), "--gate-time", "1e6", "--out", str(tmp_path / "o")
    )
    assert patient.exit_code == 0, patient.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--gate-time", "1.5"), "give --baseline"),
        (("--gate-time", "1", "--baseline", "{}"), "--gate-time 1: give a factor above 1"),
        (("--gate-time", "nan", "--baseline", "{}"), "give a factor above 1"),
        (("--gate-time", "inf", "--baseline", "{}"), "give a factor above 1"),
        (("--gate-time", "fast", "--baseline", "{}"), "'fast' is not a valid float"),
    ],
)
def test_bad_usage(arguments: tuple[str, ...], message: str, folder: Path, tmp_path: Path) -> None:
    words = [word.replace("{}", str(folder / "report.json")) for word in arguments]
    result = run(*words, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_baseline_without_a_peak_gates_nothing(old: dict[str, Any], tmp_path: Path) -> None:
    del old["peak"]
    (tmp_path / "old.json").write_text(json.dumps(old))
    result = run("--baseline", str(tmp_path / "old.json"), "--gate-time", "2", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "the baseline lacks the peak" in result.stderr
    families = CliRunner().invoke(commands, ["compare", "--serial", "2", "--gate-time", "2"])
    assert families.exit_code == 2
    assert "families take no --baseline, --gate-time" in families.stderr

"""rbdc benchmark: its robots, the one report of them all, and what it says where some cannot be measured."""

from __future__ import annotations

import copy
import json
import re
from importlib.metadata import PackageNotFoundError
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from referencing import Registry, Resource

from rbdc.cli.commands import commands
from rbdc.errors import OptionError
from rbdc.native.toolchain import find_compiler
from rbdc.report import benchmark as suite
from rbdc.report.benchmark import SUITE, benchmarked, entrants
from rbdc.report.present.baseline import judge_benchmark
from rbdc.report.present.page import benchmark_page
from rbdc.resources import resolve, robot_names
from tests.support_urdf import INERTIAL, joint, link, pair, robot

QUICK = ("--peers", "casadi", "--seconds", "0.01", "--samples", "16", "--checked", "4", "--cflags", "-O0")


def run(*arguments: str) -> Result:
    """Return rbdc benchmark in this process."""
    return CliRunner().invoke(commands, ["benchmark", *arguments, *QUICK])


def report_of(folder: Path) -> dict[str, Any]:
    """Return the report in a folder."""
    report: dict[str, Any] = json.loads((folder / "benchmark.json").read_text())
    return report


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Two robots, and one that is absent."""
    folder = tmp_path_factory.mktemp("benchmark")
    (folder / "arm.urdf").write_text(pair())
    result = run(
        "double_pendulum",
        str(folder / "arm.urdf"),
        "atlas",
        "--root-joint",
        "fixed",
        "--out",
        str(folder / "out"),
    )
    assert result.exit_code == 0, result.output
    return folder / "out", result


def test_the_suite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(suite, "_packaged", lambda file: tmp_path / file)
    chosen = entrants([], None)
    assert [one.label for one in chosen] == list(SUITE) == [one.label for one in entrants(["suite"], "fixed")]
    assert [one.root_joint for one in chosen] == ["fixed"] * 2 + ["free-flyer"] * 6
    for one in chosen:
        assert (one.description is None) is (one.label == "atlas")
        assert (one.label in robot_names()) is (SUITE[one.label][1] is None and one.label != "atlas")
    assert chosen[4].description == tmp_path / "talos_data/robots/talos_full_v2.urdf"
    assert "does not ship" in chosen[3].reason


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(suite, "distribution", missing)
    absent = {one.label: one.reason for one in entrants([], None) if one.description is None}
    assert set(absent) == {"atlas", "talos", "icub"}
    assert "pip install example-robot-data" in absent["talos"]


def test_descriptions_of_the_package_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "share" / "robots" / "icub_description" / "robots" / "icub.urdf"
    file.parent.mkdir(parents=True)
    file.touch()

    class Listed:
        def __init__(self, path: Path) -> None:
            self.path = path

        def as_posix(self) -> str:
            return self.path.relative_to(tmp_path).as_posix()

        def locate(self) -> Path:
            return self.path

    class Package:
        files = (
            Listed(tmp_path / "share" / "robots" / "talos_data" / "robots" / "talos_full_v2.urdf"),
            Listed(file),
        )

    monkeypatch.setattr(
        suite, "distribution", lambda name: Package() if name == "example-robot-data" else None
    )
    by_label = {one.label: one.description for one in entrants(["icub", "talos"], None)}
    assert by_label == {"icub": file, "talos": None}, "a file that is listed but gone is not there"


def test_a_description_takes_its_place_in_the_suite(tmp_path: Path) -> None:
    atlas, other = tmp_path / "atlas_v9.urdf", tmp_path / "crane.urdf"
    atlas.touch()
    other.touch()
    chosen = entrants(["suite", str(other), str(atlas)], None)
    assert [one.label for one in chosen] == [*list(SUITE)[:3], "atlas_v9", *list(SUITE)[4:], "crane"]
    assert [one.root_joint for one in chosen if one.label in ("atlas_v9", "crane")] == ["free-flyer", "fixed"]
    alone = entrants([str(other), "hyq"], "free-flyer")
    assert [(one.label, one.root_joint) for one in alone] == [("crane", "free-flyer"), ("hyq", "free-flyer")]
    assert entrants(["hyq"], "fixed")[0].root_joint == "fixed"
    assert entrants(["panda"], None)[0].description == resolve("panda")


def test_robots_that_make_no_sense(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "arm.urdf").touch()
    with pytest.raises(OptionError, match="both be called arm"):
        entrants([str(tmp_path / "a" / "arm.urdf"), str(tmp_path / "b" / "arm.urdf")], None)
    with pytest.raises(OptionError, match="neither a file nor a robot"):
        entrants(["hyk"], None)


def test_the_report_keeps_to_the_schema(measured: tuple[Path, Result]) -> None:
    names = ("benchmark.schema.json", "report.schema.json")
    schemas = {name: json.loads(files("rbdc.report.present").joinpath(name).read_text()) for name in names}
    resources: list[tuple[str, Resource[Any]]] = [
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    ]
    registry: Registry[Any] = Registry().with_resources(resources)
    validator = jsonschema.Draft202012Validator(schemas[names[0]], registry=registry)
    report = report_of(measured[0])
    validator.validate(report)
    report["robots"]["arm"]["functions"][0]["methods"][0]["flops"] = -1
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(report)


def test_every_robot_and_function_has_its_row(measured: tuple[Path, Result]) -> None:
    report = report_of(measured[0])
    assert [(row["robot"], row["function"]) for row in report["rows"]] == [
        (r, f) for r in ("double_pendulum", "arm") for f in benchmarked()
    ]
    for row in report["rows"]:
        (function,) = (f for f in report["robots"][row["robot"]]["functions"] if f["name"] == row["function"])
        assert function["patterns"] is None
        methods = {m["method"]: m for m in function["methods"]}
        for label, entry in row["entries"].items():
            method = methods[entry["method"]]
            assert label in (entry["method"], "casadi")
            assert entry["minimum_nanoseconds"] == method["nanoseconds"]["minimum"]
            assert entry["ratio"] == function["ratios"].get(entry["method"], 1.0)
            assert entry["right"]
            for name in ("operations", "flops", "peak_percent", "compile_seconds", "errors"):
                assert entry[name] == method[name] is not None
        casadi = [m for name, m in methods.items() if name.endswith("casadi")]
        assert row["entries"]["casadi"]["minimum_nanoseconds"] == min(
            m["nanoseconds"]["minimum"] for m in casadi
        )
        assert len(casadi) == (3 if row["function"].endswith("derivatives") else 1)
        assert "pinocchio" not in row["absent"]
        assert report["robots"][row["robot"]]["peers"]["absent"]["pinocchio"] == "not asked for"


def test_two_compilers(measured: tuple[Path, Result]) -> None:
    report = report_of(measured[0])
    first = find_compiler()
    other = find_compiler("gcc")
    alone = Path(first.path).resolve() == Path(other.path).resolve()
    for one in report["robots"].values():
        assert one["compiler"]["version"] == first.version
        assert [o["version"] for o in one["other_compilers"]] == ([] if alone else [other.version])
    for row in report["rows"]:
        assert ("generated-gcc" in row["entries"]) is not alone
        assert ("generated-gcc" in row["absent"]) is alone


def test_the_page_is_made_of_the_report(measured: tuple[Path, Result]) -> None:
    text = (measured[0] / "benchmark.html").read_text()
    embedded = re.search(r'<script type="application/json" id="report">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    report = report_of(measured[0])
    assert json.loads(embedded.group(1)) == report
    assert benchmark_page(report) == text, "the same report gives the same page"
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?https?:", text), "self-contained"
    page = text[: embedded.start()]
    for row in report["rows"]:
        for entry in row["entries"].values():
            assert f"{entry['compile_seconds']:.2f}" in page
        generated = row["entries"]["generated"]
        assert f"{generated['peak_percent']['vector']:.3g} %" in page
        assert f"{generated['errors']['rms_rel']:.1e}" in page
    assert "atlas is absent: its description does not ship" in page


def test_the_picture_has_every_function(measured: tuple[Path, Result]) -> None:
    text = (measured[0] / "speed.svg").read_text()
    assert text.startswith("<svg")
    for row in report_of(measured[0])["rows"]:
        assert f"{row['robot']} {row['function']}" in text
    assert ">CasADi C<" in text, "as the table names it"
    assert ">generated<" in text


def test_absent_robots_are_named_on_the_terminal(measured: tuple[Path, Result]) -> None:
    folder, result = measured
    assert report_of(folder)["absent"] == {
        "atlas": result.stdout[result.stdout.index("atlas is absent: ") + 17 :].strip()
    }
    assert report_of(folder)["failed"] == []
    for words in (
        "double_pendulum, fixed base, nv = 2",
        "arm, fixed base, nv = 1",
        "CasADi",
        "vector",
        "scalar",
        "Gflop/s",
    ):
        assert words in result.stdout


def test_a_robot_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    loop = robot(link("a", INERTIAL), link("b", INERTIAL), joint("j", "a", "b"), joint("k", "b", "a"))
    (tmp_path / "loop.urdf").write_text(loop)
    (tmp_path / "arm.urdf").write_text(pair())
    names = [str(tmp_path / "loop.urdf"), str(tmp_path / "arm.urdf")]
    result = run(*names, "--functions", "rnea", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "loop.urdf" in result.stderr
    report = report_of(tmp_path / "out")
    assert list(report["robots"]) == ["arm"]
    assert report["failed"] == list(report["absent"]) == ["loop"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("atlas",), "no robot could be measured: atlas"),
        (("double_pendulum", "--functions", "magic"), "no function 'magic'"),
        (("double_pendulum", "--checked", "1000"), "1 <= checked <= samples"),
        (("double_pendulum", "--checked", "1000", "--forms"), "1 <= checked <= samples"),
        (("double_pendulum", "--baseline", "/no/such/benchmark.json"), "No such file"),
    ],
)
def test_bad_usage(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["benchmark", *QUICK, *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_report_of_one_robot_is_no_baseline(measured: tuple[Path, Result], tmp_path: Path) -> None:
    one = report_of(measured[0])["robots"]["arm"]
    (tmp_path / "report.json").write_text(json.dumps(one))
    result = run("double_pendulum", "--baseline", str(tmp_path / "report.json"))
    assert result.exit_code == 2
    assert "make one with rbdc benchmark" in result.stderr


def test_an_unchanged_rbdc_passes_its_baseline_and_a_worse_one_fails(
    measured: tuple[Path, Result], tmp_path: Path
) -> None:
    arguments = ("double_pendulum", "--functions", "rnea", "--out", str(tmp_path / "out"), "--baseline")
    result = run(*arguments, str(measured[0] / "benchmark.json"))
    assert result.exit_code == 0, result.output
    assert "arm was not measured this time" in result.output
    better = report_of(measured[0])
    better["robots"]["double_pendulum"]["functions"][0]["methods"][0]["operations"] -= 1
    (tmp_path / "better.json").write_text(json.dumps(better))
    result = run(*arguments, str(tmp_path / "better.json"))
    assert result.exit_code == 1
    assert re.search(r"worse: double_pendulum: rnea, generated: operations \d+ -> \d+", result.output)


def test_robots_are_judged_one_by_one(measured: tuple[Path, Result]) -> None:
    old = report_of(measured[0])
    new = copy.deepcopy(old)
    new["robots"]["arm"]["functions"][0]["methods"][0]["operations"] += 5
    (line,) = judge_benchmark(new, old).worse
    assert line.startswith("arm: rnea, generated: operations")
    assert judge_benchmark(old, old).worse == judge_benchmark(old, old).notes == []


def test_wrong_results_of_ours_are_told_from_those_of_peers(measured: tuple[Path, Result]) -> None:
    from rbdc.report.benchmark import wrong_in_any

    report = report_of(measured[0])
    assert wrong_in_any(report, ["generated", "ad", "peer"]) == []
    methods = report["robots"]["arm"]["functions"][1]["methods"]
    methods[0]["right"] = methods[-1]["right"] = False
    ours, peers = wrong_in_any(report, ["generated"]), wrong_in_any(report, ["ad", "peer"])
    assert [line[: line.index(" is wrong")] for line in ours] == ["arm: crba: generated"]
    assert [line[: line.index(" is wrong")] for line in peers] == ["arm: crba: casadi"]

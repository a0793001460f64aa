"""rbdc compare on small robots: every method right, the report valid, the page made of the report's data, the
baseline a gate.
"""

from __future__ import annotations

import copy
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.ir.passes import rules, simplify
from rbdc.report.present.baseline import judge
from rbdc.report.present.document import wrong_results
from rbdc.report.present.page import page

QUICK = ("--peers", "casadi", "--seconds", "0.01", "--samples", "16", "--checked", "4", "--cflags", "-O0")
FUNCTIONS = "rnea,minverse,rnea_derivatives,aba_derivatives,frame_jacobian,frame_error"
FUNCTIONS += ",coriolis,integrate,difference"
EXACT = 1e-11
"""Relative to the largest entry; what every method but the differences must reach."""


def run(*arguments: str) -> Result:
    """Return rbdc compare in this process."""
    return CliRunner().invoke(commands, ["compare", *arguments, *QUICK])


def report_of(folder: Path) -> dict[str, Any]:
    """Return the report in a folder."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of some functions of the double pendulum, of every family and with every method."""
    folder = tmp_path_factory.mktemp("pendulum")
    result = run("double_pendulum", "--functions", FUNCTIONS, "--out", str(folder))
    assert result.exit_code == 0, result.output
    return folder


def test_report_keeps_to_the_schema(pendulum: Path) -> None:
    schema = json.loads(files("rbdc.report.present").joinpath("report.schema.json").read_text())
    jsonschema.validate(report_of(pendulum), schema)


def test_figures_that_are_added_keep_the_schema_and_the_baselines(pendulum: Path) -> None:
    """A report that was made before there were peaks."""
    new = report_of(pendulum)
    old = copy.deepcopy(new)
    for key in ("peak", "other_compilers"):
        del old[key]
    for function in old["functions"]:
        del function["peers"], function["beside"]
        for method in function["methods"]:
            del method["flops"], method["peak_percent"]
    jsonschema.validate(
        old, json.loads(files("rbdc.report.present").joinpath("report.schema.json").read_text())
    )
    verdict = judge(new, old)
    assert verdict.worse == verdict.better == verdict.notes == []


def test_every_function_has_its_shares_of_the_peak(pendulum: Path) -> None:
    report = report_of(pendulum)
    peaks = {of: report["peak"][f"{of}_flops_per_second"] for of in ("vector", "scalar")}
    text = (pendulum / "report.html").read_text()
    for function in report["functions"]:
        generated = function["methods"][0]
        single = generated["additions"] + generated["multiplications"]
        # Columns of solves, neighbours.
        if function["name"] in ("minverse", "aba_derivatives", "integrate", "difference"):
            assert generated["flops"] >= single
        else:
            assert generated["flops"] == single, "two joints in a row: no lanes"
        for method in function["methods"]:
            assert (method["flops"] is None) is (method["operations"] is None)
            assert (method["peak_percent"] is None) is (
                method["flops"] is None or method["family"] == "single"
            )
            for of, share in (method["peak_percent"] or {}).items():
                expected = 100.0 * method["flops"] / (1e-9 * method["nanoseconds"]["minimum"]) / peaks[of]
                assert share == pytest.approx(expected, rel=0.05, abs=1e-3), (
                    "but for the rounding of the time"
                )
                assert f"{share:.3g} %" in text


def test_every_function_has_its_ratio_to_every_peer(pendulum: Path) -> None:
    for function in report_of(pendulum)["functions"]:
        theirs = {
            m["method"]: function["ratios"][m["method"]]
            for m in function["methods"]
            if m["method"].endswith("casadi")
        }
        assert bool(theirs) is ("casadi" in function["peers"])
        if theirs:
            best = function["peers"]["casadi"]
            assert best["ratio"] == theirs[best["method"]] == min(theirs.values())
        assert "pinocchio" not in function["peers"], "not asked for"


def test_a_function_is_beside_the_one_that_it_extends(pendulum: Path) -> None:
    """Ratio and difference of the times of generated code, on the page too."""
    functions = {one["name"]: one for one in report_of(pendulum)["functions"]}
    times = {
        name: next(m for m in one["methods"] if m["method"] == "generated")["nanoseconds"]["minimum"]
        for name, one in functions.items()
    }
    beside = functions["frame_error"]["beside"]
    assert beside["function"] == "frame_jacobian"
    assert beside["ratio"] == pytest.approx(times["frame_error"] / times["frame_jacobian"], abs=1e-4)
    assert beside["nanoseconds"] == pytest.approx(times["frame_error"] - times["frame_jacobian"], abs=1e-3)
    assert {one["beside"] is None for name, one in functions.items() if name != "frame_error"} == {True}
    words = f"frame_error takes {beside['ratio']:.3g} times as long as frame_jacobian"
    assert words in (pendulum / "report.html").read_text()


def test_the_terminal_shows_peers_and_peaks(tmp_path: Path) -> None:
    result = run("double_pendulum", "--functions", "rnea", "--methods", "casadi", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    after = result.stdout[result.stdout.index("Generated code and its peers") :]
    for words in ("CasADi C", "vector", "scalar", "flop", "Gflop/s", "\u00d7", " %"):
        assert words in after


@pytest.mark.slow
def test_a_function_that_is_not_defined_is_named(tmp_path: Path) -> None:
    """Two joints do not move the tip in six directions: no task there has an inertia."""
    result = run("double_pendulum", "--functions", "operational_space_inertia", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "operational_space_inertia is not defined at a random state; leave it out" in result.output


@pytest.mark.parametrize(
    ("robot", "root", "functions"),
    [
        ("double_pendulum", "fixed", None),
        pytest.param(
            "double_pendulum", "fixed", "nle_derivatives,gravity_torque_derivatives", marks=pytest.mark.slow
        ),
        pytest.param("double_pendulum", "fixed", "", marks=pytest.mark.exhaustive),
        pytest.param("planar_floating", "fixed", "aba,com,rnea_vjp", marks=pytest.mark.exhaustive),
        pytest.param("planar_floating", "fixed", "rnea_derivatives", marks=pytest.mark.exhaustive),
        pytest.param("solo12", "free-flyer", "crba,rnea_derivatives", marks=pytest.mark.exhaustive),
        pytest.param("panda", "fixed", "rnea_derivatives", marks=pytest.mark.exhaustive),
    ],
)
def test_every_method_is_right(
    robot: str, root: str, functions: str | None, pendulum: Path, tmp_path: Path
) -> None:
    folder = pendulum if functions is None else tmp_path
    if functions is not None:
        some = ["--functions", functions] if functions else []
        result = run(robot, "--root-joint", root, *some, "--out", str(tmp_path), "--mimic", "coupled")
        assert result.exit_code == 0, result.output
    for function in report_of(folder)["functions"]:
        assert function["methods"][0]["method"] == "generated"
        for method in function["methods"]:
            what = f"{function['name']} {method['method']}"
            if method["family"] == "single":
                continue  # the next test's
            assert method["errors"]["scaled"] <= (
                1e-3 if method["method"].endswith("-difference") else EXACT
            ), what
            assert method["right"], what
            assert method["nanoseconds"]["minimum"] > 0.0, what


def test_single_precision_states_its_error_and_is_not_judged_by_it(pendulum: Path) -> None:
    report = report_of(pendulum)
    for function in report["functions"]:
        (single,) = (m for m in function["methods"] if m["family"] == "single")
        assert (single["method"], single["right"], single["peak_percent"]) == (
            "generated-float32",
            None,
            None,
        )
        assert single["errors"]["max_rel"] < 1e-4, function["name"]
        assert single["errors"]["max_rel"] > 1e-10 or function["name"] == "difference", (
            "nothing moves: its arguments are zeros"
        )
        # columns of solves stand twice as many side by side
        assert single["operations"] <= function["methods"][0]["operations"]
        assert function["ratios"]["generated-float32"] > 0.0
        single["errors"]["scaled"] = 1.0
    assert wrong_results(report) == []


def test_derivatives_are_compared_with_every_family_of_methods(pendulum: Path) -> None:
    (function,) = (f for f in report_of(pendulum)["functions"] if f["name"] == "aba_derivatives")
    measured = {m["method"] for m in function["methods"]}
    assert measured >= {
        "generated",
        "unrolled-carpentier-mansard",
        "rolled",
        "finite-difference",
        "central-difference",
        "complex-step",
    }
    assert measured >= {f"ad-{mode}{by}" for mode in ("forward", "reverse", "auto") for by in ("", "-casadi")}
    errors = {m["method"]: m["errors"]["rms_rel"] for m in function["methods"]}
    assert errors["finite-difference"] > errors["central-difference"] > 1e3 * errors["complex-step"]
    assert [a["method"] for a in function["absent"]] == []


def test_the_page_is_made_of_the_report(pendulum: Path) -> None:
    text = (pendulum / "report.html").read_text()
    embedded = re.search(r'<script type="application/json" id="report">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert json.loads(embedded.group(1)) == report_of(pendulum)
    assert page(report_of(pendulum)) == text, "the same report gives the same page"
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?https?:", text), "self-contained"
    for function in report_of(pendulum)["functions"]:
        for method in function["methods"]:
            assert f"{method['nanoseconds']['minimum']:.1f}" in text


def test_names_of_a_description_are_escaped(pendulum: Path) -> None:
    report = report_of(pendulum)
    hostile = "</script><script>alert(1)</script>"
    report["robot"]["name"] = hostile
    report["robot"]["joints"][0]["name"] = hostile
    report["functions"] = report["functions"][:1]
    assert "<script>alert" not in page(report)


def test_an_unchanged_rbdc_passes_its_baseline(pendulum: Path, tmp_path: Path) -> None:
    baseline = ("--baseline", str(pendulum / "report.json"))
    result = run("double_pendulum", "--functions", "rnea,rnea_derivatives", "--out", str(tmp_path), *baseline)
    assert result.exit_code == 0, result.output
    assert "worse" not in result.output


def test_a_worsened_pass_fails_and_is_named(
    pendulum: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Neither constants folded nor signs normalised.
    monkeypatch.setattr(simplify, "RULES", (rules.order_operands,))
    baseline = ("--baseline", str(pendulum / "report.json"))
    result = run("double_pendulum", "--functions", "rnea,coriolis", "--out", str(tmp_path), *baseline)
    assert result.exit_code == 1
    assert re.search(r"worse: rnea, generated: operations \d+ -> \d+", result.output)


def test_each_figure_gates(pendulum: Path) -> None:
    old = report_of(pendulum)
    for figure, factor in (
        ("operations", 1.01),
        ("statements", 1.1),
        ("text_bytes", 1.02),
        ("code_bytes", 1.02),
        ("stack_bytes", 1.1),
    ):
        new = copy.deepcopy(old)
        method = new["functions"][0]["methods"][0]
        method[figure] = int(method[figure] * factor) + 1
        (line,) = judge(new, old).worse
        assert f"rnea, generated: {figure.replace('_', ' ')}" in line
    new = copy.deepcopy(old)
    new["functions"][0]["methods"][0]["errors"]["rms_rel"] = 1e-9
    assert judge(new, old).worse == [line for line in judge(new, old).worse if "error rms_rel" in line] != []
    assert judge(old, old).worse == judge(old, old).better == judge(old, old).notes == []


def test_another_compiler_is_noted_and_its_bytes_not_compared(pendulum: Path) -> None:
    old = report_of(pendulum)
    new = copy.deepcopy(old)
    new["compiler"]["version"] = "another"
    new["functions"][0]["methods"][0]["code_bytes"] *= 2
    verdict = judge(new, old)
    assert verdict.worse == []
    assert any("compiler" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("double_pendulum", "--functions", "rnea", "--methods", "magic"), "no method or family 'magic'"),
        (("double_pendulum", "--functions", "magic"), "no function 'magic'"),
        (("double_pendulum", "--checked", "1000"), "1 <= checked <= samples"),
        (("double_pendulum", "--baseline", "/no/such/report.json"), "No such file"),
    ],
)
def test_bad_usage(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["compare", *QUICK, *arguments, "--out", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[]")
    result = run("double_pendulum", "--baseline", str(tmp_path / "other.json"))
    assert result.exit_code == 2
    assert "not a report" in result.stderr


def test_wrong_results_are_named(pendulum: Path) -> None:
    report = report_of(pendulum)
    assert wrong_results(report) == []
    report["functions"][0]["methods"][0]["right"] = False
    (line,) = wrong_results(report)
    assert line.startswith("rnea: generated is wrong")

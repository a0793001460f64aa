"""CasADi has the recursion of the literature with the fewest operations for the robot, which the report
names; peers that --peers names are measured by --methods peer, or named absent.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.errors import ToolchainError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.native.toolchain import Toolchain, find_compiler
from rbdc.report.benchmark import METHODS
from rbdc.report.methods import casadi_methods
from rbdc.report.methods.casadi_methods import ad_methods, of_casadi
from rbdc.report.methods.implementation import Implementation, NotTried, by_the_papers
from rbdc.report.methods.peers import assembly, headers
from rbdc.report.options import CPPADCODEGEN, NATIVE, NOT_ASKED, PEERS, CompareOptions
from rbdc.resources import resolve

QUICK = ("--seconds", "0.01", "--samples", "4", "--checked", "1", "--cflags", "-O0")


def instructions(text: str) -> int:
    """Return statements of CasADi's C that compute: additions, multiplications, divisions, functions."""
    return len(re.findall(r"^  .*=.*(?:[-+*/]|sin|cos|sqrt|sq\().*;$", text, re.MULTILINE))


def made_by(model: Problem, function: Function, method: str) -> Implementation:
    """Return the C of a method by CasADi."""
    (make,) = (one.make for one in ad_methods(model, function) if one.name == method)
    return make()


@pytest.mark.parametrize(
    ("function", "method", "best"),
    [
        ("rnea", "casadi", "featherstone"),
        ("rnea_derivatives", "casadi", "idsva"),
        ("rnea_derivatives", "ad-forward-casadi", "featherstone"),
        ("rnea_derivatives", "ad-reverse-casadi", "featherstone"),
        ("rnea_second_derivatives", "ad-casadi", "idsva"),
    ],
)
def test_casadi_has_the_recursion_with_the_fewest_operations(
    function: str, method: str, best: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reference of the arm is the recursion with homogeneous matrices; the order of references does
    not matter.
    """
    model = Problem.from_urdf(resolve("panda" if function == "rnea" else "ur5"))
    record = functions_of(model)[function]
    code = made_by(model, record, method)
    assert f" by {best}" in code.algorithm
    counts = {
        name: int(count) for name, count in re.findall(r"([\w-]+) (\d+)[,)]", code.algorithm.split(": ")[1])
    }
    assert "zhakatayev" in counts
    assert min(counts, key=lambda name: counts[name]) == best
    assert code.cost is not None
    assert code.cost.operations == counts[best]

    def one(reference: str) -> int:
        monkeypatch.setattr(
            casadi_methods,
            "by_the_papers",
            lambda model, of: {reference: by_the_papers(model, of)[reference]},
        )
        try:
            return instructions("".join(made_by(model, record, method).files.values()))
        except NotTried:
            return 10**9

    assert min(counts, key=one) == best, "as CasADi's C itself says"


def test_maps_are_of_the_same_recursion() -> None:
    model = Problem.from_urdf(resolve("ur5"))
    for method in ("casadi", "ad-reverse-casadi"):
        record = functions_of(model)["rnea_derivatives"]
        assert of_casadi(model, record, method)[1] == made_by(model, record, method).algorithm


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Inverse dynamics of an arm of two joints by CasADi, as all of --peers."""
    folder = tmp_path_factory.mktemp("peers")
    options = ("--functions", "rnea,rnea_derivatives", "--methods", "peer", "--peers", "casadi", *QUICK)
    result = CliRunner().invoke(commands, ["compare", "double_pendulum", *options, "--out", str(folder)])
    assert result.exit_code == 0, result.output
    return folder, result


def test_the_report_names_the_recursion(measured: tuple[Path, Result]) -> None:
    folder, result = measured
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    text = (folder / "report.html").read_text()
    for function in report["functions"]:
        best = function["peers"]["casadi"]
        (method,) = (m for m in function["methods"] if m["method"] == best["method"])
        assert best["algorithm"] == method["algorithm"]
        assert re.search(r"by (featherstone|idsva) \(operations: \1 \d+", best["algorithm"])
        words = f"{best['method']} takes {best['ratio']:.3g} times as long as generated: {best['algorithm']}"
        assert words in text
        assert f"CasADi C, {function['name']}: {best['method']}, {best['algorithm']}" in result.stdout


def test_peer_stands_for_every_peer(measured: tuple[Path, Result]) -> None:
    report: dict[str, Any] = json.loads((measured[0] / "report.json").read_text())
    (values, derivatives) = report["functions"]
    assert [m["method"] for m in values["methods"]] == ["generated", "casadi"]
    assert [m["method"] for m in derivatives["methods"]] == [
        "generated",
        "casadi",
        *(f"ad-{mode}-casadi" for mode in ("forward", "reverse", "auto")),
    ]


@pytest.mark.parametrize("methods", [("peer",), ("ad",), ("cppadcodegen",), METHODS])
def test_cppadcodegen_is_measured_where_it_is_asked_for(
    methods: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without its headers the report names it as absent."""

    def missing() -> None:
        raise ToolchainError("no headers")

    monkeypatch.setattr(headers, "headers", missing)
    model, tools = Problem.from_urdf(resolve("cartpole")), Toolchain(find_compiler(None), ())
    options = CompareOptions(methods=methods, peers=(CPPADCODEGEN,))
    peers = assembly.add_peers(model, [], options, tools, tmp_path, print)
    assert peers.absent == {CPPADCODEGEN: "no headers", **dict.fromkeys({*PEERS} - {CPPADCODEGEN}, NOT_ASKED)}


def test_a_peer_that_methods_leave_out_is_named(tmp_path: Path) -> None:
    options = ("--functions", "rnea", "--methods", "rolled", "--peers", "cppadcodegen,casadi", *QUICK)
    result = CliRunner().invoke(commands, ["compare", "double_pendulum", *options, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    for words in ("CppADCodeGen", "CasADi C"):
        assert f"{words} is absent: --methods rolled does not name it; peer stands for all" in result.stdout
    absent = json.loads((tmp_path / "report.json").read_text())["peers"]["absent"]
    assert absent[NATIVE] == NOT_ASKED
    assert "--methods rolled" in absent["cppadcodegen"]
    assert "--methods rolled does not name it" in (tmp_path / "report.html").read_text()

"""Comparisons and experiments on machines where compilers of peers fail: what was measured is written, and
what is absent is named with the compiler's first error.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.native.toolchain import find_compiler
from rbdc.report.methods.peers import headers
from rbdc.report.present.document import summary
from rbdc.report.studies import inertia_inverse
from tests.report.test_pinocchio_peer import needs_headers

SAID = "peer.cpp:3:1: error: out of order <&>"
QUICK = ("--cflags", "-O0", "--samples", "8", "--seconds", "0.02")


def failing(path: Path, pattern: str) -> str:
    """Return a compiler that fails on files of these names."""
    path.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *{pattern}*) printf "In file included from all:1:\\n{SAID}\\n" >&2; exit 1;; esac\n'
        f'exec {find_compiler("gcc").path} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


@pytest.fixture(autouse=True)
def out_of_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All C++ compilers fail, and the C compiler fails on CasADi's C; the cache is empty."""
    needs_headers()
    for name in ("g++", *headers._CLANGS[-1:]):
        failing(tmp_path / name, ".cpp")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CC", failing(tmp_path / "cc-for-all", "casadi"))
    monkeypatch.setattr(headers, "_CLANGS", headers._CLANGS[-1:])


def ended(tmp_path: Path, *command: str) -> str:
    """Return the output of a command that ends well."""
    result = CliRunner().invoke(commands, [*command, "--out", str(tmp_path / "reports")])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_comparison_without_a_peer_that_compiles(tmp_path: Path) -> None:
    peers = "pinocchio,pinocchio-native,cppadcodegen,casadi"
    ended(tmp_path, "compare", "double_pendulum", "--functions", "crba", "--peers", peers, *QUICK)
    (written,) = (tmp_path / "reports").rglob("*.json")
    report = json.loads(written.read_text())
    (function,) = report["functions"]
    assert "generated" in [m["method"] for m in function["methods"]]
    reasons = {a["method"]: a["reason"] for a in function["absent"]}
    assert {"pinocchio", "pinocchio-native-gcc", "pinocchio-native-clang"} <= set(reasons)
    assert [name for name in reasons if "casadi" in name]
    for method, reason in reasons.items():
        if "pinocchio" in method or "casadi" in method or method == "cppadcodegen":
            missing = method == "cppadcodegen" and "cmeel-cppad" in reason
            assert (SAID in reason or missing) and "\n" not in reason, (method, reason)
    (row,) = summary(report)
    assert SAID in row["absent"]["pinocchio-native"] and SAID in row["absent"]["casadi"]
    page = written.with_suffix(".html").read_text()
    assert "error: out of order &lt;&amp;&gt;" in page


@pytest.mark.slow
def test_an_experiment_without_a_peer_that_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inertia_inverse, "SIZES", (2,))
    ended(tmp_path, "experiment", "inertia-inverse")
    folder = tmp_path / "reports" / "inertia-inverse"
    report = json.loads((folder / "study.json").read_text())
    assert any("out of order" in claim["verdict"] for claim in report["claims"])
    assert (folder / "study.html").is_file()

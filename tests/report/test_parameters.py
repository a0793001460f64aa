"""The cost of inertial parameters at run time beside that of constants."""

from __future__ import annotations

from pathlib import Path

from tests.report.test_compare import report_of, run


def test_parameters_are_measured_beside_constants(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    options = ("--functions", "rnea,integrate", "--methods", "generated-parameters", "--peers", "casadi")
    result = run("double_pendulum", *options, "--payload", "link2", "--out", str(folder))
    assert result.exit_code == 0, result.output
    methods = {function["name"]: function["methods"] for function in report_of(folder)["functions"]}
    constant, taking = (
        next(m for m in methods["rnea"] if m["method"] == name)
        for name in ("generated", "generated-parameters")
    )
    assert taking["operations"] > constant["operations"]
    assert taking["algorithm"].endswith("10 inertial parameters at run time")
    assert taking["right"]
    assert [m["method"] for m in methods["integrate"]] == ["generated"]

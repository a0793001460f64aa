"""rbdc compare on second derivatives: every method of Singh, Russell and Wensing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.test_compare import EXACT, report_of, run

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("root", "function", "families"),
    [
        ("fixed", "aba_second_derivatives", "generated,analytical,numerical,ad"),
        pytest.param("free-flyer", "rnea_second_derivatives", "chain-rule,numerical", marks=pytest.mark.slow),
    ],
)
def test_second_derivatives_have_the_paper_s_methods(
    root: str, function: str, families: str, tmp_path: Path
) -> None:
    """Every method of Singh, Russell and Wensing has time, code size, compile time and error. The root turns:
    derivatives along its directions do not commute.
    """
    what = ("--functions", function, "--methods", families, "--root-joint", root)
    result = run("double_pendulum", *what, "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    (compared,) = report_of(tmp_path)["functions"]
    methods = {m["method"]: m for m in compared["methods"]}
    assert {"chain-rule", "bicomplex-step", "finite-diff-1", "finite-diff-2"} <= set(methods)
    if "ad" in families.split(","):
        products = {f"unrolled-fdsva-so{way}" for way in ("", "-aza", "-idfoza")}
        assert {"ad", "ad-casadi"} | products <= set(methods)
    for name, method in methods.items():
        assert method["code_bytes"] > 0
        assert method["compile_seconds"] is not None
        assert method["errors"]["scaled"] < (1e-6 if "diff" in name else EXACT), name

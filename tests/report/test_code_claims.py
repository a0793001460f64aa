"""Verdicts on what Singh, Russell and Wensing say of automatic differentiation and of generated code."""

from __future__ import annotations

from typing import Any

import pytest

from rbdc.report.studies.second_order_claims import CODE_GENERATION, FD_SO, FORWARD, SECOND, SO
from rbdc.report.studies.second_order_code import claims

SIZES = (4, 8, 16, 40)


def study(ad: float = 3.0, code: float = 1.1, exponent: float = 3.0) -> dict[str, Any]:
    """Return a study of times as published, AD's code of 12 MB for a chain of 40 where `exponent` is 3."""
    entries = []
    for family in ("serial", "binary"):
        for n in SIZES:
            methods = {
                method: {"nanoseconds": 1e3 * n**3 * times, "code_bytes": 12e6 * (n / 40) ** exponent}
                for method, times in ((SO, 1.0), ("ad", ad), (CODE_GENERATION, code))
            }
            functions = {SECOND: {"methods": methods, "absent": []}}
            entries.append({"family": family, "size": n, "functions": functions})
    atlas = {
        SECOND: {"times": {SO: 150e3, "pinocchio-native-gcc": 177e3, "ad": 480e3}, "absent": {}},
        FORWARD: {"times": {FD_SO: 2.2e6}, "absent": {"ad": "over 60 s"}},
    }
    return {"entries": entries, "robots": {"atlas_v4": atlas}}


def verdicts(report: dict[str, Any]) -> list[str]:
    return [claim["verdict"] for claim in claims(report)]


def test_as_published() -> None:
    head, *tail = verdicts(study())
    assert head == "reproduced"
    assert tail[:3] == ["reproduced"] * 3
    assert tail[3:] == ["not comparable: AD took over 60 s", "reproduced", "not reproduced"]


@pytest.mark.parametrize(
    ("changed", "number"), [({"ad": 6.0}, 0), ({"exponent": 1.0}, 1), ({"code": 0.9}, 2)]
)
def test_otherwise(changed: dict[str, float], number: int) -> None:
    report = study(**changed)
    if number == 1:  # the extrapolation from small chains
        report["entries"] = [entry for entry in report["entries"] if entry["size"] < 40]
        for entry in report["entries"]:
            entry["functions"][SECOND]["methods"]["ad"]["code_bytes"] /= 10.0
    assert verdicts(report)[number] == "not reproduced"


def test_beyond_the_limit_nothing_is_decided() -> None:
    """The reason names the size from which on the limit was exceeded."""
    report = study()
    for entry in report["entries"]:
        function = entry["functions"][SECOND]
        for method in ("ad", CODE_GENERATION):
            if entry["size"] >= 16:
                del function["methods"][method]
                reason = "over 60 s" if entry["size"] == 16 else "over 60 s already for fewer bodies"
                function["absent"].append({"method": method, "reason": reason})
    decided = claims(report)
    assert decided[1]["verdict"] == "not comparable: AD was compiled for fewer than three sizes"
    assert decided[2]["verdict"].startswith("not comparable: no straight-line code of more than 36 bodies")
    assert all("serial from N = 16 on over 60 s" in claim["found"] for claim in decided[1:3])
    assert (
        verdicts({**report, "robots": {}})[3:]
        == ["not comparable: no file of Atlas was given; name it with --humanoid"] * 4
    )

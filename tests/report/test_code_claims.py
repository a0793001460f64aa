"""Verdicts on what Singh, Russell and Wensing say of automatic differentiation and of generated code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rbdc.report.options import CASADI
from rbdc.report.studies import code_generation
from rbdc.report.studies.second_order import ROUGHLY
from rbdc.report.studies.second_order_claims import CODE_GENERATION, FD_SO, FD_SO_IDFOZA, FORWARD, SECOND, SO
from rbdc.report.studies.second_order_code import AUTOMATIC, CASADI_CODE, WITH, WITHOUT, claims, tables

SIZES = (4, 8, 16, 40)
AD, INTERPRETED, CODE, ALIKE, LOSES, FORWARD_CODE = range(6)
"""Places of claims."""


def study(
    ad: float = 3.0, code: float = 1.1, exponent: float = 3.0, interpreted: float = 5.0, forward: float = 0.9
) -> dict[str, Any]:
    """Return a study of times as published, AD's code of 12 MB for a chain of 40 where `exponent` is 3."""
    entries = []
    for family in ("serial", "binary"):
        for n in SIZES:
            methods = {
                method: {"nanoseconds": 1e3 * n**3 * times, "code_bytes": 12e6 * (n / 40) ** exponent}
                for method, times in (
                    (SO, 1.0),
                    (AUTOMATIC, ad),
                    (CODE_GENERATION, code),
                    (CASADI_CODE, code),
                )
            }
            functions = {SECOND: {"methods": methods, "absent": []}}
            entries.append({"family": family, "size": n, "functions": functions})
    small = {
        SECOND: {"times": {SO: 1.0, AUTOMATIC: ad}, "absent": {}, "interpreted": ad * interpreted},
        FORWARD: {"times": {FD_SO: 1.0, CASADI_CODE: forward}, "absent": {}},
    }
    atlas = {
        SECOND: {"times": {SO: 150e3, "pinocchio-native-gcc": 177e3, AUTOMATIC: 480e3}, "absent": {}},
        FORWARD: {"times": {FD_SO: 2.2e6}, "absent": {AUTOMATIC: "over 60 s"}},
    }
    vectors = {WITH: chains(1.0, 64), WITHOUT: chains(2.0, 32)}
    return {"code": entries, "robots": {"ur5": small, "atlas_v4": atlas}, "vectors": vectors}


def chains(slower: float, crossing: int) -> list[dict[str, Any]]:
    """Return entries of chains whose products take so much longer, and which IDFOZA overtakes there."""
    entries = []
    for n in (8, 16, 32, 64):
        times = {FD_SO: slower * n**4, FD_SO_IDFOZA: slower * n**4 * (0.9 if n >= crossing else 1.2)}
        methods = {method: {"nanoseconds": 1e3 * t} for method, t in times.items()}
        entries.append({"family": "serial", "size": n, "functions": {FORWARD: {"methods": methods}}})
    return entries


def verdicts(report: dict[str, Any]) -> list[str]:
    return [claim["verdict"] for claim in claims(report)]


def test_as_published() -> None:
    first, last = verdicts(study())[: FORWARD_CODE + 1], verdicts(study())[FORWARD_CODE + 1 :]
    assert first == ["reproduced"] * 6
    assert last[:4] == [
        "reproduced",
        "not comparable: no code of AD (over 60 s)",
        "reproduced",
        "not reproduced",
    ]
    assert last[4:] == ["reproduced"] * 2


@pytest.mark.parametrize(
    ("changed", "number"),
    [
        ({"ad": 6.0}, AD),
        ({"interpreted": 2.0}, INTERPRETED),
        ({"exponent": 1.0}, CODE),
        ({"code": 2.0}, ALIKE),
        ({"code": 0.9}, LOSES),
        ({"forward": 1.1}, FORWARD_CODE),
    ],
)
def test_otherwise(changed: dict[str, float], number: int) -> None:
    report = study(**changed)
    if number == CODE:  # the extrapolation from small chains
        report["code"] = [entry for entry in report["code"] if entry["size"] < 40]
        for entry in report["code"]:
            entry["functions"][SECOND]["methods"][AUTOMATIC]["code_bytes"] /= 10.0
    assert verdicts(report)[number] == "not reproduced"


def test_the_headline_is_that_of_the_article_s_implementation() -> None:
    """Pinocchio decides where it is measured, the loops where it is not."""
    report = study()
    times = report["robots"]["atlas_v4"][FORWARD]["times"]
    assert verdicts(report)[FORWARD_CODE + 4] == "not reproduced"
    times["pinocchio-native-gcc"] = 1.9e6
    assert verdicts(report)[FORWARD_CODE + 4] == "reproduced"


def test_tables_show_times_or_the_reason() -> None:
    robots, families = tables(study())
    rows = {str(row[0]): row for row in robots.rows}
    assert rows["atlas_v4: rnea_second_derivatives"][1:3] == ["150 \u00b5s", "480 \u00b5s"]
    assert rows["atlas_v4: rnea_second_derivatives"][-1] == "177 \u00b5s"
    assert rows["atlas_v4: aba_second_derivatives"][2] == "over 60 s"
    assert [row[0] for row in families.rows] == [f"{x} {n}" for x in ("serial", "binary") for n in SIZES]


def test_vector_instructions() -> None:
    """They gain nothing, and IDFOZA overtakes at one size; on other processors they are not measured."""
    report = study()
    assert (
        verdicts({**report, "vectors": dict.fromkeys((WITH, WITHOUT), chains(1.0, 32))})[-2:]
        == ["not reproduced"] * 2
    )
    assert all(x.startswith("not comparable: ") for x in verdicts({**report, "vectors": {}})[-2:])


def test_beyond_the_limit_nothing_is_decided() -> None:
    """The reason names the size from which on the limit was exceeded."""
    report = study()
    for entry in report["code"]:
        function = entry["functions"][SECOND]
        for method in (AUTOMATIC, CODE_GENERATION, CASADI_CODE):
            if entry["size"] >= 16:
                del function["methods"][method]
                reason = "over 60 s" if entry["size"] == 16 else "over 60 s already for fewer bodies"
                function["absent"].append({"method": method, "reason": reason})
    decided = claims(report)
    assert decided[CODE]["verdict"] == "not comparable: AD was compiled for fewer than three sizes"
    assert decided[LOSES]["verdict"].startswith(
        "not comparable: no straight-line code of more than 36 bodies"
    )
    assert all("serial from N = 16 on (over 60 s)" in decided[k]["found"] for k in (AD, CODE, ALIKE, LOSES))
    without = verdicts({**report, "robots": {}})
    assert without[INTERPRETED] == without[FORWARD_CODE] == "not comparable: not measured in this run"
    assert (
        without[FORWARD_CODE + 1 : -2]
        == ["not comparable: no file of Atlas was given; name it with --humanoid"] * 4
    )


@pytest.mark.exhaustive
def test_what_is_measured_decides_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small chains, trees and a robot without optimisation, and without Pinocchio, which takes minutes."""
    monkeypatch.setattr(code_generation, "SIZES", (2, 3))
    monkeypatch.setattr(code_generation, "SIZES_OF_FLAGS", (2, 3))
    monkeypatch.setattr(code_generation, "NATIVE", CASADI)
    options = replace(ROUGHLY, samples=1, checked=1, limit=60.0)
    told: list[str] = []
    report: dict[str, Any] = {
        "code": code_generation.of_families(options, told.append),
        "robots": code_generation.of_robots({"double_pendulum": "fixed"}, options, told.append),
        "vectors": code_generation.by_flags(options, told.append),
    }
    found = {claim["claim"]: claim["verdict"] for claim in claims(report)}
    decided = [claim for claim, verdict in found.items() if not verdict.startswith("not comparable: ")]
    there = ("similar times", "IDSVA-SO is 1.2", "generated code is 3", "Fig. 15")
    for words in there if report["vectors"] else there[:-1]:
        assert any(words in claim for claim in decided), words
    own = report["robots"]["double_pendulum"][SECOND]
    assert {AUTOMATIC, CASADI_CODE, CODE_GENERATION, SO} <= own["times"].keys()
    assert own["interpreted"] > own["times"][AUTOMATIC], "CasADi's interpreter is slower than its C"
    assert told[-1].endswith("reference")


def test_a_method_over_the_limit_is_not_tried_for_larger_robots() -> None:
    function = {"absent": {AUTOMATIC: "over 60 s", "casadi": "not asked for"}}
    assert code_generation._over(function) == [AUTOMATIC]

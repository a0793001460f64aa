"""Verdicts of the study of sensitivities, on errors, torques and times made up so that claims hold or do
not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdc.report.studies import sensitivity_claims
from rbdc.report.studies.sensitivity_claims import COMPILED, GENERATED, INTERPRETED

TIMES = np.linspace(0.0, 3.0, 301)
Errors = list[float | None]


def errors(*spiky: int, undefined: int | None = None) -> Errors:
    """Return 1e-9 at every instant, 100 at some, and not defined at one."""
    made: Errors = [1e-9] * len(TIMES)
    for k in spiky:
        made[k] = 100.0
    if undefined is not None:
        made[undefined] = None
    return made


def data(by_q: Errors, torque_at_rest: float) -> dict[str, Any]:
    """Return a coordinate that vanishes every half second, and a torque with this value there, of at most
    247.
    """
    q = np.sin(2.0 * np.pi * TIMES)
    torque = torque_at_rest + (247.0 - torque_at_rest) * np.abs(q)
    relative = {"q": by_q, "v": errors(), "a": errors(50, 100)}
    return {
        "entry": "dQ_18/dq_14", "time": TIMES.tolist(), "coordinate": q.tolist(), "torque": torque.tolist(),
        "constant": errors(), "relative": relative,
    }  # fmt: skip


VANISHING = tuple(range(50, 301, 50))


@pytest.mark.parametrize(
    ("by_q", "torque", "verdict"),
    [
        (errors(*VANISHING, undefined=0), 0.0, "reproduced"),
        (errors(*VANISHING, undefined=0), 245.5, "not reproduced"),
        (errors(*VANISHING, 25), 0.0, "not reproduced"),  # an error where neither vanishes
        (errors(), 0.0, "not reproduced"),  # no error at all
    ],
)
def test_errors_where_coordinate_and_torque_vanish(by_q: Errors, torque: float, verdict: str) -> None:
    claim = sensitivity_claims.both_vanish(data(by_q, torque))
    assert claim["verdict"] == verdict
    assert "of at most 247 N m" in claim["found"]
    assert ("245.5, 245.5 of" in claim["found"]) == (torque > 0.0)


def test_spikes_of_adaptive_differences_are_told_and_not_judged() -> None:
    claim = sensitivity_claims.spikes(data(errors(*VANISHING), 245.5))
    assert claim["verdict"].startswith("not comparable: ")
    assert "by q 1e+11, 1e+11; by v 1, 1; by a 1e+11, 1e+11" in claim["found"]


@pytest.mark.parametrize(
    ("interpreted", "verdict"),
    [(5.0, "not reproduced"), (16.0e-3, "reproduced"), (17.0e-3, "not reproduced")],
)
def test_the_time_is_that_of_the_article_s_recursion(interpreted: float, verdict: str) -> None:
    """However little time generated code takes."""
    seconds = {INTERPRETED: interpreted, COMPILED: 6e-3, GENERATED: 2e-3}
    methods = {key: {"seconds": x, "operations": 84_000} for key, x in seconds.items()}
    claim = sensitivity_claims.analytical_time(methods, False)
    assert claim["verdict"] == verdict
    assert "6 ms as C of 84000 operations" in claim["found"]
    assert "2 ms" in claim["found"]
    assert sensitivity_claims.analytical_time(methods, True)["verdict"].startswith("not comparable: ")


def test_errors_that_are_not_defined_have_none() -> None:
    exact = [np.ones((2, 3, 3))] * 3
    found = [np.ones((2, 3, 3)) for _ in exact]
    found[0][0, 1, 2] = np.nan
    found[2][1, 1, 2] = 3.0
    by_q, by_v, by_a = sensitivity_claims.errors_of(np.stack(found), np.stack(exact), 2, 3)
    assert (by_q, by_v, by_a) == ([None, 0.0], [0.0, 0.0], [0.0, 2.0])

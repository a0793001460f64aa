"""Verdicts of the study of sensitivities, on errors, torques and times made up so that claims hold or do
not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rbdc.model.families import tree
from rbdc.report.studies import sensitivity_claims
from rbdc.report.studies.methods import several_loads
from rbdc.report.studies.methods.adaptive_differences import adaptive_differences
from rbdc.report.studies.sensitivity_claims import ADAPTIVE, COMPILED, GENERATED, INTERPRETED
from tests.support import Array, assert_close

TIMES = np.linspace(0.0, 3.0, 301)
Errors = list[float | None]


def errors(*spiky: int, undefined: int | None = None) -> Errors:
    """Return 1e-9 at every instant, 100 at some, and not defined at one."""
    values: Errors = [1e-9] * len(TIMES)
    for k in spiky:
        values[k] = 100.0
    if undefined is not None:
        values[undefined] = None
    return values


def data(by_q: Errors, torque_at_rest: float) -> dict[str, Any]:
    """Return a coordinate that vanishes every half second, and a torque with this value there, of at most
    247.
    """
    q = np.sin(2.0 * np.pi * TIMES)
    torque = torque_at_rest + (247.0 - torque_at_rest) * np.abs(q)
    adaptive = {"q": by_q, "v": errors(), "a": errors()}
    return {
        "entry": "dQ_18/dq_14", "time": TIMES.tolist(), "coordinate": q.tolist(), "torque": torque.tolist(),
        "constant": errors(), "adaptive": adaptive,
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
    assert "at most 247 N m" in claim["found"]
    assert ("245.5, 245.5 N m" in claim["found"]) == (torque > 0.0)


def test_spikes_of_adaptive_differences() -> None:
    report = data(errors(*VANISHING), 245.5)
    claim = sensitivity_claims.spikes(report)
    assert claim["verdict"] == "reproduced"
    assert "q: 1e+11, 1e+11; with respect to v: 1, 1; with respect to a: 1, 1" in claim["found"]
    report["adaptive"]["a"] = errors(50, 100)
    assert sensitivity_claims.spikes(report)["verdict"] == "not reproduced", "the acceleration has them too"


@pytest.mark.parametrize(
    ("spiky", "torque", "agree", "right"),
    [((), 245.5, "reproduced", "reproduced"), ((50,), 245.5, "not reproduced", "not reproduced"),
     ((25,), 245.5, "not reproduced", "reproduced"), ((), 0.0, "reproduced", "not comparable")],
)  # fmt: skip
def test_an_entry_of_figure_4(spiky: tuple[int, ...], torque: float, agree: str, right: str) -> None:
    """Errors count where the variable vanishes and the torque does not."""
    one = data(errors(), torque)
    entry = {"entry": "dQ_20/dq_5", "variable": one["coordinate"], "torque": one["torque"], "largest": 1.0}
    entry["errors"] = errors(*spiky)
    assert sensitivity_claims._agreeing(entry)["verdict"] == agree
    assert sensitivity_claims._only_the_denominator(entry)["verdict"].startswith(right)


@pytest.mark.parametrize(
    ("compiled", "adaptive", "verdicts"),
    [(6e-3, 5.0, ["reproduced", "not reproduced"]), (17e-3, 17e4, ["not reproduced", "reproduced"])],
)
def test_times_are_those_of_the_recursion_s_loops(
    compiled: float, adaptive: float, verdicts: list[str]
) -> None:
    """However little time generated code takes."""
    seconds = {INTERPRETED: 5.0, COMPILED: compiled, ADAPTIVE: adaptive, GENERATED: 2e-3}
    methods = {key: {"seconds": x, "operations": 84_000} for key, x in seconds.items()}
    claims = [
        sensitivity_claims.analytical_time(methods, False),
        sensitivity_claims.adaptive_time(methods, 301, quick=False),
    ]
    assert [claim["verdict"] for claim in claims] == verdicts
    assert "(84000 operations" in claims[0]["found"] and "2 ms" in claims[0]["found"]
    assert "inverse dynamics 6708 times" in claims[1]["found"] and "130 ms" in claims[1]["found"]
    assert sensitivity_claims.analytical_time(methods, True)["verdict"].startswith("not comparable: ")


def test_two_forces_on_a_link() -> None:
    """A net force and torque have their torques, but not the sensitivities by q."""
    differences = several_loads.measured(tree(4), 3)
    assert max(differences[name] for name in ("torques", "by v", "by a")) < 1e-14 < 1e-3 < differences["by q"]
    assert several_loads.claim(differences)["verdict"] == "not reproduced"


def test_adaptive_differences() -> None:
    """Exact to rounding for smooth functions, wrong for a value of rounding alone at a coordinate near 0."""

    def function(x: Array, y: Array) -> Array:
        return np.stack([x[..., 0] ** 5 + y[..., 1] * x[..., 0], np.sin(x[..., 1]) + 1.0], -1)

    x, y = np.array([[1.0, 2.0], [0.0, 3.0]]), np.array([[0.3, 0.4], [0.5, 0.6]])
    by_x, by_y = adaptive_differences(function, (x, y))
    zero = np.zeros(2)
    exact = [[5.0 * x[:, 0] ** 4 + y[:, 1], zero], [zero, np.cos(x[:, 1])]]
    assert_close(by_x, np.moveaxis(np.array(exact), -1, 0), 1e-11)
    assert_close(by_y[:, 0], np.stack([zero, x[:, 0]], -1), 1e-11)
    tiny = adaptive_differences(function, (np.array([[1.0, 1e-16]]), y[:1]))[0]
    assert abs(tiny[0, 1, 1] - 1.0) > 1e-3


def test_errors_that_are_not_defined_have_none() -> None:
    exact = [np.ones((2, 3, 3))] * 3
    computed = [np.ones((2, 3, 3)) for _ in exact]
    computed[0][0, 1, 2] = np.nan
    computed[2][1, 1, 2] = 3.0
    by_q, by_v, by_a = sensitivity_claims.errors_of(np.stack(computed), np.stack(exact), 2, 3)
    assert (by_q, by_v, by_a) == ([None, 0.0], [0.0, 0.0], [0.0, 2.0])

"""Studies of the literature: what they compute, what they say, their pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.model import Problem
from rbdc.report.studies.sensitivity import SAMPLES, by_differences, by_the_paper, motion, page
from tests.support import Array, assert_close
from tests.support_dh import random_tree, write


def test_the_motion_of_the_paper() -> None:
    instants = np.linspace(0.0, 3.0, SAMPLES)
    q, v, a = motion(instants, 2)
    assert instants[1] == pytest.approx(0.01)
    assert_close(q[25], [1.0, 1.0])  # a quarter of a second
    assert_close(np.gradient(q[:, 0], instants)[1:-1], v[1:-1, 1], 1e-3)
    assert_close(a, -4.0 * np.pi**2 * q, 1e-14)


def test_differences_and_the_paper_s_recursion(tmp_path: Path) -> None:
    """Both differentiate inverse dynamics of a small tree by the recursion itself, sample by sample."""
    from rbdc.algorithms.reference.rnea import rnea

    model = Problem.from_file(write(random_tree(2, 4), tmp_path))
    states = motion(np.linspace(0.1, 0.3, 3), model.nv)

    def torque(*state: Array) -> Array:
        return np.array([rnea(model, *(x.tolist() for x in row)) for row in zip(*state, strict=True)])

    matrices = by_the_paper(model, states)
    differences = by_differences(torque, states, [np.full(x.shape, 1e-5) for x in states])
    for mine, theirs in zip(matrices, differences, strict=True):
        assert mine.shape == (3, model.nv, model.nv)
        assert_close(theirs, mine, 1e-7)
    vanishing = by_differences(torque, states, [np.zeros(x.shape) for x in states])
    assert not np.isfinite(vanishing[0]).any()


NOT_REPRODUCED = (
    "Fig. 5: the errors of",
    "Section 6: finite differences fail where coordinate and torque are both zero, and only there",
    "Section 3.2: the net force",
)
"""Spikes by the acceleration too; the torque does not vanish with the coordinate; loads at several points."""


@pytest.mark.slow
def test_sensitivity(tmp_path: Path) -> None:
    result = CliRunner().invoke(commands, ["experiment", "sensitivity", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    folder = tmp_path / "sensitivity"
    text = (folder / "study.json").read_text()
    report = json.loads(text)
    assert json.dumps(report, indent=1, allow_nan=False) + "\n" == text
    adaptive = report["methods"][-1]
    assert adaptive["rms"] > 1e-6, "spikes where the coordinate vanishes"
    verdicts = {claim["claim"]: claim["verdict"] for claim in report["claims"]}
    for claim, verdict in verdicts.items():
        if claim.startswith(("The values", "All analytical", "Differences take")):
            assert verdict.startswith("not comparable: "), claim
        else:
            assert verdict == ("not reproduced" if claim.startswith(NOT_REPRODUCED) else "reproduced"), claim
    (both,) = (claim["found"] for claim in report["claims"] if claim["claim"].startswith(NOT_REPRODUCED[1]))
    assert "the torque is 245.5, 245.5 N m (along the motion at most 245.5 N m)" in both
    assert [entry["row"] for entry in report["figure_4"]] == [20, 30, 42]
    text = (folder / "study.html").read_text()
    assert text == page(report)
    assert text.count("<svg") == 18
    within = text.replace("url(#", "")  # clipping paths of the figures
    assert not any(loaded in within for loaded in ("src=", "<link", "@import", "url("))

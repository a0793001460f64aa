"""The slices of the exhaustive tier."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support_slices import parsed, slices

ROOT = Path(__file__).parents[1]
TREES = [
    f"tests/laws/test_{file}.py::test_{k}[{seed}-x]" for file in "ab" for k in range(9) for seed in range(30)
]
IDS = [*TREES, *(f"tests/test_c.py::test_{k}" for k in range(200))]


@pytest.mark.parametrize("n", [1, 7, 50])
def test_slices_share_the_tests_evenly(n: int) -> None:
    """Each test is in one slice of 1 to n, no slice is empty, and none has twice its share."""
    counts = Counter(slices(IDS, n))
    assert sorted(counts) == list(range(1, n + 1))
    assert sum(counts.values()) == len(IDS)
    assert max(counts.values()) < 2 * len(IDS) / n


def test_tests_that_share_a_module_stay_together() -> None:
    of = dict(zip(IDS, slices(IDS, 50), strict=True))
    for file in "ab":
        for seed in range(30):
            assert len({of[f"tests/laws/test_{file}.py::test_{k}[{seed}-x]"] for k in range(9)}) == 1


def test_a_group_of_a_whole_slice_is_spread() -> None:
    large = [f"tests/test_d.py::test[large-{k}]" for k in range(20)]
    ids = [*IDS, *large]
    of = dict(zip(ids, slices(ids, 50), strict=True))
    assert len({of[name] for name in large}) > 10


def test_a_slice_does_not_depend_on_the_order_of_the_tests() -> None:
    there = dict(zip(IDS, slices(IDS, 7), strict=True))
    back = dict(zip(IDS[::-1], slices(IDS[::-1], 7), strict=True))
    assert there == back


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "-1/4", "1/4/7", "one/4"])
def test_what_is_no_slice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected k/n with 1 <= k <= n"):
        parsed(text)


def collected(part: str | None) -> list[str]:
    """Return node ids that -m exhaustive selects of one file, with and without `RBDC_SLICE`."""
    environment = {name: value for name, value in os.environ.items() if name != "RBDC_SLICE"}
    if part is not None:
        environment["RBDC_SLICE"] = part
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-q",
        "-m",
        "exhaustive",
    ]
    command.append("tests/laws/test_second_derivatives.py")
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert run.returncode == (4 if part == "5/4" else 0), run.stdout + run.stderr
    return [line for line in (run.stdout + run.stderr).splitlines() if "::" in line or "RBDC_SLICE" in line]


def test_pytest_takes_each_test_in_one_slice() -> None:
    parts = [collected(f"{k}/3") for k in (1, 2, 3)]
    assert all(parts)
    assert sorted(name for part in parts for name in part) == sorted(collected(None))


def test_pytest_names_a_slice_that_is_none() -> None:
    (message,) = collected("5/4")
    assert message == "ERROR: RBDC_SLICE=5/4: expected k/n with 1 <= k <= n, such as 3/16"

"""Families of mechanisms: their trees, how figures grow over them, rbdc compare on them."""

from __future__ import annotations

import json
from math import log, sin
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of
from rbdc.model.families import MOST_BODIES, SKEW, depth, tree
from rbdc.planning.limb_lanes import laned
from rbdc.report.compare import crossings, growth, sizes_of
from rbdc.report.present.study_page import family_page


@pytest.mark.parametrize(
    ("size", "branching", "parents"),
    [
        (4, 1.0, [-1, 0, 1, 2]),
        (7, 2.0, [-1, 0, 0, 1, 1, 2, 2]),
        (7, 3.0, [-1, 0, 0, 0, 1, 1, 1]),
        (6, 1.5, [-1, 0, 1, 1, 2, 3]),  # one child and two in turn
    ],
)
def test_parents(size: int, branching: float, parents: list[int]) -> None:
    """Breadth first, as in the articles; the model has its own order."""
    model = tree(size, branching)
    names = [body.name for body in model.bodies]
    above = {
        b.name: -1 if b.parent < 0 else int(names[b.parent].removeprefix("link")) - 1 for b in model.bodies
    }
    assert [above[f"link{i}"] for i in range(1, size + 1)] == parents


def test_bodies() -> None:
    model = tree(3, gravity=(0.0, 0.0, -1.0))
    first, second, _ = model.bodies
    assert model.gravity.z == -1.0
    assert depth(model) == 3
    assert first.placement.translation.x == 0.0
    assert second.placement.translation.x == 1.0
    rows = second.placement.rotation.rows()
    assert rows[1][2] == pytest.approx(-rows[2][1])
    assert rows[2][1] == pytest.approx(sin(SKEW))
    assert second.inertia.mass == 1.0


@pytest.mark.parametrize(
    ("size", "branching"), [(0, 1.0), (MOST_BODIES + 1, 1.0), (3, 0.5), (3, float("nan"))]
)
def test_there_is_no_such_tree(size: int, branching: float) -> None:
    with pytest.raises(OptionError, match="give"):
        tree(size, branching)


def test_limbs_that_are_the_same_in_everything() -> None:
    """No array of differing constants is left among the inputs, which no caller would give."""
    model = tree(7, 2.0)
    program = laned(model, functions_of(model)["rnea"], "newton_euler")
    assert program is not None
    assert [array.name for array in program.inputs] == ["q", "v", "a"]


def test_sizes() -> None:
    assert sizes_of("2:80") == (2, 4, 8, 16, 32, 64, 80)
    assert sizes_of("5:5") == (5,)
    assert sizes_of("9,3") == (3, 9)
    for text in ("", "2:", "0:4", "8:2", "a,b", "1,501", "2:9:1", "-3"):
        with pytest.raises(OptionError, match="give FROM:TO"):
            sizes_of(text)


def test_growth_and_crossings() -> None:
    cubic, square = ({n: c * n**k for n in (2, 4, 8, 16)} for c, k in ((0.5, 3), (3.0, 2)))
    fit = growth(cubic)
    assert fit is not None
    assert (fit["exponent"], fit["constant"]) == pytest.approx((3.0, log(0.5)))
    assert growth({2: 1.0, 4: 2.0}) is None
    (crossing,) = crossings({"cubic": cubic, "square": square})
    assert (crossing["faster"], crossing["slower"]) == ("square", "cubic")
    assert crossing["size"] == pytest.approx(6.0)
    assert crossings({"cubic": cubic, "twice": {n: 2.0 * x for n, x in cubic.items()}}) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing to compare"),
        (("cartpole", "--serial", "2:4"), "leave one of them out"),
        (("--serial", "2-4"), "give FROM:TO"),
        (("--binary", "3", "--branching", "0.5"), "branching factor"),
        (("--binary", "3", "--batch"), "leave them out"),
    ],
)
def test_wrong_options(words: tuple[str, ...], message: str) -> None:
    result = CliRunner().invoke(commands, ["compare", *words])
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.exhaustive
def test_compare_on_families(tmp_path: Path) -> None:
    words = "compare --serial 1,2,3 --binary 3 --functions crba --methods casadi --samples 2 --checked 1"
    flags = ["--seconds", "0.05", "--cflags=-O0", "--out", str(tmp_path)]
    result = CliRunner().invoke(commands, [*words.split(), *flags])
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "families.json").read_text())
    entries: list[dict[str, Any]] = report["entries"]
    assert [(e["family"], e["size"], e["depth"]) for e in entries] == [
        ("serial", 1, 1), ("serial", 2, 2), ("serial", 3, 3), ("binary", 3, 2),
    ]  # fmt: skip
    for entry in entries:
        for function in entry["functions"].values():
            assert set(function["methods"]) == {"generated", "casadi"}
            assert all(m["errors"]["scaled"] < 1e-13 for m in function["methods"].values())
    grown = report["functions"][0]["families"]
    assert grown["serial"]["code"]["generated"]["exponent"] > 0.3
    assert grown["binary"]["time"]["generated"] is None
    page = (tmp_path / "families.html").read_text()
    assert page == family_page(report)
    assert page.count("<svg") == 3

"""Terminals of 80 columns: tables in parts, with no name and no number cut."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from rbdc.analysis.pages import Cell, Table
from rbdc.cli.commands import commands

NARROW = {"COLUMNS": "80"}
SHOWN = [
    ["hyq"],
    ["hyq", "--passes"],
    ["g1_29dof"],
    ["panda", "--mimic", "coupled"],
    ["double_pendulum", "--identifiability"],
    ["human43", "--branches"],
    ["hyq", "--contact", "lf=point@lf_foot", "--contact", "rf=point@rf_foot:0,0,0"],
]


def output(*words: str) -> str:
    done = CliRunner().invoke(commands, words, env=NARROW)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("words", SHOWN, ids=" ".join)
def test_info(words: list[str]) -> None:
    text = output("info", *words)
    assert max(map(cell_len, text.splitlines())) <= 80 and "\u2026" not in text
    whole, data = set(re.findall(r"[^\s,()\[\]]+", text)), json.loads(output("info", *words, "--json"))
    for joint in data["joints"]:
        assert {joint["name"], joint["link"], f"{joint['mass']:.5g}"} <= whole
        assert {f"{joint[end]:.5g}" for end in ("lower", "upper") if joint[end] is not None} <= whole
    assert {frame["name"] for frame in data["frames"]} <= whole
    for heading in ("joint", "kind", "link", "on", "lower", "upper", "velocity", "effort", "mass (kg)"):
        assert re.search(rf"┃ +{re.escape(heading)} +┃", text)


def test_long_chains_are_not_indented_out_of_sight() -> None:
    lines = output("info", "human43").splitlines()
    tree = [line for line in lines if "revolute)" in line or "prismatic)" in line]
    assert len(tree) == 43 and not any(line.startswith(" " * 20) for line in tree)


def test_the_summary_of_a_build(tmp_path: Path) -> None:
    names = ["rnea", "frame_jacobian_time_derivative"]
    text = output(
        "build", "double_pendulum", "--functions", ",".join(names), "--cflags", "-O0", "--out", str(tmp_path)
    )
    table = text[text.index("┏") :]
    assert max(map(cell_len, table.splitlines())) <= 80 and "\u2026" not in text
    assert {*names, "operations", "statements"} <= set(re.findall(r"\w+", table))


def test_parts_of_a_table() -> None:
    head = ("name", "words", "one", "two", "three")
    row = ("n" * 10, "some words that can be broken", Cell("1" * 10, "below"), "2" * 20, "3" * 20)
    table = Table("title", head, [row], note="note", words=("words",), wrong=(0,))
    assert [part.head for part in table.within(140)] == [list(head)]
    parts = table.within(59)
    assert [tuple(part.head) for part in parts] == [head[:2], (head[0], *head[2:4]), (head[0], head[4])]
    assert [(part.title, part.note, part.wrong) for part in parts] == [
        ("title", "", (0,)),
        ("", "", (0,)),
        ("", "note", (0,)),
    ]
    assert [len(part.head) for part in table.within(1)] == [2] * 4

"""Messages name options as the caller does: Python's names from Python, flags on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from rbdc.cli.wording import WORDS, in_commands
from rbdc.errors import OptionError
from rbdc.option_fields import asked

WORDINGS = {
    "build with `snap`": "build with --snap",
    "`damping='include'` keeps it": "--damping include keeps it",
    "`snap=1e-11`; `xacro_arg='N:=V'`": "--snap 1e-11; --xacro-arg N:=V",
    "`verify=False` or `force=True`": "--no-verify or --force",
    "`functions=['rnea', 'aba']`": "--functions rnea,aba",
    "`payload=['a', 'b b']`": "--payload a --payload 'b b'",
    "`gravity=[0, 0, -9.81]`": "--gravity 0 0 -9.81",
    "`lock={'j': 0.5, 'k': 1}`": "--lock j=0.5,k=1",
    "`lock=...`": "--lock ...",
    "`base='\\xe9\\n'`": "--base '\\xe9\\n'",
    "`march=[['a', ...`": "--march [['a', ...",
    "`peers='pinochio'`": "--peers pinochio",
    "`rnea` of `rbdc build --help`; a ` alone": "`rnea` of `rbdc build --help`; a ` alone",
}


@pytest.mark.parametrize(("python", "command"), WORDINGS.items(), ids=WORDINGS.values())
def test_wordings(python: str, command: str) -> None:
    assert in_commands(python) == command
    assert in_commands(command) == command


@pytest.mark.parametrize("words", [["--loop", "a=b"], ["--contact", "c=d", "--loop=a=b"]])
def test_the_spelling_that_was_given(words: list[str]) -> None:
    with click.Context(click.Command("build"), info_name="build") as context:
        context.meta[WORDS] = tuple(words)
        assert in_commands("`contacts='a=b'`: no") == "--loop a=b: no"
        assert in_commands("`contacts='x=y'`: no") == "--contacts x=y: no"


def test_a_value_cannot_end_its_quotes() -> None:
    text = asked("lock", "a`: `force=True")
    assert text.count("`") == 2
    assert in_commands(text) == "--lock 'a`: `force=True'"
    assert len(asked("lock", "x" * 999)) < 300


REFUSED: dict[str, tuple[list[str], dict[str, Any], str, str]] = {
    "spelling": (["--loop", "a=rod@x"], {"loop": "a=rod@x"}, "--loop a=rod@x: ", "`loop='a=rod@x'`: "),
    "model": (["--lock", "elbow=1"], {"lock": "elbow=1"}, "--lock: joint ", "`lock`: joint "),
    "preset": (
        ["--preset", "ful"],
        {"preset": "ful"},
        "no preset 'ful'; did you mean full",
        "no preset 'ful'",
    ),
    "remedy": (
        ["--style", "rolled", "--payload", "link2"],
        {"style": "rolled", "payload": "link2"},
        "leave out --parameters and --payload",
        "leave out `parameters` and `payload`",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_in_the_language_of_the_caller(case: str, tmp_path: Path) -> None:
    words, options, command, python = REFUSED[case]
    done = CliRunner().invoke(commands, ["build", "double_pendulum", *words, "--out", str(tmp_path)])
    assert done.exit_code == 2 and command in done.stderr and "`" not in done.stderr
    with pytest.raises((OptionError, rbdc.UnsupportedError)) as caught:
        rbdc.build("double_pendulum", **options, out=tmp_path)
    assert python in str(caught.value) and "--" not in str(caught.value)


def test_warnings_in_the_language_of_the_caller() -> None:
    words = ["--lock", "elbow_joint=7"]
    done = CliRunner().invoke(commands, ["info", "ur5", *words])
    assert '--lock: joint "elbow_joint" is fixed at 7' in done.stderr
    model = rbdc.Model.from_file(rbdc.resources.resolve("ur5"), lock={"elbow_joint": 7.0})
    assert '`lock`: joint "elbow_joint" is fixed at 7' in "\n".join(model.warnings)


def test_help() -> None:
    assert "Compilers that --tune tries;" in " ".join(
        CliRunner().invoke(commands, ["build", "--help"]).output.split()
    )
    assert "Compilers that `tune` tries;" in str(rbdc.build.__doc__)


CLICKS = {
    "build hyq --functoin rnea": "'--functions'",
    "build hyq --root-join fixed": "'--root-joint'",
    "bild hyq": "'build'",
    "experiment precison": "'precision'",
}


@pytest.mark.parametrize("words", CLICKS)
def test_options_and_commands_that_come_close(words: str) -> None:
    done = CliRunner().invoke(commands, words.split())
    assert done.exit_code == 2 and "Did you mean" in done.stderr and CLICKS[words] in done.stderr


@pytest.mark.parametrize(("option", "hint"), [("--methods", "casadi"), ("--peers", "casadi")])
def test_choices_of_comparisons_that_come_close(option: str, hint: str, tmp_path: Path) -> None:
    words = ["compare", "double_pendulum", "--functions", "rnea", option, "casdi", "--out", str(tmp_path)]
    done = CliRunner().invoke(commands, words)
    assert done.exit_code == 2 and f"did you mean {hint}?" in done.stderr

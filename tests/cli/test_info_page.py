"""`rbdc info`: its page, and warnings as a gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_bad_input import run
from tests.support_pages import Page
from tests.support_urdf import LIMIT, pair

CLEAN = pair(f'<axis xyz="0 0 1"/>{LIMIT}')
ODD = CLEAN.replace("<axis ", "<colour/>\n<axis ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.urdf").write_text(CLEAN)
    (tmp_path / "odd.urdf").write_text(ODD)
    return tmp_path


def test_the_page_is_written_beside_or_where_it_is_asked_for(folder: Path) -> None:
    result = run("info", "clean.urdf", "--html", "--functions", "rnea,crba")
    assert (result.exit_code, result.stdout) == (0, "") and "wrote clean.html" in result.stderr
    page = Page((folder / "clean.html").read_text())
    assert {"rnea", "crba"} <= {text.strip() for text in page.text.splitlines()}
    again = run("info", "clean.urdf", "--html", "pages/robot.html", "--functions", "rnea,crba")
    assert again.exit_code == 0
    assert (folder / "pages" / "robot.html").read_bytes() == (folder / "clean.html").read_bytes()
    printed = run("info", "clean.urdf", "--html", "-", "--functions", "rnea,crba")
    assert printed.stdout == (folder / "clean.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--html", "--json"), "--html and --json exclude each other: leave one out"),
        (("--html", "--passes"), "--html and --passes exclude each other: leave one out"),
        (("--functions", "rnea"), "--functions and --preset need --html"),
        (("--preset", "full"), "--functions and --preset need --html"),
        (("--html", "--functions", "rnae"), "did you mean rnea?"),
        (("--html", "."), "check --html"),
        (("--html", "clean.urdf/page.html"), "check --html"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...], problem: str, folder: Path) -> None:
    before = sorted(path.name for path in folder.iterdir())
    result = run("info", "clean.urdf", *arguments)
    assert result.exit_code == 2 and problem in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    "how", [(), ("--json",), ("--html", "--functions", "rnea")], ids=["text", "json", "html"]
)
def test_strict_is_a_gate(how: tuple[str, ...], folder: Path) -> None:
    assert run("info", "clean.urdf", "--strict", *how).exit_code == 0
    assert run("info", "odd.urdf", *how).exit_code == 0
    result = run("info", "odd.urdf", "--strict", *how)
    assert result.exit_code == 1
    assert result.stderr.endswith("rbdc: error: odd.urdf: 1 warning (--strict)\n")
    (folder / "broken.urdf").write_text("<robot")
    assert run("info", "broken.urdf", "--strict", *how).exit_code == 2


def test_help_tells_the_exit_statuses() -> None:
    shown = " ".join(run("info", "--help").output.split())
    assert (
        "Exit status 1: with --strict, the description has warnings; 2: the description cannot be read."
        in shown
    )

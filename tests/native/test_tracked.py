"""The commit of a checkout, and what `rbdc --version` says of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import rbdc
from rbdc.native.tracked import commit_of
from tests.cli.test_bad_input import run


def git(folder: Path, *words: str) -> str:
    """Return the output of git."""
    who = ("-c", "user.name=n", "-c", "user.email=e")
    return subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one commit, a tag on it, and the folders of a checkout of rbdc."""
    package = tmp_path / "codegen" / "rbdc"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    git(tmp_path, "tag", "v1")
    return tmp_path


def version_at(file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the output of `rbdc --version` where the package is in this file."""
    monkeypatch.setattr(rbdc, "__file__", str(file))
    result = run("--version")
    assert result.exit_code == 0
    return result.stdout


def test_the_version_in_a_checkout_has_the_commit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = git(checkout, "rev-parse", "--short=12", "HEAD").strip()
    file = checkout / "codegen" / "rbdc" / "__init__.py"
    assert commit_of(checkout) == commit
    assert version_at(file, monkeypatch) == f"rbdc {rbdc.__version__} (commit {commit})\n"
    file.write_text("changed = True\n")
    assert version_at(file, monkeypatch) == f"rbdc {rbdc.__version__} (commit {commit}-dirty)\n"


def test_the_version_elsewhere_stands_alone(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version has no commit in an environment inside another repository, and without git."""
    alone = f"rbdc {rbdc.__version__}\n"
    installed = checkout / ".venv" / "lib" / "site-packages" / "rbdc" / "__init__.py"
    assert version_at(installed, monkeypatch) == alone
    monkeypatch.setenv("PATH", str(checkout))
    assert version_at(checkout / "codegen" / "rbdc" / "__init__.py", monkeypatch) == alone
    assert commit_of(checkout / "codegen") == ""

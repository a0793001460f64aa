"""The packages and the version that are declared are those on disk. Dependencies have floors and tools pins,
and the top of the repository holds what its owner allows.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import yaml

import rbdc

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_package_list_equals_the_disk() -> None:
    source = ROOT / "codegen"
    on_disk = {".".join(p.parent.relative_to(source).parts) for p in source.rglob("__init__.py")}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == on_disk | {"rbdc.templates", "rbdc.robots"}


def test_versions_agree() -> None:
    assert PROJECT["project"]["version"] == rbdc.__version__
    assert f"## {rbdc.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {rbdc.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_dependencies_have_floors_and_tools_are_pinned() -> None:
    """`.ci/lowest` installs the floors. The hooks of pre-commit run the tools of the environment."""
    for dependency in PROJECT["project"]["dependencies"]:
        assert re.fullmatch(r"[a-z0-9]+>=[0-9]+(\.[0-9]+)+", dependency), dependency
    tools = [tool for tool in PROJECT["project"]["optional-dependencies"]["test"] if "==" in tool]
    assert [tool.partition("==")[0] for tool in tools] == ["ruff", "mypy"]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in hooks] == ["local"]
    assert {hook["language"] for hook in hooks[0]["hooks"]} == {"system"}


def test_the_workflow_runs_what_is_there() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert commands == [".ci/run", ".ci/lowest"]
    for command in commands:
        assert os.access(ROOT / command, os.X_OK), command
    tests = re.findall(r"tests/[\w/.]+", (ROOT / ".ci" / "lowest").read_text())
    assert tests and [name for name in tests if not (ROOT / name).exists()] == []


FOLDERS = {"codegen", "templates", "generated", "tests", "robots", "docs"}
FILES = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"}


def test_the_top_of_the_repository_holds_little() -> None:
    """Beside these only names that begin with a dot, which tools need."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    top = {name for line in listed.splitlines() if not (name := line.partition("/")[0]).startswith(".")}
    assert top <= FOLDERS | FILES

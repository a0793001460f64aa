"""The packages and the version that are declared are those on disk."""

from __future__ import annotations

import tomllib
from pathlib import Path

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

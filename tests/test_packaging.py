"""What is installed is what is on disk: editable, wheel and sdist."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

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


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist, built with the setuptools of this environment."""
    folder = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "build",
        "--no-isolation",
        "--skip-dependency-check",
        "--outdir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def test_wheel_holds_every_file(distributions: Path) -> None:
    names = set(zipfile.ZipFile(next(distributions.glob("*.whl"))).namelist())
    for folder, target in (
        (ROOT / "codegen" / "rbdc", "rbdc"),
        (ROOT / "templates", "rbdc/templates"),
        (ROOT / "robots", "rbdc/robots"),
    ):
        for file in folder.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts:
                assert f"{target}/{file.relative_to(folder)}" in names


def test_sdist_holds_the_sources(distributions: Path) -> None:
    with tarfile.open(next(distributions.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "codegen/rbdc/templates/function.c.jinja",
        "codegen/rbdc/robots/kuka_iiwa.urdf",
    } <= names


def test_wheel_works_when_installed(distributions: Path, tmp_path: Path) -> None:
    """In a virtual environment that sees this one's dependencies, not this checkout."""
    target, wheel = tmp_path / "site", next(distributions.glob("*.whl"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(command, check=True)
    code = (
        f"import sys; sys.path.insert(0, {str(target)!r})\n"
        "import rbdc; assert 'site' in rbdc.__file__, rbdc.__file__\n"
        f"m = rbdc.build('double_pendulum', functions=['rnea'], cflags=['-O0'], "
        f"out={str(tmp_path / 'out')!r})\n"
        "print(m.rnea([0.1, 0.2], [0, 0], [0, 0])[0] != 0.0)\n"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", "import site; site.main()\n" + code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert result.stdout.strip() == "True", result.stderr

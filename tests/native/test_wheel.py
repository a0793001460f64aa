"""Wheels of generated packages: they run without rbdc, on a processor that has only the least."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.native.wheel import licences_beside
from rbdc.resources import resolve
from tests.support import build_module

FUNCTIONS = ("rnea", "frame_velocity")
CALL = """
import sys
import double_pendulum as m
assert "rbdc" not in sys.modules
print(m.variant, m.rnea([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]).tolist())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of `rbdc wheel`, from a folder that has a licence beside the description."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copy(resolve("double_pendulum"), folder)
    (folder / "COPYING").write_text("as you like")
    arguments = ["wheel", str(folder / "double_pendulum.urdf"), "--functions", ",".join(FUNCTIONS)]
    done = CliRunner().invoke(commands, [*arguments, "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    (made,) = (folder / "out").iterdir()
    assert str(made) in done.output
    return made


def expected() -> str:
    module = build_module("double_pendulum", functions=FUNCTIONS)
    return str(module.rnea([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]).tolist())


def installed(wheel: Path, site: Path) -> Path:
    """Return a folder with the wheel as an installer unpacks it, NumPy and cffi: nothing of rbdc."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in ("numpy", "cffi", "_cffi_backend"):
        spec = find_spec(name)
        assert spec is not None and spec.origin is not None
        found = Path(spec.origin)
        found = found.parent if found.name == "__init__.py" else found
        (site / found.name).symlink_to(found)
        if (found.parent / f"{name}.libs").is_dir():
            (site / f"{name}.libs").symlink_to(found.parent / f"{name}.libs")
    return site


@pytest.mark.slow
def test_it_runs_without_rbdc(wheel: Path, tmp_path: Path) -> None:
    site = installed(wheel, tmp_path / "site")
    own = {"PYTHONPATH": str(site), "RBDC_VARIANT": "baseline"}
    command = [sys.executable, "-S", "-c", CALL]  # no site-packages
    done = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    variant, numbers = done.stdout.strip().split(" ", 1)
    assert variant == "baseline"
    given, ours = (np.array([float(x) for x in text[1:-1].split(",")]) for text in (numbers, expected()))
    np.testing.assert_allclose(given, ours, rtol=1e-13)


@pytest.mark.slow
def test_contents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith("/RECORD")]
        lines = archive.read(record).decode().splitlines()
        metadata = archive.read(record.replace("RECORD", "METADATA")).decode()
    assert {line.split(",")[0] for line in lines} == set(names)
    assert {"double_pendulum/__init__.pyi", "double_pendulum/py.typed"} <= set(names)
    assert not [name for name in names if name.endswith((".c", ".h", ".txt"))]
    assert "License-File: COPYING" in metadata and "Requires-Dist: numpy\n" in metadata
    assert "cp311-abi3" in wheel.name


def test_licences() -> None:
    assert {file.name for file in licences_beside(resolve("kuka_iiwa"))} >= {"LICENSE-robosuite-MIT.txt"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_robot"], "no_such_robot"),
        (["double_pendulum", "--functions", "nonsense"], "no function 'nonsense'"),
        (["double_pendulum", "--functions", "rnea", "--license", "absent"], "cannot read the licence"),
    ],
)
def test_bad_input(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(commands, ["wheel", *arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2 and message in done.output
    assert not (tmp_path / "out").exists()


def by_pip(march: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What pip makes of a package, by scikit-build-core and CMake."""
    build = [sys.executable, "-m", "rbdc", "build", "double_pendulum", "--functions", ",".join(FUNCTIONS)]
    subprocess.run([*build, "--march", march, "--out", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder)]
    return subprocess.run(
        [*pip, str(folder / "double_pendulum")], capture_output=True, text=True, check=False
    )


@pytest.mark.exhaustive
def test_pip_makes_none_of_a_package_for_one_processor(tmp_path: Path) -> None:
    made = by_pip("native", tmp_path)
    assert made.returncode != 0 and "built for one processor" in made.stdout + made.stderr


@pytest.mark.slow
def test_pip_makes_one_of_a_portable_package(tmp_path: Path) -> None:
    """In a fresh environment."""
    made = by_pip("portable", tmp_path)
    assert made.returncode == 0, made.stderr
    (wheel,) = tmp_path.glob("*.whl")
    python = tmp_path / "environment" / "bin" / "python"
    venv.create(tmp_path / "environment", with_pip=False)
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    subprocess.run([*pip, "install", "--quiet", str(wheel)], check=True)
    own = os.environ | {"RBDC_VARIANT": "baseline"}
    done = subprocess.run([str(python), "-c", CALL], env=own, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("baseline [")

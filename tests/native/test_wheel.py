"""Wheels of generated packages: they run without rbdc, on a processor that has only the least; C finds its
library in them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.cli.commands import commands
from rbdc.cli.licences import OF_ROBOTS, licences_of
from rbdc.resources import resolve, robot_names
from tests.support import UNOPTIMISED, build_module

FUNCTIONS = ("rnea", "frame_velocity")
CALL = """
import sys
import double_pendulum as m
assert "rbdc" not in sys.modules
print(m.variant, m.rnea([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]).tolist())
"""
PROJECT = """
cmake_minimum_required(VERSION 3.10)
project(elsewhere C)
{find}
add_executable(program main.c)
target_link_libraries(program PRIVATE {target})
"""
IN_C = """
#include <stdio.h>
#include "double_pendulum.h"
int main(void)
{
    const double q[] = {0.1, 0.2}, v[] = {0.3, 0.4}, a[] = {0.5, 0.6};
    double tau[2];
    double_pendulum_rnea(q, v, a, NULL, tau);
    printf("%.17g,%.17g\\n", tau[0], tau[1]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of `rbdc wheel` from a folder with a licence beside the description."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copy(resolve("double_pendulum"), folder)
    (folder / "COPYING").write_text("as you like")
    arguments = ["wheel", str(folder / "double_pendulum.urdf"), "--functions", ",".join(FUNCTIONS)]
    done = CliRunner().invoke(commands, [*arguments, "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    (archive,) = (folder / "out").iterdir()
    assert str(archive) in done.output
    return archive


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with what a wheel needs."""
    python = tmp_path_factory.mktemp("fresh") / "environment" / "bin" / "python"
    venv.create(python.parents[1], with_pip=False)
    pip_installed(python, "numpy", "cffi")
    return python


def pip_installed(python: Path, *what: str) -> None:
    """Install into the environment of a Python."""
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, *what], check=True)


def module_in(python: Path, wheel: Path) -> str:
    """Return the output of `CALL` with the wheel installed in a Python's environment."""
    pip_installed(python, "--no-deps", "--force-reinstall", str(wheel))
    variables = os.environ | {"RBDC_VARIANT": "baseline"}
    return subprocess.run(
        [str(python), "-c", CALL], env=variables, capture_output=True, text=True, check=True
    ).stdout.strip()


def folders(python: str | Path, **environment: str) -> list[Path]:
    """The folders that a package tells: that for CMake, that of its headers."""
    variables = os.environ | environment
    command = [str(python), "-m", "double_pendulum"]
    texts = (
        subprocess.run([*command, option], env=variables, capture_output=True, text=True, check=True).stdout
        for option in ("--cmake-dir", "--include")
    )
    return [Path(text.strip()) for text in texts]


def numbers(text: str) -> list[float]:
    return [float(x) for x in text.strip("[]\n").split(",")]


def in_c(find: str, target: str, folder: Path) -> list[float]:
    """Return the output of the C program for which CMake finds the library."""
    if shutil.which("cmake") is None:
        pytest.skip("no cmake")
    texts = {"CMakeLists.txt": PROJECT.format(find=find, target=target), "main.c": IN_C}
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    subprocess.run(["cmake", "-S", str(folder), "-B", str(folder / "made")], check=True)
    subprocess.run(["cmake", "--build", str(folder / "made")], check=True)
    done = subprocess.run([str(folder / "made" / "program")], capture_output=True, text=True, check=True)
    return numbers(done.stdout)


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
        package = Path(spec.origin)
        package = package.parent if package.name == "__init__.py" else package
        (site / package.name).symlink_to(package)
        if (package.parent / f"{name}.libs").is_dir():
            (site / f"{name}.libs").symlink_to(package.parent / f"{name}.libs")
    return site


@pytest.mark.slow
def test_it_runs_without_rbdc(wheel: Path, tmp_path: Path) -> None:
    site = installed(wheel, tmp_path / "site")
    variables = {"PYTHONPATH": str(site), "RBDC_VARIANT": "baseline"}
    command = [sys.executable, "-S", "-c", CALL]  # no site-packages
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    variant, printed = done.stdout.strip().split(" ", 1)
    assert variant == "baseline"
    np.testing.assert_allclose(numbers(printed), numbers(expected()), rtol=1e-13)


@pytest.mark.slow
def test_contents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith("/RECORD")]
        lines = archive.read(record).decode().splitlines()
        metadata = message_from_bytes(archive.read(record.replace("RECORD", "METADATA")))
        licences = [name for name in names if "/licenses/" in name]
    assert {line.split(",")[0] for line in lines} == set(names)
    assert {"double_pendulum/__init__.pyi", "double_pendulum/py.typed"} <= set(names)
    place = "double_pendulum/lib/cmake/double_pendulum/double_pendulum"
    wanted = {
        f"{place}Config.cmake",
        f"{place}ConfigVersion.cmake",
        "double_pendulum/lib/libdouble_pendulum.a",
    }
    assert wanted <= set(names) and "double_pendulum/include/double_pendulum/double_pendulum.hpp" in names
    assert not [name for name in names if name.endswith((".c", ".txt"))]
    assert metadata["License-File"] == "COPYING" and len(licences) == 1
    assert "numpy" in (metadata.get_all("Requires-Dist") or []) and "cp311-abi3" in wheel.name
    assert metadata["Description-Content-Type"] == "text/markdown"
    readme = metadata.get_payload()
    assert isinstance(readme, str) and "| `rnea` |" in readme
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]*)\)|<img[^>]*src=\S+", readme))


@pytest.mark.slow
def test_c_finds_its_library_in_a_wheel(wheel: Path, environment: Path, tmp_path: Path) -> None:
    assert module_in(environment, wheel).startswith("baseline [")
    place, include = folders(environment)
    assert place.is_relative_to(environment.parents[1]) and (include / "double_pendulum.h").is_file()
    find = f"set(double_pendulum_DIR {place})\nfind_package(double_pendulum 0.1 REQUIRED)"
    results = in_c(find, "double_pendulum::double_pendulum", tmp_path / "found")
    np.testing.assert_allclose(results, numbers(expected()), rtol=1e-13)
    with pytest.raises(subprocess.CalledProcessError):
        in_c(find.replace("0.1", "0.99"), "double_pendulum::double_pendulum", tmp_path / "newer")


@pytest.mark.slow
def test_c_finds_its_sources_in_a_package(tmp_path: Path) -> None:
    arguments = ["build", "double_pendulum", "--functions", "rnea", "--targets", "c"]
    options = ["--cflags", " ".join(UNOPTIMISED), "--out", str(tmp_path)]
    assert CliRunner().invoke(commands, [*arguments, *options]).exit_code == 0
    place, include = folders(sys.executable, PYTHONPATH=str(tmp_path))
    assert place == include == tmp_path / "double_pendulum"
    results = in_c(f"add_subdirectory({place} library)", "double_pendulum", tmp_path / "project")
    np.testing.assert_allclose(results, numbers(expected()), rtol=1e-13)


def test_a_robot_has_its_licence_and_no_other() -> None:
    assert list(licences_of("panda_arm")) == ["LICENSE-robosuite-MIT.txt"]
    assert list(licences_of("tiago_pro")) == ["LICENSE-Apache-2.0.txt", "NOTICE.txt"]
    (notice,) = licences_of("kuka_iiwa").values()
    assert b"Copyright (c) 2015, Robert Krug" in notice and b"-->" not in notice
    assert b"OF THE POSSIBILITY OF SUCH DAMAGE" in notice
    without = {"human43", "kuka_iiwa", "planar_floating"}  # in the description, or public
    assert {*OF_ROBOTS} == {*robot_names()} - without
    files = {file.name for file in resolve("ur5").parent.glob("LICENSE*")}
    assert {*OF_ROBOTS.values()} == files


def test_licences_of_a_description(tmp_path: Path) -> None:
    """Files beside it and its own comments, or those that are given; of a text its own comments."""
    text = "<!-- Copyright me -->\n<!-- as you like -->\n<robot/> <!-- other -->"
    (tmp_path / "robot.urdf").write_text(text)
    (tmp_path / "Licence.md").write_text("beside")
    (tmp_path / "given").write_text("given")
    notice = b"Copyright me\n as you like\n"
    assert licences_of(str(tmp_path / "robot.urdf")) == {"Licence.md": b"beside", "NOTICE.txt": notice}
    assert licences_of(str(tmp_path / "robot.urdf"), [tmp_path / "given"]) == {"given": b"given"}
    assert licences_of(text) == {"NOTICE.txt": notice}


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
    """Return the wheel that pip makes of a package, by scikit-build-core and CMake."""
    build = [sys.executable, "-m", "rbdc", "build", "double_pendulum", "--functions", ",".join(FUNCTIONS)]
    subprocess.run([*build, "--march", march, "--out", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(folder)]
    return subprocess.run(
        [*pip, str(folder / "double_pendulum")], capture_output=True, text=True, check=False
    )


@pytest.mark.exhaustive
def test_pip_makes_none_of_a_package_for_one_processor(tmp_path: Path) -> None:
    result = by_pip("native", tmp_path)
    assert result.returncode != 0 and "built for one processor" in result.stdout + result.stderr


@pytest.mark.slow
def test_pip_makes_one_of_a_portable_package(environment: Path, tmp_path: Path) -> None:
    result = by_pip("portable", tmp_path)
    assert result.returncode == 0, result.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert module_in(environment, wheel).startswith("baseline [")
    place, _ = folders(environment)
    find = f"set(double_pendulum_DIR {place})\nfind_package(double_pendulum 0.1 REQUIRED)"
    results = in_c(find, "double_pendulum::double_pendulum", tmp_path / "found")
    np.testing.assert_allclose(results, numbers(expected()), rtol=1e-13)

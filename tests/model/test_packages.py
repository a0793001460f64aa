"""Packages of ROS that xacro files name, found without ROS."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import rbdc
from rbdc import Model
from rbdc.errors import DescriptionError, OptionError
from tests.cli.test_bad_input import run
from tests.model.test_xacro import ROBOT
from tests.support_ros import FRANKA, UR, write_package

PART = ROBOT.replace('<link name="base"/>', "").partition("<xacro:arm name")[0] + "</robot>"


def top(include: str) -> str:
    """Return a robot whose macro lies in another file."""
    head, _, rest = ROBOT.partition('<link name="base"/>')
    return f'{head.partition("<xacro")[0]}<xacro:include filename="{include}"/><link name="base"/>{rest}'


def packed(folder: Path, name: str = "parts", include: str = "$(find parts)/urdf/part.xacro") -> Path:
    """Return a package with the macro, and outside of it the file of the robot, which is returned."""
    write_package(folder / "ws" / "src" / name, "parts", {"urdf/part.xacro": PART})
    (folder / "robots").mkdir()
    (folder / "robots" / "r.xacro").write_text(top(include))
    return folder / "robots" / "r.xacro"


@pytest.mark.parametrize(
    "include",
    ["$(find parts)/urdf/part.xacro", "package://parts/urdf/part.xacro", "$(find parts)/urdf/*.xacro"],
)
@pytest.mark.parametrize("folder", ["ws", "ws/src", "ws/src/clone"])
def test_the_option(tmp_path: Path, include: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = packed(tmp_path, "clone", include)
    assert Model.from_file(file, package_path=tmp_path / folder).nv == 2
    monkeypatch.chdir(tmp_path)
    assert Model.from_file(file.relative_to(tmp_path), package_path=folder).nv == 2
    monkeypatch.chdir("/")
    assert run("info", str(file), "--package-path", str(tmp_path), "--package-path", folder).exit_code == 2
    assert run("info", str(file), "--package-path", str(tmp_path / folder)).exit_code == 0


@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"])
def test_the_environment(tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = packed(tmp_path, "share/parts" if variable.startswith("AMENT") else "parts")
    monkeypatch.setenv(variable, f"/nowhere:{tmp_path / 'ws' / 'src'}")
    assert Model.from_file(file).nv == 2


@pytest.mark.parametrize(("name", "place"), [("clone", "urdf"), ("clone", "robots/arm"), ("parts", "..")])
def test_folders_above_the_file(
    tmp_path: Path, name: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = write_package(tmp_path / name, "parts", {"urdf/part.xacro": PART})
    (package / place).mkdir(parents=True, exist_ok=True)
    (package / place / "r.xacro").write_text(top("$(find parts)/urdf/part.xacro"))
    assert Model.from_file(package / place / "r.xacro").nv == 2
    monkeypatch.chdir(package / "urdf")
    assert Model.from_text(top("$(find parts)/urdf/part.xacro")).nv == 2


def test_a_folder_without_package_xml(tmp_path: Path) -> None:
    file = packed(tmp_path)
    (tmp_path / "ws" / "src" / "parts" / "package.xml").unlink()
    assert Model.from_file(file, package_path=[tmp_path / "ws"]).nv == 2


def test_the_name_in_package_xml_decides(tmp_path: Path) -> None:
    file = packed(tmp_path)
    write_package(tmp_path / "robots" / "parts", "others", {})
    assert Model.from_file(file, package_path=[tmp_path]).nv == 2


def test_what_is_not_found(tmp_path: Path) -> None:
    file = packed(tmp_path)
    result = run("build", str(file), "--out", str(tmp_path / "out"))
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1
    problem = 'r.xacro: the file asks for files of the package "parts", which is not found; give the folder'
    assert problem in result.stderr and "--package-path DIR" in result.stderr
    with pytest.raises(OptionError, match="`package_path='nowhere'`: there is no such folder"):
        Model.from_file(file, package_path="nowhere")
    (tmp_path / "robots" / "r.xacro").write_text(top("$(find ..)/part.xacro"))
    with pytest.raises(DescriptionError, match='package "[.][.]", which is not found'):
        Model.from_file(file, package_path=tmp_path)


def test_the_manifest_has_it(tmp_path: Path) -> None:
    file = packed(tmp_path)
    folders = [tmp_path / "ws"]
    module = rbdc.build(file, functions="nle", package_path=folders, out=tmp_path / "out")
    manifest = json.loads((Path(module.__file__ or "").parent / "manifest.json").read_text())
    assert manifest["options"]["package_path"] == [str(tmp_path / "ws")]


def test_files_in_the_manner_of_franka(tmp_path: Path) -> None:
    package = write_package(tmp_path / "franka_description", "franka_description", FRANKA)
    model = Model.from_file(package / "robots" / "fr3" / "fr3.urdf.xacro", xacro_arg={"hand": "true"})
    assert [body.joint_name for body in model.bodies] == ["fr3_joint1", "fr3_joint2"]
    assert [body.limits.upper for body in model.bodies] == [2.5, 1.75]
    assert [body.inertia.mass for body in model.bodies] == [2.5, 3.0]
    assert model.bodies[1].placement.translation.y == -0.25


def test_files_in_the_manner_of_universal_robots(tmp_path: Path) -> None:
    write_package(tmp_path / "ws" / "Universal_Robots" / "clone", "ur_description", UR)
    (tmp_path / "ur.urdf.xacro").write_text(UR["urdf/ur.urdf.xacro"])
    arguments = {"name": "ur5x", "tf_prefix": "left_"}
    model = Model.from_file(tmp_path / "ur.urdf.xacro", package_path=tmp_path / "ws", xacro_arg=arguments)
    assert (model.name, model.bodies[0].joint_name) == ("ur5x", "left_shoulder_pan_joint")
    assert model.bodies[0].limits.upper == pytest.approx(2 * math.pi)
    assert (model.bodies[0].inertia.mass, model.bodies[0].placement.translation.z) == (3.0, 0.6)

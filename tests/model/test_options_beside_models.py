"""Options beside a model: applied, or refused by name; a package records those that hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rbdc
from rbdc.errors import OptionError
from rbdc.model import DriveTerm, Joint, Link, Model, Problem
from rbdc.native.install import EXTENSION
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package, read
from rbdc.reduction.model_options import under
from rbdc.resources import resolve
from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3
from tests.support import UNOPTIMISED
from tests.support_urdf import LIMIT, joint, link, messages, model, robot

FREE = {"root_joint": "free-flyer"}
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("kuka_iiwa", FREE),
    ("kuka_iiwa", {"gravity": "0 0 0", "snap": 0.0}),
    ("kuka_iiwa", {"damping": "include", "springs": "include", "friction": "include", "friction_width": 0.1}),
    ("kuka_iiwa", {"armature": {"lbr_iiwa_joint_2": 0.5}, "lock": "lbr_iiwa_joint_3=0.25"}),
    ("kuka_iiwa", {"base": "lbr_iiwa_link_7", "frame": "tip@lbr_iiwa_link_2:0 0 0.1"}),
    ("panda", {"mimic": "coupled", "joint_order": "file"}),
]


def test_models_are_read_with_the_snap_of_builds() -> None:
    assert Problem.from_urdf(resolve("kuka_iiwa")) == read("kuka_iiwa", BuildOptions())
    assert Problem.from_file(resolve("kuka_iiwa"), snap=0.0) != read("kuka_iiwa", BuildOptions())


@pytest.mark.parametrize(("robot", "options"), OPTIONS)
def test_options_beside_a_model_are_those_of_its_description(robot: str, options: dict[str, Any]) -> None:
    beside = read(Model.from_file(resolve(robot)), BuildOptions.of(options))
    assert beside == read(robot, BuildOptions.of(options)) != read(robot, BuildOptions())


def test_defaults_beside_a_model_leave_it_as_it_is() -> None:
    model = Model.from_file(resolve("hyq"), gravity=(0, 0, -1.62), damping="include", base="trunk", **FREE)
    assert read(model, BuildOptions()) == Problem.of(model)
    in_the_world = read(model, BuildOptions(fext_frame="world"))
    assert read(in_the_world, BuildOptions()).world_forces
    assert not read(in_the_world, BuildOptions.of({"fext_frame": "local"})).world_forces


def test_drives_of_a_model_that_was_changed_count() -> None:
    model = Model.from_file(resolve("hyq"), damping="include", friction="include", friction_width=0.2)
    asked = read(replace(model, name="other"), BuildOptions())
    assert asked.drive_terms == (DriveTerm.DAMPING, DriveTerm.FRICTION) and asked.friction_width == 0.2
    assert asked.assembly is None and asked.damping == Problem.of(model).damping


def test_defaults_that_are_given_hold() -> None:
    model = Model.from_file(resolve("hyq"), gravity=(0.0, 0.0, -1.62), friction="include", **FREE)
    options = {"root_joint": "fixed", "gravity": (0.0, 0.0, -9.81), "friction": "report"}
    assert under(model, BuildOptions.of(options)) == Problem.from_file(resolve("hyq"))


def test_joints_and_frames_are_added_to_those_of_the_model() -> None:
    arm, tip = resolve("kuka_iiwa"), "tip@lbr_iiwa_link_2:0 0 0.1"
    first = {"lock": "lbr_iiwa_joint_3=0.25", "armature": "lbr_iiwa_joint_2=1", "frame": tip}
    second = {
        "lock": {"lbr_iiwa_joint_4": 1.0},
        "armature": {"lbr_iiwa_joint_2": 2.0},
        "frame": [tip, "end@tip:0 0 1"],
    }
    both = {
        "lock": "lbr_iiwa_joint_3=0.25,lbr_iiwa_joint_4=1",
        "armature": "lbr_iiwa_joint_2=2",
        "frame": [tip, "end@tip:0 0 1"],
    }
    assert under(Model.from_file(arm, **first), BuildOptions.of(second)) == Problem.from_file(arm, **both)


def test_models_made_in_code_take_them_too() -> None:
    turned = Placement(Rotation.from_rpy(1.57079632679, 0.0, 0.0), Vector3.zero())
    links = [Link("base"), Link("arm", Inertia.about_com(1.0, Vector3(0.1, 0.0, 0.0), Symmetric3.zero()))]
    joints = [Joint("j", "revolute", "base", "arm", turned, damping=0.5)]
    model = Model.assemble("arm", links, joints, snap=0.0)
    assert model.bodies[0].placement.rotation.y.y != 0.0
    other = under(model, BuildOptions.of({"snap": 1e-11, "damping": "include"}))
    assert other.bodies[0].placement.rotation.y.y == 0.0 and other.damping == [0.5]
    assert other == Problem.assemble("arm", links, joints, damping="include")


def test_what_cannot_be_applied_is_refused_by_name(tmp_path: Path) -> None:
    model = Model.from_file(resolve("kuka_iiwa"))
    with pytest.raises(OptionError, match=r"xacro_arg: .*from_file"):
        under(model, BuildOptions.of({"xacro_arg": {"a": "b"}}))
    with pytest.raises(OptionError, match=r"package_path: .*from_file"):
        under(model, BuildOptions.of({"package_path": "."}))
    changed = replace(model, name="other")
    with pytest.raises(OptionError, match=r"root_joint, gravity: the model .* was changed since"):
        rbdc.build(changed, root_joint="free-flyer", gravity="0,0,0", out=tmp_path)
    assert under(changed, BuildOptions.of({"gravity": (0.0, 0.0, -9.81)})) == Problem.of(changed)
    (tmp_path / "table.json").write_text(
        '{"convention": "distal", "joints": [{"alpha": 1.57079632679, "mass": 1, "com": [0, 0, 1]}]}'
    )
    table = Model.from_file(tmp_path / "table.json", snap=1e-9)
    with pytest.raises(OptionError, match=r"snap=1e-11: .*read with snap=1e-09.*from_file"):
        under(table, BuildOptions.of({"snap": 1e-11}))


def test_gravity_that_is_given_holds_beside_that_of_the_description(tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text(
        '{"convention": "distal", "gravity": [0, 0, -1.62], "joints": [{"mass": 1, "com": [0, 1, 0]}]}'
    )
    described = Model.from_file(tmp_path / "table.json")
    assert described.gravity == Vector3(0.0, 0.0, -1.62)
    assert any("gravity is taken from the description" in text for text in messages(described))
    options = {"gravity": (0.0, 0.0, -9.81)}
    standard = Problem.from_file(tmp_path / "table.json", **options)
    assert standard.gravity == Vector3(0.0, 0.0, -9.81)
    assert not any("gravity" in text for text in messages(standard))
    assert under(described, BuildOptions.of(options)) == standard


def test_builds_of_a_file_and_of_its_model_are_the_same_bytes(tmp_path: Path) -> None:
    path, options = tmp_path / "one.urdf", {"functions": "rnea", "cflags": UNOPTIMISED, "friction": "include"}
    origin = '<origin rpy="1.57079632679 0 0"/><dynamics damping="0" friction="0.5"/>'
    path.write_text(robot(link("a"), link("b"), joint("j", "a", "b", origin + LIMIT)))
    model(tmp_path, path.read_text())
    packages = [
        build_package(description, BuildOptions.of({**values, "out": tmp_path / place})).directory
        for place, description, values in (
            ("file", path, options | FREE),
            ("model", Model.from_urdf(path, **FREE), options),
            ("beside", Model.from_urdf(path), options | FREE),
        )
    ]
    names = sorted(file.name for file in packages[0].iterdir())
    assert EXTENSION in names
    for package in packages[1:]:
        assert package.name == "one" and names == sorted(file.name for file in package.iterdir())
        for name in names:
            assert (package / name).read_bytes() == (packages[0] / name).read_bytes(), name


def test_manifests_record_what_holds(tmp_path: Path) -> None:
    def recorded(description: Model, **options: Any) -> dict[str, Any]:
        asked = BuildOptions.of({"functions": "rnea", "cflags": UNOPTIMISED, "out": tmp_path, **options})
        package = build_package(description, asked).directory
        entry: dict[str, Any] = json.loads((package / "manifest.json").read_text())["options"]
        return entry

    model = Model.from_file(resolve("double_pendulum"), gravity=(0.0, 0.0, -1.62), **FREE)
    now = recorded(model, damping="include")
    assert (now["root_joint"], now["gravity"], now["damping"]) == ("free-flyer", [0.0, 0.0, -1.62], "include")
    changed = replace(Problem.of(model), name="other", drive_terms=(DriveTerm.FRICTION,))
    now = recorded(changed)
    assert (now["root_joint"], now["gravity"], now["friction"]) == (None, [0.0, 0.0, -1.62], "include")

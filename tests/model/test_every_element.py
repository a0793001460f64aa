"""The tables of docs/robots.md: all of a URDF, and of the files beside one, is in them, and what they say
holds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support_tables import (
    Change,
    Read,
    changed,
    check,
    check_complete,
    extended,
    reader,
    row_of,
    table,
    values,
)

ROWS = table("robots.md", "### Every element and attribute")
BASE = (Path(__file__).parent / "every_element.urdf").read_text(encoding="utf-8")

SCHEMA = {
    "robot": "name version style",
    "xacro": "any",
    "link": "name type",
    "link/inertial": "any",
    "link/inertial/origin": "xyz rpy quat_xyzw",
    "link/inertial/mass": "value",
    "link/inertial/inertia": "ixx ixy ixz iyy iyz izz",
    "link/visual": "name",
    "link/visual/origin": "xyz rpy quat_xyzw",
    "link/visual/geometry/box": "size",
    "link/visual/geometry/cylinder": "radius length",
    "link/visual/geometry/capsule": "radius length",
    "link/visual/geometry/sphere": "radius",
    "link/visual/geometry/mesh": "filename scale",
    "link/visual/material": "name",
    "link/visual/material/color": "rgba",
    "link/visual/material/texture": "filename",
    "link/collision": "name group",
    "link/collision/geometry/box": "size",
    "link/collision/verbose": "value",
    "link/collision/drake:proximity_properties": "any",
    "link/self_collision_checking": "any",
    "link/contact": "any",
    "joint": "name type group",
    "joint/origin": "xyz rpy quat_xyzw",
    "joint/parent": "link",
    "joint/child": "link",
    "joint/axis": "xyz",
    "joint/limit": "lower upper velocity effort acceleration deceleration jerk",
    "joint/dynamics": "damping friction spring_stiffness spring_reference",
    "joint/mimic": "joint multiplier offset polycoef",
    "joint/calibration": "rising falling reference_position",
    "joint/safety_controller": "soft_lower_limit soft_upper_limit k_position k_velocity",
    "transmission": "name type",
    "transmission/type": "any",
    "transmission/joint": "name",
    "transmission/joint/hardwareInterface": "any",
    "transmission/joint/role": "any",
    "transmission/joint/offset": "any",
    "transmission/joint/mechanicalReduction": "any",
    "transmission/actuator": "name",
    "transmission/actuator/hardwareInterface": "any",
    "transmission/actuator/role": "any",
    "transmission/actuator/mechanicalReduction": "any",
    "transmission/actuator/motorInertia": "any",
    "transmission/actuator/motorTorqueConstant": "any",
    "transmission/actuator/encoderReduction": "any",
    "transmission/actuator/drake:gear_ratio": "value",
    "transmission/actuator/drake:rotor_inertia": "value",
    "transmission/mechanicalReduction": "any",
    "transmission/motorInertia": "any",
    "transmission/leftActuator": "name mechanicalReduction",
    "transmission/rightActuator": "name mechanicalReduction",
    "transmission/flexJoint": "name mechanicalReduction",
    "transmission/rollJoint": "name mechanicalReduction",
    "transmission/gap_joint": "name L0 a b h r t0 phi0 theta0 gear_ratio mechanical_reduction "
    "screw_reduction",
    "transmission/passive_joint": "name",
    "transmission/use_simulated_gripper_joint": "any",
    "drake:joint": "name type",
    "drake:joint/parent": "link",
    "drake:joint/child": "link",
    "drake:joint/origin": "xyz rpy",
    "drake:joint/axis": "xyz",
    "drake:joint/drake:screw_thread_pitch": "value",
    "drake:ball_constraint": "name",
    **{
        f"drake:ball_constraint/drake:ball_constraint_{part}": own
        for part, own in (("body_A", "name"), ("body_B", "name"), ("p_AP", "value"), ("p_BQ", "value"))
    },
    "material": "name",
    "material/color": "rgba",
    "gazebo": "reference",
    "gazebo/any": "any",
    "sensor": "name type",
    "ros2_control": "name type",
    "ros2_control/joint/command_interface": "name",
    "loop_joint": "name type",
    "loop_joint/link1": "link xyz rpy",
    "loop_joint/link2": "link xyz rpy",
    "drake:linear_bushing_rpy": "any",
    "drake:collision_filter_group": "name",
    "any other": "any",
    "text": "any",
    "!DOCTYPE": "any",
    "!ENTITY": "any",
}
"""Attributes by elements: urdfdom's schema with what URDF 1.1 and 1.2 added, the pages of ROS on URDF,
transmissions and ros2_control, Drake's and Gazebo's elements; "any" stands for text, or for all there may be.
"""

_ORIGIN: dict[str, str | Change] = {
    **values('xyz="0 .2 .1" rpy=".1 .2 .3"'),
    "quat_xyzw": {"quat_xyzw": "0 0 .6 .8", "rpy": None},
}
ATTRIBUTES: dict[str, dict[str, str | Change]] = {
    "robot": values('name="another" version="1.2" style="3"'),
    "link": values('name="another" type="laser"'),
    "link/inertial/origin": _ORIGIN,
    "link/inertial/mass": values('value="2"'),
    "link/inertial/inertia": values('ixx=".3" ixy=".01" ixz=".01" iyy=".3" iyz=".01" izz=".3"'),
    "joint": values('name="another" type="continuous" group="3"'),
    "joint/origin": _ORIGIN,
    "joint/parent": values('link="base"'),
    "joint/child": values('link="b"'),
    "joint/axis": values('xyz="0 1 0"'),
    "joint/limit": values(
        'lower="-2" upper="2" velocity="3" effort="4" acceleration="3" deceleration="3" jerk="3"'
    ),
    "joint/dynamics": values('damping="1" friction="1" spring_stiffness="1" spring_reference="1"'),
    "joint/mimic": values('joint="l" multiplier="3" offset=".1" polycoef="0 1 1"'),
    "transmission": values('name="another" type="SimpleTransmission"'),
    "transmission/joint": values('name="l"'),
    "transmission/actuator": values('name="another"'),
}
"""By elements' paths the values of their attributes, or those of several attributes that go together."""
PLACES = {
    ("link", "name"): "//link[@name='c']",
    ("joint", "name"): "//joint[@name='l']",
    ("joint/parent", "link"): "//joint[@name='k']/parent",
    ("joint/child", "link"): "//joint[@name='k']/child",
}
"""XPaths of attributes that are tried at another element than the first."""
SETUPS: dict[tuple[str, str], dict[str, Change]] = {
    ("link", "name"): {"//joint[@name='l']/child": {"link": "another"}},
    ("joint/child", "link"): {"//joint[@name='k']/child": {"link": "nowhere"}},
}
"""What is changed before an attribute is tried: names that nothing has, which are refused."""

_NEW = '<link name="n"/><{0} name="new" type="{1}"><parent link="c"/><child link="n"/></{0}>'
_SCREW = _NEW.format("drake:joint", "screw").replace(
    "</drake:joint>", '<drake:screw_thread_pitch value="0.1"/></drake:joint>'
)
_XACRO = '<xacro:if xmlns:xacro="http://www.ros.org/wiki/xacro" value="1">{}</xacro:if>'
_BALL = (
    '<drake:ball_constraint><drake:ball_constraint_body_A name="a"/><drake:ball_constraint_body_B name="c"/>'
    '<drake:ball_constraint_p_AP value="0 0 1"/><drake:ball_constraint_p_BQ value="0 0 1"/>'
    "</drake:ball_constraint>"
)
_LOOP = '<loop_joint name="o" type="spherical"><link1 link="a"/><link2 link="c" xyz="0 0 1"/></loop_joint>'
_OF_TRANSMISSION = {
    "transmission": (
        "type mechanicalReduction motorInertia leftActuator rightActuator flexJoint rollJoint gap_joint "
        "passive_joint use_simulated_gripper_joint"
    ),
    "transmission/joint": "hardwareInterface role offset mechanicalReduction",
    "transmission/actuator": (
        "hardwareInterface role mechanicalReduction motorInertia motorTorqueConstant encoderReduction"
    ),
}
SNIPPETS: dict[str, list[tuple[str, str]]] = {
    "xacro": [("/robot", _XACRO.format(_NEW.format("joint", "continuous")))],
    "link/inertial": [("//link[@name='c']", '<inertial><mass value="1"/></inertial>')],
    **{
        f"link/{tag}": [("//link", f"<{tag}/>")]
        for tag in ("visual", "collision", "self_collision_checking", "contact")
    },
    "joint/calibration": [("//joint", '<calibration rising="0"/>')],
    "joint/safety_controller": [("//joint", '<safety_controller k_velocity="1"/>')],
    **{
        f"{place}/{tag}": [(f"/robot/{place}", f"<{tag}>3</{tag}>")]
        for place, tags in _OF_TRANSMISSION.items()
        for tag in tags.split()
    },
    "transmission/actuator/drake:rotor_inertia": [("//actuator", '<drake:rotor_inertia value="3"/>')],
    "transmission/actuator/drake:gear_ratio": [("//actuator", '<drake:gear_ratio value="3"/>')],
    "drake:joint": [("/robot", _NEW.format("drake:joint", "ball"))],
    "drake:joint/drake:screw_thread_pitch": [("/robot", _SCREW)],
    "drake:ball_constraint": [("/robot", _BALL)],
    "material": [("/robot", '<material name="blue"><color rgba="0 0 1 1"/></material>')],
    "gazebo": [("/robot", '<gazebo reference="a"><springStiffness>3</springStiffness></gazebo>')],
    "sensor": [("/robot", '<sensor name="s"><parent link="a"/></sensor>')],
    "ros2_control": [("/robot", '<ros2_control name="r" type="system"><joint name="j"/></ros2_control>')],
    "loop_joint": [("/robot", _LOOP)],
    "drake:linear_bushing_rpy": [("/robot", "<drake:linear_bushing_rpy/>")],
    "drake:collision_filter_group": [("/robot", '<drake:collision_filter_group name="g"/>')],
    "any other": [
        (place, "<spring k='3'/>")
        for place in ("/robot", "//link", "//joint", "//inertial", "//mass", "//axis")
    ],
    "text": [(place, "0 0 1") for place in ("/robot", "//link", "//joint", "//inertial", "//mass", "//axis")],
}
"""By paths of elements, where descriptions have them and as what."""


def test_the_table_has_all_of_the_schema() -> None:
    check_complete(ROWS, {path: attributes.split() for path, attributes in SCHEMA.items()})


def test_every_row_is_walked() -> None:
    """Every row is tested through all attributes that it names, or through descriptions with its elements."""
    walked = {row_of(ROWS, path, attribute) for path, values in ATTRIBUTES.items() for attribute in values}
    walked |= {row for row in ROWS for path in SNIPPETS if row.has(path)}
    assert [row for row in ROWS if row not in walked] == [row for row in ROWS if row.has("!DOCTYPE")]
    for path in ATTRIBUTES:
        assert set(ATTRIBUTES[path]) == set(SCHEMA[path].split()), path
    of_value = {path for path in SCHEMA if row_of(ROWS, path, SCHEMA[path].split()[0]).fate == "read"}
    parts = {
        path for path in SCHEMA if path.startswith(("drake:joint/", "drake:ball_constraint/", "loop_joint/"))
    }
    assert of_value - parts <= {*ATTRIBUTES, *SNIPPETS}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    return reader(tmp_path_factory.mktemp("every_element") / "scene.urdf")


CASES = [(path, own) for path, given in ATTRIBUTES.items() for own in given]


@pytest.mark.parametrize(("path", "attribute"), CASES)
def test_attributes(path: str, attribute: str, read: Read) -> None:
    before = changed(BASE, SETUPS.get((path, attribute), {}))
    value = ATTRIBUTES[path][attribute]
    place = PLACES.get((path, attribute), f"/robot/{path}" if path != "robot" else "/robot")
    after = changed(before, {place: {attribute: value} if isinstance(value, str) else value})
    accepted = (path, attribute) not in SETUPS
    check(row_of(ROWS, path, attribute), before, after, read, accepted=accepted, mimic="coupled")


@pytest.mark.parametrize("path", list(SNIPPETS))
def test_elements(path: str, read: Read) -> None:
    row = row_of(ROWS, path, SCHEMA[path].split()[0])
    for place, text in SNIPPETS[path]:
        check(row, BASE, extended(BASE, place, text), read, mimic="coupled")


def test_other_attributes_of_loops_are_named(read: Read) -> None:
    _, notes = read(extended(BASE, "/robot", _BALL.replace("p_AP ", "p_AP frame='f' ")))
    assert "1 x frame of <drake:ball_constraint_p_AP>: ignored" in notes


def test_document_types_are_refused(read: Read) -> None:
    for text in ("<!DOCTYPE robot>", '<!DOCTYPE robot [<!ENTITY x "1">]>'):
        model, said = read(f"{text}{BASE}")
        assert model is None and all("scene.urdf:1: a document type declaration" in line for line in said)
        assert row_of(ROWS, "!DOCTYPE", "any").fate == "refused"

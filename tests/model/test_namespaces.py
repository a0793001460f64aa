"""XML that others read: default namespaces, prefixes that nothing declares, left-over elements of xacro."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdc import Model
from rbdc.errors import DescriptionError
from tests.model.test_xacro import ROBOT
from tests.support_urdf import INERTIAL, LIMIT, joint, link, messages, pair, robot

PLAIN = Model.from_text(pair())


def with_notes(text: str) -> list[str]:
    """Return the notes of a text that gives the bodies of `pair()`."""
    model = Model.from_text(text)
    assert model.bodies == PLAIN.bodies and model.frames == PLAIN.frames
    return messages(model)


@pytest.mark.parametrize(
    "text",
    [
        pair().replace("<robot ", '<robot xmlns="https://drake.mit.edu" '),
        pair().replace("<link ", '<link xmlns="https://drake.mit.edu" '),
        pair().replace("<joint ", '<joint xmlns="https://drake.mit.edu" '),
    ],
)
def test_a_default_namespace(text: str) -> None:
    assert with_notes(text) == ['the default namespace "https://drake.mit.edu" is ignored']


def test_a_default_namespace_beside_xacro() -> None:
    head = '<robot xmlns="http://www.ros.org" '
    assert Model.from_text(ROBOT.replace("<robot ", head)).nv == 2
    named = pair().replace("<robot ", head + 'xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    assert with_notes(named) == ['the default namespace "http://www.ros.org" is ignored']
    assert with_notes(pair().replace("<robot ", '<robot xmlns="http://www.ros.org/wiki/xacro" '))


@pytest.mark.parametrize(("count", "shown"), [(1, ""), (2, "2 x "), (5000, "5000 x ")])
def test_a_prefix_that_is_not_declared(count: int, shown: str) -> None:
    extra = '<gazebo reference="arm">' + "<sensor:camera/>" * count + "</gazebo>"
    assert with_notes(pair().replace("</robot>", extra + "</robot>")) == [
        f'{shown}the prefix "sensor" is not declared: read as written',
        "1 x <gazebo> in <robot>: ignored",
    ]


def test_a_prefix_of_attributes_and_of_elements_that_count() -> None:
    notes = with_notes(pair().replace('<link name="arm"', '<link name="arm" x:mass="3"'))
    assert notes == ['the prefix "x" is not declared: read as written', "1 x x:mass of <link>: ignored"]
    notes = with_notes(pair().replace("<inertial>", "<x:inertial/><inertial>", 1))
    assert "1 x <x:inertial> in <link>: ignored" in notes


def test_the_prefix_of_drake_means_drake() -> None:
    motor = (
        '<transmission><joint name="j"/><actuator name="m"><drake:rotor_inertia value="2"/>'
        '<drake:gear_ratio value="3"/></actuator></transmission>'
    )
    for declared in ("", ' xmlns:drake="http://drake.mit.edu"'):
        text = pair().replace("<robot", f"<robot{declared}").replace("</robot>", motor + "</robot>")
        assert Model.from_text(text).bodies[0].armature == 18.0


@pytest.mark.parametrize("count", [1, 5000])
def test_other_faults_are_told_first(count: int) -> None:
    text = robot("<sensor:camera/>" * count, link("base"), "<link>")
    with pytest.raises(DescriptionError, match="^<text>:5: not well-formed XML: Opening and ending tag"):
        Model.from_text(text)


def test_elements_have_the_names_that_were_written() -> None:
    text = pair().replace("<robot", '<robot xmlns:x="http://x"').replace("</robot>", "<x:odd/></robot>")
    assert with_notes(text) == ["1 x <x:odd> in <robot>: ignored"]


LEFT_OVER = "<xacro:some_colour/>"
NOTE = "<xacro:some_colour> calls a macro that nothing defines: ignored"


@pytest.mark.parametrize("declared", ["", ' xmlns:xacro="http://ros.org/wiki/xacro"'])
def test_left_over_xacro(declared: str) -> None:
    head = f"<robot{declared}"
    visual = f'<link name="base"><visual>{LEFT_OVER}</visual>'
    text = pair().replace("<robot", head).replace('<link name="base">', visual)
    assert NOTE in with_notes(text)
    text = pair().replace("<robot", head).replace("</robot>", f"{LEFT_OVER}</robot>")
    assert NOTE in with_notes(text)


def test_what_is_left_over_in_a_file_to_expand_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(ROBOT.replace("</robot>", f"{LEFT_OVER}</robot>"))
    with pytest.raises(DescriptionError, match="unknown macro name: xacro:some_colour"):
        Model.from_file(tmp_path / "r.urdf")
    calls = '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arm/></robot>'
    with pytest.raises(DescriptionError, match="unknown macro name: xacro:arm"):
        Model.from_text(calls)


def test_a_link_in_a_namespace_of_its_own_is_missed() -> None:
    text = robot(link("base"), f'<x:link name="arm">{INERTIAL}</x:link>', joint("j", "base", "arm", LIMIT))
    with pytest.raises(DescriptionError, match='child link "arm", which does not exist'):
        Model.from_text(text)

"""How contacts and loops are declared, what of a model carries them, and bad declarations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference.contacts import contact_error, contact_jacobian
from rbdc.errors import OptionError, RbdcError
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from tests.cli.test_bad_input import run
from tests.mjcf.test_loops import BODIES, KINDS
from tests.support_contacts import POINTS
from tests.support_trees import random_tree

FIVE_BAR = """<robot name="five_bar">
  <link name="base"/>{links}{joints}
</robot>"""
LINK = """<link name="{0}"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="j_{1}" type="{3}"><parent link="{0}"/><child link="{1}"/><origin xyz="{2}"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>"""
BARS = [
    ("base", "left", "0 0 0", "revolute"),
    ("left", "upper_left", "0.3 0 0", "revolute"),
    ("base", "right", "0.2 0 0", "revolute"),
    ("right", "upper_right", "0.3 0 0", "revolute"),
    ("upper_left", "tip_A", "0.3 0 0", "fixed"),
    ("upper_right", "tip_B", "0.3 0 0", "fixed"),
]
SIDECAR = """closed_loop: [['tip_A', 'tip_B']]
type: ['3D']
name_mot: ['j_left', 'j_right']
"""


@pytest.fixture
def five_bar(tmp_path: Path) -> Path:
    file = tmp_path / "five_bar.urdf"
    links = "".join(LINK.format(bar[1]) for bar in BARS[:4]) + '<link name="tip_A"/><link name="tip_B"/>'
    file.write_text(FIVE_BAR.format(links=links, joints="".join(JOINT.format(*bar) for bar in BARS)))
    return file


def test_the_yaml_of_parallel_robots(five_bar: Path, tmp_path: Path) -> None:
    sidecar = tmp_path / "robot.yaml"
    sidecar.write_text(SIDECAR)
    model = read(five_bar, BuildOptions(contacts=sidecar))
    assert model.contacts == read(five_bar, BuildOptions(contacts=["tip_A=point@tip_A=tip_B"])).contacts
    (loop,) = model.contacts
    assert (loop.name, loop.held) == ("tip_A", (0, 1))
    assert any("1 of 3 rows are redundant and ignored" in text for text in model.warnings)


def test_what_is_read_is_read_again() -> None:
    options = BuildOptions(contacts=("foot=surface@hand:0,0,1", "held=weld@a=b:1,2,3,0,0,1"))
    assert replace(options) == options
    assert BuildOptions(contacts=options.contacts[0]).contacts == options.contacts[:1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("closed_loop: [['tip_A', 'tip_B']]\ntype: []\n", "robot.yaml:2: the file: 1 pairs in closed_loop"),
        ("closed_loop: [['tip_A']]\ntype: ['6d']\n", "robot.yaml:1: the file: an entry of closed_loop"),
        ("closed_loop: [['tip_A', 'tip_B']]\ntype: ['5d']\n", "write '3d' or '6d'"),
        (SIDECAR + "joint_type: ['SPHERICAL']\n", "robot.yaml:4: the file: joint_type changes joints"),
        (SIDECAR + "colour: red\n", 'robot.yaml:5: the file: "colour" is not a known key'),
        ("closed_loop: 3\ntype: []\n", "closed_loop is not a list"),
        ("closed_loop: [\n", "not YAML"),
        (SIDECAR.replace("tip_B", "tip_C"), 'no link "tip_C"; did you mean'),
    ],
)
def test_yaml_that_is_refused(five_bar: Path, tmp_path: Path, text: str, words: str) -> None:
    sidecar = tmp_path / "robot.yaml"
    sidecar.write_text(text.replace("colour", "\ncolour"))
    with pytest.raises(RbdcError) as caught:
        read(five_bar, BuildOptions(contacts=sidecar))
    assert words in str(caught.value)


def jacobian(model: Problem, q: Any) -> Any:
    return np.array(contact_jacobian(model, [float(x) for x in q]), dtype=float)


def test_locked_joints_carry_contacts_along() -> None:
    """The Jacobian is that of the whole robot without the columns of what is locked."""
    options: dict[str, Any] = {"root_joint": "free-flyer", "contacts": POINTS}
    whole = read("hyq", BuildOptions(**options))
    locked = read("hyq", BuildOptions(lock={"lf_kfe_joint": -1.1}, **options))
    names = [body.joint_name for body in whole.bodies]
    place = whole.bodies[names.index("lf_kfe_joint")]
    rng = np.random.default_rng(0)
    q = np.concatenate([rng.normal(size=3), [0.0, 0.6, 0.0, 0.8], rng.normal(size=12)])
    q[place.index_q] = -1.1
    left = np.delete(jacobian(whole, q), place.index_v, axis=1)
    np.testing.assert_allclose(jacobian(locked, np.delete(q, place.index_q)), left, atol=1e-12)


def test_another_base_carries_loops_along(tmp_path: Path) -> None:
    """The error of a loop is that of the same pose of the robot."""
    file = tmp_path / "fourbar.xml"
    file.write_text(BODIES.replace("{equality}", KINDS["weld"]))
    free = BuildOptions(root_joint="free-flyer")
    usual, other = read(file, free), read(file, BuildOptions(root_joint="free-flyer", base="rod"))
    assert [c.name for c in other.contacts] == [c.name for c in usual.contacts] == ["pin"]
    assert {(c.first.name, c.second.name) for c in other.contacts if c.second} == {("rod", "rocker")}
    angles = {"j1": 0.3, "j2": -0.4, "j3": 0.2}
    errors = []
    for model in (usual, other):
        q = model.neutral()
        for body in model.bodies:
            if body.joint_name in angles:
                q[body.index_q] = angles[body.joint_name]
        (contact,) = model.contacts
        errors.append(np.array(contact_error(model, q), dtype=float)[: contact.rows])
    np.testing.assert_allclose(errors[0], errors[1], atol=1e-9)


def test_a_loop_that_locking_makes_idle_is_named(tmp_path: Path) -> None:
    file = tmp_path / "fourbar.xml"
    file.write_text(BODIES.replace("{equality}", KINDS["connect"]))
    model = read(file, BuildOptions(lock={"j2": 0.0, "j3": 0.0, "j1": 0.0}, root_joint="free-flyer"))
    assert not model.contacts
    words = 'loop "pin" is ignored: "rod" and "rocker" do not move relative to each other'
    assert any(words in text for text in model.warnings)


FORM = "give NAME=point@LINK[:x,y,z], "
REFUSED: list[tuple[Any, str]] = [
    (["a=point@base"], "`contacts='a=point@base'`: \"base\" does not move: name a link that moves"),
    (["a=point@link3", "a=point@link2"], "`contacts='a=point@link2'`: two contacts are named a; rename one"),
    (["a=point@link3", "point@link2"], f"`contacts='point@link2'`: the contact has no name; {FORM}"),
    ("link2", f"`contacts='link2'`: {FORM}"),
    ("", f"`contacts=''`: {FORM}"),
    ("a=ball@link2", "`contacts='a=ball@link2'`: a contact with the world cannot have the kind ball; there"),
    ("a=pont@link2", "cannot have the kind pont; did you mean point? there are point, surface"),
    ("a=surface@link2=link3", "a loop cannot have the kind surface; there are point, weld, revolute"),
    ("a=point@link2:0,0", "bad origin in link2; give three or six finite numbers (m, rad)"),
    ("a=point@", "`contacts='a=point@'`: a link is missing; give NAME=point@"),
    (["b=point@link2", "a=point@lnk3"], "`contacts='a=point@lnk3'`: no link \"lnk3\"; did you mean link3"),
    ([("a", "ball", "link2")], "`contacts=('a', 'ball', 'link2')`: a contact with the world cannot"),
    ([("a", "point")], "`contacts=('a', 'point')`: it is not a contact; give (name, kind, link)"),
    ([("a", "point", "lnk3")], "`contacts=('a', 'point', 'lnk3')`: no link \"lnk3\""),
    ("nowhere.toml", f"`contacts='nowhere.toml'`: No such file or directory; {FORM}"),
]  # fmt: skip


@pytest.mark.parametrize(("contacts", "words"), REFUSED, ids=[words[:40] for _, words in REFUSED])
def test_declarations_that_are_refused(contacts: Any, words: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(random_tree(0), BuildOptions(contacts=contacts))
    assert words in str(caught.value)


@pytest.mark.parametrize("flag", ["--contacts", "--contact", "--loop"])
def test_the_command_line_has_the_option_as_it_was_given(flag: str) -> None:
    for words, value in (("the kind ball", "t=ball@link2"), ('no link "lnk2"', "t=point@lnk2")):
        done = run("info", "double_pendulum", "--contact", "fine=point@link2", flag, value)
        assert (
            done.exit_code == 2 and f"rbdc: error: {flag} {value}: " in done.stderr and words in done.stderr
        )
        assert "`" not in done.stderr and "(" not in done.stderr.split("; ")[0]


TABLE = """# feet
[contacts.lf]
kind = "point"
link = "link2"

[contacts."r f"]
kind = "point"
link = "link1"
"""
TABLES = [
    (
        TABLE.replace('"point"\nlink = "link1"', '"ball"\nlink = "link1"'),
        ":6: [contacts.r f]: a contact with",
    ),
    (TABLE.replace("link1", "lnk1"), ':6: [contacts.r f]: no link "lnk1"; did you mean link1'),
    (TABLE.replace('link = "link2"', ""), ":2: [contacts.lf]: it has no link; write kind and link as texts"),
    (TABLE.replace("link = ", "lnk = "), ':2: [contacts.lf]: "lnk" is not a known key; did you mean link'),
    (TABLE.replace('"link2"', "2"), ":2: [contacts.lf]: a link is missing; write kind and link"),
    (TABLE + "origin = [1, 2]\n", ":6: [contacts.r f]: bad origin in link1; give three or six"),
    (TABLE.replace("kind = ", "kind "), ":3: not TOML: "),
    ("[feet]\n", ': "feet" is not a known key; write a table [contacts.NAME] for each contact'),
    ("", ": the file has no tables of contacts; write a table [contacts.NAME]"),
    ('contacts = {lf = {kind = "ball", link = "link2"}}', ": [contacts.lf]: a contact with the world cannot"),
]


@pytest.mark.parametrize(("text", "words"), TABLES, ids=[words[:40] for _, words in TABLES])
def test_tables_that_are_refused(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "feet.toml"
    file.write_text(text)
    with pytest.raises(RbdcError) as caught:
        read("double_pendulum", BuildOptions(contacts=file))
    assert str(caught.value).startswith(f"{file}{words}")
    assert "NAME=" not in str(caught.value)


def test_tables_are_read(tmp_path: Path) -> None:
    file = tmp_path / "feet.toml"
    file.write_text(TABLE)
    assert BuildOptions(contacts=file) == BuildOptions(contacts=["lf=point@link2", "r f=point@link1"])


def test_axes_of_the_world_need_contacts() -> None:
    with pytest.raises(RbdcError, match="there are no contacts for `contact_frame='local-world-aligned'`"):
        read("hyq", BuildOptions(contact_frame="local-world-aligned"))

"""Two joints that carry one link, with the option that holds the links in place of one; loops in URDF."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc.algorithms.reference.contacts import contact_error
from rbdc.algorithms.reference.frames import frame_placement
from rbdc.errors import DescriptionError
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.reduction.mobility import closed_from
from tests.support_urdf import joint, link, messages, robot


def bar(name: str, above: str, below: str, origin: str, axis: str = "0 1 0", kind: str = "continuous") -> str:
    return joint(name, above, below, f'<origin {origin}/><axis xyz="{axis}"/>', kind)


LINKS = [link(name) for name in ("ground", "a", "b", "c")]
TREE = [
    bar("j1", "ground", "a", 'xyz="0.2 0 0"'),
    bar("j2", "a", "b", 'xyz="0.2 0 0"'),
    bar("j3", "ground", "c", 'xyz="0.4 0 0"'),
]


def advice(text: str, **options: Any) -> tuple[str, str]:
    """Return the joint to remove and the loop to give."""
    with pytest.raises(DescriptionError) as refused:
        Problem.from_text(text, **options)
    match = re.search(r'remove joint "(.*)" and give .*loop[ =]\'?([^\'`]*)', str(refused.value))
    assert match is not None, refused.value
    return match[1], match[2]


def followed(text: str, name: str, loop: str) -> Problem:
    """Return the model without the joint and with the loop."""
    lines = [line for line in text.splitlines() if f'<joint name="{name}"' not in line]
    return read("\n".join(lines), BuildOptions(contacts=loop))


def test_a_planar_linkage_is_held_by_a_point(tmp_path: Path) -> None:
    text = robot(*LINKS, *TREE, bar("j4", "c", "b", 'xyz="0.2 0 0.1" rpy="0 1 0"'))
    name, loop = advice(text)
    assert (name, loop) == ("j4", "j4=point@c:0.2,0,0.1=b:0,0,0")
    assert followed(text, name, loop).contacts[0].held == (0, 2)
    cut = "\n".join(line for line in text.splitlines() if '"j4"' not in line)
    module = rbdc.build(cut, contacts=loop, functions="constrained_dynamics", out=tmp_path)
    assert module.constrained_dynamics(module.q_neutral, module.v_zero, np.zeros(module.nv))[0].shape == (3,)


def test_a_prismatic_joint_across_the_axis_keeps_the_plane() -> None:
    slider = bar("j3", "ground", "c", 'xyz="0.4 0 0" rpy="0 0.3 0"', "1 0 0", "prismatic").replace(
        "</joint>", '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    text = robot(*LINKS, *TREE[:2], slider, bar("j4", "c", "b", 'xyz="0.2 0 0"'))
    assert advice(text)[1].startswith("j4=point@")
    assert advice(text.replace('xyz="1 0 0"', 'xyz="1 1 0"'))[1].startswith("j4=revolute@")


KINDS = {"revolute": ("continuous", 5), "weld": ("fixed", 6), "point": ("spherical", 3)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_loop_holds_what_the_joint_held(kind: str) -> None:
    """With joints of three coordinates at both ends of b the linkage closes if the joint's frame in c is that
    in b, turned about the axis.
    """
    axis_of_joint, rows = KINDS[kind]
    last = bar("j4", "c", "b", 'xyz="0.2 0.1 -0.1" rpy="0.4 -0.2 1.1"', "0.6 0 0.8", axis_of_joint)
    text = robot(
        *LINKS, bar("j1", "ground", "a", ""), bar("j2", "a", "b", "", kind="floating"), TREE[2], last
    )
    name, loop = advice(text)
    assert name == "j4" and loop.startswith(f"j4={kind}@c:0.2,0.1,-0.1")
    model = followed(text, name, loop)
    assert model.contacts[0].rows == rows
    q, error = closed_from(model, [float(x) for x in np.linspace(-0.3, 0.4, model.nq)])
    assert error < 1e-7 and len(contact_error(model, q)) == rows
    frames = [frame.name for frame in model.frames]
    c, b = (np.array(frame_placement(model, q, frames.index(x)), float).reshape(4, 4) for x in "cb")
    joined = np.linalg.inv(c) @ b
    np.testing.assert_allclose(joined[:3, 3], [0.2, 0.1, -0.1], atol=1e-6)
    placed = rbdc.Rotation.from_rpy(0.4, -0.2, 1.1)
    if kind == "weld":
        np.testing.assert_allclose(joined[:3, :3], np.array(placed.rows()), atol=1e-6)
    if kind == "revolute":
        axis = np.array([0.6, 0.0, 0.8])
        np.testing.assert_allclose(joined[:3, :3] @ axis, np.array(placed.rows()) @ axis, atol=1e-6)


def test_which_joint_is_named() -> None:
    """The message names a joint that closes a cycle below the link, or one that a loop can replace, or the
    later joint.
    """
    back = bar("j0", "b", "a", 'xyz="0.1 0 0"')
    assert advice(robot(*LINKS[:3], back, *TREE[:2]))[0] == "j0"
    sliding = bar("j4", "c", "b", "", kind="prismatic").replace(
        "</joint>", '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    assert advice(robot(*LINKS, *TREE, sliding))[0] == "j2"
    with pytest.raises(DescriptionError, match='remove joint "j"$'):
        Problem.from_text(robot(*LINKS[:2], TREE[0], bar("j", "a", "a", "")))
    with pytest.raises(DescriptionError, match="remove one of them, and hold its links together with"):
        Problem.from_text(robot(*LINKS, *TREE, bar("j=4", "c", "b", "")))


def ball(*parts: str, head: str = "") -> str:
    """Return a constraint of Drake's, by default of b and c."""
    usual = ["body_A name='b'", "body_B name='c'", "p_AP value='.2 0 .1'", "p_BQ value='.2 0 0'"]
    inner = "".join(f"<drake:ball_constraint_{part}/>" for part in parts or usual)
    return f"<drake:ball_constraint{head}>{inner}</drake:ball_constraint>"


@pytest.mark.parametrize("declared", ["", ' xmlns:drake="http://drake.mit.edu"'])
def test_ball_constraints_are_loops(declared: str) -> None:
    text = robot(ball(), *LINKS, *TREE).replace("<robot", f"<robot{declared}")
    model = Problem.from_text(text)
    right = read(robot(*LINKS, *TREE), BuildOptions(contacts="ball_constraint0=point@b:.2,0,.1=c:.2,0,0"))
    assert [(loop.name, loop.kind, loop.first, loop.second) for loop in model.contacts] == [
        (loop.name, loop.kind, loop.first, loop.second) for loop in right.contacts
    ]
    assert "1 x <drake:ball_constraint> closes a loop: only functions of contacts hold it" in messages(model)


def test_names_of_ball_constraints() -> None:
    text = robot(ball(head=" name='pin'"), ball(head=" name='pin'"), ball(), *LINKS, *TREE)
    assert [loop.name for loop in Problem.from_text(text).contacts] == ["pin", "pin_", "ball_constraint2"]


@pytest.mark.parametrize(("kind", "word"), [("spherical", "point"), ("fixed", "weld"), ("revolute", None)])
def test_loop_joints(kind: str, word: str | None) -> None:
    """Isaac Sim writes these joints; other programs write an axis in other axes."""
    sides = '<link1 link="b" xyz=".2 0 .1" rpy="0 .3 0"/><link2 link="c" xyz=".2 0 0"/>'
    loop = f'<loop_joint name="pin" type="{kind}">{sides}</loop_joint>'
    model = Problem.from_text(robot(loop, *LINKS, *TREE))
    if word is None:
        assert not model.contacts and "1 x <loop_joint> in <robot>: ignored" in messages(model)
        return
    turned = ",0,0.3,0" if word == "weld" else ""
    right = read(robot(*LINKS, *TREE), BuildOptions(contacts=f"pin={word}@b:.2,0,.1{turned}=c:.2,0,0"))
    (one,), (other,) = model.contacts, right.contacts
    assert (one.name, one.kind) == (other.name, other.kind)
    assert one.first.placement.translation == other.first.placement.translation
    assert word == "point" or one.first == other.first
    with pytest.raises(DescriptionError, match="^<text>:2: a <loop_joint> has no <link2>"):
        Problem.from_text(robot(loop.replace("link2", "link3"), *LINKS, *TREE))


A, B, P, Q = "body_A name='b'", "body_B name='c'", "p_AP value='0 0 0'", "p_BQ value='0 0 0'"
REFUSED = {
    "body_A": ("names the link", ["body_A name='x'", B, P, Q]),
    "missing": ("has no <drake:ball_constraint_p_BQ>", [A, B, P]),
    "number": ("has 2 numbers", [A, B, "p_AP value='0 0'", Q]),
    "value": ("has no value", [A, B, "p_AP", Q]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_ball_constraints_that_say_nothing(case: str) -> None:
    problem, parts = REFUSED[case]
    with pytest.raises(DescriptionError, match=f"^<text>:2: .*{problem}"):
        Problem.from_text(robot(ball(*parts), *LINKS, *TREE))


def test_other_closures_are_named() -> None:
    bushing = "<drake:linear_bushing_rpy/>"
    in_gazebo = '<gazebo><joint name="j4" type="revolute"><parent>c</parent><child>b</child></joint></gazebo>'
    text = robot(bushing, in_gazebo, *LINKS, *TREE)
    notes = messages(Problem.from_text(text))
    assert "1 x <drake:linear_bushing_rpy> in <robot>: ignored" in notes
    assert any(note.startswith("1 x <joint> in <gazebo>, which a ") for note in notes)

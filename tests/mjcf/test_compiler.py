"""MuJoCo's compiler: files that may be missing, and messages that have a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model import Problem
from tests.model.test_mjcf import BALL, BOX, HINGE, body, scene

INERTIAL = '<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/>'
FILES = """<asset><mesh name="v" file="nowhere/visual.stl"/><mesh name="w" file="w.obj"/>
  <mesh file="contact.stl"/>
  <texture name="t" type="2d" file="t.png"/><texture name="c" type="cube" fileright="c.png"/>
  <texture type="skybox" file="sky.png"/><texture name="g" type="cube" file="g.png" gridsize="3 4"
   gridlayout=".U..LFRB.D.."/><material name="m" texture="t"/><hfield name="h" file="h.png" size="1 1 1 1"/>
  <skin name="s" file="s.skn"/></asset>"""
VISUALS = (
    '<geom type="mesh" mesh="v" contype="0" conaffinity="0" group="2" material="m"/>'
    '<geom type="mesh" mesh="contact"/><site name="tip" type="mesh" mesh="v" pos=".1 .2 .3"/>'
)
WEIGHTLESS = '<geom type="mesh" mesh="v" mass="0"/><geom type="mesh" mesh="w" density="0"/>'


def test_missing_files_that_no_inertia_needs_are_read_without(tmp_path: Path) -> None:
    """Meshes, also of contacts, of bodies whose inertias are given; textures, height fields and skins."""
    ground = '<geom type="hfield" hfield="h"/><geom type="mesh" mesh="w"/>'
    bodies = [body("a", INERTIAL + HINGE.format("h") + "{}"), body("b", HINGE.format("k") + BALL + "{}")]
    text = scene(ground, bodies[0].format(VISUALS), bodies[1].format(WEIGHTLESS), before=FILES)
    (tmp_path / "scene.xml").write_text(text)
    read = Problem.from_file(tmp_path / "scene.xml")
    (said,) = (note.message for note in read.notes if "skins from files" in note.message)
    assert "Error opening file" in said and "from files (9)" in said
    plain = scene(*(one.format("") for one in bodies))
    (tmp_path / "plain.xml").write_text(
        plain.replace("</body>", '<site name="tip" pos=".1 .2 .3"/></body>', 1)
    )
    whole = Problem.from_file(tmp_path / "plain.xml")
    assert (read.bodies, read.base_inertia) == (whole.bodies, whole.base_inertia)
    assert [f.placement for f in read.frames] == [f.placement for f in whole.frames]


@pytest.mark.parametrize(
    ("inside", "before"),
    [
        (BALL + '<geom type="mesh" mesh="v"/>', ""),
        (INERTIAL + '<geom type="mesh" mesh="v"/>', '<compiler inertiafromgeom="true"/>'),
    ],
)
def test_missing_meshes_of_inertias_are_refused(inside: str, before: str, tmp_path: Path) -> None:
    asset = '<asset><mesh name="v" file="visual.stl"/></asset>'
    (tmp_path / "scene.xml").write_text(scene(body("a", HINGE.format("h") + inside), before=before + asset))
    with pytest.raises(
        DescriptionError, match=r"visual.stl'; put the missing file there, or give its body an <inertial>"
    ):
        Problem.from_file(tmp_path / "scene.xml")


def test_armature_of_a_class_on_a_free_joint(tmp_path: Path) -> None:
    """The message names the joint and its line, not the mass of the body."""
    before = '<default><joint armature=".01"/></default>'
    for joint, refused in (("<joint name='f' type='free'/>", True), ("<freejoint name='f'/>", False)):
        text = scene("\n", body("a", joint + BOX + body("b", HINGE.format("h") + BALL)), before=before)
        (tmp_path / "scene.xml").write_text(text)
        if refused:
            with pytest.raises(UnsupportedError) as caught:
                Problem.from_file(tmp_path / "scene.xml")
            assert 'scene.xml:2: joint "f" is free and has armature' in str(caught.value)
            assert "set armature=0 there, or use <freejoint/>" in str(caught.value)
        else:
            assert Problem.from_file(tmp_path / "scene.xml").armature[-1] == 0.01


def test_messages_have_lines_where_there_is_one_file(tmp_path: Path) -> None:
    text = scene(body("a", f'\n<joint name="h" armature="-1"/>{BOX}'))
    (tmp_path / "scene.xml").write_text(text)
    with pytest.raises(DescriptionError, match=r'scene.xml:2: joint "h" has the negative armature'):
        Problem.from_file(tmp_path / "scene.xml")
    (tmp_path / "whole.xml").write_text('<mujoco>\n<include file="scene.xml"/></mujoco>')
    with pytest.raises(DescriptionError, match=r'whole.xml: joint "h" has the negative armature'):
        Problem.from_file(tmp_path / "whole.xml")
    (tmp_path / "scene.xml").write_text(scene("\n\n<nonsense/>"))
    with pytest.raises(DescriptionError, match=r"scene.xml:3: MuJoCo refuses the description: .*nonsense"):
        Problem.from_file(tmp_path / "scene.xml")


@pytest.mark.parametrize("name", ["arm.mjcf", "arm", "arm.urdf"])
def test_the_content_tells_mjcf_whatever_the_name(name: str, tmp_path: Path) -> None:
    """Files that it includes are sought beside it, too."""
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "more.xml").write_text(
        f"<mujocoinclude><worldbody>{body('b', HINGE.format('k') + BALL)}</worldbody></mujocoinclude>"
    )
    text = scene(body("a", HINGE.format("h") + BALL), before='<include file="inside/more.xml"/>')
    (tmp_path / name).write_text(text)
    (tmp_path / "plain.xml").write_text(text)
    assert Problem.from_file(tmp_path / name).bodies == Problem.from_file(tmp_path / "plain.xml").bodies
    assert Problem.from_file(tmp_path / name).nv == 2

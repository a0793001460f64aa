"""Descriptions given as text: read as files of the same content, in messages never whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rbdc
from rbdc import Model
from rbdc.errors import DescriptionError, RbdcError
from rbdc.model.text import is_text
from rbdc.resources import resolve
from tests.cli.test_bad_input import run
from tests.model.test_xacro import ROBOT, WITH_ARGUMENT
from tests.support_urdf import pair

MJCF = """<mujoco model="arm"><worldbody><body><joint axis="0 1 0"/>
<inertial pos="0 0 .1" mass="1" diaginertia=".1 .1 .1"/></body></worldbody></mujoco>"""
TABLE = json.dumps({"convention": "distal", "joints": [{"a": 0.5, "mass": 1, "com": [-0.25, 0, 0]}]})
TEXTS = {"urdf": pair(), "xacro": ROBOT, "mjcf": MJCF, "dh": TABLE}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_is_what_a_file_of_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text(text)
    file, model = Model.from_file(tmp_path / "robot.xml"), Model.from_text(text)
    assert model.bodies == file.bodies and model.description_hash == file.description_hash
    assert model.place.startswith("<text>")


def test_the_module_has_the_name_of_the_description(tmp_path: Path) -> None:
    for argument, name in ((None, "r"), ("other", "other")):
        module = rbdc.build(pair(), functions="gravity_torque", out=tmp_path, name=argument)
        assert (module.name, module.nv) == (name, 1) and (tmp_path / name / "manifest.json").is_file()
    assert Model.from_text(pair().replace('name="r"', "")).name == "robot"


def test_the_command_line_takes_a_text(tmp_path: Path) -> None:
    result = run("info", "--json", pair(kind="continuous", body='<axis xyz="0 0 2"/>'))
    assert json.loads(result.stdout)["warnings"][0].startswith('<text>:4: joint "j" has an axis of length 2')
    result = run("build", "--out", str(tmp_path), "--functions", "nle", pair(), "--json")
    assert [built["name"] for built in json.loads(result.stdout)] == ["r"]


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n", ' \n<?xml version="1.0" encoding="latin-1"?>'])
def test_what_stands_before_the_root(before: str) -> None:
    text = before + pair().replace("arm", "br\u00e4s")
    assert is_text(text) and Model.from_text(text).bodies[0].name == "br\u00e4s"
    with pytest.raises(DescriptionError) as refused:
        Model.from_text(text.replace("revolute", "odd"))
    assert refused.value.line == 4 + before.count("\n") and str(refused.value).startswith("<text>:")


def test_arguments_of_a_xacro_text() -> None:
    model = Model.from_text(WITH_ARGUMENT, xacro_arg={"reach": "0.75"})
    assert model.bodies[0].placement.translation.z == 1.5


YAML = "convention: dismal\njoints:\n" + " - {a: 1, mass: 1}\n" * 999


@pytest.mark.parametrize("text", [YAML, "arm" * 999, "{" * 9999, "<a>" * 9999, pair() * 99], ids=len)
def test_no_message_holds_a_text(text: str) -> None:
    for read in (rbdc.build, rbdc.load, Model.from_file, Model.from_text):
        with pytest.raises(RbdcError) as refused:
            read(text)
        assert len(str(refused.value)) < 700, read
    result = run("build", text)
    assert result.exit_code == 2 and len(result.stderr) < 700


def test_remedies() -> None:
    with pytest.raises(RbdcError, match="begins with < or {; save other formats, such as YAML, as a file"):
        resolve(YAML)
    with pytest.raises(DescriptionError, match="use Model.from_text"):
        Model.from_file(pair())
    with pytest.raises(DescriptionError, match="<text>: the text is empty"):
        Model.from_text(" \n")
    with pytest.raises(DescriptionError, match="<text>:2: not Unicode text"):
        Model.from_text("<robot>\n\ud800</robot>")

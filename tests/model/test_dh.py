"""Denavit-Hartenberg descriptions: kinematics by the definition of the parameters, masses, errors by line."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from rbdc.algorithms.reference.centroidal import com
from rbdc.algorithms.reference.homogeneous import forward_kinematics
from rbdc.errors import DescriptionError, RbdcError, UnsupportedError
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_dh import Table, frames, random_tree, write

HUMAN = resolve("human43")


def placements(model: Problem, q: Array) -> dict[str, Array]:
    rows = np.array(forward_kinematics(model, q.tolist()), dtype=float).reshape(-1, 4, 4)
    return {frame.name: rows[k] for k, frame in enumerate(model.frames)}


def check_kinematics(model: Problem, table: Table, q: Array) -> None:
    by_link, expected = placements(model, q), frames(table, q)
    for row, frame in zip(table["joints"], expected, strict=True):
        assert_close(by_link[f"link_{row['i']}"], frame, 1e-13, 1.0, f"link {row['i']}")
    masses = np.array([row.get("mass", 0.0) for row in table["joints"]])
    centres = np.array(
        [
            frame @ [*row.get("com", [0.0] * 3), 1.0]
            for row, frame in zip(table["joints"], expected, strict=True)
        ]
    )
    assert_close(np.array(com(model, q.tolist())), masses @ centres[:, :3] / masses.sum(), 1e-13, 1.0)


@pytest.mark.parametrize("convention", ["distal", "proximal"])
@pytest.mark.parametrize("seed", range(3))
def test_random_trees(seed: int, convention: str, tmp_path: Path) -> None:
    table = random_tree(seed, 8, convention)
    model = Problem.from_file(write(table, tmp_path))
    assert [body.joint_name for body in model.bodies] == [f"joint_{i}" for i in range(1, 9)]
    check_kinematics(model, table, np.random.default_rng(seed).uniform(-2.0, 2.0, 8))


def test_the_human() -> None:
    table = json.loads(HUMAN.read_text())
    model = Problem.from_file(HUMAN)
    assert (model.nv, model.njoints, model.warnings) == (43, 43, [])
    check_kinematics(model, table, np.random.default_rng(0).uniform(-1.0, 1.0, 43))
    upright = placements(model, np.zeros(43))
    assert all(upright[f"link_{i}"][2, 3] < -0.8 for i in (13, 21))  # feet
    assert upright["link_43"][2, 3] > 0.8  # head
    for left, right in ((13, 21), (31, 40)):  # feet and hands are mirror images
        heights = [upright[f"link_{i}"][2, 3] for i in (left, right)]
        assert_close(heights[0], heights[1], 1e-12, 1.0)


@pytest.mark.slow
def test_the_human_builds() -> None:
    """Verified by the build."""
    functions = ("rnea", "crba", "aba", "forward_kinematics")
    module = build_module("human43", functions=functions, cflags=UNOPTIMISED)
    assert module.nv == 43


def test_rods_in_place_of_cylinders(tmp_path: Path) -> None:
    table = json.loads(HUMAN.read_text()) | {"inertia": "inertia_com"}
    rods, cylinders = Problem.from_file(write(table, tmp_path)), Problem.from_file(HUMAN)
    mass, length = 9.5, 0.44  # the thigh
    thigh = next(body for body in rods.bodies if body.joint_name == "joint_9")
    assert thigh.inertia.about_origin.yy == pytest.approx(mass * length**2 / 3, rel=1e-12)
    assert thigh.inertia.about_origin.xx == 0.0
    assert cylinders.bodies[8].inertia.about_origin.xx == pytest.approx(mass * (length / 10) ** 2 / 2)


def test_a_built_tree(tmp_path: Path) -> None:
    """Verification compares what is compiled with the literature's recursions on the description."""
    path = write(random_tree(1, 3), tmp_path)
    module = build_module(path, functions=("rnea", "forward_kinematics"), cflags=UNOPTIMISED)
    q = np.array([0.3, -0.4, 0.5])
    by_frame = dict(zip(module.frame_names, module.forward_kinematics(q), strict=True))
    assert_close(by_frame["link_3"], frames(random_tree(1, 3), q)[2], 1e-13, 1.0)


SMALL: Table = {
    "convention": "standard",
    "base": {"xyz": [0, 0, 1], "rpy": [0.1, 0, 0]},
    "gravity": [0, 0, -1.62],
    "joints": [
        {"a": 0.5, "mass": 1, "com": [-0.25, 0, 0], "inertia_com": [0.01, 0, 0, 0.02, 0, 0.02],
         "limits": [-1, 2], "velocity_limit": 3, "effort_limit": 4, "armature": 0.1, "damping": 0.2},
        {"type": "prismatic", "name": "slide", "link_name": "tip", "mass": 0.5, "comment": "a point"},
        {"type": "fixed", "d": 0.1, "link_name": "tool"},
    ],
}  # fmt: skip


def test_defaults_and_options(tmp_path: Path) -> None:
    (tmp_path / "small.json").write_text(json.dumps(SMALL))
    model = Problem.from_file(tmp_path / "small.json")
    hinge, slide = model.bodies
    assert (model.name, hinge.joint_name, slide.joint_name) == ("small", "joint_1", "slide")
    assert (hinge.limits.lower, hinge.limits.upper, hinge.limits.velocity, hinge.limits.effort) == (
        -1,
        2,
        3,
        4,
    )
    assert (hinge.armature, hinge.damping, model.gravity.z) == (0.1, 0.2, -1.62)
    assert {"world", "base", "link_1", "tip", "tool"} <= {frame.name for frame in model.frames}
    start = placements(model, np.zeros(2))
    assert_close(start["tool"][:3, 3], start["link_1"][:3, 3] + 0.1 * start["base"][:3, 2], 1e-14, 1.0)
    assert any("counts as a point mass" in warning for warning in model.warnings)


def test_yaml_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "human.yaml").write_text(yaml.safe_dump(json.loads(HUMAN.read_text())))
    model, same = Problem.from_file(tmp_path / "human.yaml"), Problem.from_file(HUMAN)
    assert (model.bodies, model.frames, model.gravity) == (same.bodies, same.frames, same.gravity)


def test_numbers_of_yaml(tmp_path: Path) -> None:
    text = "convention: modified\njoints:\n- {a: 1e-3, mass: 010, com: [.5, 0, 0]}\n"
    (tmp_path / "r.yaml").write_text(text)
    body = Problem.from_file(tmp_path / "r.yaml").bodies[0]
    assert (body.placement.translation.x, body.inertia.mass) == (1e-3, 10.0)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    (tmp_path / "r.yaml").write_text("joints: []\n")
    with pytest.raises(UnsupportedError, match=r"pip install 'rbdc\[yaml\]'"):
        Problem.from_file(tmp_path / "r.yaml")


def text_of(*rows: str, top: str = '"convention": "distal"') -> str:
    return "{" + top + ',\n"joints": [\n' + ",\n".join(rows) + "\n]}"


WRONG: dict[str, tuple[str, int | None, str]] = {
    "syntax": ('{"convention": "distal",\n"joints": [}', 2, "not JSON"),
    "nan": (text_of('{"mass": NaN}'), 3, "mass is not a finite number"),
    "convention": (text_of("{}", top='"convention": "Craig"'), 1, 'convention is "Craig"'),
    "no convention": ('{"joints": [{}]}', 1, "begin it with one of distal, standard, proximal, modified"),
    "no joints": ('{"convention": "distal"}', 1, "it has no joints"),
    "empty": ('{"convention": "distal", "joints": []}', 1, "joints is not a list of joints"),
    "no object": (text_of("{}", "[]"), 4, "joint 2 is not an object"),
    "twice": (text_of('{"a": 1,\n"a": 2}'), 4, '"a" appears twice'),
    "number": (text_of("{}", '{"i": 2,\n"alpha": "pi/2"}'), 5, "joint 2: alpha is not a finite number"),
    "bool": (text_of('{"mass": true}'), 3, "mass is not a finite number"),
    "huge": (text_of('{"mass": 1e999}'), 3, "mass is not a finite number"),
    "digits": (text_of('{"mass": 1' + "0" * 400 + "}"), 3, "mass is not a finite number"),
    "vector": (text_of('{"com": [1, 2]}'), 3, "com is not a list of 3 numbers"),
    "type": (text_of('{"type": "screw"}'), 3, 'type is "screw"; use one of revolute, prismatic, helical'),
    "parent": (text_of("{}", '{"parent": 2}'), 4, "parent = 2 is not the number of an earlier joint"),
    "number twice": (text_of("{}", '{"i": 1}'), 4, "i = 1 appears twice"),
    "fraction": (text_of('{"i": 1.5}'), 3, "i is not a whole number"),
    "sign": (text_of('{"q_sign": 2}'), 3, "q_sign is 2.0; give 1 or -1"),
    "name": (text_of('{"name": "a\\u0000"}'), 3, "name is not a string of one line"),
    "surrogate": (text_of('{"link_name": "\\ud800"}'), 3, "link_name is not a string"),
    "inertia": (text_of("{}", top='"convention": "distal", "inertia": "other"'), 1, "which no joint has"),
    "same names": (text_of('{"name": "a"}', '{"name": "a"}'), 4, 'two joints are named "a"'),
    "negative mass": (text_of('{"mass": -1}'), 3, "negative mass"),
    "yaml syntax": ("joints:\n- {a: 1\n", 3, "not YAML"),
    "alias": ("a: &a 1\njoints:\n- {mass: *a}\n", 3, "an alias is not accepted"),
    "yaml list": ("joints:\n- 1\nconvention: distal\n", 2, "joint 1 is not an object"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong(name: str, tmp_path: Path) -> None:
    text, line, message = WRONG[name]
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(DescriptionError) as caught:
        Problem.from_file(path)
    assert message in str(caught.value)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:")


@pytest.mark.parametrize("seed", range(12))
def test_damaged(seed: int, tmp_path: Path) -> None:
    """A description with random damage is read, or refused on purpose."""
    damage, text = random.Random(seed), bytearray(HUMAN.read_bytes())
    for _ in range(damage.randint(1, 3)):
        start = damage.randrange(len(text))
        words: list[Any] = [
            b"",
            b"-",
            b"[",
            b'"',
            b"}",
            b"1e999",
            b"\0",
            b"\xff",
            b"null",
            bytes([damage.randrange(256)]),
        ]
        text[start : start + damage.randint(0, 20)] = damage.choice(words)
    path = tmp_path / "damaged.json"
    path.write_bytes(text)
    try:
        assert Problem.from_file(path).nv > 0
    except RbdcError as error:
        assert str(error).startswith(str(path))

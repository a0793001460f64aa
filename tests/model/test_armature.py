"""Armature from descriptions and options, and damping that is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rbdc.errors import DescriptionError, OptionError
from tests.cli.test_bad_input import run
from tests.support_urdf import joint, link, messages, model, pair, robot

REDUCED = "<mechanicalReduction>100</mechanicalReduction>"
INERTIA = "<motorInertia>1e-4</motorInertia>"
DRAKE = '<robot name="r" xmlns:drake="http://drake.mit.edu">'


def motor(inertia: str, ratio: str = "", name: str = "j") -> str:
    gear = f'<drake:gear_ratio value="{ratio}"/>' if ratio else ""
    actuator = f'<actuator name="m"><drake:rotor_inertia value="{inertia}"/>{gear}</actuator>'
    return f'<transmission><joint name="{name}"/>{actuator}</transmission>'


def with_motors(*motors: str) -> str:
    parts = (
        link("base"),
        link("arm"),
        link("hand"),
        joint("j", "base", "arm"),
        joint("k", "arm", "hand"),
        *motors,
    )
    return robot(*parts).replace('<robot name="r">', DRAKE)


def test_rotors_count_by_the_square_of_their_gear(tmp_path: Path) -> None:
    read = model(tmp_path, with_motors(motor("0.002", "10"), motor("0.1"), motor("0.5", name="k")))
    assert [body.armature for body in read.bodies] == pytest.approx([0.3, 0.5])
    assert not any("transmission" in message for message in messages(read))
    assert read.armature == pytest.approx([0.3, 0.5])


def test_transmissions_without_an_inertia_are_named(tmp_path: Path) -> None:
    actuator = '<actuator name="m"><mechanicalReduction>9</mechanicalReduction></actuator>'
    plain = f'<transmission><joint name="j"/><joint name="k"/>{actuator}</transmission>'
    read = model(tmp_path, with_motors(plain))
    assert read.armature == [0.0, 0.0]
    assert "1 x <transmission> in <robot>: ignored" in messages(read)


def test_transmissions_of_one_joint_make_the_actuation_matrix(tmp_path: Path) -> None:
    actuator = '<actuator name="{}"><mechanicalReduction>{}</mechanicalReduction></actuator>'
    plain = '<transmission><joint name="{}"/>{}</transmission>'
    two = [plain.format(j, actuator.format(n, x)) for j, n, x in (("k", "a", " -9 "), ("j", "b", 2))]
    read = model(tmp_path, with_motors(*two, motor("0.1", "5")))
    assert [motor.name for motor in read.actuators] == ["a", "b", "m"]
    assert read.actuation == [[0.0, 2.0, 5.0], [-9.0, 0.0, 0.0]]
    assert not any("transmission" in message for message in messages(read))
    locked = model(tmp_path, with_motors(*two), lock=(("k", 0.0),))
    assert ([motor.name for motor in locked.actuators], locked.actuation) == (["b"], [[2.0]])
    missing = model(tmp_path, with_motors(plain.format("x", actuator.format("a", 1))))
    assert not missing.actuators
    assert "1 x <transmission> name a joint that does not exist" in " ".join(messages(missing))
    with pytest.raises(DescriptionError, match="is not a finite number"):
        model(tmp_path, with_motors(plain.format("j", actuator.format("a", "ten"))))


ROS = (
    '<transmission name="t"><type>transmission_interface/SimpleTransmission</type>{}'
    '<joint name="j"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>{}</transmission>'
)


@pytest.mark.parametrize(
    "transmission",
    [
        ROS.format("", f'<actuator name="m">{REDUCED}{INERTIA}</actuator>'),
        ROS.format(REDUCED + INERTIA, '<actuator name="m"/>'),  # the PR2 has such elements
        ROS.format("", f'<actuator name="m"><drake:gear_ratio value="100"/>{INERTIA}</actuator>'),
    ],
)
def test_motor_inertia_counts_by_the_square_of_the_reduction(transmission: str, tmp_path: Path) -> None:
    read = model(tmp_path, with_motors(transmission))
    assert read.armature == pytest.approx([1.0, 0.0])
    assert read.actuation == [[100.0], [0.0]]
    assert not any("transmission" in message for message in messages(read))


def test_motors_that_share_a_joint_add_up(tmp_path: Path) -> None:
    motors = f'<actuator name="m">{REDUCED}{INERTIA}</actuator><actuator name="n">{INERTIA}</actuator>'
    read = model(tmp_path, with_motors(ROS.format("", motors)))
    assert read.armature == pytest.approx([1.0001, 0.0])
    assert (read.actuation, [motor.name for motor in read.actuators]) == (
        [[100.0, 1.0], [0.0, 0.0]],
        ["m", "n"],
    )


def test_what_a_transmission_says_beside_is_named(tmp_path: Path) -> None:
    actuator = f'<actuator name="m" id="3">{REDUCED}<motorTorqueConstant>2</motorTorqueConstant></actuator>'
    two_joints = f'<joint name="j"/><joint name="k"/><actuator name="n">{INERTIA}</actuator>'
    differential = f"<transmission>{two_joints}</transmission>"
    unnamed = ROS.format("", f"<actuator>{INERTIA}</actuator>")
    read = model(tmp_path, with_motors(ROS.format("<compensator/>", actuator), differential, unnamed))
    for what in (
        "1 x id of <actuator> in a <transmission>",
        "1 x <motorTorqueConstant> in a <transmission>",
        "1 x <compensator> in a <transmission>",
        "1 x <motorInertia> in a <transmission> of 2 joints",
        "1 x force of an <actuator> without a name",
    ):
        assert f"{what}: ignored" in messages(read)


def test_reductions_that_differ_are_named(tmp_path: Path) -> None:
    """Drake's inertia has Drake's ratio, forces have the reduction of ROS."""
    read = model(tmp_path, with_motors(motor("0.1", "5").replace("<drake:rotor", f"{REDUCED}<drake:rotor")))
    assert (read.armature, read.actuation) == ([2.5, 0.0], [[100.0], [0.0]])
    assert any("<mechanicalReduction> 100 counts for forces" in message for message in messages(read))


def test_motors_of_fixed_joints_are_named(tmp_path: Path) -> None:
    fixed = with_motors(ROS.format("", f'<actuator name="m">{INERTIA}</actuator>'))
    read = model(tmp_path, fixed.replace('name="j" type="revolute"', 'name="j" type="fixed"'))
    assert "1 x <transmission> name a joint that does not exist, is fixed" in " ".join(messages(read))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (with_motors(motor("0.1", name="nobody")), 'names the joint "nobody", which does not exist'),
        (with_motors(motor("much")), "much"),
        (with_motors(motor("-1")), "the negative armature -1.0"),
        (with_motors(motor("1").replace('<joint name="j"/>', "")), "names 0 joints"),
        (
            with_motors(ROS.format(REDUCED, f'<actuator name="m">{REDUCED}</actuator>')),
            "two <mechanicalReduction>",
        ),
        (
            with_motors(motor("1").replace("<drake:rotor", '<drake:rotor_inertia value="1"/><drake:rotor')),
            "two <drake",
        ),
        (with_motors(motor("1").replace("<drake:rotor", INERTIA + "<drake:rotor")), "keep one"),
        (with_motors(ROS.format("", f'<actuator name="m">{INERTIA[:-15]}a</motorInertia></actuator>')), "4a"),
    ],
)
def test_refused_motors(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=message):
        model(tmp_path, text)


def test_options_come_before_the_description(tmp_path: Path) -> None:
    read = model(tmp_path, with_motors(motor("0.1")), armature=(("j", 0.7),))
    assert read.armature == [0.7, 0.0]
    with pytest.raises(OptionError, match='joint "x" does not exist; there are j, k'):
        model(tmp_path, with_motors(), armature=(("x", 0.7),))
    with pytest.raises(OptionError, match="not negative"):
        model(tmp_path, with_motors(), armature=(("j", -0.7),))


def test_damping_counts_if_included(tmp_path: Path) -> None:
    damped = pair('<dynamics damping="0.25"/><limit effort="1" velocity="1" lower="0" upper="1"/>')
    assert model(tmp_path, damped).damping == [0.0]
    included = model(tmp_path, damped, damping="include")
    assert included.damping == [0.25]
    assert not any("damping" in message for message in messages(included))
    with pytest.raises(OptionError, match="`damping='yes'`: there are report, include"):
        model(tmp_path, damped, damping="yes")


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(with_motors())
    (tmp_path / "motors.json").write_text('{"k": 0.5}')
    command = [
        "build",
        str(tmp_path / "r.urdf"),
        "--functions",
        "crba",
        "--cflags",
        "-O0",
        "--out",
        str(tmp_path / "out"),
    ]
    result = run(
        *command, "--armature", "j=0.25", "--armature", str(tmp_path / "motors.json"), "--damping", "include"
    )
    assert result.exit_code == 0, result.output
    options = json.loads((tmp_path / "out" / "r" / "manifest.json").read_text())["options"]
    assert (options["armature"], options["damping"]) == ({"j": 0.25, "k": 0.5}, "include")


@pytest.mark.parametrize(
    ("armature", "message"),
    [("j=a", "'a' is not a number"), ("nowhere.json", "No such file"), ("x=1", 'joint "x"')],
)
def test_refused_on_the_command_line(armature: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(with_motors())
    result = run("build", str(tmp_path / "r.urdf"), "--armature", armature, "--out", str(tmp_path / "out"))
    assert (result.exit_code, result.stderr.count("rbdc: error:")) == (2, 1)
    assert message in result.stderr
    assert not (tmp_path / "out").exists()

"""Reading URDF: every element and attribute has its effect or its note."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rbdc import DescriptionError, Limits, Mimic, Placement, Rotation, Vector3
from rbdc.model.description import Effect
from rbdc.model.formats.reading import read_description
from rbdc.model.formats.urdf import KINDS
from rbdc.model.xml import MAXIMUM_BYTES, shown
from tests.support import Array
from tests.support_urdf import LIMIT, joint, link, messages, model, pair, read, robot


@pytest.mark.parametrize("kind", KINDS)
def test_joint_kinds(kind: str, tmp_path: Path) -> None:
    (read_joint,) = read(tmp_path, pair(kind=kind)).joints
    assert (read_joint.name, read_joint.kind, read_joint.parent, read_joint.child, read_joint.line) == (
        "j",
        kind,
        "base",
        "arm",
        4,
    )


def test_defaults(tmp_path: Path) -> None:
    description = read(
        tmp_path,
        robot('<link name="base"/>', '<link name="arm"/>', joint("j", "base", "arm", "", "continuous")),
    )
    (only,) = description.joints
    assert only.axis == Vector3(1.0, 0.0, 0.0)
    assert only.placement == Placement.identity()
    assert only.limits == Limits()
    assert (only.damping, only.friction, only.mimic) == (0.0, 0.0, None)
    assert [each.inertia for each in description.links] == [None, None]
    assert description.notes == ()


def test_description_says_where_it_came_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = pair()
    (tmp_path / "r.urdf").write_text(text)
    monkeypatch.chdir(tmp_path)
    description = read_description("./r.urdf")
    assert (description.name, description.file) == ("r", "./r.urdf")
    assert description.text_hash == hashlib.sha256(text.encode()).hexdigest()


def test_robot_without_a_name_has_the_file_s(tmp_path: Path) -> None:
    assert read(tmp_path, pair().replace(' name="r"', "")).name == "r"


def test_everything_a_joint_can_say(tmp_path: Path) -> None:
    body = (
        '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 3 4"/>'
        '<limit lower="-0.5" upper="0.75" velocity="2" effort="9"/><dynamics damping="0.1" friction="0.2"/>'
        '<mimic joint="k" multiplier="-2" offset="0.25"/>'
    )
    (only,) = read(tmp_path, pair(body, "prismatic")).joints
    assert only.axis == Vector3(0.0, 3.0, 4.0)
    assert only.placement == Placement(Rotation.from_rpy(0.1, 0.2, 0.3), Vector3(1.0, 2.0, 3.0))
    assert only.limits == Limits(-0.5, 0.75, 2.0, 9.0)
    assert (only.damping, only.friction, only.mimic) == (0.1, 0.2, Mimic("k", -2.0, 0.25))


def test_mimic_defaults(tmp_path: Path) -> None:
    (only,) = read(tmp_path, pair('<mimic joint="k"/>' + LIMIT)).joints
    assert only.mimic == Mimic("k", 1.0, 0.0)


def test_rpy_turns_about_fixed_axes() -> None:
    """Roll first, yaw last: the child's x lies along the parent's y after a yaw of a right angle, whatever
    the roll.
    """
    turned = np.array(Rotation.from_rpy(0.7, 0.0, math.pi / 2).rows()) @ [1.0, 0.0, 0.0]
    assert turned == pytest.approx([0.0, 1.0, 0.0], abs=1e-15)


def test_inertia_in_a_rotated_frame(tmp_path: Path) -> None:
    """R I R^T about the centre of mass, moved to the link's origin by the theorem of Steiner."""
    tensor = '<inertia ixx="0.3" ixy="0.01" ixz="-0.02" iyy="0.4" iyz="0.03" izz="0.5"/>'
    body = f'<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>{tensor}</inertial>'
    inertia = (
        read(tmp_path, robot(link("base"), link("arm", body), joint("j", "base", "arm"))).links[1].inertia
    )
    assert inertia is not None
    r: Array = np.array(Rotation.from_rpy(0.4, -0.5, 0.6).rows())
    c: Array = np.array([0.1, -0.2, 0.3])
    about_com = r @ np.array([[0.3, 0.01, -0.02], [0.01, 0.4, 0.03], [-0.02, 0.03, 0.5]]) @ r.T
    assert inertia.mass == 2.0
    np.testing.assert_allclose(inertia.first_moment.scalars(), 2 * c, rtol=1e-15)
    np.testing.assert_allclose(
        inertia.about_origin.rows(), about_com + 2 * (c @ c * np.eye(3) - np.outer(c, c)), rtol=1e-14
    )


def test_drakes_ball_is_spherical(tmp_path: Path) -> None:
    """<drake:joint> has the types that URDF lacks; one that is not read is refused, for it is of the tree."""
    drakes = joint("j", "base", "arm", "", "{}").replace("joint", "drake:joint")
    text = robot(link("base"), link("arm"), drakes).replace("<robot", '<robot xmlns:drake="urn:drake"')
    (only,) = read(tmp_path, text.format("ball")).joints
    assert (only.kind, only.name, only.child) == ("spherical", "j", "arm")
    with pytest.raises(DescriptionError, match=r'r.urdf:4: joint "j" has the unknown type "gimbal"'):
        read(tmp_path, text.format("gimbal"))


def test_a_spherical_joint_turns_about_its_origin(tmp_path: Path) -> None:
    body = '<origin xyz="1 2 3"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="3" velocity="4"/>'
    read_model = model(tmp_path, pair(body, "spherical"))
    assert (read_model.nq, read_model.nv) == (4, 3)
    (only,) = read_model.bodies
    assert (only.described, only.limits) == ("spherical", Limits(velocity=4.0, effort=3.0))
    said = " ".join(messages(read_model))
    assert "1 fixed, floating or spherical joints have an <axis>: ignored" in said
    assert "1 x lower of the <limit> of a spherical joint: ignored" in said


def test_origins_by_quaternions(tmp_path: Path) -> None:
    turned = read(tmp_path, pair('<origin quat_xyzw="0 0 0.6 0.8"/>' + LIMIT)).joints[0].placement.rotation
    expected = Rotation.from_rpy(0.0, 0.0, 2.0 * math.atan2(0.6, 0.8))
    np.testing.assert_allclose(turned.rows(), expected.rows(), atol=1e-15)
    long = read(tmp_path, pair('<origin quat_xyzw="0 0 0.9 1.2"/>' + LIMIT))
    np.testing.assert_allclose(long.joints[0].placement.rotation.rows(), expected.rows(), atol=1e-15)
    assert messages(long) == ["<origin> has a quat_xyzw of length 1.5: normalised"]
    for entries, problem in (
        ("0 0 0 0", "of length 0"),
        ("0 0 1", "has 3 numbers"),
        ('0 0 0 1" rpy="1 0 0', "rpy and"),
    ):
        with pytest.raises(DescriptionError, match=f"r.urdf:4: .*{problem}"):
            read(tmp_path, pair(f'<origin quat_xyzw="{entries}"/>' + LIMIT))


def test_mass_without_inertia_is_a_point_mass(tmp_path: Path) -> None:
    body = '<inertial><origin xyz="0 0 2"/><mass value="3"/></inertial>'
    description = read(tmp_path, robot(link("base"), link("arm", body), joint("j", "base", "arm")))
    inertia = description.links[1].inertia
    assert inertia is not None
    assert inertia.scalars() == [3.0, 0.0, 0.0, 6.0, 12.0, 0.0, 12.0, 0.0, 0.0, 0.0]
    assert messages(description) == ["an <inertial> has a mass but no <inertia>: it counts as a point mass"]


def with_parts(*parts: str, base: str = "", arm: str = "") -> str:
    """Return a pair of links, with more in the robot, the base or the arm."""
    return robot(*parts, link("base", base), link("arm", arm), joint("j", "base", "arm"))


UNUSED = {
    "visuals": (with_parts(base="<visual/><visual/>", arm="<visual/>"), "3 x <visual> in <link>", 2),
    "collision": (with_parts(base="<collision/>"), "1 x <collision> in <link>", 2),
    "material": (with_parts("<material name='m'/>"), "1 x <material> in <robot>", 2),
    "gazebo": (with_parts("<gazebo/>", "<gazebo/>"), "2 x <gazebo> in <robot>", 2),
    "unknown": (pair("<spring k='1'/>" + LIMIT), "1 x <spring> in <joint>", 4),
    "namespaced": (pair("<s:spring xmlns:s='urn:s'/>" + LIMIT), "1 x <s:spring> in <joint>", 4),
    "calibration": (pair("<calibration rising='0'/>" + LIMIT), "1 x <calibration> in <joint>", 4),
    "safety": (pair("<safety_controller k_velocity='1'/>" + LIMIT), "1 x <safety_controller> in <joint>", 4),
    "attribute": (
        pair('<limit lower="-1" upper="1" effort="1" velocity="1" jerk="3"/>'),
        "1 x jerk of <limit>",
        4,
    ),
    "text": (pair("<axis>0 0 1</axis>" + LIMIT), "1 x text in <axis>", 4),
    "part of a part": (pair("<axis xyz='0 0 1'><spring/></axis>" + LIMIT), "1 x <spring> in <axis>", 4),
    "robot's": (pair().replace("<robot ", "<robot style='3' "), "1 x style of <robot>", 1),
    "inertial part": (
        with_parts(arm="<inertial><mass value='0'/><drag/></inertial>"),
        "1 x <drag> in <inertial>",
        3,
    ),
    "continuous limits": (pair(kind="continuous"), "1 x lower of the <limit> of a continuous joint", 4),
    "planar limits": (pair(kind="planar"), "1 x upper of the <limit> of a planar joint", 4),
}


@pytest.mark.parametrize("what", sorted(UNUSED))
def test_what_is_not_used_is_named_once(what: str, tmp_path: Path) -> None:
    text, expected, line = UNUSED[what]
    notes = [(note.message, note.line) for note in read(tmp_path, text).notes]
    assert notes.count((f"{expected}: ignored", line)) == 1


def test_what_numbers_may_depend_on_is_said_in_full(tmp_path: Path) -> None:
    """A misspelt attribute, or text in place of one, changes results: a build must not only count it."""
    inertial = '<inertial><mass value="1" unit="kg"/></inertial>'
    body = '<axis>0 0 1</axis><origin rpyy="1 0 0"/><dynamics spring_stiffness="3"/><colour/>' + LIMIT
    text = robot(link("base"), link("arm", inertial), joint("j", "base", "arm", body))
    effects = {note.message.split(":")[0][4:]: note.effect for note in read(tmp_path, text).notes}
    assert effects["text in <axis>"] == effects["rpyy of <origin>"] == Effect.ALL
    assert effects["unit of <mass>"] == Effect.DYNAMICS
    assert effects["spring_stiffness of <dynamics>"] == Effect.FORCES
    assert effects["<colour> in <joint>"] == Effect.NONE


def test_limits_of_fixed_joints_are_noted(tmp_path: Path) -> None:
    text = robot(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("k", "b", "c", kind="fixed"))
    description = read(tmp_path, text)
    assert messages(description) == ["1 x <limit> of a fixed joint: ignored"]
    assert description.joints[1].limits == Limits()


def test_dynamics_of_fixed_joints_are_noted(tmp_path: Path) -> None:
    text = pair('<dynamics damping="3"/>', "fixed")
    assert messages(read(tmp_path, text)) == ["1 x <dynamics> of a fixed joint: ignored"]


def test_velocity_and_effort_of_a_continuous_joint_count(tmp_path: Path) -> None:
    (only,) = read(tmp_path, pair(kind="continuous")).joints
    assert only.limits == Limits(velocity=2.0, effort=10.0)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_missing_limit_is_noted(kind: str, tmp_path: Path) -> None:
    description = read(tmp_path, pair("", kind))
    assert description.joints[0].limits == Limits()
    assert messages(description) == [f'joint "j" is {kind} but has no <limit>: taken as unbounded']


def test_half_given_limit_has_zero_for_the_rest(tmp_path: Path) -> None:
    """In URDF lower and upper default to 0."""
    (only,) = read(tmp_path, pair('<limit upper="2" effort="1" velocity="1"/>')).joints
    assert only.limits == Limits(0.0, 2.0, 1.0, 1.0)


def test_printed_right_angles_are_snapped_or_kept_and_noted_once(tmp_path: Path) -> None:
    origin = '<origin rpy="1.57079632679 0 0"/>'
    text = robot(
        link("a"), link("b"), link("c"), *(joint(n, p, c, origin + LIMIT) for n, p, c in ("jab", "kbc"))
    )
    unsnapped = model(tmp_path, text, snap=0.0)
    hint = "4 entries of joint rotations are within 1e-11 of 0, 1 or -1 and are kept as written; `snap=1e-11`"
    assert sum(hint in text for text in messages(unsnapped)) == 1
    assert 4e-12 < abs(unsnapped.bodies[0].placement.rotation.y.y) < 5e-12
    usual = model(tmp_path, text)
    for each in usual.bodies:
        assert each.placement.rotation.rows() == [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    note = "rounded 4 entries of joint rotations that were within 1e-11 of 0, 1 or -1"
    assert messages(usual).count(note) == 1


def test_small_angles_stay(tmp_path: Path) -> None:
    """The cosine of 4e-6 is within 1e-11 of 1; if it were rounded, the matrix would be no rotation."""
    (body,) = model(tmp_path, pair('<origin rpy="1e-9 0 4e-6"/>' + LIMIT)).bodies
    rows: Array = np.array(body.placement.rotation.rows())
    np.testing.assert_allclose(rows, Rotation.from_rpy(1e-9, 0.0, 4e-6).rows(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), rtol=0, atol=1e-14)
    assert rows[0, 0] != 1.0


@pytest.mark.parametrize(
    "rpy", ["2.65358979e-6 3.67320510e-6 0", "-1.57079367 -4e-6 1.57080047", "3e-6 1.57079632679 2e-6"]
)
def test_products_of_small_angles_stay(rpy: str, tmp_path: Path) -> None:
    """The products are 1e-11 and less; if they were rounded, the matrix would be no rotation."""
    (body,) = model(tmp_path, pair(f'<origin rpy="{rpy}"/>' + LIMIT)).bodies
    rows: Array = np.array(body.placement.rotation.rows())
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), rtol=0, atol=4e-15)
    np.testing.assert_allclose(rows, Rotation.from_rpy(*map(float, rpy.split())).rows(), rtol=0, atol=1e-11)


def test_exact_right_angles_are_not_noted(tmp_path: Path) -> None:
    right = model(tmp_path, pair(f'<origin rpy="{math.pi / 2!r} 0 {math.pi!r}"/>' + LIMIT))
    assert {abs(entry) for row in right.bodies[0].placement.rotation.rows() for entry in row} == {0.0, 1.0}
    assert right.notes == ()


@pytest.mark.parametrize("text", ["1", "-1.5", "+2", ".5", "2.", "1e-3", "1E+3", " 4 "])
def test_numbers(text: str, tmp_path: Path) -> None:
    assert read(tmp_path, pair(f'<dynamics damping="{text}"/>' + LIMIT)).joints[0].damping == float(text)


@pytest.mark.parametrize(
    "text", ["0x1p3", "1_0", "1,5", "inf", "-Infinity", "nan", "", "1e400", "\u0661", "1 2", "--1", "1e"]
)
def test_no_numbers(text: str, tmp_path: Path) -> None:
    """Decimal numbers in ASCII only, whatever Python's float() and the locale would take as well."""
    with pytest.raises(DescriptionError, match="not a finite number") as caught:
        read(tmp_path, pair(f'<dynamics damping="{text}"/>' + LIMIT))
    assert caught.value.line == 4


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, x: float) -> None:
    folder = tmp_path_factory.getbasetemp()
    assert read(folder, pair(f'<origin xyz="{x!r} 0 0"/>' + LIMIT)).joints[0].placement.translation.x == x


def test_comments_encodings_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = pair().replace("arm", "bras_\u00e9").replace("<axis", "<!-- <axis --><?pi?><axis")
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "iso-8859-1"):
        path = tmp_path / f"{encoding}.urdf"
        declaration = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding == "iso-8859-1" else ""
        path.write_bytes((declaration + text).encode(encoding))
        assert read_description(path).links[1].name == "bras_\u00e9"


@pytest.mark.parametrize("version", ["0.0", "1", "2.0", "0", "10.0"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_versions_of_xml_that_there_are_not(version: str, start: str, tmp_path: Path) -> None:
    """Read all the same, with a note; lines, the encoding and the hash are those of the file."""
    text = f"{start}<?xml version='{version}' encoding=\"utf-8\"?>\n" + pair().replace("arm", "bras_\u00e9")
    description = read(tmp_path, text)
    (note,) = description.notes
    assert (note.message, note.line) == (
        f'the file is declared as XML of version "{version}": read as 1.0',
        1,
    )
    assert description.links[1].name == "bras_\u00e9"
    assert description.joints[0].line == 5
    assert description.text_hash == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_versions_of_xml(version: str, tmp_path: Path) -> None:
    assert read(tmp_path, f'<?xml version="{version}"?>\n{pair()}').notes == ()


def test_a_version_of_xml_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="not well-formed XML"):
        read(tmp_path, f'<?xml version="new"?>\n{pair()}')


def test_size_limit_is_checked_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(MAXIMUM_BYTES + 1)

    def refuse(_: Path) -> bytes:
        raise AssertionError("the file was read")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DescriptionError, match="larger than 64 MiB"):
        read_description(path)


def test_errors_have_their_parts(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError) as caught:
        read(tmp_path, pair('<axis xyz="0 0 north"/>' + LIMIT))
    error = caught.value
    assert (error.file, error.line) == (str(tmp_path / "r.urdf"), 4)
    assert error.problem == '<axis> xyz="north" is not a finite number'
    assert error.remedy
    assert str(error) == f"{error.file}:4: {error.problem}; {error.remedy}"


@given(st.text(max_size=200))
def test_shown_text_is_one_bounded_printable_line(text: str) -> None:
    result = shown(text)
    assert len(result) <= 80
    assert result.isprintable() or not result


def test_names_are_taken_as_they_stand(tmp_path: Path) -> None:
    odd = model(
        tmp_path, robot(link("base"), link("&quot;;&#10;{{x}}"), joint("while", "base", "&quot;;&#10;{{x}}"))
    )
    assert odd.frames[1].name == '";\n{{x}}'
    assert odd.bodies[0].joint_name == "while"


@pytest.mark.parametrize("limit", ['<limit effort="1" velocity="1"/>', LIMIT.replace("-1", "1")])
def test_equal_limits_of_a_joint_that_moves_are_a_warning(tmp_path: Path, limit: str) -> None:
    """A URDF that leaves them out says 0 and 0."""
    (note,) = model(tmp_path, pair(limit)).notes
    place = "1" if "lower" in limit else "0"
    assert f"moves, but has equal limits, {place}: used as written; mend them" in note.message

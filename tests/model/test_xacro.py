"""xacro files, expanded by the package of that name; formats are told by their content."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from rbdc import Model
from rbdc.errors import DescriptionError, OptionError, UnsupportedError
from rbdc.model.formats.xacro import SECONDS
from tests.cli.test_bad_input import run
from tests.support_urdf import INERTIAL, LIMIT, pair

ROBOT = f"""<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="reach" value="0.25"/>
  <xacro:macro name="arm" params="name parent">
    <link name="${{name}}">{INERTIAL}</link>
    <joint name="${{name}}_joint" type="revolute">
      <parent link="${{parent}}"/><child link="${{name}}"/><origin xyz="0 0 ${{2 * reach}}"/>{LIMIT}
    </joint>
  </xacro:macro>
  <link name="base"/>
  <xacro:arm name="upper" parent="base"/>
  <xacro:arm name="lower" parent="upper"/>
</robot>
"""


def test_macros_and_expressions(tmp_path: Path) -> None:
    (tmp_path / "robot.txt").write_text(ROBOT)
    model = Model.from_file(tmp_path / "robot.txt")
    assert [body.joint_name for body in model.bodies] == ["upper_joint", "lower_joint"]
    assert [body.placement.translation.z for body in model.bodies] == [0.5, 0.5]


WITH_ARGUMENT = ROBOT.replace(
    '<xacro:property name="reach" value="0.25"/>',
    '<xacro:arg name="reach" default="0.25"/><xacro:property name="reach" value="$(arg reach)"/>',
)


def test_arguments(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(WITH_ARGUMENT)
    for arguments, height in (((), 0.5), ((("reach", "0.75"),), 1.5)):
        model = Model.from_file(tmp_path / "r.urdf", xacro_arg=arguments)
        assert model.bodies[0].placement.translation.z == height
    with pytest.raises(OptionError, match='no argument "raech"; did you mean reach'):
        Model.from_file(tmp_path / "r.urdf", xacro_arg=(("raech", "1"),))
    (tmp_path / "plain.urdf").write_text(pair())
    with pytest.raises(OptionError, match="`xacro_arg` is only for xacro files"):
        Model.from_file(tmp_path / "plain.urdf", xacro_arg=(("reach", "1"),))


def test_arguments_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(WITH_ARGUMENT)
    command = ["info", str(tmp_path / "r.urdf"), "--json", "--xacro-arg"]
    assert run(*command, "reach:=0.75").exit_code == 0
    result = run(*command, "reach=0.75")
    assert (result.exit_code, "give NAME:=VALUE" in result.stderr) == (2, True)


def test_a_namespace_alone_is_no_xacro(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    named = pair().replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    (tmp_path / "plain.xacro").write_text(named)
    assert Model.from_file(tmp_path / "plain.xacro").nv == 1


def test_what_xacro_refuses(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(ROBOT.replace("2 * reach", "2 * nothing"))
    with pytest.raises(DescriptionError, match=r"r\.urdf: xacro refuses the file: .*nothing"):
        Model.from_file(tmp_path / "r.urdf")


def test_errors_in_what_it_expands_to(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(ROBOT.replace('type="revolute"', 'type="odd"'))
    with pytest.raises(
        DescriptionError, match=r'r\.urdf \(expanded\):\d+: joint "upper_joint" has the unknown type'
    ):
        Model.from_file(tmp_path / "r.urdf")


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    (tmp_path / "r.urdf").write_text(ROBOT)
    with pytest.raises(UnsupportedError, match=r"pip install 'rbdc\[xacro\]'"):
        Model.from_file(tmp_path / "r.urdf")


@pytest.mark.parametrize("expression", ["9**9**9", "len([0 for _ in range(10**12)])"])
def test_an_expression_that_never_ends(
    expression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rbdc.model.formats.xacro.SECONDS", 2.0)
    (tmp_path / "r.urdf").write_text(ROBOT.replace("2 * reach", expression))
    start = time.monotonic()
    result = run("build", str(tmp_path / "r.urdf"), "--out", str(tmp_path / "out"))
    assert time.monotonic() - start < 20.0
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert (
        "r.urdf: xacro did not expand the file within 2 s and was stopped; look for an expression"
        in result.stderr
    )
    assert not (tmp_path / "out").exists()


def dying(_: object) -> None:
    """End the process as one that runs out of memory ends."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_process_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rbdc.model.formats.xacro.expand", dying)
    (tmp_path / "r.urdf").write_text(ROBOT)
    with pytest.raises(DescriptionError, match=r"r\.urdf: xacro ended with status -9"):
        Model.from_file(tmp_path / "r.urdf")


def test_what_xacro_says_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "s.urdf").write_text(
        ROBOT.replace('<link name="base"/>', '${xacro.warning("mind the gap") or ""}<link name="base"/>')
    )
    notes = Model.from_file(tmp_path / "s.urdf").notes
    assert any(note.message.startswith("xacro: warning: mind the gap") for note in notes), notes


def test_the_page_tells_the_limit() -> None:
    page = (Path(__file__).parents[2] / "docs" / "robots.md").read_text(encoding="utf-8")
    assert "A xacro file is a program" in page and f"ended after {SECONDS:g} seconds" in " ".join(
        page.split()
    )

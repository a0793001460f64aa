"""Bad descriptions, options and folders: exit status 2 with one clear message and nothing written."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.resources import resolve
from tests.support_urdf import INERTIAL, LIMIT, joint, link, pair, robot

BASE, ARM = link("base"), link("arm")
GOOD = pair()


def with_inertial(body: str) -> str:
    return robot(BASE, link("arm", body), joint("j", "base", "arm"))


def with_tensor(numbers: str, mass: str = "1") -> str:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = " ".join(f'{n}="{x}"' for n, x in zip(names, numbers.split(), strict=True))
    return with_inertial(f'<inertial><mass value="{mass}"/><inertia {entries}/></inertial>')


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + k)} "{("&" + chr(97 + k) + ";") * 10}">' for k in range(9))
    + ']><robot name="&j;"/>'
)

REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "empty"),
    "blank": (" \n\n", "empty"),
    "not_xml": ("hello", "not well-formed"),
    "truncated": (GOOD[: len(GOOD) // 2], "not well-formed"),
    "binary": (bytes(range(256)), "XML"),
    "wrong_encoding": ('<?xml version="1.0" encoding="UTF-8"?><robot name="\xe9"/>'.encode("latin-1"), "XML"),
    "unknown_encoding": (b'<?xml version="1.0" encoding="klingon"?><robot name="r"/>', "XML"),
    "entity_bomb": (BOMB, "document type"),
    "external_entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
        "document type",
    ),
    "external_dtd": ('<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="r"/>', "document type"),
    "dtd_in_utf16": (
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE r><robot name="r"/>'.encode("utf-16"),
        "document type",
    ),
    "undefined_entity": (GOOD.replace('"base"', '"&nope;"', 1), "XML"),
    "too_deep": (robot("<link name='a'>" + "<x>" * 5000 + "</x>" * 5000 + "</link>"), "XML"),
    "other_root": ("<sdf/>", "not <robot> or <mujoco>"),
    "nothing_in_mjcf": ("<mujoco/>", "nothing moves"),
    "no_links": (robot(), "no <link>"),
    "one_link": (robot(BASE), "nothing moves"),
    "only_fixed": (robot(BASE, ARM, joint("j", "base", "arm", "", "fixed")), "nothing moves"),
    "no_name": (robot(BASE, "<link/>"), "no name"),
    "empty_name": (robot(link(""), ARM, joint("j", "", "arm")), "no name"),
    "no_type": (GOOD.replace(' type="revolute"', ""), "no type"),
    "unknown_type": (pair("", "screw"), 'unknown type "screw"'),
    "no_child": (GOOD.replace('<child link="arm"/>', ""), "no <child>"),
    "two_axes": (pair('<axis xyz="0 0 1"/><axis xyz="1 0 0"/>' + LIMIT), "two <axis>"),
    "zero_axis": (pair('<axis xyz="0 0 0"/>' + LIMIT), "axis"),
    "short_axis": (pair('<axis xyz="0 1"/>' + LIMIT), "2 numbers"),
    "mimic_without_joint": (pair('<mimic multiplier="2"/>' + LIMIT), "no joint"),
    "mimic_nan": (pair('<mimic joint="j" multiplier="nan"/>' + LIMIT), "not a finite number"),
    "mass_missing": (
        with_inertial('<inertial><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'),
        "no <mass>",
    ),
    "mass_not_a_number": (with_tensor("0.1 0 0 0.1 0 0.1", "heavy"), "not a finite number"),
    "inertia_entry_missing": (
        with_inertial('<inertial><mass value="1"/><inertia ixx="1" iyy="1"/></inertial>'),
        "izz",
    ),
    "two_inertials": (with_inertial(INERTIAL * 2), "two <inertial>"),
}
"""Texts, and what the message contains; `model/test_validation.py` has trees, numbers and inertias."""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, list(arguments))


def refused(result: Result, out: Path) -> str:
    """Return the message of a refusal, after checking that it is one message, no traceback, and that nothing
    was written.
    """
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
    assert not out.exists() or not any(out.iterdir())
    return result.output


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name: str, tmp_path: Path) -> None:
    text, expected = REFUSED[name]
    path, out = tmp_path / "bad.urdf", tmp_path / "out"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    message = refused(run("build", str(path), "--out", str(out)), out)
    assert expected in message
    assert str(path) in message
    assert len(message.strip().splitlines()) == 1


def test_a_mimic_joint_that_cannot_follow(tmp_path: Path) -> None:
    """An error where it is to follow, else a warning; `model/test_validation.py` has the other reasons."""
    path, out = tmp_path / "bad.urdf", tmp_path / "out"
    path.write_text(pair('<mimic joint="ghost"/>' + LIMIT))
    problem = f"{path}:4: .*does not exist"
    message = refused(run("build", str(path), "--mimic", "coupled", "--out", str(out)), out)
    assert re.search(problem, message) and len(message.strip().splitlines()) == 1
    shown = run("info", str(path))
    assert shown.exit_code == 0
    assert re.search(f"warning: {problem}.*: its <mimic> is ignored", shown.stderr)


def test_messages_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_text(pair('<axis xyz="0 0 0"/>' + LIMIT))
    assert f"{path}:4:" in run("info", str(path)).output


PATHS: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (lambda path: None, "neither a file nor a robot"),
    "directory": (lambda path: path.mkdir(), "not a file"),
    "loop_of_links": (lambda path: path.symlink_to(path), "no such file"),
    "pipe": (lambda path: os.mkfifo(path), "not a file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "not a file"),
    "dangling_link": (lambda path: path.symlink_to(path.with_name("nowhere")), "no such file"),
    "huge": (lambda path: _sparse(path, 300 * 2**20), "larger than 64 MiB"),
}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path: Path) -> None:
    path, out = tmp_path / "secret.urdf", tmp_path / "out"
    path.write_text(GOOD)
    path.chmod(0)
    assert "Permission denied" in refused(run("build", str(path), "--out", str(out)), out)


def test_failing_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = tmp_path / "odd.urdf", tmp_path / "out"
    path.write_text(GOOD)

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    message = refused(run("build", str(path), "--out", str(out)), out)
    assert f"{path}: cannot be read: Permission denied; check the path and its permissions" in message


@pytest.mark.parametrize("text", ["\0", "a\nb.urdf", "x" * 5000, "[bold]", "~nobody", "-", ""])
def test_strange_paths_that_are_not_there(text: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert "neither a file nor a robot" in refused(run("build", "--out", str(out), "--", text), out)


def test_out_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        result = run("build", "double_pendulum", "--functions", "nle", "--cflags", "-O0", "--out", str(out))
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        assert "--out" in result.output
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("robot_name", ["planar_floating", "panda"])
@pytest.mark.parametrize("seed", range(40))
def test_damaged_files(robot_name: str, seed: int, tmp_path: Path) -> None:
    """A shipped description with random damage is refused in one message, or read."""
    damage = random.Random(f"{robot_name} {seed}")
    text = bytearray(resolve(robot_name).read_bytes())
    for _ in range(damage.randint(1, 3)):
        start = damage.randrange(len(text))
        match damage.randrange(4):
            case 0:
                text[start : start + damage.randint(1, 40)] = b""
            case 1:
                text[start] = damage.randrange(256)
            case 2:
                text[start:start] = text[: damage.randint(1, 400)]
            case _:
                text[start:start] = damage.choice(
                    [b"-", b"e9", b'"', b"<", b"&", b"\0", b"nan", b"]]>", b"<joint/>", b"0 0 0"]
                )
    path = tmp_path / "damaged.urdf"
    path.write_bytes(text)
    result = run("info", str(path), "--json")
    if result.exit_code == 0:
        assert json.loads(result.stdout)["nv"] > 0
    else:
        assert result.exit_code == 2, result.output
        assert isinstance(result.exception, SystemExit)
        assert len(result.stderr.strip().splitlines()) == 1
        assert result.stderr.startswith(f"rbdc: error: {path}")


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize("name", sorted(PATHS))
def test_odd_paths(name: str, tmp_path: Path) -> None:
    make, expected = PATHS[name]
    path, out = tmp_path / "odd.urdf", tmp_path / "out"
    make(path)
    assert expected in refused(run("build", str(path), "--out", str(out)), out)


OPTIONS = {
    "name_with_slash": (["--name", "../evil"], "identifier"),
    "name_with_space": (["--name", "a b"], "identifier"),
    "name_c_keyword": (["--name", "double"], "identifier"),
    "name_cpp_keyword": (["--name", "template"], "identifier"),
    "name_python_keyword": (["--name", "lambda"], "identifier"),
    "name_empty": (["--name", ""], "identifier"),
    "name_digit": (["--name", "3dof"], "identifier"),
    "name_unicode": (["--name", "bras_é"], "identifier"),
    "name_too_long": (["--name", "a" * 300], "identifier"),
    "unknown_function": (["--functions", "rnea,teleport"], "no function 'teleport'"),
    "no_function": (["--functions", ","], "no function asked for"),
    "unknown_preset": (["--preset", "deluxe"], "no preset"),
    "unknown_root": (["--root-joint", "wheels"], "wheels"),
    "gravity_short": (
        ["--gravity", "0", "0"],
        "--gravity: give three finite numbers (m/s^2, world axes), such as 0 0 -9.81",
    ),
    "target": (["--targets", "fortran"], "fortran"),
    "compiler_missing": (["--cc", "no-such-compiler"], "no C compiler"),
    "flags_output": (["--cflags", "-o/tmp/x"], "is not accepted; give -O"),
    "flags_file": (["--cflags", "/etc/passwd"], "is not accepted; give -O"),
    "unknown_option": (["--frobnicate"], "No such option"),
}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_bad_options(name: str, tmp_path: Path) -> None:
    options, expected = OPTIONS[name]
    out = tmp_path / "out"
    assert expected in refused(run("build", "double_pendulum", "--out", str(out), *options), out)


def test_chain_of_2000_moving_links_is_refused_quickly(tmp_path: Path) -> None:
    count = 2000
    parts = [link(f"l{k}") for k in range(count + 1)] + [
        joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(count)
    ]
    path, out = tmp_path / "chain.urdf", tmp_path / "out"
    path.write_text(robot(*parts))
    assert "2000 degrees of freedom" in refused(run("build", str(path), "--out", str(out)), out)

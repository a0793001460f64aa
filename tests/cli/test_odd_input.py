"""Odd but correct descriptions build: hostile names stay data, deep chains and odd file names do no harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rbdc
from tests.cli.test_bad_input import GOOD, run
from tests.support import slow_but
from tests.support_urdf import joint, link, robot

HOSTILE_NAMES = [
    '"; rm -rf / #',
    "a\nb",
    "*/ int main(void){} /*",
    "// comment \\",
    "??/",
    "while",
    "../../etc/passwd",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "$(touch /tmp/x)",
    "'''",
    "%s%n",
    "[bold]x[/bold]",
    "\u202etxt",
    "é",
    "arm\U0001f4a5",
    "line\u2028separator",
    '"""+str(1/0)+"""',
    "ends with \\",
    "a" * 3000,
]


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\n", "&#10;")


@pytest.mark.parametrize("kind", slow_but(["many_names", "fixed_chain_of_1050"], ["many_names"]))
def test_odd_but_correct(kind: str, tmp_path: Path) -> None:
    """Hostile names, names that collide once made into identifiers, and a deep chain of fixed joints build
    and stay data.
    """
    if kind == "many_names":
        names = [*HOSTILE_NAMES, "a b", "a_b", "a-b"]
    else:
        names = [f"l{k}" for k in range(1050)]  # deeper than Python recurses
    links = [link("base"), *(link(escaped(name)) for name in names)]
    parents = ["base", *map(escaped, names[:-1])]
    moving = "revolute" if kind == "many_names" else "fixed"
    joints = [
        joint(f"j{k:04} {escaped(n)}", p, escaped(n), kind=moving)
        for k, (p, n) in enumerate(zip(parents, names, strict=True))
    ]
    joints[-1] = joint("last", parents[-1], escaped(names[-1]))
    path, out = tmp_path / "odd.urdf", tmp_path / "out"
    path.write_text(robot(*links, *joints))
    functions = ["--functions", "forward_kinematics,gravity_torque,frame_jacobian"]
    arguments = [*functions, "--cflags", "-O0", "--out", str(out), "--json"]
    result = run("build", str(path), *arguments)
    assert result.exit_code == 0, result.output
    module = rbdc.load(out / "odd")
    assert set(module.frame_names) == {"base", *names}
    assert module.forward_kinematics(module.q_neutral).shape == (len(names) + 1, 4, 4)
    assert module.frame_jacobian(module.q_neutral, names[-1]).shape == (6, module.nv)
    assert json.loads((out / "odd" / "manifest.json").read_text())["name"] == "odd"
    assert run("info", str(path)).exit_code == 0
    assert [p.name for p in out.iterdir()] == ["odd"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["odd.urdf", "out"]


@pytest.mark.parametrize("stem", ["3 arms!", "class", "..", "a;b", "-rf", "é", "x" * 200])
def test_odd_file_names_give_valid_module_names(stem: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"{stem}.urdf", tmp_path / "out"
    path.write_text(GOOD)
    result = run("build", "--functions", "crba", "--cflags", "-O0", "--out", str(out), "--", str(path))
    assert result.exit_code == 0, result.output
    (folder,) = out.iterdir()
    assert folder.name.isidentifier()
    assert rbdc.load(folder).crba([0.3])[0, 0] == pytest.approx(0.1)

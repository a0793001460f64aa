"""A paper's recursion is added by one file, with no C by hand, beside the oracle of the record."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rbdc.cli.commands import commands
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of
from rbdc.model import DriveTerm
from rbdc.report.compare import compare
from rbdc.report.methods.implementation import NotTried
from rbdc.report.methods.own_references import load, user_methods
from rbdc.report.options import CompareOptions
from tests.laws.test_drives import driven
from tests.support_trees import mimic_tree, random_tree

PAPER = '''
"""Algorithms of papers; arrays have the papers' names, which may be those of inputs."""

from itertools import chain

import numpy as np

from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Factorisation
from rbdc.spatial import ArticulatedInertia, Force, Motion, RigidInertia, Vector3
from rbdc.spatial.scalars import cos, sin


def newton_euler(m):
    """Featherstone, table 5.1."""
    v, f, tau = m.array("v", Motion, Motion.zero()), m.array("f", Force), m.vector("tau")
    a = m.array("a", Motion, Motion(-m.gravity, Vector3.zero()))
    for i in m.down():
        rate = i.motion(i.rates())
        v[i] = i.from_parent(v[i.parent]) + rate
        a[i] = i.from_parent(a[i.parent]) + i.motion(i.seconds()) + v[i].cross(rate)
        f[i] = i.inertia() @ a[i] + v[i].cross_force(i.inertia() @ v[i])
    for i in m.loaded():
        f.add(i, -i.external_force())
    for i in m.up():
        for k in i.columns():
            tau[k] = k.s.dot(f[i])
        i.add_to_parent(f, f[i])
    return tau


def composite_bodies(m):
    """Featherstone, table 6.2: the force of each column climbs to the root."""
    c, h = m.array("I", RigidInertia), m.matrix("q")
    for i in m.down():
        c[i] = i.inertia()
    for i in m.up():
        i.add_to_parent(c, c[i])
    for k in m.columns():
        f = c[k.body] @ k.s
        for j, moved in k.same(f):
            h[j, k] = j.s.dot(moved)
        for j, moved in k.above(f):
            h.mirror(j, k, j.s.dot(moved))
    return h


def articulation(m, tau):
    """Featherstone, table 7.1."""
    v, c, p = m.array("v", Motion, Motion.zero()), m.array("c", Motion), m.array("p", Force)
    inertia, ratio = m.array("IA", ArticulatedInertia), m.array("X", Force)
    a, qdd = m.array("a", Motion, Motion(-m.gravity, Vector3.zero())), m.vector("qdd")
    for i in m.down():
        rate = i.motion(i.rates())
        v[i] = i.from_parent(v[i.parent]) + rate
        c[i] = v[i].cross(rate)
        inertia[i] = ArticulatedInertia.from_inertia(i.inertia())
        p[i] = v[i].cross_force(i.inertia() @ v[i])
    for i in m.loaded():
        p.add(i, -i.external_force())
    for i in m.up():
        u = [inertia[i] @ k.s for k in i.columns()]
        rows = [[k.s.dot(f) for f in u] for k in i.columns()]
        for r, x in enumerate(i.armature()):
            rows[r][r] = rows[r][r] + x
        d = Factorisation(rows)
        solved = d.solve([tau[k] - k.s.dot(p[i]) for k in i.columns()])
        over = [d.solve([f.scalars()[r] for f in u]) for r in range(6)]
        u_d = [Force.of([row[n] for row in over]) for n in range(len(u))]
        for k, x, f in zip(i.columns(), solved, u_d):
            qdd[k], ratio[k] = x, f
        if not i.rooted:
            left = inertia[i].minus_product(u_d, u)
            pushed = sum((f.scaled(x) for f, x in zip(u, solved)), left @ c[i])
            i.add_to_parent(inertia, left)
            i.add_to_parent(p, p[i] + pushed)
    for i in m.down():
        before = i.from_parent(a[i.parent]) + c[i]
        for k in i.columns():
            qdd.add(k, -before.dot(ratio[k]))
        a[i] = before + i.motion([qdd[k] for k in i.columns()])
    return qdd


def kinetic(model, q, v):
    """Sums over bodies, in NumPy."""
    total, moving = 0.0, {-1: Motion.zero()}
    for index, (body, place) in enumerate(zip(model.bodies, body_placements(model, q))):
        rate = Motion.zero()
        for s, x in zip(body.joint.subspace(), np.array(v)[model.v_slice(index)]):
            rate = rate + s.scaled(x)
        moving[index] = place.act_inverse(moving[body.parent]) + rate
        total = total + 0.5 * moving[index].dot(body.inertia @ moving[index])
    return np.array([total])


def body_placements(model, q):
    from rbdc.algorithms.tools.kinematics import joint_placements

    return joint_placements(model, q)


def tip(model, q, frame, reference):
    """A framed function."""
    own = model.frames[frame]
    world = world_placements(model, q)[own.body].compose(own.placement)
    return [*world.translation.scalars()]


def twice(m):
    tau = m.vector("tau")
    for k in m.columns():
        tau[k] = 2.0
    return tau


def no_number(m):
    tau = m.vector("tau")
    for k in m.columns():
        tau[k] = k.s.dot(1.0)
    return tau


def of_bodies(m):
    return m.array("f", Force)


def two_vectors(m):
    return m.vector("tau"), m.vector("other")


def matrix(m):
    return m.matrix("tau")


def strange_name(m):
    return m.vector("no name")


def short(model, q, v, a):
    return [0.0]


def raising(model, q, v, a):
    raise KeyError("gone")


def two(q, v):
    return []
'''
QUICK = ("--peers", "casadi", "--seconds", "0.01", "--samples", "4", "--checked", "2", "--cflags=-O0")


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of algorithms."""
    file = tmp_path_factory.mktemp("own") / "paper.py"
    file.write_text(PAPER)
    return file


def run(*arguments: str) -> Result:
    """Run rbdc compare in this process."""
    return CliRunner().invoke(commands, ["compare", *arguments, *QUICK])


def by_file(paper: Path, *references: str) -> list[str]:
    """Return options for functions of the file, each as NAME=FUNCTION."""
    pairs = (reference.split("=") for reference in references)
    return [word for name, function in pairs for word in ("--reference", f"{name}={paper}:{function}")]


def methods_in(folder: Path) -> dict[str, Any]:
    """The methods of a report's functions by their names."""
    report = json.loads((folder / "report.json").read_text())
    return {m["method"]: m for f in report["functions"] for m in f["methods"]}


def test_a_recursion_is_added_by_one_file(paper: Path, tmp_path: Path) -> None:
    texts = {"rnea": "newton_euler", "crba": "composite_bodies", "aba": "articulation"}
    named = [f"{name}={text}" for name, text in texts.items()]
    result = run("double_pendulum", *by_file(paper, *named), "--methods", "loops", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    methods = methods_in(tmp_path)
    for text in texts.values():
        for method in (f"loops-{text}", f"unrolled-{text}"):
            assert methods[method]["right"], method
            assert methods[method]["errors"]["scaled"] < 1e-12
            assert methods[method]["operations"] > 0
            assert methods[method]["nanoseconds"]["minimum"] > 0.0
            assert methods[method]["algorithm"].startswith(f"{text} of paper.py")
            assert f"{method}<" in (tmp_path / "report.html").read_text()
    assert methods["loops-newton_euler"]["algorithm"].endswith("as loops in the frames of the bodies")
    assert methods["loops-composite_bodies"]["algorithm"].endswith("as loops in one frame")
    assert {"loops-featherstone"} <= methods.keys(), "the oracle's too"


def test_families_take_references(paper: Path, tmp_path: Path) -> None:
    words = ("--serial", "2,3", *by_file(paper, "rnea=newton_euler"), "--methods", "loops")
    result = run(*words, "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "families.json").read_text())
    methods = [entry["functions"]["rnea"]["methods"] for entry in report["entries"]]
    assert [one["loops-newton_euler"]["right"] for one in methods] == [True, True]


def test_plain_functions_are_straight_line_code(paper: Path, tmp_path: Path) -> None:
    """Functions may use NumPy, and take a frame."""
    words = by_file(paper, "kinetic_energy=kinetic", "frame_position=tip")
    result = run("cartpole", *words, "--methods", "peer", "--out", str(tmp_path))
    assert result.exit_code == 0, result.output
    methods = methods_in(tmp_path)
    for method in ("unrolled-kinetic", "unrolled-tip"):
        assert methods[method]["right"], method
        assert methods[method]["errors"]["scaled"] < 1e-14
    assert not any(name.startswith("loops-") for name in methods)


@pytest.mark.parametrize(("name", "text"), [("rnea", "newton_euler"), ("aba", "articulation")])
def test_texts_have_motors_and_damping(paper: Path, name: str, text: str) -> None:
    """Joints of every type have them in loops, as in the oracle; straight-line code has none."""
    model = replace(driven(random_tree(3)), drive_terms=(DriveTerm.DAMPING,))
    options = CompareOptions(
        references=(f"{name}={paper}:{text}",), methods=(), peers=(), samples=2, checked=2, cflags="-O0"
    )
    comparison = compare(model, replace(options, seconds=0.01), lambda _: None)
    (one,) = comparison.functions
    assert one.errors[f"loops-{text}"]["scaled"] < 1e-12
    assert [absent.method for absent in one.absent] == [f"unrolled-{text}"]


def test_what_texts_do_not_know_is_absent_by_name(paper: Path) -> None:
    model = mimic_tree("coupled")
    for name, text, words in (
        ("aba", "articulation", "mimic joints"),
        ("external_torque", "twice", "mimic joints"),
    ):
        loaded = load(CompareOptions(references=(f"{name}={paper}:{text}",)).references)
        for method in user_methods(model, functions_of(model)[name], loaded, ()):
            with pytest.raises(NotTried, match=words):
                method.make()
    (loops, _) = user_methods(
        model,
        functions_of(model)["crba"],
        load(CompareOptions(references=(f"crba={paper}:composite_bodies",)).references),
        (),
    )
    assert loops.make().files, "composite bodies know them"


def test_a_wrong_result_is_named(paper: Path, tmp_path: Path) -> None:
    result = run(
        "double_pendulum", *by_file(paper, "rnea=twice"), "--methods", "rolled", "--out", str(tmp_path)
    )
    assert result.exit_code == 1
    assert "rnea: loops-twice is wrong" in result.output
    assert "rnea: unrolled-twice is wrong" in result.output


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("rnea=no_number", r"paper\.py:\d+: AttributeError: 'float' object has no attribute"),
        ("rnea=of_bodies", "of_bodies must return results of m.vector, m.matrix or m.tensor"),
        ("rnea=two_vectors", r"two_vectors must return .* for tau\[2\]"),
        ("rnea=matrix", r"matrix returns arrays of \[4\] entries, for tau\[2\]"),
        ("rnea=strange_name", "'text_no name' is no name of an array|'no name' is no name of an array"),
        ("rnea=short", r"short returns \[1\] entries, for tau\[2\]"),
        ("rnea=raising", r"paper\.py:\d+: KeyError: 'gone'"),
        (
            "rnea=two",
            r"two of paper\.py takes \(q, v\); rnea needs a recursion .* \(m\) or .* \(model, q, v, a\)",
        ),
        ("rnea=newton_euer", "no function 'newton_euer'; did you mean newton_euler"),
        ("rneo=newton_euler", "rneo is no function of rbdc; did you mean rnea"),
    ],
)
def test_bad_references_are_refused(paper: Path, reference: str, message: str, tmp_path: Path) -> None:
    result = run(
        "double_pendulum", *by_file(paper, reference), "--methods", "peer", "--out", str(tmp_path / "out")
    )
    assert result.exit_code == 2, result.output
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("rbdc: error:")]
    assert re.search(message, line), line
    assert not (tmp_path / "out").exists()


def test_names_of_other_methods_are_refused(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def featherstone(model, q, v, a):\n    return [0.0, 0.0]\n")
    result = run("double_pendulum", "--reference", f"rnea={tmp_path / 'own.py'}:featherstone")
    assert result.exit_code == 2
    assert "rnea already has a method unrolled-featherstone; rename featherstone of own.py" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def newton_euler(m):\n    return 1 +\n", r"bad\.py:2: SyntaxError"),
        ("import numpy as np\n\nnp.no_such_thing\n", r"bad\.py:3: AttributeError"),
        ("raise SystemExit(0)\n", r"bad\.py:1: SystemExit"),
        (None, r"no file '.*bad\.py'; give \[NAME=\]FILE:FUNCTION"),
    ],
)
def test_bad_files_are_refused(text: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    if text is not None:
        file.write_text(text)
    with pytest.raises(OptionError, match=message):
        load(CompareOptions(references=(f"rnea={file}:newton_euler",)).references)


@pytest.mark.parametrize("words", ["paper", "paper.py:", ":name", "rnea=:name", "rnea=paper.py:no name"])
def test_bad_forms_are_refused(words: str) -> None:
    with pytest.raises(OptionError, match="give \\[NAME=\\]FILE:FUNCTION"):
        CompareOptions(references=(words,))


def test_functions_and_names_agree(paper: Path) -> None:
    with pytest.raises(OptionError, match="rnea is not among --functions crba"):
        CompareOptions(references=(f"rnea={paper}:twice",), functions=("crba",)).check()
    model = random_tree(0)
    loaded = load(CompareOptions(references=(f"rnea={paper}:twice",)).references)
    with pytest.raises(
        OptionError, match=r"rnea already has a method loops-twice; rename twice of paper\.py"
    ):
        user_methods(model, functions_of(model)["rnea"], loaded, ["loops-twice"])

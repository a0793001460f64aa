"""Small inputs of the kinds that public bug reports hold, built with the options that users get; `cases/` has
the descriptions among them.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
import pytest
from click.testing import CliRunner

import rbdc
from rbdc.cli.commands import commands
from rbdc.errors import RbdcError, RbdcWarning
from rbdc.resources import resolve
from tests.laws.test_optimal_control import rate
from tests.support import COMPILERS, UNOPTIMISED, assert_close, build_module

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent / "cases"
FLOATING: dict[str, Any] = {"root_joint": "free-flyer"}


def built(
    description: Any, out: Path, functions: str = "rnea", **options: Any
) -> tuple[ModuleType, list[str]]:
    """Return the module of a description, and the warnings of its build, those of the module among them."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        module = rbdc.build(description, functions=functions, out=out, **options)
    words = [str(one.message) for one in told if issubclass(one.category, RbdcWarning)]
    return module, [*words, *module.warnings]


def refused(description: Any, out: Path, **options: Any) -> str:
    """Return the message of a build that is refused."""
    with pytest.raises(RbdcError) as error:
        rbdc.build(description, functions="rnea", out=out, **options)
    assert not (out / "made").exists()
    return str(error.value)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_flags_that_reorder(compiler: str, tmp_path: Path) -> None:
    """Results of single calls and of batches under -ffast-math as without, or a compilation that #error ends.
    `tests/emit/test_fast_math.py` has its parts alone.
    """
    module, _ = built("hyq", tmp_path, name="hyq_small", **FLOATING)
    folder = Path(str(module.__file__)).parent
    sources = [str(x) for x in sorted(folder.glob("*.c")) if not x.name.endswith("_python.c")]

    def torques(*more: str) -> np.ndarray | str:
        program = tmp_path / "batch"
        command = [compiler, "-std=c99", "-O2", *more, f"-I{folder}", str(CASES / "batch.c"), *sources, "-lm"]
        compiled = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
        if compiled.returncode:
            return compiled.stderr
        told = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        return np.array([line.split() for line in told.splitlines()], dtype=float)

    plain, reordered = torques(), torques("-ffast-math")
    assert not isinstance(plain, str), plain
    if isinstance(reordered, str):
        assert "#error" in reordered and "-f" in reordered
        return
    scale = float(np.abs(plain).max())
    assert float(np.abs(plain[:, 0] - plain[:, 1]).max()) < 1e-11 * scale
    assert float(np.abs(reordered - plain).max()) < 1e-11 * scale


def test_reduction(tmp_path: Path) -> None:
    """motorInertia times the square of mechanicalReduction, 1e-4 100^2, is armature, or a warning is told."""
    module, told = built(CASES / "reduction.urdf", tmp_path, "crba")
    armature = float(module.crba([0.0])[0, 0]) - 0.25
    if any("motorInertia" in one for one in told):
        assert armature == pytest.approx(0.0, abs=1e-12)
    else:
        assert armature == pytest.approx(1.0)


def test_text_as_description(tmp_path: Path) -> None:
    path = resolve("g1_29dof")
    module, _ = built(path.read_text(), tmp_path / "text", "rnea", **FLOATING)
    other, _ = built(path, tmp_path / "file", "rnea", **FLOATING)
    q, v = module.random_configuration(0), np.ones(module.nv)
    assert_close(module.rnea(q, v, v), other.rnea(q, v, v))


def test_package_of_a_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """$(find my_description) with --package-path, and without it, since the file lies within the package;
    elsewhere the message names the option.
    """
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    top = CASES / "my_description" / "urdf" / "top.urdf.xacro"
    for k, paths in enumerate(((), (str(CASES),))):
        module, _ = built(top, tmp_path / str(k), "crba", package_path=paths)
        assert module.crba([0.0])[0, 0] == pytest.approx(0.25 + 0.1**2 + 0.05**2)
    elsewhere = tmp_path / "elsewhere.urdf.xacro"
    elsewhere.write_text(top.read_text())
    assert "package_path" in refused(elsewhere, tmp_path)
    said = CliRunner().invoke(
        commands, ["build", str(elsewhere), "--functions", "rnea", "--out", str(tmp_path)]
    )
    assert said.exit_code == 2 and "--package-path" in said.output
    more = ["--package-path", str(CASES), "--functions", "rnea", "--out", str(tmp_path / "made")]
    assert CliRunner().invoke(commands, ["build", str(elsewhere), *more]).exit_code == 0


@pytest.mark.parametrize(
    ("name", "word"), [("default_ns", None), ("undefined_prefix", "sensor"), ("leftover", "some_colour")]
)
def test_namespaces(name: str, word: str | None, tmp_path: Path) -> None:
    """Read, with a warning where an element is ignored whose prefix says nothing."""
    module, told = built(CASES / f"{name}.urdf", tmp_path, "crba")
    assert module.crba([0.0]) == pytest.approx(0.25)
    assert word is None or any(word in one for one in told), told


def test_spherical_joint(tmp_path: Path) -> None:
    module, _ = built(CASES / "ball.urdf", tmp_path, "crba")
    assert (module.nq, module.nv) == (4, 3)
    inertia = np.array([[0.01, 0.001, 0.0], [0.001, 0.02, 0.0], [0.0, 0.0, 0.025]])
    r = np.array([0.1, 0.0, 0.05])
    assert_close(module.crba(module.q_neutral), inertia + r @ r * np.eye(3) - np.outer(r, r))


LINKAGE = "constrained_dynamics"


def test_two_parents(tmp_path: Path) -> None:
    """The message has the option that closes the loop, with the numbers of the file, which then builds."""
    text = (CASES / "two_parents_loop.urdf").read_text()
    message = refused(CASES / "two_parents_loop.urdf", tmp_path)
    assert "j4=point@c:0.2,0,0=b" in message.replace(":0.2,0.0,0.0", ":0.2,0,0").replace(" ", ""), message
    cut = text.index("<joint name='j4'")
    path = tmp_path / "cut.urdf"
    path.write_text(text[:cut] + text[text.index("</joint>", cut) + len("</joint>") :])
    module, _ = built(path, tmp_path / "out", LINKAGE, loop=["j4=point@c:0.2,0,0=b:0,0,0"])
    assert module.nv == 3


def test_constraint_of_a_description(tmp_path: Path) -> None:
    """<drake:ball_constraint> is a loop: accelerations are those of the same --loop."""
    module, _ = built(CASES / "drake_ball.urdf", tmp_path / "a", LINKAGE)
    text = (CASES / "drake_ball.urdf").read_text()
    cut = text.index("<drake:ball_constraint>")
    path = tmp_path / "cut.urdf"
    path.write_text(text[:cut] + "</robot>")
    other, _ = built(path, tmp_path / "b", LINKAGE, name="other", loop=["loop=point@b:0.2,0,0=c:0.2,0,0"])
    q, v, tau = np.array([0.3, 0.8, 2.0]), np.array([0.1, -0.2, 0.3]), np.ones(3)
    for one, same in zip(
        module.constrained_dynamics(q, v, tau), other.constrained_dynamics(q, v, tau), strict=True
    ):
        assert_close(one, same)


def test_armature_of_a_free_joint(tmp_path: Path) -> None:
    message = refused(CASES / "free_joint_armature.xml", tmp_path)
    assert "more mass" not in message
    assert "armature" in message and "<freejoint/>" in message and "floating_base" in message


def test_missing_mesh(tmp_path: Path) -> None:
    """No inertia depends on the mesh that is not there."""
    module, _ = built(CASES / "missing_mesh.xml", tmp_path, "crba")
    assert module.crba([0.0])[0, 0] == pytest.approx(0.1 + 1.0 * 0.1**2)


@pytest.mark.parametrize("length", [0.0, 1.7])
def test_quaternions(length: float, tmp_path: Path) -> None:
    """A quaternion off the unit length is refused by the argument and its entries."""
    m, _ = built("hyq", tmp_path, "rnea,difference,integrate", name="hyq_quaternions", **FLOATING)
    q, unit = m.q_neutral.copy(), m.q_neutral
    q[3:7] *= length
    calls = [
        ("q", partial(m.integrate, q, m.v_zero)),
        ("q", partial(m.rnea, q, m.v_zero, m.v_zero)),
        ("q0", partial(m.difference, q, unit)),
        ("q1", partial(m.difference, unit, q)),
    ]
    for argument, call in calls:
        with pytest.raises(ValueError, match=rf"\b{argument}\b.*\b3\b"):
            call()


def test_restitution(tmp_path: Path) -> None:
    """Each contact has a number, or all have one, as the page of contacts says; numbers outside 0..1 are
    refused.
    """
    contacts = ["lf=point@lf_foot", "rh=point@rh_foot"]
    functions = "impulse_dynamics,contact_jacobian"
    m, _ = built("hyq", tmp_path, functions, name="hyq_restitution", contacts=contacts, **FLOATING)
    q, v = m.random_configuration(0), np.ones(m.nv)
    after, _ = m.impulse_dynamics(q, v, np.array([0.1, 0.9]))
    J = m.contact_jacobian(q)
    for rows, restitution in zip(m.contact_rows, (0.1, 0.9), strict=True):
        assert_close(J[rows] @ after, -restitution * J[rows] @ v)
    for one, each in zip(m.impulse_dynamics(q, v, 0.9), m.impulse_dynamics(q, v, [0.9, 0.9]), strict=True):
        assert_close(one, each)
    with pytest.raises(ValueError, match=r"restitution has shape \(3,\); expected \(\.\.\., 2\)"):
        m.impulse_dynamics(q, v, np.zeros(3))
    for bad in (-0.1, 2.0, [0.1, 1.5]):
        with pytest.raises(ValueError, match="restitution has entries that are not between 0 and 1"):
            m.impulse_dynamics(q, v, np.array(bad))


PENDULUM = (
    "<robot name='again'><link name='base'/><link name='a'><inertial><origin xyz='.1 0 0'/><mass value='{}'/>"
    "<inertia ixx='.01' iyy='.02' izz='.02' ixy='0' ixz='0' iyz='0'/></inertial></link><joint name='j' "
    "type='continuous'><parent link='base'/><child link='a'/><axis xyz='0 1 0'/></joint></robot>"
)


def test_reload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """importlib.reload of a package that was built anew gives the new dynamics, or an ImportError."""
    path = tmp_path / "again.urdf"

    def build(mass: float) -> float:
        path.write_text(PENDULUM.format(mass))
        return float(built(path, tmp_path / "made")[0].rnea([0.3], [0.0], [0.0])[0])

    one = build(1.0)
    build(3.0)
    monkeypatch.syspath_prepend(str(tmp_path / "made"))
    monkeypatch.delitem(sys.modules, "again", raising=False)
    module = importlib.import_module("again")
    try:
        assert module.rnea([0.3], [0.0], [0.0])[0] / one == pytest.approx(3.0)
        build(5.0)
        try:
            fresh = importlib.reload(module)
        except ImportError as error:
            assert "again" in str(error)
        else:
            assert fresh.rnea([0.3], [0.0], [0.0])[0] / one == pytest.approx(5.0)
    finally:
        sys.modules.pop("again", None)


@pytest.mark.parametrize("reference", ["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"])
def test_classical_acceleration(reference: str, tmp_path: Path) -> None:
    """J a + drift is frame_acceleration; in LOCAL_WORLD_ALIGNED the classical one, w x v more, as the page of
    functions says.
    """
    functions = "frame_jacobian,frame_drift,frame_acceleration,frame_velocity"
    m, _ = built("hyq", tmp_path, functions, name="hyq_lwa", **FLOATING)
    rng = np.random.default_rng(1)
    q, (v, a) = m.random_configuration(rng), rng.standard_normal((2, m.nv))
    u = m.frame_velocity(q, v, "lf_foot", reference)
    classical = m.frame_acceleration(q, v, a, "lf_foot", reference).copy()
    if reference == "LOCAL_WORLD_ALIGNED":
        assert np.abs(np.cross(u[3:], u[:3])).max() > 0.1
        classical[:3] += np.cross(u[3:], u[:3])
    by_jacobian = m.frame_jacobian(q, "lf_foot", reference) @ a + m.frame_drift(q, v, "lf_foot", reference)
    assert_close(by_jacobian, classical)


def test_hessian_through_a_step() -> None:
    """CasADi refuses the Hessian through integrate; it has that of the step of docs/casadi.md, which
    differs from integrate by the square of the step.
    """
    names = ("integrate", "dintegrate")
    m = build_module(
        "hyq", functions=names, targets=("c", "casadi"), name="hyq_hessian", root_joint="free-flyer",
        cflags=UNOPTIMISED,
    )  # fmt: skip
    q, v = m.random_configuration(0), ca.MX.sym("v", m.nv)
    with pytest.raises(RuntimeError, match="Derivatives cannot be calculated"):
        ca.hessian(ca.sumsqr(m.casadi("integrate")(q, v)), v)
    hessian = ca.Function("H", [v], [ca.hessian(ca.sumsqr(ca.sin(q + rate(q, v))), v)[0]])
    values = np.array(hessian(np.ones(m.nv)))
    assert values.shape == (m.nv, m.nv) and np.isfinite(values).all() and values.any()
    speeds = np.random.default_rng(1).normal(size=m.nv)
    left = [
        np.abs(q + h * np.array(rate(ca.DM(q), ca.DM(speeds))).ravel() - m.integrate(q, h * speeds)).max()
        for h in (1e-3, 1e-4)
    ]
    assert left[1] / left[0] == pytest.approx(0.01, rel=0.01)

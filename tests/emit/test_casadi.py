"""The external functions of CasADi: values, integrators, refusals; derivatives are in
`test_casadi_derivatives.py`.
"""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import casadi
import numpy as np
import pytest

import rbdc
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, Array, build_module, slow_but
from tests.support_differences import central
from tests.support_handmade import inertia_of_one

FIRST = ("rnea", "nle", "gravity_torque", "aba", "com", "potential_energy")
"""Functions whose Jacobians there are."""
FRAMED = {"frame_velocity": "LOCAL_WORLD_ALIGNED", "frame_acceleration": "WORLD", "frame_jacobian": "LOCAL"}
"""Functions of a frame, and a reference to try."""
OF_FRAMES = (*FRAMED, "frame_velocity_derivatives", "frame_acceleration_derivatives")
VALUES = (
    *FIRST,
    *OF_FRAMES,
    "crba",
    "com_jacobian",
    "rnea_derivatives",
    "aba_derivatives",
    "rnea_vjp",
    "aba_vjp",
)
SECOND = "rnea_second_derivatives"
ROBOTS = [
    ("kuka_iiwa", "fixed"),
    ("double_pendulum", "free-flyer"),
    ("planar_floating", "fixed"),
    ("panda", "fixed"),
]
ROBOTS += [("hyq", "free-flyer"), ("ur5", "fixed"), ("g1_29dof", "free-flyer"), ("tiago_pro", "fixed")]
CASES = slow_but(ROBOTS, ROBOTS[1:2], ROBOTS[2:3])


@cache
def module(robot: str, root: str) -> ModuleType:
    """Return the module, first order."""
    functions = tuple(
        name for name in VALUES if name in functions_of(Problem.from_file(resolve(robot), root_joint=root))
    )
    return build_module(
        robot,
        root_joint=root,
        functions=functions,
        targets=("c", "casadi"),
        cflags=UNOPTIMISED,
        name=f"{robot}_ca",
    )


def chain(*kinds: str, axis: tuple[float, float, float] = (0.0, 1.0, 0.0)) -> Problem:
    """Return a chain of joints of some kinds, about one axis."""
    links = [rbdc.Link("base"), *(rbdc.Link(f"link{k}", inertia_of_one()) for k in range(len(kinds)))]
    joints = [
        rbdc.Joint(
            f"joint{k}",
            kind,
            "base" if k == 0 else f"link{k - 1}",
            f"link{k}",
            placement=rbdc.Placement(rbdc.Rotation.identity(), rbdc.Vector3(0.1, -0.3, 0.2)),
            axis=rbdc.Vector3(*axis),
        )
        for k, kind in enumerate(kinds)
    ]
    return Problem.assemble("_".join(kinds), links, joints)


PLACEMENTS = ("target", "pose")
"""Inputs of a position and a unit quaternion."""


def arguments(m: ModuleType, f: Any, length: float) -> list[Array]:
    """Return a random configuration of quaternions of some length, placements, and random vectors."""
    rng = np.random.default_rng(1)
    q = m.random_configuration(rng) * length
    inputs = [q if f.name_in(k) == "q" else rng.standard_normal(f.numel_in(k)) for k in range(f.n_in())]
    for k in range(f.n_in()):
        if f.name_in(k) in PLACEMENTS:
            inputs[k][3:] /= np.linalg.norm(inputs[k][3:])
    return inputs


def symbolic(f: Any) -> tuple[list[Any], Any]:
    x = [casadi.MX.sym(f.name_in(k), f.sparsity_in(k)) for k in range(f.n_in())]
    return x, f(*x)


@pytest.mark.parametrize(("robot", "root"), CASES)
def test_values(robot: str, root: str) -> None:
    """The bits of the module; matrices are as they are there, tensors are stacked."""
    m = module(robot, root)
    for name in m.functions:
        reference = FRAMED.get(name, "LOCAL")
        place = (m.frame_names[-1], reference) if name in OF_FRAMES else ()
        f = m.casadi("@".join([name, *place]))
        inputs = arguments(m, f, 1.0)
        q = np.array(inputs[0])
        expected = getattr(m, name)(*inputs, *place)
        results = f.call([casadi.DM(x) for x in inputs])
        for result, array in zip(
            results, expected if isinstance(expected, tuple) else (expected,), strict=True
        ):
            rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(-1, 1)
            np.testing.assert_allclose(np.array(result), rows, rtol=1e-9, atol=1e-9 * np.abs(rows).max())
        np.testing.assert_array_equal(q, inputs[0])


@pytest.mark.parametrize("integrator", ["cvodes", "idas", "rk", "collocation"])
def test_sensitivities_of_integrators(integrator: str) -> None:
    """Forward and reverse, of the end of a motion by its beginning and its torques."""
    names, pendulum = ("aba", "aba_derivatives", "aba_vjp", SECOND), "double_pendulum_continuous"
    m = build_module(pendulum, functions=names, targets=("c", "casadi"), cflags=UNOPTIMISED)
    q, v, tau = (casadi.MX.sym(name, 2) for name in ("q", "v", "tau"))
    rate = casadi.vertcat(v, m.casadi("aba")(q, v, tau))
    ode = {"x": casadi.vertcat(q, v), "p": tau, "ode": rate}
    accurate = {"abstol": 1e-12, "reltol": 1e-12} if integrator in ("cvodes", "idas") else {}
    end = casadi.integrator("end", integrator, ode, 0.0, 0.1, accurate)
    x, p = casadi.MX.sym("x", 4), casadi.MX.sym("p", 2)
    last, start = end(x0=x, p=p)["xf"], casadi.vertcat(x, p)
    at = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    expected = central(lambda z: np.array(end(x0=z[:4], p=z[4:])["xf"]).ravel(), at)
    direction, weights = np.array([0.2, -0.4, 0.3, 0.1, 0.5, -0.6]), np.array([0.3, -0.2, 0.5, 0.7])
    forward = casadi.jtimes(last, start, casadi.DM(direction))
    reverse = casadi.jtimes(last, start, casadi.DM(weights), True)
    results = casadi.Function("S", [x, p], [casadi.jacobian(last, start), forward, reverse])(at[:4], at[4:])
    scale = 1e-5 * np.abs(expected).max()
    np.testing.assert_allclose(np.array(results[0]), expected, rtol=0.0, atol=scale)
    np.testing.assert_allclose(np.array(results[1]).ravel(), expected @ direction, rtol=0.0, atol=scale)
    np.testing.assert_allclose(np.array(results[2]).ravel(), weights @ expected, rtol=0.0, atol=scale)


def test_nothing_is_differentiated_numerically() -> None:
    m = module("double_pendulum", "free-flyer")
    f = m.casadi("crba")
    q = casadi.MX.sym("q", m.nq)
    with pytest.raises(RuntimeError, match=r"derivative"):
        casadi.jacobian(f(q), q)
    x, y = symbolic(m.casadi("aba"))
    refused = "Derivatives cannot be calculated for (jac|adj1)_double_pendulum_ca_casadi_aba"
    with pytest.raises(RuntimeError, match=refused):
        casadi.hessian(casadi.sum1(y), casadi.vertcat(*x))
    with pytest.raises(RuntimeError, match=refused):
        casadi.jacobian(casadi.vec(casadi.jacobian(y, casadi.vertcat(*x))), casadi.vertcat(*x))


def test_one_call_of_jac_a_jacobian() -> None:
    """CasADi lists the calls of a Jacobian."""
    f = module("double_pendulum", "free-flyer").casadi("aba")
    x, y = symbolic(f)
    J = casadi.Function("J", x, [casadi.jacobian(y, casadi.vertcat(*x))])
    listing = str(J.str(True))
    assert len(re.findall(r"jac_double_pendulum_ca_casadi_aba\(", listing)) == 1
    assert "adj1_" not in listing and "fd_" not in listing


def test_maps_and_pickles() -> None:
    m = module("double_pendulum", "free-flyer")
    f = m.casadi("rnea")
    rng = np.random.default_rng(0)
    q = np.array([m.random_configuration(rng) for _ in range(5)]).T
    v, a = rng.standard_normal((2, m.nv, 5))
    np.testing.assert_allclose(np.array(f.map(5)(q, v, a)), m.rnea(q.T, v.T, a.T).T, rtol=1e-12, atol=1e-12)
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(
        np.array(again(q[:, 0], v[:, 0], a[:, 0])), np.array(f(q[:, 0], v[:, 0], a[:, 0]))
    )


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="`targets='casadi'`: CasADi computes with doubles"):
        build_package("cartpole", BuildOptions(targets=("c", "casadi"), dtype="float32", out=tmp_path))
    m = module("double_pendulum", "free-flyer")
    with pytest.raises(AttributeError, match="minverse was not built; build it with `functions='minverse'`"):
        m.casadi("minverse")
    with pytest.raises(ValueError, match="'frame_jacobian': frame: name one, as in frame_jacobian@link2"):
        m.casadi("frame_jacobian")
    with pytest.raises(ValueError, match="frame: this function takes none"):
        m.casadi("rnea@link2")
    with pytest.raises(ValueError, match="no frame 'nowhere'"):
        m.casadi("frame_jacobian@nowhere")
    without = build_module("double_pendulum", functions=("rnea",))
    with pytest.raises(
        AttributeError, match="casadi was not built; build it with `targets='c,batch,casadi'`, `add=True`"
    ):
        without.casadi("rnea")


def test_without_casadi_the_error_says_what_to_install() -> None:
    m = module("double_pendulum", "free-flyer")
    folder = str(Path(str(m.__file__)).parent)
    program = f"import sys; sys.modules['casadi'] = None\nimport rbdc; rbdc.load({folder!r}).casadi('rnea')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (
        done.stderr.splitlines()[-1]
        == "ImportError: double_pendulum_ca.casadi needs casadi: pip install casadi"
    )


def test_a_fused_function_has_its_frame(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "functions": ("rnea",),
        "fuse": (("com", "frame_jacobian@link2@WORLD"),),
        "out": tmp_path,
    }
    m = rbdc.build("double_pendulum", targets=("c", "casadi"), cflags=UNOPTIMISED, **options)
    q = np.array([0.3, -0.4])
    position, J = m.casadi("com_and_frame_jacobian")(q)
    expected = m.com_and_frame_jacobian(q)
    np.testing.assert_allclose(np.array(position).ravel(), expected[0], rtol=1e-14)
    np.testing.assert_allclose(np.array(J), expected[1], rtol=1e-14)


@pytest.mark.parametrize("more", [(), (SECOND,)])
def test_a_name_is_no_word_of_the_text(more: tuple[str, ...]) -> None:
    """The text does not change if the robot's name contains words of generated code."""
    model, texts = Problem.from_file(resolve("double_pendulum")), set[str]()
    for name in ("plain", "second_blocks_of_ddq"):
        options = GenerationOptions(targets=("c", "casadi"))
        package = generate(model, name, ["rnea", "rnea_derivatives", *more], lambda _: None, options)
        text = package.files[f"{name}_casadi.c"]
        texts.add(text.replace(name, "").replace(name.upper(), ""))
    assert len(texts) == 1


MOVED = {
    "frame_placement": "LOCAL",
    "frame_position": "LOCAL",
    "frame_error": "LOCAL",
    "frame_jacobian": "LOCAL_WORLD_ALIGNED",
    "frame_velocity": "LOCAL",
    "frame_acceleration": "LOCAL_WORLD_ALIGNED",
    "frame_classical_acceleration": "LOCAL_WORLD_ALIGNED",
}
"""Functions of a frame with an offset, and a reference to try."""


@cache
def moving() -> ModuleType:
    first = [f"{name}_derivatives" for name in MOVED if name != "frame_position"]
    names = (*MOVED, *first, "frame_position_derivatives")
    tree = chain("planar", "spherical")
    return build_module(
        tree, functions=names, targets=("c", "casadi"), cflags=UNOPTIMISED, verify=False, name="moving_ca"
    )


@pytest.mark.parametrize("name", MOVED)
def test_offsets_are_inputs_with_derivatives(name: str) -> None:
    """The values of NumPy's function with this offset, and differences of these values."""
    m, rng = moving(), np.random.default_rng(2)
    frame, place = m.frame_names[-1], ([] if name == "frame_error" else [MOVED[name]])
    f = m.casadi("@".join([name, frame, *place]), offset=True)
    q, offset = m.random_configuration(rng), rng.standard_normal(7)
    inputs = [q, *rng.standard_normal((2, m.nv))][: f.n_in() - 1]
    if name == "frame_error":
        inputs[1] = rng.standard_normal(7)
    for pose in (offset, *inputs[1 : 1 + (name == "frame_error")]):
        pose[3:] /= np.linalg.norm(pose[3:])
    expected = np.array(getattr(m, name)(*inputs, frame, *place, offset=offset))
    assert np.allclose(np.array(f(*inputs, offset)).reshape(expected.shape), expected, rtol=1e-12, atol=1e-12)

    x = casadi.MX.sym("x", sum(map(len, inputs)) + 7)
    parts = casadi.vertsplit(x, [0, *np.cumsum([*map(len, inputs), 7])])
    values = casadi.vec(f(*parts))
    at = np.concatenate([*inputs, 1.3 * offset])
    J = np.array(casadi.Function("J", [x], [casadi.jacobian(values, x)])(at))
    of = casadi.Function("f", [x], [values])
    differences = central(lambda y: np.array(of(y)).ravel(), at)
    assert np.allclose(J, differences, atol=1e-7 * max(1.0, np.abs(J).max()))


def test_offsets_need_functions_that_take_one() -> None:
    with pytest.raises(AttributeError, match="frame_jacobian_derivatives' with offset: these take"):
        moving().casadi("frame_jacobian_derivatives@link1", offset=True)
    m = module("double_pendulum", "free-flyer")
    with pytest.raises(AttributeError, match="frame_placement was not built; build it with"):
        m.casadi(f"frame_velocity@{m.frame_names[-1]}@LOCAL_WORLD_ALIGNED", offset=True)

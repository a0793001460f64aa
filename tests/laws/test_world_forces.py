"""External forces in the world's frame: Pinocchio, virtual work, complex-step derivatives, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc import Joint, Link
from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.derivatives import carpentier_mansard, idsva
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.lagrangian import inverse_dynamics, sensitivities
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import rnea
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.errors import OptionError, VerificationError
from rbdc.functions.catalogue import functions_of, presets
from rbdc.functions.evaluation import EntryPart
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.resources import resolve
from rbdc.spatial import Force, Vector3
from rbdc.verification.package import verify_package
from rbdc.verification.states import Checked
from tests.laws import test_second_derivatives as second
from tests.laws.test_derivatives import complex_step
from tests.laws.test_lanes import creature
from tests.laws.test_random_trees import state
from tests.peers.test_pinocchio_trees import pinocchio_tree
from tests.support import UNOPTIMISED, Array, assert_close, build_module, conditioning, slow_but
from tests.support_pinocchio import Peer, pin
from tests.support_references import generated
from tests.support_trees import mimic_tree, random_inertia, random_tree

FIRST = ("rnea_derivatives", "aba_derivatives")
STEP = 2e-3
"""Step of differences of fourth order."""
LARGE: Mapping[str, Callable[[], Problem]] = {
    "tree": lambda: random_tree(1, size=4),
    "hyq": lambda: Problem.from_file(resolve("hyq"), root_joint="free-flyer"),
    "simple_humanoid": lambda: Problem.from_file(resolve("simple_humanoid"), root_joint="free-flyer"),
}
"""Trees on a free root, whose tensors are loops."""


def in_world(model: Problem) -> Problem:
    """Return the model whose forces are given in the world."""
    return replace(model, world_forces=True)


def ball_and_hinge(root_joint: str) -> Problem:
    """Return a spherical joint, a revolute and a prismatic one, on a fixed or a free base."""
    links = [Link("base", random_inertia(np.random.default_rng(9)))]
    links += [Link(name, random_inertia(np.random.default_rng(k))) for k, name in enumerate("abc")]
    joints = [
        Joint("socket", "spherical", "base", "a"),
        Joint("hinge", "revolute", "a", "b", axis=Vector3(0.0, 1.0, 0.0)),
        Joint("slide", "prismatic", "a", "c", axis=Vector3(0.6, 0.0, 0.8)),
    ]
    return Problem.assemble(f"ball_and_hinge_{root_joint[:4]}", links, joints, root_joint=root_joint)


def point(model: Problem, seed: int = 0) -> dict[str, list[float]]:
    """Return inputs of the functions by name."""
    rng = np.random.default_rng(seed)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    drawn: dict[str, Any] = {name: rng.normal(size=model.nv) for name in ("v", "a", "w", "dq", "dv", "da")}
    drawn |= {"q": np.array(q, dtype=float), "fext": rng.normal(size=6 * model.njoints)}
    drawn |= {"tau": drawn["a"], "dtau": drawn["da"]}
    return {name: [float(x) for x in entries] for name, entries in drawn.items()}


def evaluated(model: Problem, function: str, values: dict[str, list[float]]) -> list[Array]:
    """Return the outputs of a function by its first generated method, on floats."""
    record = functions_of(model)[function]
    inputs = {p.name: values[p.name] for p in record.declaration.inputs}
    outputs = generated(next(iter(record.methods.values())), model, inputs)
    shapes = [p.shape for p in record.declaration.outputs]
    return [np.array(x, dtype=float).reshape(shape) for x, shape in zip(outputs, shapes, strict=True)]


def in_bodies(peer: Peer, q: Array, fext: Array) -> Any:
    """Return Pinocchio's forces in the frames of its bodies."""
    pin.forwardKinematics(peer.model, peer.data, peer.q(q))
    rows = [peer.data.oMi[k + 1].actInv(pin.Force(row)).vector for k, row in enumerate(fext)]
    return peer.forces(np.array(rows))


def forces(fext: Array) -> list[Force]:
    """Return forces as the references take them."""
    return [Force.of([float(x) for x in row]) for row in fext]


@pytest.mark.parametrize("seed", slow_but(range(20), (0, 1, 2, 5)))
def test_pinocchio(seed: int) -> None:
    """The generated recursions and the references, on floats, against forces moved by Pinocchio."""
    model = in_world(random_tree(seed))
    peer, _ = pinocchio_tree(model)
    inputs = point(model, seed)
    q, v, a = (np.array(inputs[name]) for name in "qva")
    fext = np.array(inputs["fext"]).reshape(-1, 6)
    moved = in_bodies(peer, q, fext)
    expected = np.array(pin.rnea(peer.model, peer.data, peer.q(q), v, a, moved))
    assert_close(evaluated(model, "rnea", inputs)[0], expected, 1e-12)
    assert_close(rnea(model, inputs["q"], inputs["v"], inputs["a"], forces(fext)), expected, 1e-12)
    expected = np.array(pin.aba(peer.model, peer.data, peer.q(q), v, a, moved))
    inertia = np.array(pin.crba(peer.model, peer.data, peer.q(q)))
    tolerance = 1e-12 + 1e-14 * conditioning(np.triu(inertia) + np.triu(inertia, 1).T)
    assert_close(evaluated(model, "aba", inputs)[0], expected, tolerance)


@pytest.mark.parametrize("seed", slow_but(range(20), (0, 1, 5)))
def test_derivatives(seed: int) -> None:
    """Generated recursions and references agree with the complex step, and so do products of
    the derivatives.
    """
    model = in_world(random_tree(seed, size=5))
    inputs = point(model, seed)
    q, v, x = (np.array(inputs[name]) for name in "qva")
    fext = np.array(inputs["fext"]).reshape(-1, 6)
    for name, function in zip(FIRST, (rnea, aba), strict=True):
        expected = complex_step(function, model, q, v, x, fext)
        matrices = evaluated(model, name, inputs)
        for got, right in zip(matrices, expected, strict=True):
            assert_close(got, right, 1e-9, float(np.abs(expected[0]).max()), name)
        short = name.removesuffix("_derivatives")
        for got, matrix in zip(evaluated(model, f"{short}_vjp", inputs), matrices, strict=True):
            assert_close(got, inputs["w"] @ matrix, 1e-9, float(np.abs(matrix).max()), f"{short}_vjp")
        steps = [np.array(inputs[f"d{letter}"]) for letter in "qva"]
        moved = sum(matrix @ step for matrix, step in zip(matrices, steps, strict=True))
        assert_close(evaluated(model, f"{short}_jvp", inputs)[0], moved, 1e-9, what=f"{short}_jvp")
    at = inputs["q"], inputs["v"], inputs["a"], forces(fext)
    by_q = idsva.rnea_derivatives(model, *at)[0]
    assert_close(carpentier_mansard.rnea_derivatives(model, *at)[0], by_q, 1e-12)


def test_lagrangian() -> None:
    """The recursive Lagrangian methods take them too."""
    model = in_world(Problem.from_file(resolve("double_pendulum")))
    inputs = point(model)
    at = inputs["q"], inputs["v"], inputs["a"], forces(np.array(inputs["fext"]).reshape(-1, 6))
    assert_close(inverse_dynamics(model, *at), rnea(model, *at), 1e-12)
    expected = idsva.rnea_derivatives(model, *at)
    for got, right in zip(sensitivities(model, *at), expected, strict=True):
        assert_close(got, right, 1e-12)


@pytest.mark.parametrize(
    "model", [ball_and_hinge("fixed"), pytest.param(mimic_tree("coupled"), marks=pytest.mark.slow)]
)
def test_second_derivatives(model: Problem) -> None:
    """Tensors and their products, on floats, against the complex step of the first derivatives."""
    model = in_world(model)
    inputs = point(model)
    q, v, x = (np.array(inputs[name]) for name in "qva")
    fext = np.array(inputs["fext"]).reshape(-1, 6)
    w, dq = np.array(inputs["w"]), np.array(inputs["dq"])
    for short, first, tolerance in (("rnea", idsva.rnea_derivatives, 1e-10), ("aba", aba_derivatives, 1e-8)):
        qq, _, _, qv, vv, _ = second.complex_step(first, model, q, v, x, fext)
        tensors = evaluated(model, f"{short}_second_derivatives", inputs)
        second.agree((tensors[0], tensors[1], tensors[2]), [qq, vv, qv], tolerance, short)
        blocks = evaluated(model, f"{short}_hessian_vector", inputs)
        assert_close(blocks[0], np.einsum("i,ijk->jk", w, qq), tolerance)
        still = {**inputs, **{f"d{name}": [0.0] * model.nv for name in ("v", "a", "tau")}}
        assert_close(evaluated(model, f"{short}_hessian_product", still)[0], blocks[0] @ dq, tolerance)


@pytest.mark.parametrize("which", slow_but(LARGE, (), ("tree",)))
def test_tensors_as_loops(which: str) -> None:
    """All second derivatives of compiled modules against the complex step of first derivatives; those along
    a curve against second differences of Pinocchio.
    """
    model = LARGE[which]()
    module: Any = build_module(
        model,
        functions=presets()["second"],
        cflags=UNOPTIMISED,
        verify=False,
        fext_frame="world",
        name="loops",
    )
    second.check(module, in_world(model))
    (peer, _), (q, v, x) = pinocchio_tree(model), state(module)
    rng = np.random.default_rng(3)
    fext, dq = rng.standard_normal((module.njoints, 6)), rng.standard_normal(module.nv)
    for name, function in (("rnea", pin.rnea), ("aba", pin.aba)):
        along = [
            np.array(function(peer.model, peer.data, peer.q(at), v, x, in_bodies(peer, at, fext)))
            for at in (np.array(integrate(model, q.tolist(), (k * STEP * dq).tolist())) for k in range(-2, 3))
        ]
        expected = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * STEP**2) @ np.stack(along)
        (qq, *_) = getattr(module, f"{name}_second_derivatives")(q, v, x, fext)
        assert_close(np.einsum("ijk,j,k", qq, dq, dq), expected, 1e-6, what=name)


@pytest.fixture(scope="module")
def module() -> Any:
    """A tree on a free base, verified while it was built."""
    model = ball_and_hinge("free-flyer")
    functions = ("rnea", "frame_jacobian", "rnea_derivatives")
    return build_module(model, functions=functions, cflags=UNOPTIMISED, fext_frame="world", name="in_world")


def test_a_module_says_so(module: Any) -> None:
    folder = Path(module.__file__).parent
    manifest = json.loads((folder / "manifest.json").read_text())
    assert module.fext_frame == manifest["options"]["fext_frame"] == "world"
    words = (
        "external force on each body in the world's frame, linear part first, moment about the world's origin"
    )
    assert words in module.rnea.__doc__
    assert f"fext[{6 * module.njoints}]: {words}" in (folder / "in_world.h").read_text()


def test_verification_knows_the_frame(module: Any) -> None:
    """A module that takes forces in the world does not pass for one that takes them in the bodies."""
    model = ball_and_hinge("free-flyer")
    checked = [Checked(functions_of(model)["rnea"].declaration, (EntryPart("rnea"),))]
    folder = Path(module.__file__).parent
    assert verify_package(folder, in_world(model), checked)["rnea"].error <= 1.0
    with pytest.raises(VerificationError, match="rnea"):
        verify_package(folder, model, checked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"functions": ("rnea",), "fuse": (("aba", "rnea_derivatives"),), "parameters": (), "name": "fused"},
        {"functions": ("rnea", "aba_derivatives"), "targets": ("c", "batch"), "name": "side_by_side"},
        {"functions": ("aba", "rnea_jvp"), "dtype": "float32", "name": "single"},
        {"functions": ("rnea_second_derivatives",), "name": "second"},
    ],
    ids=lambda options: options["name"],
)
def test_other_builds(options: dict[str, Any]) -> None:
    """The build verifies fused functions, functions with inertial parameters, and batches."""
    module = build_module(
        in_world(ball_and_hinge("fixed")), fext_frame="world", cflags=UNOPTIMISED, **options
    )
    assert module.fext_frame == "world"


@pytest.mark.slow
def test_limbs_in_lanes() -> None:
    """The verification finds them right where limbs run side by side."""
    functions = ("rnea", "rnea_derivatives")
    module: Any = build_module(
        creature(3), functions=functions, cflags=UNOPTIMISED, fext_frame="world", name="limbs"
    )
    manifest = json.loads((Path(module.__file__).parent / "manifest.json").read_text())
    assert all(manifest["functions"][name]["lanes"] > 1 for name in functions)


def test_loops_that_take_forces_in_the_bodies_are_left_out() -> None:
    model = in_world(Problem.from_file(resolve("double_pendulum")))
    package = generate(model, "dp", ["rnea", "crba"], lambda _: None, GenerationOptions(style="rolled"))
    assert [source.form for source in package.sources] == ["straight line", "rolled"]
    humanoid = in_world(Problem.from_file(resolve("simple_humanoid"), root_joint="free-flyer"))
    policies = {name: f.policy for name, f in functions_of(humanoid).items()}
    assert not policies["aba_derivatives"].windows and policies["minverse"].windows


def test_what_is_refused() -> None:
    with pytest.raises(OptionError, match="`fext_frame='inertial'`: there are local, world"):
        read("cartpole", BuildOptions(fext_frame="inertial"))

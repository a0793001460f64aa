"""Joints that follow others along polynomials: functions are those of the whole tree, composed by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc import Link, Mimic
from rbdc.errors import RbdcError
from rbdc.functions.catalogue import presets
from rbdc.model import Problem
from rbdc.model.joints.coupling import composed, reach
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_differences import central
from tests.support_trees import random_inertia, random_joint

FUNCTIONS = (
    *("rnea", "nle", "gravity_torque", "crba", "aba", "coriolis", "expand", "integrate"),
    *("rnea_derivatives", "aba_derivatives", "kinetic_energy", "potential_energy"),
    *("external_torque", "external_torque_vjp", "rnea_hessian_vector", "aba_hessian_product"),
    *("centroidal_momentum_matrix", "centroidal_dynamics_derivatives"),
    *("forward_kinematics", "frame_jacobian", "frame_velocity", "frame_drift", "frame_acceleration"),
    *("frame_jacobian_time_derivative", "frame_velocity_derivatives", "frame_acceleration_derivatives"),
    *("frame_position", "frame_position_second_derivatives", "frame_jacobian_derivatives"),
)
BATCHED = (
    *("rnea", "rnea_derivatives", "rnea_vjp", "rnea_jvp", "aba", "aba_derivatives", "aba_vjp", "aba_jvp"),
    *("expand", "forward_kinematics", "frame_jacobian", "frame_acceleration_derivatives"),
)
OF_SIX_DOFS = (
    *("manipulability_gradient", "operational_space", "operational_space_inertia"),
    "operational_space_inertia_derivatives",
)
"""Functions that are zero or undefined where fewer than six degrees of freedom carry the frame."""
OF_THE_TREE = ("rnea", "crba", "forward_kinematics", "frame_jacobian", "frame_acceleration")
LEADERS = {
    0: Mimic("joint3", -0.5, 0.3),
    3: Mimic("joint2", 0.8, -0.1, (0.3, -0.2)),
    4: Mimic("joint5", 0.7, 0.0, (0.0, 0.1)),
}


def curved_tree(mimic: str, root: str = "fixed") -> Problem:
    """Return a branching tree with a chain of two followers, one of them before its leader in depth-first
    order. On a free root the curves are flat, so that nothing is far away at large angles.
    """
    bend = 1.0 if root == "fixed" else 1e-3
    rng = np.random.default_rng(7)
    kinds = ["revolute", "prismatic", "revolute", "revolute", "prismatic", "continuous"]
    parents = ["base", "link0", "base", "link2", "link2", "link4"]
    links = [Link("base", random_inertia(rng)), *(Link(f"link{k}", random_inertia(rng)) for k in range(6))]
    joints = [
        dataclasses.replace(
            random_joint(rng, f"joint{k}", kinds[k], parents[k], f"link{k}", _bent(LEADERS.get(k), bend)),
            armature=0.1 + 0.1 * k,
            friction=0.5,
            damping=0.2,
        )
        for k in range(6)
    ]
    drives: dict[str, Any] = {"friction": "include", "friction_width": 0.3, "damping": "include"}
    drives = drives if mimic == "coupled" else {}
    return Problem.assemble(f"curved_{mimic}", links, joints, root_joint=root, mimic=mimic, **drives)


def _bent(mimic: Mimic | None, bend: float) -> Mimic | None:
    """Return a curve with its higher coefficients times `bend`."""
    return mimic and dataclasses.replace(mimic, higher=tuple(bend * c for c in mimic.higher))


@pytest.fixture(scope="module")
def pair() -> tuple[ModuleType, ModuleType]:
    """The tree, coupled and with independent joints; another test has the build verify the functions."""
    how: dict[str, Any] = {"verify": False, "cflags": UNOPTIMISED}
    return (
        build_module(curved_tree("coupled"), functions=FUNCTIONS, **how),
        build_module(curved_tree("independent"), functions=OF_THE_TREE, **how),
    )


def tree_position(y: Array) -> Array:
    """Return q of the whole tree, in depth-first order."""
    follower = -0.1 + 0.8 * y[1] + 0.3 * y[1] ** 2 - 0.2 * y[1] ** 3
    return np.array(
        [0.3 - 0.5 * follower, y[0], y[1], follower, 0.7 * y[2] + 0.1 * y[2] ** 3, y[2]], dtype=y.dtype
    )


def by_complex_steps(f: Callable[[Array], Array], x: Array) -> Array:
    return np.array([f(x + 1e-30j * e).imag / 1e-30 for e in np.eye(len(x))]).T


def tree_motion(y: Array, rate: Array, second: Array) -> tuple[Array, Array, Array, Array]:
    """Return G, and q, v and a of the whole tree."""
    jacobian = by_complex_steps(tree_position, y)
    bent = by_complex_steps(lambda x: _numerical(x) @ rate, y) @ rate
    return jacobian, tree_position(y), jacobian @ rate, jacobian @ second + bent


def _numerical(y: Array) -> Array:
    """Return G where y is complex, from the derivatives of the polynomials."""
    slope = 0.8 + 0.6 * y[1] - 0.6 * y[1] ** 2
    jacobian = np.zeros((6, 3), dtype=y.dtype)
    jacobian[1, 0] = jacobian[2, 1] = jacobian[5, 2] = 1.0
    jacobian[0, 1], jacobian[3, 1], jacobian[4, 2] = -0.5 * slope, slope, 0.7 + 0.3 * y[2] ** 2
    return jacobian


def state(seed: int = 0) -> tuple[Array, Array, Array]:
    y, rate, second = np.random.default_rng(seed).uniform(-0.8, 0.8, (3, 3))
    return y, rate, second


def test_values_are_those_of_the_tree(pair: tuple[ModuleType, ModuleType]) -> None:
    (module, tree), (y, rate, second) = pair, state()
    jacobian, q, v, a = tree_motion(y, rate, second)
    fext = np.random.default_rng(1).standard_normal((6, 6))
    for got, expected in zip(module.expand(y, rate), (q, v), strict=True):
        assert_close(got, expected, 1e-14)
    tau = module.rnea(y, rate, second, fext)
    drives = 0.2 * v + 0.5 * v / np.sqrt(v * v + 0.3**2)
    assert_close(tau, jacobian.T @ (tree.rnea(q, v, a, fext) + drives), 1e-12)
    assert_close(module.crba(y), jacobian.T @ tree.crba(q) @ jacobian, 1e-12)
    assert_close(module.aba(y, rate, tau, fext), second, 1e-11)
    c = module.coriolis(y, rate)
    assert_close(c @ rate + module.gravity_torque(y) + jacobian.T @ drives, module.nle(y, rate), 1e-12)
    skew = central(lambda t: np.ravel(module.crba(y + t[0] * rate)), np.zeros(1)).reshape(3, 3) - 2.0 * c
    assert_close(skew, -skew.T, 1e-9, 1.0)
    assert_close(module.forward_kinematics(y), tree.forward_kinematics(q), 1e-12)
    for frame in module.frame_names:
        expected = tree.frame_jacobian(q, frame, "WORLD") @ jacobian
        assert_close(module.frame_jacobian(y, frame, "WORLD"), expected, 1e-12, 1.0)
        assert_close(module.frame_velocity(y, rate, frame, "WORLD"), expected @ rate, 1e-12, 1.0)


@pytest.mark.parametrize("reference", ["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"])
def test_frames_along_curves(pair: tuple[ModuleType, ModuleType], reference: str) -> None:
    (module, tree), (y, rate, second) = pair, state(7)
    _, q, v, a = tree_motion(y, rate, second)
    for frame in module.frame_names:
        place = (frame, reference)
        check_derivatives_of_frames(module, frame, reference)
        acceleration = module.frame_acceleration(y, rate, second, *place)
        assert_close(acceleration, tree.frame_acceleration(q, v, a, *place), 1e-12, 1.0)

        def jacobian(t: Array, place: Any = place) -> Array:
            return np.ravel(module.frame_jacobian(y + t[0] * rate, *place))

        rates = module.frame_jacobian_time_derivative(y, rate, *place)
        assert_close(rates, central(jacobian, np.zeros(1)).reshape(6, 3), 1e-9, 1.0)
        assert_close(module.frame_drift(y, rate, *place), rates @ rate, 1e-12, 1.0)

        def velocity(at: Array, place: Any = place) -> Array:
            return np.asarray(module.frame_velocity(at, rate, *place))

        by_q, by_v = module.frame_velocity_derivatives(y, rate, *place)
        assert_close(by_q, central(velocity, y), 1e-9, 1.0)
        assert_close(by_v, module.frame_jacobian(y, *place), 1e-12, 1.0)


def check_derivatives_of_frames(module: ModuleType, frame: str, reference: str) -> None:
    y, rate, second = state(7)

    def acceleration(at: Array) -> Array:
        return np.asarray(module.frame_acceleration(*at.reshape(3, 3), frame, reference))

    def jacobian(at: Array) -> Array:
        return np.ravel(module.frame_jacobian(at, frame, reference))

    def by_position(at: Array) -> Array:
        return np.ravel(module.frame_jacobian(at, frame, "LOCAL_WORLD_ALIGNED")[:3])

    expected = central(acceleration, np.concatenate([y, rate, second]))
    derivatives = module.frame_acceleration_derivatives(y, rate, second, frame, reference)
    assert_close(np.hstack(derivatives), expected, 1e-9, 1.0)
    columns = module.frame_jacobian_derivatives(y, frame, reference)
    assert_close(columns.reshape(18, 3), central(jacobian, y), 1e-9, 1.0)
    twice = module.frame_position_second_derivatives(y, frame)
    assert_close(twice.reshape(9, 3), central(by_position, y), 1e-9, 1.0)


def test_derivatives(pair: tuple[ModuleType, ModuleType]) -> None:
    module, (y, rate, x) = pair[0], state(2)
    fext = np.random.default_rng(1).standard_normal((6, 6))
    for name in ("rnea", "aba"):
        value = getattr(module, name)
        matrices = getattr(module, f"{name}_derivatives")(y, rate, x, fext)
        scale = max(float(np.abs(one).max()) for one in matrices)
        for k, start in enumerate((y, rate)):

            def moved(at: Array, k: int = k, f: Any = value) -> Array:
                return np.asarray(f(*((at, rate) if k == 0 else (y, at)), x, fext))

            assert_close(matrices[k], central(moved, start), 1e-9, scale)
        expected = module.crba(y) if name == "rnea" else np.linalg.inv(module.crba(y))
        assert_close(matrices[2], expected, 1e-11)


def test_second_derivatives(pair: tuple[ModuleType, ModuleType]) -> None:
    module, (y, rate, x), w = pair[0], state(6), state(8)[0]
    at = np.concatenate([y, rate, x])

    def gradient(name: str) -> Callable[[Array], Array]:
        derivatives = getattr(module, f"{name}_derivatives")
        return lambda z: np.concatenate([w @ matrix for matrix in derivatives(*z.reshape(3, 3))])

    hessian = central(gradient("rnea"), at)
    expected = (hessian[:3, :3], hessian[3:6, 3:6], hessian[:3, 3:6], hessian[:3, 6:])
    for tensor, block in zip(module.rnea_hessian_vector(y, rate, x, w), expected, strict=True):
        assert_close(tensor, block, 1e-8, 1.0)
    step, of_aba = np.random.default_rng(4).standard_normal(9), gradient("aba")
    products = np.concatenate(module.aba_hessian_product(y, rate, x, w, *step.reshape(3, 3)))
    moved = central(lambda t: of_aba(at + t[0] * step), np.zeros(1))[:, 0]
    assert_close(products, moved, 1e-7)


@pytest.mark.exhaustive
def test_every_function_and_batches() -> None:
    """The builds compare them with the references, those of `BATCHED` in batches too."""
    model = dataclasses.replace(curved_tree("coupled"), name="curved_full")
    functions = tuple(name for name in dict.fromkeys((*presets()["full"], *FUNCTIONS)) if name not in BATCHED)
    build_module(model, functions=functions, cflags=UNOPTIMISED)
    model = dataclasses.replace(model, name="curved_batches")
    build_module(model, functions=BATCHED, targets=("c", "batch"), cflags=UNOPTIMISED)
    model = dataclasses.replace(curved_tree("coupled", "free-flyer"), name="curved_floating")
    build_module(model, functions=OF_SIX_DOFS, cflags=UNOPTIMISED)


def test_conversions_go_along_the_curves(pair: tuple[ModuleType, ModuleType]) -> None:
    module, (y, rate, second) = pair[0], state(4)
    jacobian, *motion = tree_motion(y, rate, second)
    *away, _ = module.to_pinocchio(y, rate, second, module.rnea(y, rate, second))
    continuous = [np.cos(y[2]), np.sin(y[2])]
    for got, expected in zip(away, ([*motion[0][:5], *continuous], *motion[1:]), strict=True):
        assert_close(got, np.array(expected), 1e-13)
    forces = np.random.default_rng(0).standard_normal(6)
    *back, tau = module.from_pinocchio(*away, forces)
    for got, expected in zip((*back, tau), (y, rate, second, jacobian.T @ forces), strict=True):
        assert_close(got, np.array(expected), 1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_polynomials_compose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outer, inner = (rng.standard_normal(int(rng.integers(2, 6))).tolist() for _ in range(2))
    x = float(rng.standard_normal())
    expected = np.polyval(outer[::-1], np.polyval(inner[::-1], x))
    assert_close(np.array(np.polyval(composed(outer, inner)[::-1], x)), np.array(expected), 1e-12, 1.0)
    least, most = reach(outer, -1.0, 2.0)
    values = np.polyval(outer[::-1], np.linspace(-1.0, 2.0, 2001))
    assert least <= values.min() <= least + 1e-4 and most - 1e-4 <= values.max() <= most


def test_urdf_has_the_coefficients(tmp_path: Path) -> None:
    assert _read(tmp_path, 'polycoef="0.1 2 0 -3"') == Mimic("k", 2.0, 0.1, (0.0, -3.0))
    assert _read(tmp_path, 'polycoef="0.1 2 0 0"') == Mimic("k", 2.0, 0.1)
    for words, problem in (
        ('polycoef="1"', "has 1 numbers; write 2 to 5"),
        ('polycoef="0 1 nan"', "not a finite number"),
        (
            'polycoef="0 1 2" offset="1"',
            "polycoef and also a multiplier or an offset; give offset and multiplier as the first two",
        ),
    ):
        with pytest.raises(RbdcError, match=f"robot.urdf:3: .*{problem}"):
            _read(tmp_path, words)


def _read(folder: Path, words: str) -> Any:
    from rbdc.model.formats.reading import read_description

    path = folder / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="a"/><link name="b"/>\n<joint name="j" type="prismatic">'
        '<parent link="a"/><child link="b"/><limit lower="0" upper="1" effort="1" velocity="1"/>\n'
        f'<mimic joint="k" {words}/>'
        "</joint></robot>\n"
    )
    return read_description(path).joints[0].mimic

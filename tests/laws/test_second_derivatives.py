"""Second derivatives on random trees with every joint type: complex-step of the first ones, symmetry,
what is zero, other ways.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rbdc import Joint, Link
from rbdc.algorithms.reference.derivatives import fdsva_so
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.emit.generation import generate
from rbdc.functions.catalogue import functions_of, presets
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.planning.candidates import path_start
from rbdc.resources import resolve
from rbdc.spatial import Force, Vector3
from tests.laws.test_derivatives import TINY, tangent
from tests.laws.test_random_trees import state
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_trees import SEEDS, mimic_tree, random_inertia, random_tree
from tests.support_windows import chain

QUICK = (4,)
SLOW = (0,)
TREES = slow_but(SEEDS, QUICK, SLOW)
"""Of five joints each: the default and the slow tier's have every type."""
ROBOTS = slow_but([("kuka_iiwa", "fixed"), ("hyq", "free-flyer")], (), [("kuka_iiwa", "fixed")])
"""An arm; limbs that mirror each other."""


def complex_step(
    first: Callable[..., Any], model: Problem, q: Array, v: Array, x: Array, fext: Array
) -> list[Array]:
    """Return the derivatives of the three matrices of first derivatives by q (in the tangent space) and by v,
    (nv, nv, nv) each.
    """
    forces = [Force.of([float(f) for f in row]) for row in fext]
    tensors = []
    for which, directions in ((0, tangent(model, q)), (1, np.eye(model.nv))):
        steps = []
        for direction in directions.T:
            inputs = [q.astype(complex), v.astype(complex), x]
            inputs[which] = inputs[which] + 1j * TINY * direction
            steps.append(
                [np.imag(np.array(m, dtype=complex)) / TINY for m in first(model, *map(list, inputs), forces)]
            )
        tensors += [np.stack(pages, axis=2) for pages in zip(*steps, strict=True)]
    return tensors


def agree(tensors: tuple[Array, ...], expected: list[Array], tolerance: float, what: str) -> None:
    scale = max(float(np.abs(tensor).max()) for tensor in expected)
    for k, (tensor, right) in enumerate(zip(tensors, expected, strict=True)):
        assert_close(tensor, right, tolerance, scale, f"{what}, tensor {k}")


def check(module: ModuleType, model: Problem, *parameters: Array) -> None:
    """Compare all four tensors of inverse and of forward dynamics, with and without external forces.
    parameters: inertial parameters that replace those of the model.
    """
    q, v, x = state(module)
    drawn = np.random.default_rng(1).standard_normal((module.njoints, 6))
    for fext, optional in ((drawn, (*parameters, drawn)), (0.0 * drawn, parameters)):
        qq, _, mq, qv, vv, _ = complex_step(rnea_derivatives, model, q, v, x, fext)
        agree(module.rnea_second_derivatives(q, v, x, *optional), [qq, vv, qv, mq], 1e-10, "inverse dynamics")
        qq, _, inverse, qv, vv, _ = complex_step(aba_derivatives, model, q, v, x, fext)
        tensors = module.aba_second_derivatives(q, v, x, *optional)
        agree(tensors, [qq, vv, qv, inverse.transpose(0, 2, 1)], 1e-8, "forward dynamics")
        weigh(module, (q, v, x), optional)


def weigh(module: ModuleType, point: tuple[Array, Array, Array], optional: tuple[Array, ...]) -> None:
    """The Hessians of weighted sums are those of the tensors, w^T of each."""
    w = np.random.default_rng(2).standard_normal(module.nv)
    tensors = [np.einsum("i,ijk->jk", w, t) for t in module.rnea_second_derivatives(*point, *optional)]
    tensors[3] = tensors[3].T  # row: by q, column: by a
    agree(module.rnea_hessian_vector(*point, w, *optional), tensors, 1e-11, "w^T tau")
    tensors = [np.einsum("i,ijk->jk", w, t) for t in module.aba_second_derivatives(*point, *optional)]
    agree(module.aba_hessian_vector(*point, w, *optional), tensors, 1e-9, "w^T ddq")
    step = np.random.default_rng(3).standard_normal((3, module.nv))
    for blocks, product in (
        (module.rnea_hessian_vector, module.rnea_hessian_product),
        (module.aba_hessian_vector, module.aba_hessian_product),
    ):
        qq, vv, qv, qx = blocks(*point, w, *optional)
        dq, dv, dx = step
        expected = [qq @ dq + qv @ dv + qx @ dx, qv.T @ dq + vv @ dv, qx.T @ dq]
        agree(product(*point, w, *step, *optional), expected, 1e-9, "Hessian times direction")


@pytest.mark.parametrize("seed", TREES)
def test_trees(seed: int) -> None:
    tree = random_tree(seed, size=5)
    module = build_module(
        replace(tree, name=f"second{seed}"), functions=presets()["second"], cflags=UNOPTIMISED, verify=False
    )
    check(module, tree)
    left_alone(module, tree)


@pytest.mark.slow
def test_only_the_root_has_several_degrees_of_freedom() -> None:
    links = [
        Link("base"),
        *(Link(name, random_inertia(np.random.default_rng(k))) for k, name in enumerate("ab")),
    ]
    joints = [
        Joint("socket", "spherical", "base", "a"),
        Joint("hinge", "revolute", "a", "b", axis=Vector3(0.0, 1.0, 0.0)),
    ]
    model = Problem.assemble("ball_and_hinge", links, joints)
    check(build_module(model, functions=presets()["second"], cflags=UNOPTIMISED, verify=False), model)


def on_different_branches(model: Problem) -> NDArray[np.bool_]:
    """Return whether two of the directions i, j, k are of joints of which none carries the other, (nv, nv,
    nv).
    """
    carried = np.zeros((model.nv, model.nv), dtype=bool)
    for index in range(model.njoints):
        for above in model.support(index):
            carried[model.v_slice(index), model.v_slice(above)] = True
    unrelated = ~(carried | carried.T)
    entries: NDArray[np.bool_] = unrelated[:, :, None] | unrelated[:, None, :] | unrelated[None, :, :]
    return entries


def left_alone(module: ModuleType, model: Problem) -> None:
    """Entries that are zero whatever the inputs are not written into arrays that hold zeros: those of joints
    on different branches, of which a tree of few joints may have none.
    """
    expected = module.rnea_second_derivatives(*state(module))
    tensors = tuple(np.full_like(tensor, 7.0) for tensor in expected)
    module.rnea_second_derivatives(*state(module), out=tensors, zeroed=True)
    for tensor, right in zip(tensors, expected, strict=True):
        untouched = tensor == 7.0
        assert untouched[on_different_branches(model)].all()
        assert not right[untouched].any()
        np.testing.assert_array_equal(tensor[~untouched], right[~untouched])


def test_some_trees_have_joints_on_different_branches() -> None:
    """All trees of the default and of the slow tier together have such joints."""
    assert all(on_different_branches(random_tree(seed, size=5)).any() for seed in (*QUICK, *SLOW))
    assert not on_different_branches(random_tree(22, size=5)).any()


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        ("rnea_second_derivatives", "float64"),
        pytest.param("rnea_second_derivatives", "float32", marks=pytest.mark.exhaustive),
        pytest.param("aba_second_derivatives", "float64", marks=pytest.mark.slow),
        pytest.param("aba_second_derivatives", "float32", marks=pytest.mark.exhaustive),
        pytest.param("aba_hessian_vector", "float64", marks=pytest.mark.exhaustive),
    ],
)
def test_samples_side_by_side(function: str, dtype: str) -> None:
    """Loops for one sample, straight-line code in lanes for several: verification compares both."""
    options: dict[str, Any] = {"functions": (function,), "dtype": dtype, "cflags": UNOPTIMISED}
    module = build_module(replace(chain(4), name=f"lanes_{dtype}"), targets=("c", "batch"), **options)
    manifest = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())
    assert manifest["functions"][function]["form"] == "paths"
    lanes = 64 // np.dtype(dtype).itemsize
    sizes = [p["shape"][0] for p in manifest["functions"][function]["inputs"] if not p["optional"]]
    rng = np.random.default_rng(5)
    blocks = [rng.standard_normal((2, size, lanes)).astype(dtype) for size in sizes]
    tensors = getattr(module, function)(*blocks, layout="lanes")
    samples = [np.moveaxis(x, -1, 1).reshape(2 * lanes, -1) for x in blocks]
    for tensor, right in zip(tensors, getattr(module, function)(*samples), strict=True):
        np.testing.assert_array_equal(np.moveaxis(tensor, -1, 1).reshape(right.shape), right)


@pytest.mark.parametrize(("robot", "root"), ROBOTS)
def test_robots(robot: str, root: str) -> None:
    module = build_module(robot, root_joint=root, functions=presets()["second"], cflags=UNOPTIMISED)
    check(module, Problem.from_urdf(resolve(robot), root_joint=root))


def test_straight_line_code() -> None:
    module = build_module("double_pendulum", functions=presets()["second"], cflags=UNOPTIMISED)
    functions = json.loads((Path(str(module.__file__)).parent / "manifest.json").read_text())["functions"]
    assert functions["rnea_second_derivatives"]["form"] == "straight line"
    check(module, Problem.from_urdf(resolve("double_pendulum")))


def test_functions_share_what_they_start_from() -> None:
    """The straight-line code before the loops has one text in all of them, and is in a package once."""
    model, names = (
        Problem.from_urdf(resolve("hyq"), root_joint="free-flyer"),
        ("rnea_second_derivatives", "rnea_hessian_vector"),
    )
    alone = [generate(model, "robot", [name], lambda _: None) for name in names]
    parts = [{file for file in package.files if "_part" in file} for package in alone]
    assert parts[0] == parts[1] != set()
    assert all(alone[0].files[file] == alone[1].files[file] for file in parts[0])


def test_what_loops_start_from_grows_with_the_path() -> None:
    """The code grows in proportion to the path: each body needs one rotation matrix, not a product of all
    rotations before it.
    """
    counts = []
    for size in (4, 8, 12):
        model = chain(size)
        programs = path_start(model, functions_of(model)["rnea_second_derivatives"])
        assert programs is not None
        counts.append(cost(programs[-1]).operations)
    assert counts[2] - counts[1] < 1.05 * (counts[1] - counts[0])


def test_straight_line_code_is_taken_where_it_is_less_work() -> None:
    """Joints on parallel and right-angled axes make most constants zero; skew joints make none zero."""
    arm, skew = Problem.from_urdf(resolve("ur5")), chain(4)
    for model, form in ((arm, "straight line"), (skew, "paths")):
        package = generate(model, "robot", ["rnea_second_derivatives"], lambda _: None)
        assert package.sources[0].form == form


@pytest.mark.slow
def test_coupled_joints() -> None:
    tree = mimic_tree("coupled")
    functions = presets()["second"]
    check(build_module(tree, functions=functions, cflags=UNOPTIMISED, mimic="coupled", verify=False), tree)


@pytest.mark.parametrize("way", ["aba_second_derivatives", "by_dynamics", "by_derivatives"])
def test_three_ways_of_the_products(way: str) -> None:
    """Equations (46) to (52) against complex-step of the first derivatives of forward dynamics."""
    rng, tree = np.random.default_rng(3), random_tree(4, size=4)
    q = np.array([float(x) for x in tree.neutral()])
    v, tau, fext = (
        rng.standard_normal(tree.nv),
        rng.standard_normal(tree.nv),
        rng.standard_normal((tree.njoints, 6)),
    )
    qq, _, inverse, qv, vv, _ = complex_step(aba_derivatives, tree, q, v, tau, fext)
    forces = [Force.of([float(f) for f in row]) for row in fext]
    matrices = getattr(fdsva_so, way)(tree, list(q), list(v), list(tau), forces)
    tensors = tuple(np.array(rows, dtype=float).reshape(qq.shape) for rows in matrices)
    agree(tensors, [qq, vv, qv, inverse.transpose(0, 2, 1)], 1e-8, "forward dynamics")


@pytest.mark.parametrize("robot", slow_but(["kuka_iiwa", "double_pendulum"], ["double_pendulum"]))
def test_zeroed(robot: str) -> None:
    """Into arrays of zeros, by loops and by straight-line code, a sample and a batch."""
    module = build_module(robot, functions=presets()["second"], cflags=UNOPTIMISED)
    q, v, x = state(module)
    batch = tuple(np.stack([y, 0.5 * y, -y]) for y in (q, v, x))
    for function in (module.rnea_second_derivatives, module.aba_second_derivatives):
        expected = function(*batch)
        out = tuple(np.zeros_like(tensor) for tensor in expected)
        for _ in range(2):
            assert function(*batch, out=out, zeroed=True) is not None
            for value, right in zip(out, expected, strict=True):
                np.testing.assert_array_equal(value, right)
        one = tuple(np.zeros_like(tensor[0]) for tensor in expected)
        function(q, v, x, out=one, zeroed=True)
        for value, right in zip(one, function(q, v, x), strict=True):
            np.testing.assert_array_equal(value, right)


def test_zeroed_is_said_of_arrays() -> None:
    module = build_module("double_pendulum", functions=presets()["second"], cflags=UNOPTIMISED)
    point = (module.q_neutral, module.v_zero, module.v_zero)
    with pytest.raises(ValueError, match="zeroed: needs arrays; pass them as out="):
        module.rnea_second_derivatives(*point, zeroed=True)
    with pytest.raises(TypeError, match="zeroed: give True or False, not int"):
        module.rnea_second_derivatives(*point, zeroed=1)

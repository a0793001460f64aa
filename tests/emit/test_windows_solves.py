"""Kernels of windows that solve with M: equal to the reference for registers of every width."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import minverse
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import FLOAT
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.windows.kernels import has_windows
from rbdc.planning.windows.widths import LARGEST, supernodes
from rbdc.reduction.schedules import scheduled
from rbdc.runtime.load import load
from rbdc.spatial import Force
from tests.support import COMPILERS, UNOPTIMISED, assert_close, slow_but
from tests.support_windows import EVERY_KIND, WindowsKernel, chain, inputs, path_tree, widths

WIDTHS = widths()
DERIVATIVES, INVERSE = "aba_derivatives", "minverse"
SOLVES = (INVERSE, DERIVATIVES)


def compare(kernel: WindowsKernel, function: str, tolerance: float = 1e-10) -> None:
    """Compare every matrix relative to its largest entry, with and without external forces."""
    model = kernel.model
    q, v, tau, fext = inputs(model)
    if function == INVERSE:
        expected = np.array(minverse(model, q.tolist()), dtype=float)
        (inverse,) = kernel(q)
        assert_close(inverse, expected, tolerance, what=model.name)
        assert np.array_equal(inverse, inverse.T)
        return
    for forces in (None, fext):
        wrenches = None if forces is None else [Force.of([float(x) for x in row]) for row in forces]
        wanted = aba_derivatives(model, q.tolist(), v.tolist(), tau.tolist(), wrenches)
        actual = kernel(q, v, tau, forces)
        for name, x, y in zip(("dq", "dv", "dtau"), actual, wanted, strict=True):
            assert_close(x, np.array(y, dtype=float), tolerance, what=f"{model.name} {name}")
        assert np.array_equal(actual[2], actual[2].T)


def driven(model: Problem, seed: int) -> Problem:
    """Return the model with motors at some joints, and damping, a free root's among it."""
    rng = np.random.default_rng(seed)
    bodies = [
        replace(body, armature=float(rng.integers(2)) * 0.3, damping=float(rng.integers(2)) * 0.4)
        for body in model.bodies
    ]
    if model.bodies[0].joint.free:
        bodies[0] = replace(bodies[0], armature=0.0)
    return replace(model, bodies=tuple(bodies))


@pytest.mark.parametrize("function", SOLVES)
@pytest.mark.parametrize("seed", slow_but([*range(10), *range(11, 50, 6)], (0, 1, 2), range(3, 7)))
def test_trees_agree_with_the_reference(seed: int, function: str, tmp_path: Path) -> None:
    """Deep and wide trees and mirrored limbs, fixed and free, with widths and compilers in turn."""
    model = path_tree(seed, 15 if seed < 3 else 12 + 5 * seed % 49)
    model = driven(model, seed) if seed % 2 else model
    variant, compiler = WIDTHS[seed % len(WIDTHS)], COMPILERS[seed // 2 % len(COMPILERS)]
    compare(WindowsKernel(model, variant, compiler, tmp_path, function=function), function)


@pytest.mark.parametrize("seed", slow_but([*range(1, 10, 2), *range(13, 22, 2)], (1,), range(1, 6, 2)))
def test_joints_with_several_degrees_of_freedom(seed: int, tmp_path: Path) -> None:
    """Spherical, planar and floating joints among others, with motors at each of their axes."""
    model = path_tree(seed, 5 + seed, root="free-flyer" if seed % 4 == 1 else "fixed", kinds=EVERY_KIND)
    model = driven(model, seed)
    assert len({body.joint.nv for body in model.bodies}) > 1
    variant, compiler = WIDTHS[seed % len(WIDTHS)], COMPILERS[seed // 2 % len(COMPILERS)]
    compare(WindowsKernel(model, variant, compiler, tmp_path, function=INVERSE), INVERSE)


@pytest.mark.parametrize("function", SOLVES)
@pytest.mark.parametrize("variant", slow_but(WIDTHS, WIDTHS[-1:]))
def test_single_precision(variant: str, function: str, tmp_path: Path) -> None:
    model = path_tree(1, 18)
    compare(WindowsKernel(model, variant, COMPILERS[-1], tmp_path, FLOAT, function), function, 2e-3)


@pytest.mark.parametrize("seed", range(6))
def test_supernodes(seed: int) -> None:
    """Supernodes hold all columns once. The columns of one supernode have the same carrier, or carry each
    other; their registers stay within the matrix.
    """
    schedule = scheduled(path_tree(seed, 40))
    carriers = schedule.column_parents
    above: list[list[int]] = []
    for k, carrier in enumerate(carriers):
        above.append(list(range(k)) if k < schedule.first else [])
        above[-1] += [] if carrier < 0 else [*above[carrier], carrier]
    for lanes in (2, 4, 8, 16):
        nodes = supernodes(schedule, lanes)
        columns_of_nodes = [range(node.start, node.start + node.shape.size) for node in nodes]
        assert [k for columns in columns_of_nodes for k in columns] == list(range(schedule.columns))
        for node, columns in zip(nodes, columns_of_nodes, strict=True):
            assert len(columns) <= min(lanes, LARGEST)
            assert node.carrier == carriers[node.start]
            assert node.start - node.shape.lane + lanes <= schedule.columns
            for row, k in zip(node.shape.rows, columns, strict=True):
                within = [j - node.start for j in above[k] if j >= node.start]
                assert [above.number for above in row.above] == within
                assert (
                    carriers[k] == (node.start + within[-1] if within else node.carrier) or k < schedule.first
                )
                assert list(row.below) == [j - node.start for j in reversed(columns) if k in above[j]]


def test_a_long_chain_is_split_evenly() -> None:
    sizes = [node.shape.size for node in supernodes(scheduled(chain(36)), 8)]
    assert max(sizes) == LARGEST
    assert min(sizes) > 1


@pytest.mark.slow
def test_a_package_of_more_joints_than_are_unrolled(tmp_path: Path) -> None:
    """Through the whole pipeline; the verification in Python would take minutes."""
    model = path_tree(7, 130)
    options = BuildOptions(out=tmp_path, functions=SOLVES, cflags=UNOPTIMISED, verify=False)
    module = load(build_package(model, options).directory)
    q, v, tau, _ = inputs(model)
    wanted = aba_derivatives(model, q.tolist(), v.tolist(), tau.tolist())
    for x, y in zip(module.aba_derivatives(q, v, tau), wanted, strict=True):
        assert_close(x, np.array(y, dtype=float), 1e-10)
    assert_close(module.minverse(q), np.array(wanted[2], dtype=float), 1e-10)


def test_no_more_than_a_stack_holds() -> None:
    for size, fits in ((360, True), (361, False)):
        model = chain(size)
        assert has_windows(model, functions_of(model)[INVERSE]) == fits


def test_armature_of_a_free_root() -> None:
    """It spoils what is known of the root's columns in the derivatives, not the inverse."""
    model = path_tree(1, 12)
    root = replace(model.bodies[0], armature=0.5)
    armed = replace(model, bodies=(root, *model.bodies[1:]))
    catalogue = functions_of(armed)
    assert has_windows(armed, catalogue[INVERSE])
    assert not has_windows(armed, catalogue[DERIVATIVES])


def test_joints_that_follow_others_have_no_such_kernel() -> None:
    coupled = path_tree(2, 20, mimic="coupled")
    catalogue = functions_of(coupled)
    assert not any(has_windows(coupled, catalogue[name]) for name in SOLVES)
    assert all(has_windows(path_tree(2, 20), functions_of(path_tree(2, 20))[name]) for name in SOLVES)

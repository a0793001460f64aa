"""Kernels of windows: equal to the reference for registers of every width, and clean C."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.emit.generation import PLAIN, generate
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import FLOAT
from rbdc.model import WORLD, DriveTerm, Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.windows.kernels import has_windows
from rbdc.reduction.schedules import FEWEST, LIMBS, scheduled, suits_windows, windows
from rbdc.resources import resolve
from rbdc.runtime.load import load
from rbdc.spatial import Force
from rbdc.spatial.vectors import AXES
from tests.model.screw_joint import Screw
from tests.support import COMPILERS, UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_trees import random_tree
from tests.support_windows import FUNCTION, WindowsKernel, chain, inputs, path_tree, widths

WIDTHS = widths()
SEEDS = range(50)


def wanted(model: Problem, q: Array, v: Array, a: Array, fext: Array | None) -> list[Array]:
    """Return the matrices of the reference."""
    forces = None if fext is None else [Force.of([float(x) for x in row]) for row in fext]
    matrices = rnea_derivatives(model, q.tolist(), v.tolist(), a.tolist(), forces)
    return [np.array(x, dtype=float) for x in matrices]


def compare(kernel: WindowsKernel, tolerance: float = 1e-12) -> None:
    """The three matrices with external forces and without, in parts of the largest entry of each."""
    q, v, a, fext = inputs(kernel.model)
    for forces in (None, fext):
        actual, expected = kernel(q, v, a, forces), wanted(kernel.model, q, v, a, forces)
        for name, x, y in zip(("dq", "dv", "da"), actual, expected, strict=True):
            assert_close(x, y, tolerance, what=f"{kernel.model.name} {name}")


@pytest.mark.parametrize("seed", slow_but(list(SEEDS), (0, 1, 2), range(3, 7)))
def test_trees_agree_with_the_reference(seed: int, tmp_path: Path) -> None:
    """Deep and wide trees and mirrored limbs, with widths and compilers in turn."""
    size = 12 + 5 * seed % 49 if seed % 10 else 120
    size = 20 if seed < 3 else size
    model = path_tree(seed, size, mimic="coupled" if seed % 5 == 2 else "independent")
    variant, compiler = WIDTHS[seed % len(WIDTHS)], COMPILERS[seed // 2 % len(COMPILERS)]
    compare(WindowsKernel(model, variant, compiler, tmp_path))


@pytest.mark.parametrize(("variant", "compiler"), list(itertools.product(WIDTHS, COMPILERS)))
def test_every_width_by_every_compiler(variant: str, compiler: str, tmp_path: Path) -> None:
    compare(WindowsKernel(path_tree(5, 18), variant, compiler, tmp_path))


@pytest.mark.parametrize("variant", WIDTHS)
def test_single_precision(variant: str, tmp_path: Path) -> None:
    compare(WindowsKernel(path_tree(1, 24), variant, COMPILERS[-1], tmp_path, FLOAT), 2e-5)


def test_the_width_of_dry_friction_is_taken_at_run_time(tmp_path: Path) -> None:
    tree = path_tree(2, 20, mimic="coupled")
    bodies = (replace(body, friction=0.3) for body in tree.bodies)
    model = replace(tree, bodies=tuple(bodies), drive_terms=(DriveTerm.FRICTION,))
    kernel = WindowsKernel(model, WIDTHS[0], COMPILERS[0], tmp_path)
    q, v, a, _ = inputs(model)
    for width in (None, np.array(0.5)):
        known = model if width is None else replace(model, friction_width=0.5)
        for x, y in zip(kernel(q, v, a, None, width), wanted(known, q, v, a, None), strict=True):
            assert_close(x, y, 1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5])
def test_rows_and_windows(seed: int) -> None:
    """Every body comes once, after its carrier; every pair of bodies is in one window."""
    model = path_tree(seed, 40)
    schedule = scheduled(model)
    places = {node.body: divmod(slot, LIMBS) for node, slot in schedule.slots.items()}
    columns_of = {node.body: node.column for node in schedule.nodes}
    assert sorted(places) == [k for k in range(model.njoints) if not model.bodies[k].joint.free]
    assert len(set(places.values())) == len(places)
    for body, (row, _) in places.items():
        above = model.bodies[body].parent
        carrier = places[above][0] if above in places else -1
        assert carrier < row
        assert schedule.above[row] in (-1, carrier + 1)
    pairs = {
        (columns_of[x], columns_of[y]) for y in places for x in model.support(y) if x in places and x != WORLD
    }
    for width in (2, 4, 8):
        covered: set[int] = set()
        for window in windows(schedule, width):
            columns = range(window.column, window.column + width)
            covered |= set(columns)
            rows = {tile.row: tile for tile in window.tiles}
            assert set(rows).isdisjoint(window.empty)
            assert set(rows) | set(window.empty) == set(range(schedule.first, schedule.columns))
            for row, tile in rows.items():
                for lane, column in enumerate(columns):
                    assert bool(tile.below >> lane & 1) == ((row, column) in pairs)
                    assert bool(tile.above >> lane & 1) == ((column, row) in pairs and row != column)
        assert covered == set(range(schedule.first, schedule.columns))


def test_models_that_do_not_suit_windows() -> None:
    assert suits_windows(path_tree(0, FEWEST))
    assert not suits_windows(path_tree(0, FEWEST - 1))
    tree = random_tree(0, size=20)
    assert suits_windows(tree), "with spherical joints and the like"
    catalogue = functions_of(tree)
    assert not has_windows(tree, catalogue[FUNCTION]) and has_windows(tree, catalogue["minverse"])
    screws = (replace(b, joint=Screw(AXES[2], 0.1)) if b.joint.nv == 1 else b for b in tree.bodies)
    assert not suits_windows(replace(tree, bodies=tuple(screws)))


@pytest.mark.slow
def test_choice() -> None:
    """Humanoids have windows, quadrupeds and arms do not."""
    forms = {}
    for robot, root in (("g1_29dof", "free-flyer"), ("hyq", "free-flyer"), ("kuka_iiwa", "fixed")):
        model = Problem.from_urdf(resolve(robot), root_joint=root)
        package = generate(model, robot, [FUNCTION], lambda _: None, PLAIN)
        forms[robot] = package.sources[0].form
    assert forms["g1_29dof"] == "windows"
    assert "windows" not in (forms["hyq"], forms["kuka_iiwa"])


@pytest.mark.slow
def test_a_package_with_drives_and_portable_variants(tmp_path: Path) -> None:
    """Verified as every package is: 130 joints, beyond what is unrolled."""
    model = path_tree(7, 130)
    options = BuildOptions(out=tmp_path, functions=(FUNCTION,), cflags=UNOPTIMISED)
    module = load(build_package(model, options).directory)
    q, v, a, fext = inputs(model)
    for x, y in zip(module.rnea_derivatives(q, v, a, fext), wanted(model, q, v, a, fext), strict=True):
        assert_close(x, y, 1e-12)


def test_what_stays_refused() -> None:
    """More joints than are unrolled, for a function without a kernel of windows, and for fused ones."""
    model = chain(130)
    assert functions_of(model)[FUNCTION].policy.windows
    with pytest.raises(UnsupportedError, match="unrolls at most 128"):
        build_module(model, functions=("torque_regressor",))
    with pytest.raises(UnsupportedError, match="unrolls at most 128"):
        build_module(model, functions=(FUNCTION,), fuse=(("rnea", FUNCTION),))

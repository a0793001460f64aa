"""Closed loops in the coordinate of their motor: Pinocchio's constrained dynamics, energy and differences."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.couplings import solved
from rbdc.errors import RbdcError
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from tests.laws.test_parallel_robots import Peer, written
from tests.support import OUT, UNOPTIMISED, Array, assert_close, build_module
from tests.support_differences import central
from tests.support_parallel import MECHANISMS, ORIGIN, Tree, X, Y

FOUR_BAR = MECHANISMS["four_bar"]().loops
FUNCTIONS = (
    *("rnea", "aba", "expand", "kinetic_energy", "potential_energy"),
    *("rnea_derivatives", "aba_derivatives"),
)


@pytest.fixture(scope="module")
def four_bar() -> ModuleType:
    """Verified against dual numbers in every function."""
    return build_module(
        written("four_bar"),
        functions=FUNCTIONS,
        contacts=FOUR_BAR,
        loops="reduce:j_crank",
        cflags=UNOPTIMISED,
        name="reduced_four_bar",
    )


def state(seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-2.9, 2.9, 1), rng.standard_normal(1), rng.standard_normal(1)


def test_accelerations_are_pinocchios(four_bar: ModuleType) -> None:
    peer = Peer("four_bar", None)
    for seed in range(6):
        y, rate, tau = state(seed)
        q, v = four_bar.expand(y, rate)
        second = four_bar.aba(y, rate, tau)
        _, (expected, _) = peer.values(q, v, np.array([tau[0], 0.0, 0.0]))
        assert_close(second, expected[:1], 1e-9)
        slope, h = four_bar.expand(y, np.ones(1))[1], 1e-5
        bent = (four_bar.expand(y + h * rate, rate)[1] - four_bar.expand(y - h * rate, rate)[1]) / (2.0 * h)
        assert_close(slope * second + bent, expected, 1e-7)


def six_bar() -> tuple[Path, tuple[str, ...]]:
    """Return a crank, two dyads in one cluster on a link that moves, and what the last of it carries."""
    tree = Tree("six_bar")
    tree.universal("hip", "base", ORIGIN, (X, Y), 2.0)
    tree.add("crank", "hip", (0.0, 0.0, 0.0))
    tree.add("rod", "crank", (0.15, 0.0, 0.0), turned=(0.0, 0.0, 0.6))
    tree.add("rocker", "hip", (0.4, 0.0, 0.0), turned=(0.0, 0.0, 1.6))
    tree.add("rod_b", "rocker", (0.2, 0.05, 0.0), turned=(0.0, 0.0, -1.4))
    tree.add("rocker_b", "hip", (0.8, 0.0, 0.0), turned=(0.0, 0.0, 1.5))
    tree.add("foot", "rocker_b", (0.0, 0.0, -0.2), Y)
    path = OUT / "mechanisms" / "six_bar.urdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(tree.urdf().replace('lower="-3" upper="3"', 'lower="-0.5" upper="0.6"'))
    loops = ("one=point@rod:0.4,0,0=rocker:0.3,0,0", "two=point@rod_b:0.4,0,0=rocker_b:0.25,0.02,0")
    return path, loops


@pytest.mark.slow
def test_clusters_of_several_loops_on_a_link_that_moves() -> None:
    path, loops = six_bar()
    contacts = (*loops, "foot=point@foot:0.05,0.02,-0.3")
    options: dict[str, Any] = {"contacts": contacts, "cflags": UNOPTIMISED}
    shared = ("constrained_dynamics", "impulse_dynamics")
    module = build_module(
        path,
        functions=("aba", "expand", *shared, "constrained_dynamics_derivatives"),
        loops="reduce:j_crank",
        name="reduced_six_bar",
        **options,
    )
    whole = build_module(
        path, functions=(*shared, "contact_error"), verify=False, name="whole_six_bar", **options
    )
    foot, target = whole.contact_rows[-1], np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    assert (module.nv, whole.nv) == (4, 8)
    for seed in range(3):
        y, (rate, tau) = (
            module.random_configuration(seed),
            np.random.default_rng(seed).standard_normal((2, 4)),
        )
        q, v = module.expand(y, rate)
        assert np.max(np.abs(whole.contact_error(q, target)[: foot.start])) < 1e-13
        columns = np.array([module.expand(y, unit)[1] for unit in np.eye(4)])
        rows = [int(np.flatnonzero((columns == unit[:, None]).all(axis=0))[0]) for unit in np.eye(4)]
        forces = np.linalg.lstsq(columns, tau, rcond=None)[0]
        loose, _ = whole.constrained_dynamics(q, v, forces, active=np.array([1, 1, 0]))
        assert_close(module.aba(y, rate, tau), loose[rows], 1e-9)
        second, pushed = module.constrained_dynamics(y, rate, tau)
        constrained, expected = whole.constrained_dynamics(q, v, forces)
        assert_close(second, constrained[rows], 1e-8)
        assert_close(pushed, expected[foot], 1e-8)
        after, impulse = module.impulse_dynamics(y, rate, 0.3)
        moved, expected = whole.impulse_dynamics(q, v, 0.3)
        assert_close(after, moved[rows], 1e-8)
        assert_close(impulse, expected[foot], 1e-8)
        matrices = module.constrained_dynamics_derivatives(y, rate, tau)
        for k, start in enumerate((y, rate, tau)):

            def forward(at: Array, k: int = k, all_: Any = (y, rate, tau)) -> Array:
                return np.concatenate(module.constrained_dynamics(*all_[:k], at, *all_[k + 1 :]))

            expected = central(forward, start)
            assert_close(np.vstack([matrices[k], matrices[3 + k]]), expected, 1e-7)


def test_a_parallelogram_follows_along_lines(tmp_path: Path) -> None:
    tree = Tree("parallelogram", planar=True)
    tree.add("crank", "base", ORIGIN, turned=(0.0, 0.0, 1.5))
    tree.add("rod", "crank", (0.2, 0.0, 0.0), turned=(0.0, 0.0, -1.5))
    tree.add("rocker", "base", (0.5, 0.0, 0.0), turned=(0.0, 0.0, 1.5))
    model = reduced(tmp_path, tree, "p=point@rod:0.5,0,0=rocker:0.2,0,0", "reduce:j_crank")
    assert not model.curves and model.nv == 1
    couplings = [body.coupling for body in model.bodies if body.coupling is not None]
    assert_close(np.array([c.multiplier for c in couplings]), np.array([-1.0, 1.0]), 1e-13)


def in_line(folder: Path, lower: float, upper: float) -> Problem:
    """Return a linkage that is drawn in line: neutral, it is singular."""
    tree = Tree("in_line", planar=True)
    tree.add("crank", "base", ORIGIN)
    tree.add("rod", "crank", (0.2, 0.0, 0.0))
    tree.add("rocker", "base", (0.4, 0.0, 0.0))
    limits = f'lower="{lower}" upper="{upper}"'
    return reduced(folder, tree, "p=point@rod:0.4,0,0=rocker:0.2,0,0", "reduce:j_crank", limits)


@pytest.mark.parametrize(("lower", "upper"), [(0.3, 2.5), (-2.5, -0.3), (0.01, 3.13)])
def test_a_linkage_that_is_drawn_in_line(lower: float, upper: float, tmp_path: Path) -> None:
    model = in_line(tmp_path, lower, upper)
    rows = np.array([body.coupling.coefficients for body in model.bodies if body.coupling is not None])
    assert_close(rows, np.array([[0.0, -1.0], [0.0, 1.0]]), 1e-12, 1.0)


@pytest.mark.parametrize(("lower", "upper"), [(-1.0, 1.0), (0.0, 1.0), (0.3, 3.5), (-3.0, 3.0)])
def test_a_range_with_a_singular_configuration(lower: float, upper: float, tmp_path: Path) -> None:
    with pytest.raises(RbdcError, match="do not close or pass a singular configuration.*narrower limits"):
        in_line(tmp_path, lower, upper)


def reduced(folder: Path, tree: Tree, loop: str, loops: str, limits: str = 'lower="-1" upper="1"') -> Problem:
    path = folder / "robot.urdf"
    path.write_text(tree.urdf().replace('lower="-3" upper="3"', limits))
    return read(path, BuildOptions(contacts=(loop,), loops=loops))


@pytest.mark.parametrize(
    ("loops", "contacts", "problem"),
    [
        ("reduce", FOUR_BAR, 'may be any of "j_crank", "j_rod", "j_rocker"; .*`loops=.reduce:JOINT.`'),
        ("reduce:j_rocker", FOUR_BAR, "pass a singular configuration near .*; give it narrower limits"),
        ("reduce:ghost", FOUR_BAR, 'no joint "ghost" is in a loop; there are j_crank'),
        ("reduce", (), "there are no loops: declare them with `contacts`"),
        ("fold", FOUR_BAR, "give hold, reduce or reduce:JOINT"),
        ("reduce:j_crank", (FOUR_BAR[0].replace("0.4", "4.0", 1),), "cannot be closed"),
    ],
)
def test_what_is_refused(loops: str, contacts: tuple[str, ...], problem: str) -> None:
    with pytest.raises(RbdcError, match=problem) as caught:
        read(written("four_bar"), BuildOptions(contacts=contacts, loops=loops))
    assert caught.value.exit_status == 2


def test_two_degrees_of_freedom_are_refused() -> None:
    mechanism = MECHANISMS["five_bar"]()
    with pytest.raises(RbdcError, match="4 joints and 2 constraint rows leave 2 degrees of freedom, not one"):
        read(written("five_bar"), BuildOptions(contacts=mechanism.loops, loops="reduce"))
    welded = (mechanism.loops[0].replace("point", "weld"),)
    with pytest.raises(RbdcError, match="only loops of points are reduced; declare the loops with `point@`"):
        read(written("five_bar"), BuildOptions(contacts=welded, loops="reduce"))


def test_hinges_of_planar_loops_are_points() -> None:
    hinged = (FOUR_BAR[0].replace("point", "revolute"),)
    models = [
        read(written("four_bar"), BuildOptions(contacts=loops, loops="reduce:j_rod"))
        for loops in (hinged, FOUR_BAR)
    ]
    assert models[0].clusters == models[1].clusters


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_systems_are_solved(size: int) -> None:
    rng = np.random.default_rng(size)
    matrix, side = rng.standard_normal((size, size)), rng.standard_normal(size)
    assert_close(np.array(solved(matrix.tolist(), side.tolist())), np.linalg.solve(matrix, side), 1e-11)

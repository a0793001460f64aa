"""The rolled style: verified for every robot and joint type, and clean C."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import numpy as np
import pytest

import rbdc
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.rnea import rnea
from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import add_loop
from rbdc.emit.c.loops import loops_source
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import render_library
from rbdc.errors import OptionError, UnsupportedError
from rbdc.functions.catalogue import functions_of, rollable
from rbdc.model import Problem
from rbdc.model.joints import Revolute
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.options import BuildOptions, Style
from rbdc.pipeline import build_package, read
from rbdc.planning import forms
from rbdc.planning.availability import singular_joints
from rbdc.planning.loops.ancestors import Ancestors
from rbdc.planning.loops.rolled import RECURSIONS, nest, rolled
from rbdc.planning.loops.tree import TreeTables
from rbdc.planning.windows.kernels import has_windows
from rbdc.resources import resolve
from tests.model.screw_joint import Screw
from tests.support import QUICK, UNOPTIMISED, WITH_DERIVATIVES, Array, assert_close, build_module, slow_but
from tests.support_contacts import POINTS
from tests.support_trees import mimic_tree, random_inertia, random_tree

COMPILERS = [c for c in ("gcc", "clang", "clang-19") if shutil.which(c)]
FORWARD = ("minverse", "aba", "aba_derivatives")
CHAINS = ((1, "revolute"), (2, "prismatic"), (3, "spherical"), (1, "planar"), (9, "revolute"))
COUPLED = slow_but(("panda", "tiago_pro"), (), ("panda",))
TRIED = (*dict(QUICK), "g1_29dof", "hyq", "r2d2")
ROBOTS = slow_but(WITH_DERIVATIVES, (), [case for case in WITH_DERIVATIVES if case[0] in TRIED])
"""The slow tier has chains, branches and limbs with both roots; others differ in numbers alone."""


def screws() -> Problem:
    """Return a random tree with screws in place of its revolute joints."""
    tree = random_tree(5)
    bodies = (
        replace(body, joint=Screw(body.joint.axis, 0.2)) if isinstance(body.joint, Revolute) else body
        for body in tree.bodies
    )
    return replace(tree, name="screws", bodies=tuple(bodies))


def available(model: Problem) -> tuple[str, ...]:
    """Return the rolled functions that are defined for the model."""
    singular = bool(singular_joints(model))
    return tuple(name for name in rollable() if not (singular and name in FORWARD))


def rolled_module(model: Problem, tag: str, dtype: str = "float64") -> ModuleType:
    """Return the functions of a model that have a rolled form, verified."""
    return build_module(
        model,
        functions=available(model),
        style="rolled",
        name=f"rolled_{tag}",
        root_joint="fixed",
        dtype=dtype,
        cflags=UNOPTIMISED,
    )


def rolled_robot(robot: str, root: str) -> tuple[Problem, str]:
    """Return a shipped robot, and what its rolled module is called after."""
    return Problem.from_urdf(resolve(robot), root_joint=root), f"{robot}_{root}".replace("-", "_")


def chain(length: int, kind: str = "revolute") -> Problem:
    """Return one joint after the other."""
    rng = np.random.default_rng(3)
    links = [rbdc.Link("link0"), *(rbdc.Link(f"link{k + 1}", random_inertia(rng)) for k in range(length))]
    axes = (rbdc.Vector3(0.0, 0.0, 1.0), rbdc.Vector3(1.0, 0.0, 0.0), rbdc.Vector3(0.0, -1.0, 0.0))
    joints = [
        rbdc.Joint(f"joint{k}", kind, f"link{k}", f"link{k + 1}", axis=axes[k % 3]) for k in range(length)
    ]
    return Problem.assemble(f"chain{length}_{kind}", links, joints)


@pytest.mark.parametrize(("length", "kind"), [(43, "spherical"), (130, "revolute")])
@pytest.mark.parametrize("style", get_args(Style))
def test_style_of_what_cannot_be_unrolled(length: int, kind: str, style: str) -> None:
    """Windows where there are such, otherwise loops over the model; only the latter where so asked."""
    model = chain(length, kind)
    package = generate(model, "robot", ["crba", "minverse"], lambda _: None, GenerationOptions(style=style))
    in_windows = [has_windows(model, functions_of(model)[s.declaration.name]) for s in package.sources]
    assert in_windows == [False, True]
    expected = ["windows" if style == "unrolled" and windows else "rolled" for windows in in_windows]
    assert [source.form for source in package.sources] == expected


TREES: Mapping[str, Problem] = {
    **{f"tree{seed}": random_tree(seed) for seed in range(8)},
    "mimic_tree": mimic_tree("coupled"),
    **{f"chain{n}_{kind}": chain(n, kind) for n, kind in CHAINS},
}
TREES_TRIED = ("tree1", *(name for name in TREES if name.startswith("chain")))


@pytest.mark.parametrize(("robot", "root"), ROBOTS)
def test_robots_are_verified(robot: str, root: str) -> None:
    """The build verifies all ways of calling the functions, here and in all tests below."""
    rolled_module(*rolled_robot(robot, root))


@pytest.mark.parametrize(
    "tree", slow_but(TREES, ("mimic_tree", "chain1_planar", "chain9_revolute"), {*TREES_TRIED, "tree0"})
)
def test_trees_are_verified(tree: str) -> None:
    """The C has no choice of joint types if the tree has one type; nine columns are one block
    and one column.
    """
    rolled_module(TREES[tree], tree)


@pytest.mark.parametrize("robot", COUPLED)
def test_coupled_robots_are_verified(robot: str) -> None:
    model = Problem.from_urdf(resolve(robot), root_joint="free-flyer", mimic="coupled")
    rolled_module(model, f"{robot}_coupled")


def in_contact(description: Problem | str, *contacts: str, **options: Any) -> Problem:
    """Return a robot with contacts and what else is asked of it."""
    return read(description, BuildOptions(contacts=contacts, **options))


ON_FEET = partial(in_contact, "hyq", *POINTS, root_joint="free-flyer")
SURFACE = partial(in_contact, random_tree(1, size=4), "sole=surface@link3:0.1,0.2,0.3,0.4,0.5,0.6")
HELD: Mapping[str, Callable[[], Problem]] = {
    "four points": ON_FEET,
    "surface": SURFACE,
    "fixed and coupled": partial(
        in_contact, "panda", "tip=point@panda_leftfinger:0.1,0.2,0.3", mimic="coupled"
    ),
    "along the world": partial(
        in_contact,
        random_tree(3),
        "a=surface@link6:0.1,0.2,0.3",
        "b=point@link2",
        contact_frame="local-world-aligned",
    ),
}


@pytest.mark.parametrize("case", slow_but(HELD, ("four points", "surface"), tuple(HELD)))
def test_contacts_are_verified(case: str, tmp_path: Path) -> None:
    """The build verifies calls with and without optional inputs."""
    options = BuildOptions(functions=("constrained_dynamics",), style="rolled", cflags=UNOPTIMISED, jobs=1)
    result = build_package(HELD[case](), replace(options, out=tmp_path, targets=("c",)))
    assert [f["form"] for f in result.functions] == ["rolled"]


UNROLLED: Mapping[str, Callable[[], Problem]] = {
    "a closed loop": partial(in_contact, random_tree(1), "loop=point@link3=link5:0.1,0.2,0.3"),
    "redundant rows": partial(in_contact, "cartpole", "a=point@pole:0,0,1", "b=point@pole:0,0,2"),
    "parameters": partial(ON_FEET, payloads=("trunk",)),
    "many rows": partial(in_contact, chain(120), "tip=surface@link120"),
}


@pytest.mark.parametrize("case", UNROLLED)
def test_contacts_that_loops_do_not_hold_are_straight_line_code(case: str) -> None:
    assert not functions_of(UNROLLED[case]())["constrained_dynamics"].policy.rolled


def test_loops_refuse_closed_loops_by_name() -> None:
    model = UNROLLED["a closed loop"]()
    declaration = functions_of(model)["constrained_dynamics"].declaration
    with pytest.raises(UnsupportedError, match="contacts of a moving body with the world, not contact loop"):
        nest(TreeTables(model), RECURSIONS["constrained_dynamics"], declaration)


@pytest.mark.slow
def test_where_the_robot_stands_makes_no_difference() -> None:
    """Results keep their digits ten thousand kilometres from the origin, where products with the position
    would leave two digits.
    """
    module = rolled_module(*rolled_robot("hyq", "free-flyer"))
    rng = np.random.default_rng(1)
    q, v, a = module.random_configuration(rng), rng.standard_normal(module.nv), rng.standard_normal(module.nv)
    away = q + np.concatenate([[1e7, -2e7, 3e7], np.zeros(module.nq - 3)])
    for name, arguments in (("crba", ()), ("minverse", ()), ("aba", (v, a)), ("aba_derivatives", (v, a))):
        np.testing.assert_array_equal(
            getattr(module, name)(away, *arguments), getattr(module, name)(q, *arguments), name
        )


@pytest.mark.slow
def test_more_joints_than_can_be_unrolled(tmp_path: Path) -> None:
    model = chain(130)
    with pytest.raises(
        UnsupportedError, match=r"130 degrees of freedom; this version unrolls at most 128.*`functions` among"
    ):
        build_package(model, BuildOptions(functions=("rnea", "com"), style="rolled", out=tmp_path))
    with pytest.raises(UnsupportedError, match="130 degrees of freedom.*, without `fuse`"):
        build_package(model, BuildOptions(functions=("rnea",), fuse=(("rnea", "crba"),), out=tmp_path))
    options = BuildOptions(functions=("rnea", "crba", "aba"), out=tmp_path, cflags=UNOPTIMISED)
    assert [f["form"] for f in build_package(model, options).functions] == ["rolled"] * 3
    module = rbdc.load(tmp_path / "chain130_revolute")
    rng = np.random.default_rng(2)
    q, v, a = (rng.uniform(-0.3, 0.3, model.nv) for _ in range(3))
    tau = module.rnea(q, v, a)
    assert_close(tau, rnea(model, list(q), list(v), list(a)), 1e-11)
    assert_close(module.crba(q) @ a + module.rnea(q, v, 0 * a), tau, 1e-11)
    with pytest.raises(UnsupportedError, match="at most 1000 moving bodies"):
        build_package(chain(1001), BuildOptions(functions=("rnea",), style="rolled", out=tmp_path))


def test_unknown_style() -> None:
    with pytest.raises(OptionError, match=r"`style='curled'`: .* there are unrolled, rolled, auto"):
        rbdc.build("cartpole", style="curled")  # type: ignore[arg-type]


def test_auto_rolls_what_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    names = ["rnea", "aba_derivatives", "com"]
    unrolled, rolled = (
        generate(model, "two", names, lambda _: None, GenerationOptions(style))
        for style in ("unrolled", "rolled")
    )
    assert [source.form for source in unrolled.sources] == ["straight line"] * 3
    assert [source.form for source in rolled.sources] == ["rolled", "rolled", "straight line"]
    small, large, _ = (source.cost.operations for source in unrolled.sources)
    assert small < large
    monkeypatch.setattr(forms, "WORTH_ROLLING", small)
    auto = generate(model, "two", names, lambda _: None, GenerationOptions("auto"))
    assert [source.form for source in auto.sources] == ["straight line", "rolled", "straight line"]
    assert auto.files["two_aba_derivatives.c"] == rolled.files["two_aba_derivatives.c"]
    for name in ("two.h", "__init__.py", "__init__.pyi"):
        assert auto.files[name] == unrolled.files[name]


def sources_of(model: Problem, robot: str = "robot") -> list[FunctionSource]:
    catalogue = functions_of(model)
    sources = []
    for name in (name for name, function in catalogue.items() if function.policy.rolled):
        method, loops = rolled(model, catalogue[name])
        sources.append(loops_source(robot, catalogue[name].declaration, loops, method))
        add_loop(robot, sources[-1])
    return sources


def write(model: Problem, folder: Path) -> list[str]:
    """Return all rolled functions of a model as files; the names of the C files."""
    files = render_library(model, "robot", sources_of(model))
    for name, text in files.items():
        (folder / name).write_text(text)
    return sorted(name for name in files if name.endswith(".c"))


@pytest.mark.slow
def test_text_is_the_same_every_time_and_shared_by_all_functions() -> None:
    first, second = (sources_of(random_tree(3, size=4)) for _ in range(2))
    assert [s.files for s in first] == [s.files for s in second]
    shared: dict[str, str] = {}
    for source in first:
        for name, text in source.files.items():
            assert shared.setdefault(name, text) == text, name
    assert all(text.isascii() and "  \n" not in text and " \n" not in text for text in shared.values())


@pytest.mark.parametrize("compiler", slow_but(COMPILERS, ("gcc",), COMPILERS[-1:]))
@pytest.mark.parametrize(
    "model",
    [
        mimic_tree("coupled"),
        pytest.param(SURFACE(), marks=pytest.mark.slow),
        pytest.param(random_tree(1), marks=pytest.mark.exhaustive),
        *(
            pytest.param(model, marks=pytest.mark.slow)
            for model in (random_tree(4), chain(1), chain(2, "prismatic"), chain(1, "planar"))
        ),
    ],
    ids=lambda model: model.name,
)
def test_c_is_clean(compiler: str, model: Problem, tmp_path: Path) -> None:
    """No warning at the level at which compilers see most, nothing allocated, nothing that could be written
    to between calls.
    """
    names = write(model, tmp_path)
    flags = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", "-Wshadow", "-O2", "-c"]
    subprocess.run([compiler, *flags, *names], cwd=tmp_path, check=True)
    symbols = subprocess.run(
        ["nm", "-A", *(f"{name[:-2]}.o" for name in names)], cwd=tmp_path, capture_output=True, text=True
    )
    kinds = {line.split(":", 1)[1][17:18] for line in symbols.stdout.splitlines()}
    assert "T" in kinds and not kinds & set("BbCDdSs")
    assert "alloc" not in symbols.stdout


def test_paths() -> None:
    paths = Ancestors.of_parents([-1, 0, 1, 0, 3, 3, -1, 6])
    assert [paths.above(k) for k in range(8)] == [(), (0,), (0, 1), (0,), (0, 3), (0, 3), (), (6,)]
    assert paths.end == (6, 3, 3, 6, 5, 6, 8, 8)
    assert all(paths.entries[paths.own[k]] == k for k in range(8))
    assert len(paths.entries) == 3 + 3 + 3 + 2  # one list per leaf


def test_elimination_fills_between_coupled_branches() -> None:
    """Rows of M that a follower couples lie on one path, so that elimination finds all that it fills."""
    model = mimic_tree("coupled")
    tree = TreeTables(model)
    assert tree.nv == 3 and len(tree.paths.own) == 6
    inertia: Array = np.array(crba(model, [0.3, -0.2, 0.5]))
    for row in range(3):
        above = tree.rows.above(row)
        assert all(abs(inertia[row, column]) < 1e-15 for column in range(row) if column not in above)

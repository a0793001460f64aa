"""The files of the functions of frames: what they share is there once, and their operation counts are those
that are executed.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc import Joint, Link, Mimic
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.registry import Generated
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import DOUBLE, SCALARS, ScalarType
from rbdc.model import Problem
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.climb.loops import climb_loops
from tests.support import UNOPTIMISED, build_module, slow_but
from tests.support_counting import counted_operations
from tests.support_trees import mimic_tree, random_inertia, random_joint, random_tree

FUNCTIONS = (
    *("frame_jacobian", "frame_velocity", "frame_acceleration"),
    *("frame_velocity_derivatives", "frame_acceleration_derivatives"),
    *("frame_jacobian_time_derivative", "frame_drift", "frame_jacobian_derivatives"),
    *("frame_position", "frame_position_derivatives", "frame_position_second_derivatives"),
    *("frame_placement", "frame_placement_derivatives"),
    "relative_jacobian",
)
SINGLE = ("manipulability_gradient", "frame_placement_second_derivatives")
"""Their batches are loops: one has choices, the other more results than vectors of them are worth."""
SHARED = {"robot_frames.c", "robot_frames.h"}
SHARED_BY_BATCHES = {"robot_frames_batch.c", "robot_batch.h"}
COMPILERS = [c for c in ("gcc", "clang", "clang-19") if shutil.which(c)]


def generated(model: Problem, *functions: str, batch: bool = False, scalar: ScalarType = DOUBLE) -> Generated:
    options = GenerationOptions(targets=("c", "batch") if batch else ("c",), scalar=scalar)
    return generate(model, "robot", functions, lambda _: None, options)


def chain(mimic: str) -> Problem:
    """Return a serial robot with every joint type, in which each body carries the last frame."""
    rng, kinds = (
        np.random.default_rng(3),
        ("revolute", "spherical", "prismatic", "planar", "revolute", "floating", "aligned"),
    )
    links = [Link("base"), *(Link(f"link{k}", random_inertia(rng)) for k in range(len(kinds)))]
    joints: list[Joint] = []
    for k, kind in enumerate(kinds):
        follow = Mimic("joint0", -0.5, 0.3) if k == 4 else None
        joints.append(
            random_joint(rng, f"joint{k}", kind, f"link{k - 1}" if k else "base", f"link{k}", follow)
        )
    return Problem.assemble("chain", links, joints, mimic=mimic)


@pytest.mark.parametrize("name", (*FUNCTIONS, *SINGLE))
def test_one_function_brings_what_it_shares(name: str) -> None:
    package = generated(random_tree(1), name)
    assert set(package.sources[0].files) == {f"robot_{name}.c", *SHARED}
    assert set(package.sources[0].files) <= set(package.files)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_brings_what_it_shares(name: str) -> None:
    """The function for one sample changes in one way: its file has no loop over samples."""
    package, alone = generated(random_tree(1), name, batch=True), generated(random_tree(1), name)
    assert set(package.sources[0].batch_files) == {f"robot_{name}_batch.c", *SHARED_BY_BATCHES}
    file = f"robot_{name}.c"
    assert alone.files[file].startswith(package.files[file])
    assert all(package.files[shared] == alone.files[shared] for shared in SHARED)
    assert (
        f"void robot_{name}_lanes(size_t n, " in package.files["robot.h"]
        and "_lanes(" not in alone.files["robot.h"]
    )


def test_all_functions_share_the_same_files() -> None:
    package = generated(random_tree(1), "rnea", *FUNCTIONS)
    for name in SHARED:
        assert len({source.files[name] for source in package.sources[1:]}) == 1
        assert package.files["CMakeLists.txt"].count(f"    {name}\n") == 1
        assert name not in package.sources[0].files
    assert "robot_frames" not in package.files["robot.h"]
    steps = [name for name, text in package.files.items() if "static void step_0(" in text]
    assert steps == ["robot_frames.c"]


def test_a_function_of_frames_without_loops_is_refused() -> None:
    model = random_tree(1)
    function = replace(functions_of(model)["frame_velocity"], at_frame=print)
    with pytest.raises(UnsupportedError, match="frame_velocity: planning/climb/loops.py has no loops"):
        climb_loops(model, function)


def test_no_function_of_frames_needs_no_shared_files() -> None:
    assert not SHARED & set(generated(random_tree(1), "rnea").files)


@pytest.mark.parametrize("mimic", slow_but(["independent", "coupled"], ["coupled"]))
def test_operations_are_those_that_are_executed(mimic: str, tmp_path: Path) -> None:
    """The frame in WORLD is carried by every body, so that a call executes the largest number
    of operations.
    """
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    model = chain(mimic)
    package = generated(model, *FUNCTIONS, *SINGLE)
    calls = []
    for source in package.sources:
        d = source.declaration
        arguments = (
            ["NULL" if p.optional else "in" for p in d.inputs]
            + [str(len(model.frames) - 1), *["0"] * (len(d.place) - 2), "1"]
            + [f"out[{k}]" for k in range(len(d.outputs))]
        )
        calls.append(f"robot_{d.name}({', '.join(arguments)})")
    files = {name: text for name, text in package.files.items() if name.endswith((".c", ".h"))}
    counts = counted_operations(files, "robot.h", calls, 16 * model.nv**2, tmp_path)
    # choices, of which manipulability has some, are not instrumented
    assert [replace(source.cost, others=0) for source in package.sources] == counts


@pytest.mark.parametrize("compiler", slow_but(COMPILERS, ("gcc",), COMPILERS[-1:]))
@pytest.mark.parametrize(
    ("level", "dtype"), [("-O0", "float32"), pytest.param("-O3", "float64", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize(
    "model",
    slow_but(
        [chain("coupled"), mimic_tree("coupled"), random_tree(1)], [], [chain("coupled"), random_tree(1)]
    ),
    ids=lambda model: model.name,
)
def test_c_is_clean(compiler: str, level: str, dtype: str, model: Problem, tmp_path: Path) -> None:
    """The shared files and all functions with their batches."""
    for name, text in generated(model, *FUNCTIONS, *SINGLE, batch=True, scalar=SCALARS[dtype]).files.items():
        (tmp_path / name).write_text(text)
    flags = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", "-Wshadow", level, "-c"]
    subprocess.run(
        [compiler, *flags, *sorted(p.name for p in tmp_path.glob("*.c"))], cwd=tmp_path, check=True
    )


@pytest.mark.slow
def test_figures_of_a_build_count_the_shared_file_to_each(tmp_path: Path) -> None:
    """The code size of each function is that of a package with this function alone."""
    names = ("frame_velocity", "frame_velocity_derivatives", "frame_acceleration_derivatives")
    how: dict[str, Any] = {"cflags": UNOPTIMISED, "jobs": 1, "verify": False}
    options = BuildOptions(functions=names, out=tmp_path / "all", **how)
    together = {f["name"]: f for f in build_package(random_tree(1), options).functions}
    alone = BuildOptions(functions=names[:1], out=tmp_path / "alone", **how)
    assert build_package(random_tree(1), alone).functions == (together["frame_velocity"],)
    sizes = [together[name]["code_bytes"] for name in names]
    assert sizes == sorted(sizes)


@pytest.mark.slow
def test_frameworks_have_no_functions_of_two_frames() -> None:
    module = build_module(
        "double_pendulum",
        functions=("relative_jacobian", "frame_jacobian"),
        targets=("c", "batch", "casadi", "jax"),
        name="pairs",
        cflags=UNOPTIMISED,
    )
    with pytest.raises(AttributeError, match="which takes two frames"):
        module.casadi("relative_jacobian@link2")
    with pytest.raises(AttributeError, match="which takes two frames"):
        module.jax.relative_jacobian  # noqa: B018 - asking for it is what is refused

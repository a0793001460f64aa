"""Batches of samples one by one: which have them so, and that results past the caches are those of single
calls, to the bit.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from rbdc.emit.batch import batch
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import FLOAT
from rbdc.model import Model
from rbdc.native.shared import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, find_compiler
from rbdc.planning import batches
from rbdc.planning.batches import goes_one_by_one
from rbdc.planning.candidates import over
from rbdc.planning.forms import chosen_plan
from rbdc.planning.forms.form import Subject
from rbdc.planning.generation import Generated, GenerationOptions, generate, planned_function
from rbdc.resources import resolve
from tests.support import Array, around

ROBOT = "robot"
ENOUGH = 40
"""Samples whose results are beyond caches of `CACHED` bytes, which those of 3 samples are not."""
CACHED = 512


def generated(name: str, *, side_by_side: bool = False) -> tuple[Model, Generated]:
    model = Model.from_urdf(resolve("double_pendulum"))
    options = GenerationOptions(targets=("c", "batch"), side_by_side=side_by_side)
    return model, generate(model, ROBOT, [name], "0", lambda _: None, options)


def compiled(made: Generated) -> ctypes.CDLL:
    headers = {name: text for name, text in made.files.items() if name.endswith(".h")}
    flags = (*STANDARD_FLAGS, "-O0", "-Wall", "-Wextra", "-Werror")
    units = [Unit(name, text, headers, flags) for name, text in made.files.items() if name.endswith(".c")]
    return ctypes.CDLL(str(shared_library("one_by_one.so", units, find_compiler(), 1).path))


def test_the_faster_way_is_taken() -> None:
    for name, one_by_one in (("integrate", True), ("rnea", False)):
        _, made = generated(name)
        (source,) = made.sources
        assert source.one_by_one is one_by_one
        assert source.declaration.lanes, "blocks in lanes are side by side all the same"
        _, forced = generated(name, side_by_side=True)
        assert not forced.sources[0].one_by_one
        file = f"{ROBOT}_{name}_batch.c"
        assert (forced.files[file] == made.files[file]) is not one_by_one


@pytest.mark.parametrize(
    ("robot", "name", "one_by_one"),
    [
        pytest.param("hyq", "rnea_derivatives", True, marks=pytest.mark.slow),
        pytest.param("hyq", "aba_jvp", False, marks=pytest.mark.slow),
        ("hyq", "rnea_jvp", False),
        ("hyq", "integrate", False),
        ("simple_humanoid", "difference", True),
        ("kuka_iiwa", "difference", True),
        ("kuka_iiwa", "rnea_derivatives", False),
        ("planar_floating", "integrate", False),
        ("cartpole", "crba", False),
    ],
)
def test_samples_go_as_measured(robot: str, name: str, one_by_one: bool) -> None:
    """One by one where that takes less time on processors of both makers by both compilers."""
    root = "free-flyer" if robot in ("hyq", "simple_humanoid") else "fixed"
    model = Model.from_urdf(resolve(robot), root_joint=root)
    planned = planned_function(Subject(model, functions_of(model)[name]), batch=True)
    assert planned.batch.samples and planned.batch.one_by_one is one_by_one
    single = over(planned.function, FLOAT)
    assert not goes_one_by_one(single, chosen_plan(Subject(model, single)), planned.batch), "not measured"


@pytest.mark.slow
def test_humanoids_run_side_by_side() -> None:
    """The kernel of 23,000 operations that gives all sensitivities of 301 samples in less than 1 ms."""
    options = GenerationOptions(targets=("c", "batch"))
    (source,) = generate(
        Model.from_file(resolve("human43")), ROBOT, ["rnea_derivatives"], "0", lambda _: None, options
    ).sources
    assert source.declaration.lanes and not source.one_by_one


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("forces", [True, False])
def test_results_past_the_caches(kernel: bool, forces: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a kernel for blocks in lanes beside, and as the batch of what is too large for one."""
    monkeypatch.setattr(batch, "CACHED", CACHED)
    monkeypatch.setattr(batches, "goes_one_by_one", lambda function, plan, batch: bool(batch.samples))
    monkeypatch.setattr(batches, "WORTH_PAST_CACHES", 0.0)
    if not kernel:
        monkeypatch.setattr(batches, "WORTH_A_BATCH", 0)
    model, made = generated("rnea_derivatives")
    (source,) = made.sources
    assert source.one_by_one is kernel
    declaration, library = functions_of(model)["rnea_derivatives"].declaration, compiled(made)
    assert "_copy_past(made" in made.files[f"{ROBOT}_rnea_derivatives_batch.c"]
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((ENOUGH, p.size)) for p in declaration.inputs]
    places = [
        None if p.optional and not forces else x for p, x in zip(declaration.inputs, inputs, strict=True)
    ]
    single = [np.zeros((ENOUGH, p.size)) for p in declaration.outputs]
    for k in range(ENOUGH):
        one = [None if x is None else x[k : k + 1] for x in places]
        call(library.robot_rnea_derivatives, [*one, *(x[k : k + 1] for x in single)])
    for n in (3, ENOUGH):
        befores, found, afters = zip(
            *(around((n, p.size), np.dtype(float), 1) for p in declaration.outputs), strict=True
        )
        call(library.robot_rnea_derivatives_batch, [*places, *found], n)
        for result, expected in zip(found, single, strict=True):
            np.testing.assert_array_equal(result, expected[:n])
        assert all(np.all(outside == 7.0) for outside in (*befores, *afters))


def call(function: ctypes._FuncPointer, arrays: list[Array | None], *n: int) -> None:
    function(
        *map(ctypes.c_size_t, n), *(None if x is None else ctypes.c_void_p(x.ctypes.data) for x in arrays)
    )
